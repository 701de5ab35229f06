#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace sitter {

/// The last `size` keys that were added. The class is made for lookups that rarely find a key: a
/// lookup compares hashes, and compares keys only where the hashes are equal.
template <std::size_t size>
class RecentKeys {
 public:
  /// The key must not be empty. A key that is not stored yet replaces the oldest key.
  void add(std::string_view key) {
    const Hash wanted = hash(key);
    if (find(key, wanted) != size) return;
    if (keys_[next_].empty()) ++count_;
    hashes_[next_] = wanted;
    keys_[next_] = key;
    next_ = (next_ + 1) % size;
  }

  bool contains(std::string_view key) const { return count_ > 0 && find(key, hash(key)) != size; }

  void remove(std::string_view key) {
    if (count_ == 0) return;
    const std::size_t at = find(key, hash(key));
    if (at == size) return;
    keys_[at].clear();
    --count_;
  }

  /// Passes all keys to `take`, the oldest first, and removes them.
  template <class Take>
  void move_to(Take take) {
    count_ = 0;
    for (std::size_t i = 0; i < size; ++i) {
      std::string key = std::exchange(keys_[(next_ + i) % size], {});
      if (!key.empty()) take(std::move(key));
    }
  }

 private:
  using Hash = std::uint32_t;

  static Hash hash(std::string_view key) {
    return static_cast<Hash>(std::hash<std::string_view>()(key));
  }

  std::size_t find(std::string_view key, Hash wanted) const {
    // Without an early exit, the compiler can compare several hashes at once.
    Hash count = 0;
    for (const Hash hash : hashes_) count += hash == wanted ? 1 : 0;
    if (count == 0) return size;
    for (std::size_t i = 0; i < size; ++i) {
      if (hashes_[i] == wanted && keys_[i] == key) return i;
    }
    return size;
  }

  std::array<Hash, size> hashes_{};
  std::array<std::string, size> keys_;
  /// The place of the oldest key, which may have been removed already.
  std::size_t next_ = 0;
  std::size_t count_ = 0;
};

}  // namespace sitter
