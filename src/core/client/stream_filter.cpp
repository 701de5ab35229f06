#include "core/client/stream_filter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/wire/json_view.hpp"

namespace sitter {
namespace {

constexpr std::array<std::string_view, kCatalogKinds.size()> kListMembers = {
    "toolsListChanged", "promptsListChanged", "resourcesListChanged"};

constexpr std::string_view kUris = "resourceSubscriptions";

bool has_element(std::string_view array, std::string_view wanted) {
  const auto elements = json_elements(array);
  return std::any_of(elements.begin(), elements.end(),
                     [&](std::string_view element) { return json_same(element, wanted); });
}

/// Compares two members with the same name.
bool covers_value(std::string_view ours, std::string_view other) {
  if (!is_array(ours) || !is_array(other)) return json_same(ours, other);
  const auto elements = json_elements(other);
  return std::all_of(elements.begin(), elements.end(),
                     [&](std::string_view element) { return has_element(ours, element); });
}

}  // namespace

std::optional<StreamFilter> StreamFilter::of(std::string_view raw) {
  if (!is_object(raw)) return std::nullopt;
  StreamFilter filter;
  const auto lists = members<3>(raw, kListMembers);
  for (std::size_t i = 0; i < lists.size(); ++i) filter.lists[i] = lists[i] == "true";
  for (const std::string_view uri : json_elements(member(raw, kUris))) {
    if (uri.starts_with('"')) filter.uris.emplace_back(uri);
  }
  for (JsonMember& other : json_members(raw)) {
    const bool is_known = other.key == kUris || std::find(kListMembers.begin(), kListMembers.end(),
                                                          other.key) != kListMembers.end();
    if (!is_known) filter.others.emplace_back(std::move(other.key), other.value);
  }
  return filter;
}

bool StreamFilter::has_uri(std::string_view raw_uri) const {
  return std::any_of(uris.begin(), uris.end(), [&](const std::string& uri) {
    return uri == raw_uri || string_value(uri) == string_value(raw_uri);
  });
}

bool StreamFilter::covers(const StreamFilter& other) const {
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (other.lists[i] && !lists[i]) return false;
  }
  for (const auto& theirs : other.others) {
    const auto ours = std::find_if(others.begin(), others.end(),
                                   [&](const auto& entry) { return entry.first == theirs.first; });
    if (ours == others.end() || !covers_value(ours->second, theirs.second)) return false;
  }
  std::set<std::string> ours;
  for (const std::string& uri : uris) ours.insert(string_value(uri));
  return std::all_of(other.uris.begin(), other.uris.end(),
                     [&](const std::string& uri) { return ours.contains(string_value(uri)); });
}

std::string StreamFilter::text() const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (lists[i]) parts.push_back(fmt::format(R"json("{}":true)json", kListMembers[i]));
  }
  if (!uris.empty()) {
    parts.push_back(fmt::format(R"json("{}":[{}])json", kUris, fmt::join(uris, ",")));
  }
  for (const auto& [key, value] : others) {
    parts.push_back(fmt::format("{}:{}", json_string(key), value));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ","));
}

}  // namespace sitter
