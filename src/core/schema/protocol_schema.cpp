#include "core/schema/protocol_schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/schema/published.hpp"
#include "core/schema/schema_place.hpp"
#include "core/wire/json_view.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

using Step = JsonSchema::Path::value_type;
using Paths = std::vector<const JsonSchema::Path*>;

/// An opening of this size is checked within some ten milliseconds. Lists and results have smaller
/// bounds.
constexpr std::size_t kValueMax = limits::kMiB;

/// A session needs few of the definitions. To read all of them would take longer than the rest of
/// its start.
const JsonSchema& schema_of(Revision revision, std::string_view definition) {
  static std::map<std::pair<Revision, std::string>, JsonSchema> known;
  std::pair key{revision, std::string(definition)};
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known
      .try_emplace(std::move(key), definition_schema(revision, definition),
                   JsonSchema::Reading::of_clients)
      .first->second;
}

/// The value without the members at the ends of these paths, of which `depth` steps lead to it.
std::string without(std::string_view raw, const Paths& paths, std::size_t depth) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view value, const std::string& before, const auto& step) {
    Paths through;
    std::copy_if(paths.begin(), paths.end(), std::back_inserter(through),
                 [&](const JsonSchema::Path* path) { return (*path)[depth] == step; });
    const bool is_end = std::any_of(through.begin(), through.end(),
                                    [&](const auto* path) { return path->size() == depth + 1; });
    if (is_end) return;
    parts.push_back(before +
                    (through.empty() ? std::string(value) : without(value, through, depth + 1)));
  };
  if (is_array(raw)) {
    std::size_t index = 0;
    for (const std::string_view element : json_elements(raw)) add(element, "", Step(index++));
    return fmt::format("[{}]", fmt::join(parts, ","));
  }
  for (const JsonMember& one : json_members(raw)) {
    add(one.value, json_string(one.key) + ":", Step(one.key));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ","));
}

WithoutNulls checked_opening(std::string_view result) {
  return without_nulls(Revision::session, "InitializeResult", result);
}

}  // namespace

std::string definition_schema(Revision revision, std::string_view definition) {
  constexpr std::string_view kReference = "\"#/$defs/";
  const std::string_view published =
      revision == Revision::session ? kPublishedSession : kPublishedStateless;
  std::vector<std::string_view> names{definition};
  std::vector<std::string_view> lines;
  for (std::size_t next = 0; next < names.size(); ++next) {
    const std::size_t at = published.find(fmt::format("\n    \"{}\": ", names[next]));
    if (at == published.npos) continue;
    std::string_view line = json_trimmed(published.substr(at, published.find('\n', at + 1) - at));
    if (line.ends_with(',')) line.remove_suffix(1);
    lines.push_back(line);
    for (std::size_t begin = 0; (begin = line.find(kReference, begin)) != line.npos;) {
      begin += kReference.size();
      const std::string_view name = line.substr(begin, line.find('"', begin) - begin);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return fmt::format(R"json({{"$defs":{{{}}}}})json", fmt::join(lines, ","));
}

std::optional<JsonSchema::Violation> protocol_violation(Revision revision,
                                                        std::string_view definition,
                                                        std::string_view raw,
                                                        std::vector<JsonSchema::Path>* nulls) {
  if (raw.size() > kValueMax || is_nested_deeper(raw, limits::kNestingMax)) return std::nullopt;
  auto violation =
      schema_of(revision, definition).check(raw, fmt::format("#/$defs/{}", definition), nulls);
  if (violation && violation->is_unchecked) return std::nullopt;
  return violation;
}

std::string opening_defect(std::string_view result) {
  const WithoutNulls opening = checked_opening(result);
  for (const std::string& place : opening.places) {
    const std::size_t dot = place.find('.');
    if (dot != place.npos && place.substr(0, dot) == "capabilities" &&
        place.find('.', dot + 1) == place.npos) {
      return place + " is null";
    }
  }
  if (!opening.violation) return {};
  return fmt::format("{} {}", opening.violation->place.empty() ? "it" : opening.violation->place,
                     opening.violation->what);
}

WithoutNulls opening_without_nulls(std::string_view result) {
  return result.find("null") == result.npos ? WithoutNulls{} : checked_opening(result);
}

std::string without_members(std::string_view raw, std::span<const JsonSchema::Path> paths) {
  Paths all;
  for (const JsonSchema::Path& path : paths) all.push_back(&path);
  return all.empty() ? std::string(raw) : without(raw, all, 0);
}

WithoutNulls without_nulls(Revision revision, std::string_view definition, std::string_view raw) {
  std::vector<JsonSchema::Path> nulls;
  WithoutNulls found;
  found.violation = protocol_violation(revision, definition, raw, &nulls);
  for (const JsonSchema::Path& path : nulls) found.places.push_back(path_text(path));
  if (!found.violation) found.kept = without_members(raw, nulls);
  return found;
}

}  // namespace sitter
