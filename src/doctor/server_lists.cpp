#include "doctor/server_lists.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "core/wire/protocol.hpp"
#include "doctor/doctor_words.hpp"
#include "probe/json_words.hpp"

namespace sitter {
namespace {

using Json = DoctorSession::Json;

/// Official clients wait longer for a list (60 s), but some count the list to the start.
constexpr Milliseconds kListWait{10'000};

/// As many pages as the bridge itself reads.
constexpr int kPagesMax = 1000;

bool is_of_bridge(const std::string& name) { return name.starts_with(doctor_tool("")); }

/// Why the tool is not called; empty if it may be.
std::string reason_against_call(const Json& tool) {
  if (!is_true(member(tool, "annotations"), "readOnlyHint")) return "not marked read-only";
  const Json required = member(member(tool, "inputSchema"), "required");
  return required.is_array() && !required.empty() ? "needs arguments" : "";
}

struct Page {
  Json items;
  std::string cursor;
};

/// Notes in `list` why the page is missing.
Page page_of(DoctorSession& session, const char* items, const std::string& cursor,
             DoctorFacts::List& list) {
  Json params = Json::object();
  if (!cursor.empty()) params["cursor"] = cursor;
  const auto answer = session.ask(list.method, std::move(params), kListWait);
  const Json result = answer ? member(*answer, "result") : Json();
  Json found = member(result, items);
  if (found.is_array()) return {std::move(found), text_in(result, "nextCursor")};
  const Json error = answer ? member(*answer, "error") : Json();
  list.is_unknown = number_in(error, "code") == static_cast<int>(ErrorCode::method_not_found);
  list.error = answer ? text_in(error, "message")
                      : fmt::format("no answer within {}s", kListWait.count() / 1000);
  if (list.error.empty()) list.error = fmt::format("the result has no list '{}'", items);
  return {};
}

/// Calls `take` for each item of all pages.
template <class Take>
DoctorFacts::List read_list(DoctorSession& session, std::string method, const char* items,
                            const Take& take) {
  DoctorFacts::List list{.method = std::move(method)};
  std::string cursor;
  for (int page = 0; page < kPagesMax; ++page) {
    Page read = page_of(session, items, cursor, list);
    for (const Json& item : read.items) {
      if (take(item)) ++list.count;
    }
    cursor = std::move(read.cursor);
    if (cursor.empty()) return list;
  }
  list.error = fmt::format("more than {} pages", kPagesMax);
  return list;
}

}  // namespace

void read_lists(DoctorSession& session, const Json& capabilities, DoctorFacts& facts) {
  facts.lists.push_back(read_list(session, "tools/list", "tools", [&](const Json& tool) {
    std::string name = text_in(tool, "name");
    if (is_of_bridge(name)) return false;
    const std::size_t bytes = tool.dump(-1, ' ', false, Json::error_handler_t::replace).size();
    facts.tools.push_back({std::move(name), bytes, reason_against_call(tool)});
    return true;
  }));
  const auto count = [](const Json&) { return true; };
  if (capabilities.contains("prompts")) {
    facts.lists.push_back(read_list(session, "prompts/list", "prompts", count));
  }
  if (capabilities.contains("resources")) {
    facts.lists.push_back(read_list(session, "resources/list", "resources", count));
    facts.lists.push_back(
        read_list(session, "resources/templates/list", "resourceTemplates", count));
  }
}

std::vector<std::string> shown_capabilities(const Json& capabilities, bool has_tools) {
  std::vector<std::string> shown;
  if (!capabilities.is_object()) return shown;
  for (const auto& [name, value] : capabilities.items()) {
    if (name == "tools" && !has_tools) continue;
    shown.push_back(is_true(value, "subscribe") ? name + " (subscribe)" : name);
  }
  return shown;
}

}  // namespace sitter
