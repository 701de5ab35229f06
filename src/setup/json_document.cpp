#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/json_text.hpp"
#include "setup/document.hpp"

namespace sitter::setup {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::size_t behind_string(std::string_view text, std::size_t at) {
  return std::min(behind_json_string(text, at), text.size());
}

/// The end of the comment that begins here. A comment that does not end takes the rest.
std::size_t behind_comment(std::string_view text, std::size_t at) {
  if (text[at + 1] == '/') return std::min(text.find('\n', at), text.size());
  const std::size_t end = text.find("*/", at + 2);
  return end == text.npos ? text.size() : end + 2;
}

/// Which values take a line for each of their parts.
enum class Layout { one_line, objects, all };

struct Style {
  Layout layout = Layout::one_line;
  std::string unit;
  std::string line_end;
};

std::string written(const Json& value, const Style& style, const std::string& indent) {
  if (!value.is_structured() || value.empty()) return value.dump();
  const bool is_spread =
      style.layout == Layout::all || (style.layout == Layout::objects && value.is_object());
  const std::string inner = is_spread ? style.line_end + indent + style.unit : "";
  std::string text;
  for (const auto& [key, part] : value.items()) {
    if (!text.empty()) text += is_spread ? "," : ", ";
    text += inner;
    if (value.is_object()) text += Json(key).dump() + ": ";
    text += written(part, style, indent + style.unit);
  }
  if (is_spread) text += style.line_end + indent;
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

class JsonDocument : public Document {
 public:
  JsonDocument(std::string text, const std::string& name)
      : Document(std::move(text)), name_(name), bare_(without_comments(text_)), plain_(bare_) {
    blank_trailing_commas(plain_);
    // An empty file is what a client makes before it writes its settings.
    if (json_trimmed(plain_).empty()) {
      *values_ = Json::object();
      return;
    }
    if (is_nested_deeper(plain_, limits::kNestingMax)) {
      throw Failure{fmt::format("{} is nested too deeply to be edited; edit it by hand", name_)};
    }
    try {
      *values_ = Json::parse(plain_);
    } catch (const Json::parse_error& error) {
      refuse(error.byte == 0 ? 0 : error.byte - 1);
    } catch (const Json::out_of_range&) {
      throw Failure{
          fmt::format("{} has a number that is too large; correct it there first", name_)};
    }
    if (!values_->is_object()) {
      throw Failure{
          fmt::format("{} holds no JSON object, so it has no servers; correct it by hand", name_)};
    }
  }

  std::optional<Span> span(const Path& path) const override {
    const auto found = member_at(path);
    if (!found) return std::nullopt;
    return found->value;
  }

  std::string with(const Path& path, const Json& value, const std::string& after) const override {
    if (json_trimmed(plain_).empty()) {
      return written(nested(path, 0, value), {Layout::objects, "  ", line_end()}, "") + line_end();
    }
    if (const auto found = member_at(path)) {
      const bool is_spread = text_.find('\n', found->value.begin) < found->value.end;
      const Style style{is_spread ? Layout::all : Layout::one_line, unit(), line_end()};
      return spliced(found->value, written(value, style, indent(found->value.begin)));
    }
    std::size_t known = path.size() - 1;
    while (known > 0 && !member_at({path.begin(), path.begin() + as_offset(known)})) --known;
    const Span container = container_at({path.begin(), path.begin() + as_offset(known)});
    if (plain_[container.begin] != '{') {
      const Style style{Layout::objects, unit(), line_end()};
      return spliced(container,
                     written(nested(path, known, value), style, indent(container.begin)));
    }
    return added(container, path[known], nested(path, known + 1, value), after);
  }

  std::string without(const Path& path) const override {
    const Member removed = member_at(path).value();
    const Span container = container_at({path.begin(), path.end() - 1});
    Span place{removed.key, removed.value.end};
    const std::size_t next = bare_.find_first_not_of(" \t\r\n", place.end);
    if (bare_[next] == ',') {
      place.end = next + 1;
      const std::size_t line = text_.find_first_not_of(" \t", place.end);
      const bool ends_line = line != text_.npos && (text_[line] == '\r' || text_[line] == '\n');
      if (begins_line(place.begin) && ends_line) {
        return spliced({line_begin(place.begin), text_.find('\n', line) + 1}, "");
      }
      place.end = std::min(line, text_.size());
      return spliced(place, "");
    }
    // The last member goes with the comma before it, but a comment between both stays.
    const std::size_t before = bare_.find_last_not_of(" \t\r\n", place.begin - 1);
    const std::size_t blank = text_.find_last_not_of(" \t\r\n", place.begin - 1);
    if (before == container.begin) {
      if (blank == before && bare_[next] == '}') {
        return spliced({container.begin + 1, container.end - 1}, "");
      }
      return spliced({blank + 1, place.end}, "");
    }
    const std::string rest = spliced({blank + 1, place.end}, "");
    return rest.substr(0, before) + rest.substr(before + 1);
  }

  std::optional<std::vector<Span>> elements(const Path& path) const override {
    const auto found = member_at(path);
    if (!found || plain_[found->value.begin] != '[') return std::nullopt;
    std::vector<Span> spans;
    for (const std::string_view element : json_elements(part(found->value))) {
      spans.push_back(span_of(element));
    }
    return spans;
  }

  std::vector<String> strings() const override {
    std::vector<String> all;
    if (!json_trimmed(plain_).empty()) collect({}, top(), all);
    return all;
  }

 private:
  struct Member {
    std::string name;
    std::size_t key = 0;
    Span value;
  };

  [[noreturn]] void refuse(std::size_t at) const {
    const std::size_t end = std::min(at, text_.size());
    const auto line = 1 + std::count(text_.begin(), text_.begin() + as_offset(end), '\n');
    throw Failure{fmt::format("{} is not valid JSON at line {}, column {}; correct it there first",
                              name_, line, end - line_begin(end) + 1)};
  }

  /// The path from `from` on as objects around the value.
  static Json nested(const Path& path, std::size_t from, Json value) {
    for (std::size_t i = path.size(); i > from; --i) {
      Json outer = Json::object();
      outer[path[i - 1]] = std::move(value);
      value = std::move(outer);
    }
    return value;
  }

  Span span_of(std::string_view part) const {
    const auto begin = static_cast<std::size_t>(part.data() - plain_.data());
    return {begin, begin + part.size()};
  }

  std::string_view part(Span span) const {
    return std::string_view(plain_).substr(span.begin, span.end - span.begin);
  }

  Span top() const { return span_of(json_trimmed(plain_)); }

  /// Where the key is written whose value begins here.
  std::size_t key_of(std::size_t value) const {
    const std::size_t colon = plain_.find_last_not_of(" \t\r\n", value - 1);
    const std::size_t end = plain_.find_last_not_of(" \t\r\n", colon - 1);
    std::size_t begin = end;
    while (true) {
      begin = plain_.rfind('"', begin - 1);
      const std::size_t escape = plain_.find_last_not_of('\\', begin - 1);
      if ((begin - escape) % 2 == 1) return begin;
    }
  }

  std::vector<Member> members_of(Span object) const {
    std::vector<Member> members;
    for (const JsonMember& each : json_members(part(object))) {
      const Span value = span_of(each.value);
      members.push_back({each.key, key_of(value.begin), value});
    }
    return members;
  }

  /// Of a key that is written twice, the last one counts for the clients too.
  std::optional<Member> member_at(const Path& path) const {
    if (path.empty() || json_trimmed(plain_).empty()) return std::nullopt;
    Span object = top();
    std::optional<Member> found;
    for (const std::string& key : path) {
      const auto members = members_of(object);
      const auto last = std::find_if(members.rbegin(), members.rend(),
                                     [&](const Member& each) { return each.name == key; });
      if (last == members.rend()) return std::nullopt;
      found = *last;
      object = last->value;
    }
    return found;
  }

  Span container_at(const Path& path) const {
    const auto found = member_at(path);
    return found ? found->value : top();
  }

  bool begins_line(std::size_t at) const {
    return text_.find_first_not_of(" \t", line_begin(at)) == at;
  }

  /// One step of the indent.
  std::string unit() const {
    for (const Member& member : members_of(top())) {
      const std::string step = indent(member.key);
      if (begins_line(member.key) && !step.empty()) return step;
    }
    return "  ";
  }

  std::string added(Span container, const std::string& key, const Json& value,
                    const std::string& after) const {
    const auto members = members_of(container);
    const std::string name = Json(key).dump() + ": ";
    if (members.empty()) {
      const bool is_spread = text_.find('\n') < top().end || members_of(top()).empty();
      const Style style{is_spread ? Layout::objects : Layout::one_line, unit(), line_end()};
      const std::string outer = indent(container.begin);
      const std::string inner = is_spread ? style.line_end + outer + style.unit : "";
      const std::string member = inner + name + written(value, style, outer + style.unit);
      const Span inside{container.begin + 1, container.end - 1};
      // A comment inside stays, and so do the blanks around it.
      if (text_.find_first_not_of(" \t\r\n", inside.begin) < inside.end) {
        return spliced({inside.begin, inside.begin}, member);
      }
      return spliced(inside, member + (is_spread ? style.line_end + outer : ""));
    }
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const Member& each) { return each.name == after; });
    const Member& neighbour = found == members.end() ? members.back() : *found;
    const bool has_own_line = begins_line(neighbour.key);
    const Style style{has_own_line ? Layout::objects : Layout::one_line, unit(), line_end()};
    const std::string indented = indent(neighbour.key);
    const std::string member = name + written(value, style, indented);
    const std::size_t place = neighbour.value.end;
    return spliced({place, place},
                   (has_own_line ? "," + style.line_end + indented : ", ") + member);
  }

  void collect(const Path& path, Span value, std::vector<String>& all) const {
    if (plain_[value.begin] == '"') {
      all.push_back({path, value, Json::parse(part(value)).get<std::string>()});
    } else if (plain_[value.begin] == '{') {
      for (const Member& member : members_of(value)) collect(path / member.name, member.value, all);
    } else if (plain_[value.begin] == '[') {
      for (const std::string_view element : json_elements(part(value))) {
        collect(path, span_of(element), all);
      }
    }
  }

  std::string name_;
  /// The text without comments, and also without trailing commas.
  std::string bare_, plain_;
};

}  // namespace

std::unique_ptr<Document> read_json(std::string text, const std::string& name) {
  return std::make_unique<JsonDocument>(std::move(text), name);
}

std::string without_comments(std::string_view text) {
  std::string blank(text);
  std::size_t at = 0;
  const auto blank_until = [&](std::size_t end) {
    for (; at < end; ++at) {
      if (blank[at] != '\n' && blank[at] != '\r') blank[at] = ' ';
    }
  };
  if (text.starts_with(kByteOrderMark)) blank_until(kByteOrderMark.size());
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    if (rest.front() == '"') {
      at = behind_string(text, at);
    } else if (rest.starts_with("//") || rest.starts_with("/*")) {
      blank_until(behind_comment(text, at));
    } else {
      ++at;
    }
  }
  return blank;
}

void blank_trailing_commas(std::string& text) {
  std::size_t at = 0;
  // A comma counts as trailing only behind a value: `[,]` stays broken.
  bool follows_value = false;
  while (at < text.size()) {
    if (text[at] == '"') {
      at = behind_string(text, at);
      follows_value = true;
      continue;
    }
    if (text[at] == ',' && follows_value) {
      const std::size_t next = text.find_first_not_of(" \t\r\n", at + 1);
      if (next != text.npos && (text[next] == '}' || text[next] == ']')) text[at] = ' ';
    }
    if (!is_json_space(text[at])) {
      follows_value = text[at] != ',' && text[at] != '[' && text[at] != '{' && text[at] != ':';
    }
    ++at;
  }
}

}  // namespace sitter::setup
