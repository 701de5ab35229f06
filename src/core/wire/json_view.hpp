#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/line.hpp"

namespace sitter {

/// The raw values of these members of a raw object, in the order of `keys`. A value is empty if the
/// object has no such member, or if `object` is not an object. If a key is written twice, the last
/// value counts.
template <std::size_t n>
std::array<std::string_view, n> members(std::string_view object,
                                        const std::array<std::string_view, n>& keys);

std::string_view member(std::string_view object, std::string_view key);

/// The decoded text of a raw JSON string; empty for anything else.
std::string string_value(std::string_view raw);

/// A hash of that text, which is never 0.
std::size_t text_key(std::string_view raw);

/// Whether a raw member is there. Some servers and models write null for a member that they leave
/// out.
inline bool is_there(std::string_view raw) { return !raw.empty() && raw != "null"; }

inline bool is_object(std::string_view raw) { return raw.starts_with('{'); }
inline bool is_array(std::string_view raw) { return raw.starts_with('['); }

/// Changes to parts of one line, written out together. The parts must not overlap. Changes at the
/// same place are written in the order in which they were added.
class Edits {
 public:
  explicit Edits(Line line) : line_(line) {}

  void replace(std::string_view part, std::string by);
  /// Adds items or members, raw and with commas between them, to a raw array or object.
  void prepend(std::string_view container, std::string items);
  /// No items change nothing.
  void append(std::string_view container, std::string items);
  /// Takes the member with this raw value out of the object, which must have another member.
  void remove(std::string_view object, std::string_view value);

  std::string apply() const;
  /// Returns the same without a copy of the line if there is at most one change.
  Outgoing outgoing() const;

 private:
  struct Edit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string by;
  };

  std::size_t offset(const char* place) const;

  Line line_;
  std::vector<Edit> edits_;
};

namespace detail {
void read_members(std::string_view object, const std::string_view* keys, std::size_t count,
                  std::string_view* values);
}

template <std::size_t n>
std::array<std::string_view, n> members(std::string_view object,
                                        const std::array<std::string_view, n>& keys) {
  std::array<std::string_view, n> values;
  detail::read_members(object, keys.data(), n, values.data());
  return values;
}

}  // namespace sitter
