#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "core/base/text.hpp"
#include "setup/document.hpp"

namespace sitter::setup {
namespace {

/// No settings have keys of so many parts, and each part takes a frame of the stack.
constexpr std::ptrdiff_t kKeyPartsMax = 100;

bool is_bare_key(const std::string& key) {
  return !key.empty() &&
         key.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == key.npos;
}

std::string written_key(const std::string& key) {
  return is_bare_key(key) ? key : written_string(key);
}

/// The value on one line.
std::string written(const Json& value) {
  if (value.is_string()) return written_string(value.get<std::string>());
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, part] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += written_key(key) + " = ";
    text += written(part);
  }
  if (value.is_array()) return "[" + text + "]";
  return text.empty() ? "{}" : "{ " + text + " }";
}

class TomlDocument : public Document {
 public:
  TomlDocument(std::string text, std::string name)
      : Document(std::move(text)), name_(std::move(name)) {
    lines_.push_back(text_.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    for (std::size_t at = 0; (at = text_.find('\n', at)) != text_.npos;) lines_.push_back(++at);
    check_depth();
    try {
      table_ = toml::parse(std::string_view(text_));
    } catch (const toml::parse_error& error) {
      const auto& place = error.source().begin;
      throw Failure{
          fmt::format("{} is not valid TOML at line {}, column {}; correct it there first", name_,
                      place.line, place.column)};
    }
    *values_ = json_of(table_);
  }

  std::optional<Span> span(const Path& path) const override {
    const auto found = entry_at(path);
    if (!found) return std::nullopt;
    const auto* const table = found->node->as_table();
    if (table != nullptr && !table->is_inline()) return std::nullopt;
    return span_of(found->node->source());
  }

  std::string with(const Path& path, const Json& value, const std::string& after) const override {
    if (const auto place = span(path)) return spliced(*place, written(value));
    const Path outer(path.begin(), path.end() - 1);
    const auto container = entry_at(outer);
    if (!outer.empty() && !container) {
      Json object = Json::object();
      object[path.back()] = value;
      // A table of tables needs no header of its own.
      return value.is_object() ? with_table(path, value) : with(outer, object, "");
    }
    const toml::table& table = outer.empty() ? table_ : *container->node->as_table();
    if (table.is_inline()) return with_inline(table, path.back(), value, after);
    if (value.is_object() && !has_plain_members(table)) return with_table(path, value);
    return with_line(table, path, value, after);
  }

  std::string without(const Path& path) const override {
    const Entry removed = entry_at(path).value();
    const Entry outer = path.size() > 1 ? entry_at({path.begin(), path.end() - 1}).value()
                                        : Entry{nullptr, &table_};
    if (outer.node->as_table()->is_inline())
      return without_inline(*outer.node->as_table(), removed);
    std::vector<Span> lines;
    collect_lines(removed, lines);
    std::sort(lines.begin(), lines.end(),
              [](const Span& a, const Span& b) { return a.begin > b.begin; });
    std::string text = text_;
    for (const Span& line : lines) text.erase(line.begin, line.end - line.begin);
    return text;
  }

  std::optional<std::vector<Span>> elements(const Path& path) const override {
    const auto found = entry_at(path);
    const auto* const array = found ? found->node->as_array() : nullptr;
    if (array == nullptr) return std::nullopt;
    std::vector<Span> spans;
    for (const toml::node& element : *array) spans.push_back(span_of(element.source()));
    return spans;
  }

  std::vector<String> strings() const override {
    std::vector<String> all;
    collect_strings({}, table_, all);
    return all;
  }

 private:
  /// The parser limits values in values, but not the parts of a key.
  void check_depth() const {
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      const std::size_t begin = lines_[line];
      const std::size_t end = line + 1 < lines_.size() ? lines_[line + 1] : text_.size();
      const std::string_view key = std::string_view(text_).substr(begin, end - begin);
      const auto dots = std::count(
          key.begin(), key.begin() + as_offset(std::min(key.find('='), key.size())), '.');
      if (dots <= kKeyPartsMax) continue;
      throw Failure{fmt::format("{} has a key of {} parts in line {}; correct it there first",
                                name_, dots + 1, line + 1)};
    }
  }

  struct Entry {
    const toml::key* key = nullptr;
    const toml::node* node = nullptr;
  };

  static Json json_of(const toml::node& node) {
    if (const auto* const table = node.as_table()) {
      Json object = Json::object();
      for (const Entry& each : in_order(*table)) {
        object[std::string(each.key->str())] = json_of(*each.node);
      }
      return object;
    }
    if (const auto* const array = node.as_array()) {
      Json list = Json::array();
      for (const toml::node& element : *array) list.push_back(json_of(element));
      return list;
    }
    if (const auto* const text = node.as_string()) return text->get();
    if (const auto* const number = node.as_integer()) return number->get();
    if (const auto* const truth = node.as_boolean()) return truth->get();
    // Infinity, dates and times have no JSON. They are only compared, and are no strings.
    std::ostringstream shown;
    node.visit([&](const auto& value) { shown << value; });
    return Json::array({nullptr, shown.str()});
  }

  /// The members of a table in the order of the file.
  static std::vector<Entry> in_order(const toml::table& table) {
    std::vector<Entry> entries;
    for (const auto& [key, node] : table) entries.push_back({&key, &node});
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      const auto& left = a.key->source().begin;
      const auto& right = b.key->source().begin;
      return std::pair(left.line, left.column) < std::pair(right.line, right.column);
    });
    return entries;
  }

  std::optional<Entry> entry_at(const Path& path) const {
    Entry at{nullptr, &table_};
    for (const std::string& key : path) {
      const auto* const table = at.node->as_table();
      if (table == nullptr) return std::nullopt;
      const auto found = table->find(key);
      if (found == table->end()) return std::nullopt;
      at = {&found->first, &found->second};
    }
    return at;
  }

  /// The library counts lines and characters from 1.
  std::size_t offset(const toml::source_position& place) const {
    std::size_t at = lines_.at(place.line - 1);
    for (auto column = place.column; column > 1 && at < text_.size(); --column) {
      ++at;
      while (at < text_.size() && !begins_character(text_[at])) ++at;
    }
    return at;
  }

  Span span_of(const toml::source_region& region) const {
    return {offset(region.begin), offset(region.end)};
  }

  std::size_t behind_line(std::size_t at) const {
    const std::size_t end = text_.find('\n', at);
    return end == text_.npos ? text_.size() : end + 1;
  }

  /// Whether a line in the table gives one of its members.
  static bool has_plain_members(const toml::table& table) {
    return std::any_of(table.begin(), table.end(), [](const auto& each) {
      const auto* const inner = each.second.as_table();
      return inner == nullptr || inner->is_inline();
    });
  }

  std::string with_inline(const toml::table& table, const std::string& key, const Json& value,
                          const std::string& after) const {
    const std::string member = written_key(key) + " = " + written(value);
    const auto members = in_order(table);
    if (members.empty()) return spliced(span_of(table.source()), "{ " + member + " }");
    const auto found = table.find(after);
    const toml::node& neighbour = found == table.end() ? *members.back().node : found->second;
    const std::size_t place = span_of(neighbour.source()).end;
    return spliced({place, place}, ", " + member);
  }

  /// A line of its own behind the line of a neighbour, with the same indent and dotted prefix.
  std::string with_line(const toml::table& table, const Path& path, const Json& value,
                        const std::string& after) const {
    const std::string member = written_key(path.back()) + " = " + written(value) + line_end();
    const toml::node* neighbour = nullptr;
    const toml::key* key = nullptr;
    for (const Entry& each : in_order(table)) {
      const auto* const inner = each.node->as_table();
      if (inner != nullptr && !inner->is_inline()) continue;
      key = each.key;
      neighbour = each.node;
      if (each.key->str() == after) break;
    }
    if (neighbour == nullptr) {
      const std::size_t place = behind_line(span_of(table.source()).begin);
      return spliced({place, place}, (text_[place - 1] == '\n' ? "" : line_end()) + member);
    }
    const std::size_t begin = offset(key->source().begin);
    const std::string prefix = text_.substr(line_begin(begin), begin - line_begin(begin));
    const std::size_t place = behind_line(span_of(neighbour->source()).end);
    return spliced({place, place}, (text_[place - 1] == '\n' ? "" : line_end()) + prefix + member);
  }

  /// A table with a header at the end of the text.
  std::string with_table(const Path& path, const Json& value) const {
    std::string text = text_;
    if (!text.empty() && !text.ends_with('\n')) text += line_end();
    if (!text.empty()) text += line_end();
    std::string header;
    for (const std::string& key : path) header += (header.empty() ? "" : ".") + written_key(key);
    text += "[" + header + "]" + line_end();
    for (const auto& [key, member] : value.items()) {
      text += written_key(key) + " = " + written(member) + line_end();
    }
    return text;
  }

  std::string without_inline(const toml::table& table, const Entry& removed) const {
    const auto members = in_order(table);
    const auto at = std::find_if(members.begin(), members.end(),
                                 [&](const Entry& each) { return each.node == removed.node; });
    Span place{offset(removed.key->source().begin), span_of(removed.node->source()).end};
    if (at != members.begin()) {
      place.begin = span_of(std::prev(at)->node->source()).end;
    } else if (std::next(at) != members.end()) {
      place.end = offset(std::next(at)->key->source().begin);
    }
    return spliced(place, "");
  }

  /// Adds the lines of the value, or all lines and headers of a table.
  void collect_lines(const Entry& entry, std::vector<Span>& lines) const {
    const std::size_t key_end = offset(entry.key->source().end);
    const auto* const table = entry.node->as_table();
    if (table == nullptr || table->is_inline()) {
      const std::size_t key = offset(entry.key->source().begin);
      lines.push_back({line_begin(key), behind_line(span_of(entry.node->source()).end)});
      return;
    }
    for (const Entry& each : in_order(*table)) collect_lines(each, lines);
    // The key may also stand in the header of a table inside, or in a dotted key.
    const std::size_t next = text_.find_first_not_of(" \t", key_end);
    const std::size_t begin = text_.find_first_not_of(" \t", line_begin(key_end));
    if (next == text_.npos || text_[next] != ']' || text_[begin] != '[') return;
    std::size_t line = line_begin(key_end);
    // One empty line before the header goes with it.
    if (line >= 2 && text_.compare(line - 2, 2, "\n\n") == 0) line -= 1;
    if (line >= 4 && text_.compare(line - 4, 4, "\r\n\r\n") == 0) line -= 2;
    lines.push_back({line, behind_line(key_end)});
  }

  void collect_strings(const Path& path, const toml::node& node, std::vector<String>& all) const {
    if (const auto* const table = node.as_table()) {
      for (const auto& [key, member] : *table) {
        collect_strings(path / std::string(key.str()), member, all);
      }
    } else if (const auto* const array = node.as_array()) {
      for (const toml::node& element : *array) collect_strings(path, element, all);
    } else if (node.is_string()) {
      all.push_back({path, span_of(node.source()), **node.as_string()});
    }
  }

  std::string name_;
  /// Where each line begins.
  std::vector<std::size_t> lines_;
  toml::table table_;
};

}  // namespace

std::unique_ptr<Document> read_toml(std::string text, const std::string& name) {
  return std::make_unique<TomlDocument>(std::move(text), name);
}

}  // namespace sitter::setup
