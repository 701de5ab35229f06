#include "doctor/server_lists.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "probe/json_words.hpp"

namespace sitter {
namespace {

using Json = DoctorSession::Json;

/// Official clients wait longer for a list (60 s), but some count the list to the start.
constexpr Milliseconds kListWait{10'000};

/// As many pages as the bridge itself reads.
constexpr int kPagesMax = 1000;

bool is_of_bridge(const std::string& name) { return name.starts_with(doctor_tool("")); }

struct Page {
  Json items;
  std::string cursor;
  std::string error;
};

Page page_of(DoctorSession& session, const DoctorFacts::List& list, const char* items,
             const std::string& cursor) {
  Json params = Json::object();
  if (!cursor.empty()) params["cursor"] = cursor;
  const auto answer = session.ask(list.method, std::move(params), kListWait);
  if (!answer) return {{}, {}, fmt::format("no answer within {}s", kListWait.count() / 1000)};
  const Json result = member(*answer, "result");
  Json found = member(result, items);
  if (found.is_array()) return {std::move(found), text_in(result, "nextCursor"), {}};
  const std::string error = text_in(member(*answer, "error"), "message");
  return {{}, {}, error.empty() ? fmt::format("the result has no list '{}'", items) : error};
}

/// Calls `take` for each item of all pages.
template <class Take>
DoctorFacts::List read_list(DoctorSession& session, std::string method, const char* items,
                            const Take& take) {
  DoctorFacts::List list{std::move(method), 0, {}};
  std::string cursor;
  for (int page = 0; page < kPagesMax; ++page) {
    Page read = page_of(session, list, items, cursor);
    list.error = std::move(read.error);
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

ServerLists list_all(DoctorSession& session, const Json& capabilities) {
  ServerLists result;
  result.lists.push_back(read_list(session, "tools/list", "tools", [&](const Json& tool) {
    std::string name = text_in(tool, "name");
    if (is_of_bridge(name)) return false;
    const std::size_t bytes = tool.dump(-1, ' ', false, Json::error_handler_t::replace).size();
    result.tools.push_back({std::move(name), bytes});
    return true;
  }));
  const auto count = [](const Json&) { return true; };
  if (capabilities.contains("prompts")) {
    result.lists.push_back(read_list(session, "prompts/list", "prompts", count));
  }
  if (capabilities.contains("resources")) {
    result.lists.push_back(read_list(session, "resources/list", "resources", count));
    result.lists.push_back(
        read_list(session, "resources/templates/list", "resourceTemplates", count));
  }
  return result;
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
