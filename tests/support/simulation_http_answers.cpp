#include <fmt/format.h>

#include <string>
#include <vector>

#include "support/simulation_http_server.hpp"

/// What the daemon says about the requests that are under way.
namespace sitter::sim {

using nlohmann::json;

bool HttpServer::work() {
  std::vector<Work*> under_way;
  for (auto& [number, work] : works_) {
    if (!work.has_answer) under_way.push_back(&work);
  }
  if (under_way.empty()) return false;
  advance(*random_.pick(under_way));
  return true;
}

void HttpServer::advance(Work& work) {
  if (work.id.empty() || work.is_listen) {
    if (work.is_listen && work.events.empty()) {
      notify(work, "notifications/subscriptions/acknowledged",
             R"json(,"notifications":{"toolsListChanged":true})json");
    } else if (!is_behaving_ && random_.chance(10)) {
      notify(work, "notifications/tools/list_changed", "");
    } else if (!is_behaving_ && !work.is_listen && random_.chance(5)) {
      ask(work);
    }
    return;
  }
  if (is_behaving_ || work.is_json) {
    if (is_behaving_ || random_.chance(30)) answer(work);
    return;
  }
  switch (random_.weighted({30, work.token.empty() ? 0 : 15, scene_.is_stateless() ? 0 : 6, 10})) {
    case 0:
      answer(work);
      break;
    case 1:
      notify(work, "notifications/progress",
             fmt::format(R"json(,"progressToken":{},"progress":{})json", work.token,
                         work.events.size()));
      break;
    case 2:
      ask(work);
      break;
    default:
      notify(work, "notifications/message", R"json(,"level":"info","data":"x")json");
  }
}

void HttpServer::ask(Work& work) {
  const int number = ++said_.last_number;
  const std::string id = std::to_string(++last_question_);
  said_.questions[number] = {id, work.session, life_, false};
  work.events.push_back(fmt::format(
      R"json({{"jsonrpc":"2.0","id":{},"method":"elicitation/create","params":{{"message":"?","sim":{}}}}})json",
      id, number));
}

void HttpServer::notify(Work& work, std::string_view method, const std::string& members) {
  const std::string stream =
      work.is_listen
          ? fmt::format(R"json(,"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}})json",
                        work.id)
          : "";
  work.events.push_back(
      fmt::format(R"json({{"jsonrpc":"2.0","method":"{}","params":{{"sim":{}{}{}}}}})json", method,
                  ++said_.last_number, members, stream));
}

void HttpServer::answer(Work& work) {
  json line = {{"jsonrpc", "2.0"}, {"id", json::parse(work.id)}};
  if (work.mark != 0 && random_.chance(10)) {
    line["error"] = {{"code", -32602}, {"message", fmt::format("no {}", ++said_.last_number)}};
  } else {
    line["result"] = result_of(work);
  }
  if (work.mark != 0) {
    const char* const member = line.contains("error") ? "error" : "result";
    said_.requests.at(work.mark).answers.insert(line[member].dump());
  }
  work.events.push_back(line.dump());
  work.has_answer = true;
}

json HttpServer::result_of(const Work& work) {
  json result = json::object();
  if (scene_.is_stateless()) result["resultType"] = "complete";
  if (work.method == "tools/call") {
    result["content"] = {{{"type", "text"}, {"text", fmt::format("said {}", ++said_.last_number)}}};
  } else if (work.method == "tools/list") {
    result["tools"] = tools();
  } else if (work.method == "resources/list") {
    result["resources"] = json::array();
  } else if (work.method == "prompts/list") {
    result["prompts"] = json::array();
  } else if (work.method == "resources/read") {
    result["contents"] = {{{"uri", "a:b"}, {"text", fmt::format("{}", ++said_.last_number)}}};
  } else if (work.method == "server/discover") {
    result["supportedVersions"] = {kStatelessVersion};
    result["capabilities"] = {{"tools", {{"listChanged", true}}}, {"resources", json::object()}};
    result["serverInfo"] = {{"name", "sim"}, {"version", "1"}};
  }
  if (scene_.is_stateless() && (work.method.ends_with("/list") || work.method == "resources/read" ||
                                work.method == "server/discover")) {
    result["ttlMs"] = kTtl;
    result["cacheScope"] = "private";
  }
  return result;
}

json HttpServer::tools() const {
  json region = {{"type", "string"}};
  if (tools_ % 2 != 0) region["x-mcp-header"] = "Region";
  json list = {{{"name", "add"},
                {"inputSchema", {{"type", "object"}, {"properties", {{"region", region}}}}}}};
  for (int i = 0; i < tools_ / 2; ++i) {
    list.push_back({{"name", fmt::format("more{}", i)}, {"inputSchema", {{"type", "object"}}}});
  }
  return list;
}

}  // namespace sitter::sim
