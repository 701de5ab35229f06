#include "core/child/cursors.hpp"

#include <functional>

#include "core/base/json_text.hpp"
#include "core/wire/json_view.hpp"

namespace sitter {

Cursors::Step Cursors::add(Method list, std::size_t asked, std::string_view items,
                           std::string_view next) {
  Step step;
  if (!next.starts_with('"')) return step;
  const Key key{list, text_key(next)};
  const bool has_items = !json_elements(items, 1).empty();
  const Page page{asked, has_items ? std::hash<std::string_view>()(items) : 0};
  // Only the way to this page counts: a client may list twice at the same time.
  for (std::size_t at = asked; at != 0;) {
    step.leads_back = step.leads_back || at == key.cursor;
    const auto before = given_.find({list, at});
    if (before == given_.end()) break;
    step.repeats = step.repeats || (page.items != 0 && before->second.items == page.items);
    at = before->second.asked;
  }
  if (step.leads_onward() && given_.size() < limits::kCursorsMax) {
    given_.insert_or_assign(key, page);
  }
  return step;
}

bool Cursors::may_have_given(Method list, std::string_view cursor) const {
  return given_.size() >= limits::kCursorsMax || given_.contains({list, text_key(cursor)});
}

}  // namespace sitter
