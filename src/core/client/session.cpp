#include "core/client/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/schema/protocol_schema.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/protocol.hpp"

namespace sitter {
namespace {

constexpr std::array<std::string_view, 5> kLegacyVersions = {
    "2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};

constexpr std::string_view kListChanged = R"json("listChanged":true)json";

/// Makes sure that the feature is declared with `listChanged: true`. A feature that the child lacks
/// is added only with `add`.
void declare_list_changed(std::string_view capabilities, std::string_view feature, bool add,
                          Edits& edits) {
  const std::string_view declared = member(capabilities, feature);
  if (!is_object(declared)) {
    if (!add) return;
    if (!declared.empty()) {
      edits.replace(declared, fmt::format("{{{}}}", kListChanged));
    } else {
      edits.append(capabilities, fmt::format(R"json("{}":{{{}}})json", feature, kListChanged));
    }
    return;
  }
  const std::string_view list_changed = member(declared, "listChanged");
  if (list_changed.empty()) {
    edits.append(declared, std::string(kListChanged));
  } else if (list_changed != "true") {
    edits.replace(list_changed, "true");
  }
}

}  // namespace

OpeningResult OpeningResult::of(std::string_view result) {
  const auto [version, info, capabilities, instructions] =
      members<4>(result, {"protocolVersion", "serverInfo", "capabilities", "instructions"});
  return {string_value(version), std::string(info), std::string(capabilities),
          string_value(instructions)};
}

OpeningResult OpeningResult::of_discovery(std::string_view result) {
  const auto [meta, capabilities, instructions] =
      members<3>(result, {"_meta", "capabilities", "instructions"});
  return {{},
          std::string(member(meta, kMetaServerInfo)),
          std::string(capabilities),
          string_value(instructions)};
}

bool OpeningResult::declares(std::string_view capability) const {
  return is_object(member(capabilities, capability));
}

bool OpeningResult::takes_subscriptions() const {
  return member(member(capabilities, "resources"), "subscribe") == "true";
}

std::vector<std::string> OpeningResult::capability_names() const {
  std::vector<std::string> names;
  for (const JsonMember& member : json_members(capabilities)) {
    // Some servers write null for a capability that they do not have.
    if (member.value.starts_with('{')) names.push_back(member.key);
  }
  return names;
}

std::string OpeningResult::server_name() const { return string_value(member(server_info, "name")); }

std::string OpeningResult::server_version() const {
  return string_value(member(server_info, "version"));
}

std::string Session::replayed_params() const {
  const OwnedLine owned{std::string_view(opening_params)};
  const std::string_view version = member(owned.text(), "protocolVersion");
  if (negotiated_version.empty() || version.empty()) return opening_params;
  Edits edits(owned.line());
  edits.replace(version, json_string(negotiated_version));
  return edits.apply();
}

bool Session::declares(std::string_view feature) const {
  return answered_by_us || is_object(member(capabilities, feature));
}

bool Session::subscribe(std::string_view raw_uri) {
  if (std::find(subscriptions.begin(), subscriptions.end(), raw_uri) != subscriptions.end()) {
    return true;
  }
  const std::size_t bytes =
      std::accumulate(subscriptions.begin(), subscriptions.end(), raw_uri.size(),
                      [](std::size_t sum, const std::string& uri) { return sum + uri.size(); });
  if (subscriptions.size() == limits::kSubscriptionsMax || bytes > limits::kSubscriptionBytesMax) {
    return false;
  }
  subscriptions.emplace_back(raw_uri);
  return true;
}

void Session::unsubscribe(std::string_view raw_uri) { std::erase(subscriptions, raw_uri); }

bool is_legacy_version(std::string_view version) {
  return std::find(kLegacyVersions.begin(), kLegacyVersions.end(), version) !=
         kLegacyVersions.end();
}

void amend_opening(std::string_view result, std::string_view instructions, bool leaves_out_nulls,
                   Edits& edits) {
  if (leaves_out_nulls) {
    WithoutNulls opening = opening_without_nulls(result);
    if (opening.kept && !opening.places.empty()) {
      const OwnedLine kept{std::move(*opening.kept)};
      Edits within(kept.line());
      amend_opening(kept.text(), instructions, false, within);
      return edits.replace(result, within.apply());
    }
  }
  const auto [capabilities, said] = members<2>(result, {"capabilities", "instructions"});
  if (is_object(capabilities)) {
    declare_list_changed(capabilities, "tools", true, edits);
    declare_list_changed(capabilities, "prompts", false, edits);
    declare_list_changed(capabilities, "resources", false, edits);
  } else {
    const std::string only_tools = fmt::format(R"json({{"tools":{{{}}}}})json", kListChanged);
    if (capabilities.empty()) {
      edits.append(result, fmt::format(R"json("capabilities":{})json", only_tools));
    } else {
      edits.replace(capabilities, only_tools);
    }
  }
  const std::string ours = json_string(instructions);
  if (said.size() >= 2 && said.front() == '"') {
    const std::string_view between = said.size() == 2 ? "" : "\\n\\n";
    edits.replace(said.substr(said.size() - 1, 0),
                  fmt::format("{}{}", between, std::string_view(ours).substr(1, ours.size() - 2)));
  } else if (said.empty()) {
    edits.append(result, fmt::format(R"json("instructions":{})json", ours));
  } else if (said == "null") {
    edits.replace(said, ours);
  }
}

std::string own_opening_result(std::string_view protocol_version, std::string_view sitter_version,
                               std::string_view instructions) {
  return fmt::format(
      R"json({{"protocolVersion":{},"capabilities":{{"tools":{{{}}},"prompts":{{{}}},)json"
      R"json("resources":{{{}}},"logging":{{}},"completions":{{}}}},)json"
      R"json("serverInfo":{{"name":"mcp-sitter","version":{}}},"instructions":{}}})json",
      json_string(protocol_version), kListChanged, kListChanged, kListChanged,
      json_string(sitter_version), json_string(instructions));
}

}  // namespace sitter
