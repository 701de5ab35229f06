#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <string_view>

#include "core/wire/method.hpp"

namespace sitter {

namespace limits {

/// Cursors of one child that are distinguished from cursors of its predecessors. No list has so
/// many pages. Above this bound all cursors pass.
inline constexpr std::size_t kCursorsMax = 10000;

}  // namespace limits

/// The first cursors that the client got from one child, by `text_key`. A cursor means something to
/// the child that gave it, and may mean something else to the next.
class Cursors {
 public:
  /// What the pages on the way to a page tell of it.
  struct Step {
    bool leads_back = false;  ///< its cursor has led to one of them
    bool repeats = false;     ///< one of them had the same items
    bool leads_onward() const { return !leads_back && !repeats; }
  };

  /// The page of this list that the client got by the cursor `asked`, which is 0 for the first
  /// page, has these raw items and this raw cursor. A cursor that leads onward is kept, if it is a
  /// string.
  Step add(Method list, std::size_t asked, std::string_view items, std::string_view next);

  bool may_have_given(Method list, std::string_view cursor) const;

 private:
  struct Key {
    Method list;
    std::size_t cursor;
    auto operator<=>(const Key&) const = default;
  };
  /// The page that gave a cursor.
  struct Page {
    std::size_t asked;
    std::size_t items;  ///< a hash; 0 if there are none
  };

  std::map<Key, Page> given_;
};

}  // namespace sitter
