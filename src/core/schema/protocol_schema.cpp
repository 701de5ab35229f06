#include "core/schema/protocol_schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/schema/published.hpp"

namespace sitter {
namespace {

using Step = JsonSchema::Step;

/// No definition has as many optional members. Each costs a check of the whole value.
constexpr std::size_t kNullsMax = 64;

const JsonSchema& schema_of(Revision revision) {
  static const JsonSchema session{kPublishedSession, JsonSchema::Reading::of_clients};
  static const JsonSchema stateless{kPublishedStateless, JsonSchema::Reading::of_clients};
  return revision == Revision::session ? session : stateless;
}

/// The raw value at the end of the way; empty if there is none.
std::string_view value_at(std::string_view raw, std::span<const Step> way) {
  for (const Step& step : way) {
    if (const auto* const key = std::get_if<std::string>(&step)) {
      std::string_view found;
      for (const JsonMember& member : json_members(raw)) {
        if (member.key == *key) found = member.value;
      }
      raw = found;
    } else {
      const auto elements = json_elements(raw);
      const std::size_t index = std::get<std::size_t>(step);
      raw = index < elements.size() ? elements[index] : std::string_view();
    }
  }
  return raw;
}

/// The value without the member at the end of the way, which begins at `raw`.
std::string without_member(std::string_view raw, std::span<const Step> way) {
  std::vector<std::string> parts;
  const auto* const key = std::get_if<std::string>(&way.front());
  if (key == nullptr) {
    for (const std::string_view element : json_elements(raw)) {
      const bool is_on_way = parts.size() == std::get<std::size_t>(way.front());
      parts.push_back(is_on_way ? without_member(element, way.subspan(1)) : std::string(element));
    }
    return fmt::format("[{}]", fmt::join(parts, ","));
  }
  for (const JsonMember& member : json_members(raw)) {
    const bool is_on_way = member.key == *key;
    if (is_on_way && way.size() == 1) continue;
    parts.push_back(
        json_string(member.key) + ":" +
        (is_on_way ? without_member(member.value, way.subspan(1)) : std::string(member.value)));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ","));
}

}  // namespace

std::optional<JsonSchema::Violation> protocol_violation(Revision revision,
                                                        std::string_view definition,
                                                        std::string_view raw) {
  if (is_nested_deeper(raw, limits::kNestingMax)) return std::nullopt;
  auto violation = schema_of(revision).check(raw, fmt::format("#/$defs/{}", definition));
  if (violation && violation->is_unchecked) return std::nullopt;
  return violation;
}

std::string opening_defect(std::string_view result) {
  const WithoutNulls opening = without_nulls(Revision::session, "InitializeResult", result);
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

std::string without_member(std::string_view object, const std::string& key) {
  const std::vector<Step> way{key};
  return without_member(object, way);
}

WithoutNulls without_nulls(Revision revision, std::string_view definition, std::string_view raw) {
  WithoutNulls found{std::string(raw), {}, {}};
  for (;;) {
    found.violation = protocol_violation(revision, definition, *found.kept);
    if (!found.violation) return found;
    const auto& way = found.violation->path;
    const bool is_null = !way.empty() && std::holds_alternative<std::string>(way.back()) &&
                         value_at(*found.kept, way) == "null";
    if (!is_null || found.places.size() == kNullsMax) break;
    found.kept = without_member(*found.kept, way);
    found.places.push_back(found.violation->place);
  }
  found.kept.reset();
  return found;
}

}  // namespace sitter
