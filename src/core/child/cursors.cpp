#include "core/child/cursors.hpp"

#include <functional>

#include "core/base/json_text.hpp"
#include "core/wire/json_view.hpp"

namespace sitter {

Cursors::Way Cursors::add(Method list, std::size_t asked, std::string_view items,
                          std::string_view next) {
  if (!next.starts_with('"')) return Way::onward;
  const Key key{list, text_key(next)};
  const bool has_items = !json_elements(items, 1).empty();
  const Page page{asked, has_items ? std::hash<std::string_view>()(items) : 0};
  // Only the way to this page counts: a client may list twice at the same time.
  for (std::size_t at = asked; at != 0;) {
    if (at == key.cursor) return Way::back;
    const auto before = given_.find({list, at});
    if (before == given_.end()) break;
    if (page.items != 0 && before->second.items == page.items) return Way::in_place;
    at = before->second.asked;
  }
  if (given_.size() < limits::kCursorsMax) given_.insert_or_assign(key, page);
  return Way::onward;
}

bool Cursors::may_have_given(Method list, std::string_view cursor) const {
  return given_.size() >= limits::kCursorsMax || given_.contains({list, text_key(cursor)});
}

}  // namespace sitter
