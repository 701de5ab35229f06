#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "support/simulation_child.hpp"

/// What a child answers, and the progress that it shows before.
namespace sitter::sim {

using Kind = ChildSaid::Kind;
using Era = Character::Era;

void Child::answer() {
  const auto at =
      todo_.begin() + (character.keeps_order ? 0 : random_.below(static_cast<int>(todo_.size())));
  const Asked asked = *at;
  todo_.erase(at);
  if (!asked.token.empty() && random_.chance(character.shows_progress)) {
    for (int i = random_.between(1, 2); i > 0; --i) show_progress(asked);
  }
  for (int i = random_.chance(character.answers_twice) ? 2 : 1; i > 0; --i) {
    if (asked.is_of_unknown_version && is_stateless()) {
      error(asked, -32022);
    } else if (asked.is_listen) {
      act_on_listen(asked);
      return;
    } else if (asked.method == "initialize" && is_anew_) {
      act_on_opening(asked);
      return;
    } else if (character.misleads > 0 && asked.method == "tools/call" &&
               own_random_.chance(character.misleads)) {
      error(asked, -32603, "The cache is not initialized");
      said_.child.back().reads_as_unopened = true;
    } else if (asked.method == "initialize" && character.era == Era::modern) {
      error(asked, random_.pick(std::array{-32022, -32601, -32602}));
    } else if (asked.method == "initialize") {
      result(asked, fmt::format(R"json("protocolVersion":"{}","capabilities":{{"tools":{{}}}},)json"
                                R"json("serverInfo":{{"name":"sim","version":"2"}})json",
                                character.version));
    } else if (random_.chance(character.refuses) && may_refuse(asked)) {
      error(asked, random_.chance(50) ? -32602 : -32601);
    } else {
      result(asked, answer_to(asked));
    }
  }
  if (!asked.token.empty() && character.shows_late_progress > 0 &&
      random_.chance(character.shows_late_progress)) {
    show_progress(asked);
  }
}

/// A server whose errors read like those of an unopened one answers its lists. Otherwise nobody
/// outside could tell it from a server that was started anew.
bool Child::may_refuse(const Asked& asked) const {
  return character.misleads == 0 || asked.mark != 0;
}

/// The members of a result, without braces.
std::string Child::answer_to(const Asked& asked) {
  if (!asked.has_envelope || !is_stateless()) return answer_to_call(asked);
  if (asked.method == "server/discover") {
    return fmt::format(R"json("resultType":"complete","supportedVersions":["2026-07-28"],)json"
                       R"json("ttlMs":60000,"cacheScope":"public","capabilities":{{{}}}{})json",
                       capabilities(),
                       random_.chance(50) ? R"json(,"instructions":"Be nice.")json" : "");
  }
  const bool is_call = asked.method == "tools/call";
  std::string_view type = "complete";
  if (is_call && random_.chance(character.is_incomplete)) {
    type = random_.chance(50) ? "input_required" : "task";
  }
  return fmt::format(R"json("resultType":"{}",{}{})json", type,
                     is_list(asked.method) || asked.method == "resources/read"
                         ? R"json("ttlMs":60000,"cacheScope":"public",)json"
                         : "",
                     answer_to_call(asked));
}

/// The members that a result has in every revision.
std::string Child::answer_to_call(const Asked& asked) {
  if (asked.method == "tools/list") return page_of("tools", tool_items(), asked.cursor);
  if (asked.method == "prompts/list") return page_of("prompts", {R"json({"name":"p"})json"}, "");
  if (asked.method == "resources/list") {
    return page_of("resources", {R"json({"uri":"file:///a","name":"a"})json"}, "");
  }
  if (asked.method == "prompts/get") return R"json("messages":[])json";
  if (asked.method == "resources/read") return R"json("contents":[ ])json";
  if (asked.method != "tools/call") return R"json("x":1.0)json";
  if (asked.wants_task) return R"json("task":{"taskId":"7"},"content":[])json";
  if (random_.chance(4)) return R"json("nothing":true)json";
  const std::string_view content =
      random_.chance(80) ? R"json([{"type":"text","text":"1e2 \u00fc"}])json" : "[ ]";
  return fmt::format(R"json("content":{}{}{})json", content,
                     random_.chance(character.has_structure)
                         ? R"json(,"structuredContent":{"n":12345678901234567890})json"
                         : "",
                     random_.chance(10) ? R"json(,"isError":true)json" : "");
}

std::vector<std::string> Child::tool_items() const {
  std::vector<std::string> items = {
      fmt::format(R"json({{"name":"echo","inputSchema":{{"type":"object"}}{}}})json",
                  (character.tools & 4) != 0 ? R"json(,"outputSchema":{"type":"object"})json" : ""),
      fmt::format(
          R"json({{"name":"add","inputSchema":{{"type":"object","properties":{{"x":{{"type":"{}"}}}}}}}})json",
          (character.tools & 2) != 0 ? "integer" : "string")};
  if ((character.tools & 1) != 0) items.push_back(R"json({"name":"extra","inputSchema":{}})json");
  if (character.has_outer_tools) {
    items.push_back(R"json({"name":"sitter_status","inputSchema":{}})json");
    if ((character.tools & 1) != 0) {
      items.push_back(R"json({"name":"outer_sitter_status","inputSchema":{}})json");
    }
  }
  return items;
}

/// The cursor of a page is its number. Each later page holds one item, and the first page holds all
/// other items.
std::string Child::page_of(std::string_view key, const std::vector<std::string>& items,
                           const std::string& cursor) const {
  const int page = cursor.empty() ? 0 : std::max(0, std::atoi(cursor.c_str() + 1));
  const int item_count = static_cast<int>(items.size());
  const int last = std::min(character.page_count, item_count) - 1;
  const int first_count = item_count - last;
  std::string list;
  if (page == 0) {
    list = fmt::format("{}", fmt::join(items.begin(), items.begin() + first_count, ","));
  } else if (page <= last) {
    list = items[static_cast<std::size_t>(first_count + page - 1)];
  }
  std::string next;
  if (character.pages_in_a_circle) {
    next = R"json(,"nextCursor":"0")json";
  } else if (page < last) {
    next = fmt::format(R"json(,"nextCursor":"{}")json", page + 1);
  }
  return fmt::format(R"json("{}":[{}]{})json", key, list, next);
}

void Child::result(const Asked& asked, std::string_view members) {
  ChildSaid& said = add(asked.is_listen ? Kind::stream_end : Kind::result);
  said.mark = asked.mark;
  said.is_answer = true;
  said.id = respelled(asked.id);
  said.is_unreadable = random_.chance(character.answers_unreadably);
  const bool has_type = members.find("\"resultType\":") != members.npos;
  const bool is_complete = members.find("\"resultType\":\"complete\"") != members.npos;
  said.has_result_type = has_type;
  const auto has = [&](std::string_view key) { return members.find(key) != members.npos; };
  said.has_content = (has("\"content\":[") || has("\"messages\":[") || has("\"contents\":[")) &&
                     !asked.wants_task && (!has_type || is_complete);
  said.is_discovery = members.find("\"supportedVersions\":[") != members.npos;
  said.has_structure = members.find("\"structuredContent\"") != members.npos;
  said.is_error = members.find("\"isError\":true") != members.npos;
  said.has_tools = members.find("\"tools\":[") != members.npos;
  constexpr const char* kBad[] = {",\"bad\":\"\xff\"", ",\"bad\":NaN", ",\"_meta\":null"};
  const std::string body = fmt::format(
      R"json({{"sim":{},{}{}}})json", said.number, members,
      said.is_unreadable ? kBad[random_.below(asked.is_listen ? 1 : std::size(kBad))] : "");
  switch (random_.below(3)) {
    case 0:
      said.before = R"json({"jsonrpc":"2.0","id":)json";
      said.after = fmt::format(R"json(,"result":{}}})json", body);
      break;
    case 1:
      said.before = fmt::format(R"json({{"result":{},"jsonrpc":"2.0","id":)json", body);
      said.after = "}";
      break;
    default:
      said.before = R"json({ "jsonrpc" : "2.0", "id" : )json";
      said.after = fmt::format(R"json( , "result" : {} }})json", body);
  }
  write(said);
}

void Child::error(const Asked& asked, int code, std::string_view words) {
  ChildSaid& said = add(asked.is_listen ? Kind::stream_end : Kind::error);
  said.mark = asked.mark;
  said.is_answer = said.is_refusal = true;
  said.id = respelled(asked.id);
  said.is_method_not_found = code == -32601;
  said.reads_as_unopened = code == -32600;
  said.has_content = (asked.method == "tools/call" && !asked.wants_task) ||
                     asked.method == "prompts/get" || asked.method == "resources/read";
  said.before = R"json({"jsonrpc":"2.0","id":)json";
  said.after = fmt::format(R"json(,"error":{{"code":{},"message":"{}","data":{{"sim":{}}}}}}})json",
                           code, words, said.number);
  write(said);
}

void Child::show_progress(const Asked& asked) {
  ChildSaid& said = add(Kind::progress);
  said.mark = asked.mark;
  said.before = fmt::format(
      R"json({{"jsonrpc":"2.0","method":"notifications/progress","params":{{"sim":{},"progressToken":)json",
      said.number);
  said.token = asked.token;
  said.after = R"json(,"progress":1}})json";
  write(said);
}

}  // namespace sitter::sim
