#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace sitter {

/// The last `size` keys that were added. Made for keys that are hardly ever there: only hashes are
/// compared, and keys where a hash is the same.
template <std::size_t size>
class RecentKeys {
 public:
  /// Not the empty key. For one that is not there yet the oldest gives way.
  void add(std::string key) {
    if (contains(key)) return;
    hashes_[next_] = hash(key);
    keys_[next_] = std::move(key);
    next_ = (next_ + 1) % size;
  }

  bool contains(std::string_view key) const { return find(key) != size; }

  void remove(std::string_view key) {
    if (const std::size_t at = find(key); at != size) keys_[at].clear();
  }

  /// Hands over all keys, the oldest first.
  template <class Take>
  void move_to(Take take) {
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

  std::size_t find(std::string_view key) const {
    const Hash wanted = hash(key);
    // Without a way out of the loop several are compared at once.
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
  /// Where the oldest is, or was.
  std::size_t next_ = 0;
};

}  // namespace sitter
