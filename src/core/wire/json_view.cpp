#include "core/wire/json_view.hpp"

#include <algorithm>
#include <cassert>

#include "core/base/json_text.hpp"

namespace sitter {
namespace {

bool is_empty_container(std::string_view raw) {
  return raw.find_first_not_of(" \t\r\n", 1) == raw.size() - 1;
}

}  // namespace

void detail::read_members(std::string_view object, const std::string_view* keys, std::size_t count,
                          std::string_view* values) {
  for (RawMembers each(object); each.next();) {
    for (std::size_t i = 0; i < count; ++i) {
      if (is_json_string(each.key(), keys[i])) values[i] = each.value();
    }
  }
}

std::string_view member(std::string_view object, std::string_view key) {
  return members<1>(object, {key})[0];
}

std::string string_value(std::string_view raw) { return json_decoded(raw).value_or(""); }

std::size_t Edits::offset(const char* place) const {
  const std::string_view text = line_.text();
  assert(place >= text.data() && place <= text.data() + text.size());
  return static_cast<std::size_t>(place - text.data());
}

std::size_t text_key(std::string_view raw) {
  return std::max<std::size_t>(std::hash<std::string>()(string_value(raw)), 1);
}

void Edits::replace(std::string_view part, std::string by) {
  const std::size_t begin = offset(part.data());
  edits_.push_back({begin, begin + part.size(), std::move(by)});
}

void Edits::prepend(std::string_view container, std::string items) {
  if (!is_empty_container(container)) items += ',';
  replace(container.substr(1, 0), std::move(items));
}

void Edits::append(std::string_view container, std::string items) {
  if (items.empty()) return;
  const std::string_view end = container.substr(container.size() - 1, 0);
  const bool is_first = is_empty_container(container) &&
                        std::none_of(edits_.begin(), edits_.end(), [&](const Edit& edit) {
                          return edit.begin == offset(end.data());
                        });
  if (!is_first) items.insert(items.begin(), ',');
  replace(end, std::move(items));
}

void Edits::remove(std::string_view object, std::string_view value) {
  const auto begin = static_cast<std::size_t>(value.data() - object.data());
  // The key has no quote in it, and neither has what stands between it and the value.
  const std::size_t key_end = object.rfind('"', begin);
  std::size_t from = object.rfind('"', key_end - 1);
  std::size_t to = begin + value.size();
  const std::size_t next = object.find_first_not_of(" \t\r\n", to);
  if (object[next] == ',') {
    to = next + 1;
  } else {
    from = object.rfind(',', from);
  }
  replace(object.substr(from, to - from), {});
}

std::string Edits::apply() const {
  std::vector<Edit> sorted = edits_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  const std::string_view text = line_.text();
  std::string out;
  std::size_t at = 0;
  for (const Edit& edit : sorted) {
    out.append(text.substr(at, edit.begin - at)).append(edit.by);
    at = edit.end;
  }
  out.append(text.substr(at));
  return out;
}

Outgoing Edits::outgoing() const {
  if (edits_.empty()) return Outgoing::passed(line_);
  if (edits_.size() > 1) return Outgoing::own(apply());
  const Edit& edit = edits_.front();
  return Outgoing::spliced(line_, line_.text().substr(edit.begin, edit.end - edit.begin), edit.by);
}

}  // namespace sitter
