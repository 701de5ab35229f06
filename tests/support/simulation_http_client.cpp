#include "support/simulation_http_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "support/simulation_said.hpp"

namespace sitter::sim {

using nlohmann::json;

namespace {

constexpr std::string_view kOwn = "[mcp-sitter]";

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

std::optional<std::string> HttpClient::says() {
  cancelled_ = 0;
  if (!is_open_ && !scene_.is_stateless()) return opens();
  const int session_only = scene_.is_stateless() ? 0 : 1;
  switch (random_.weighted({40, 8, 6, session_only * 3, session_only * 12, open_.empty() ? 0 : 6,
                            questions_.empty() ? 0 : 20, 2, 1, scene_.has_builds ? 2 : 0,
                            scene_.is_stateless() ? 3 : 0})) {
    case 0:
      return calls();
    case 1:
      return request("tools/list", json::object());
    case 2:
      return request("resources/read", {{"uri", "a:b"}});
    case 3:
      return request("ping", json::object());
    case 4:
      return notification();
    case 5:
      return cancels();
    case 6:
      return answers();
    case 7:
      return builtin("sitter_status");
    case 8:
      return builtin("sitter_kill");
    case 9:
      return builtin("sitter_rebuild");
    default:
      return request("subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}});
  }
}

std::optional<std::string> HttpClient::says_at_rest() {
  cancelled_ = 0;
  if (!is_open_ && !scene_.is_stateless() && opening_ != Opening::asked) return opens();
  return std::nullopt;
}

std::optional<std::string> HttpClient::opens() {
  if (opening_ == Opening::answered) {
    opening_ = Opening::open;
    is_open_ = true;
    return R"json({"jsonrpc":"2.0","method":"notifications/initialized"})json";
  }
  if (opening_ == Opening::asked) {
    return random_.chance(90) ? std::nullopt : std::optional(request("ping", json::object()));
  }
  opening_ = Opening::asked;
  const std::string line =
      request("initialize", {{"protocolVersion", kVersion},
                             {"capabilities", {{"elicitation", json::object()}}},
                             {"clientInfo", {{"name", "sim"}, {"version", "1"}}}});
  opening_mark_ = said_.last_number;
  return line;
}

std::string HttpClient::calls() {
  cancelled_ = 0;
  json params = {{"name", "add"}, {"arguments", {{"region", "eu"}}}};
  const bool has_token = random_.chance(40);
  if (has_token) params["_meta"]["progressToken"] = said_.last_number + 1;
  std::string line = request("tools/call", std::move(params));
  said_.requests.at(said_.last_number).is_call = true;
  return line;
}

std::string HttpClient::builtin(const std::string& tool) {
  std::string line = request("tools/call", {{"name", tool}, {"arguments", json::object()}});
  said_.requests.at(said_.last_number).is_builtin = true;
  if (tool == "sitter_kill") {
    for (const int mark : open_) said_.requests.at(mark).was_meant_by_kill = true;
  }
  return line;
}

std::string HttpClient::request(const std::string& method, json params) {
  const int mark = ++said_.last_number;
  HttpSaid::Request& asked = said_.requests[mark];
  asked.method = method;
  asked.patient_until = said_.now + said_.patience;
  asked.is_builtin = method == "ping" || method == "initialize";
  open_.insert(mark);
  if (scene_.is_stateless()) {
    json& meta = params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = kStatelessVersion;
    meta["io.modelcontextprotocol/clientInfo"] = {{"name", "sim"}, {"version", "1"}};
    meta["io.modelcontextprotocol/clientCapabilities"] = json::object();
  }
  return json{{"jsonrpc", "2.0"}, {"id", mark}, {"method", method}, {"params", params}}.dump();
}

std::string HttpClient::notification() {
  const int number = ++said_.last_number;
  return json{{"jsonrpc", "2.0"}, {"method", "notifications/vendor"}, {"params", {{"sim", number}}}}
      .dump();
}

std::string HttpClient::cancels() {
  const int mark = *std::next(open_.begin(), random_.below(static_cast<int>(open_.size())));
  // An opening must not be cancelled.
  if (mark == opening_mark_) return notification();
  said_.requests.at(mark).is_cancelled = true;
  cancelled_ = mark;
  open_.erase(mark);
  return json{
      {"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", mark}}}}
      .dump();
}

std::string HttpClient::answers() {
  const json question = random_.take(questions_);
  return json{{"jsonrpc", "2.0"},
              {"id", question["id"]},
              {"result", {{"action", "accept"}, {"sim", question["params"]["sim"]}}}}
      .dump();
}

void HttpClient::hears(const std::string& text) {
  const json message = json::parse(text, nullptr, false);
  if (!message.is_object()) throw Broken("a line that is no message: " + text);
  if (!message.contains("method")) {
    hears_answer(message);
    return;
  }
  const json params = message.value("params", json::object());
  const int number = params.value("sim", 0);
  if (number != 0 && !heard_.insert(number).second) throw Broken("a message came twice: " + text);
  if (message["method"] == "notifications/cancelled") {
    std::erase_if(questions_,
                  [&](const json& question) { return question["id"] == params["requestId"]; });
  } else if (message.contains("id") && message["method"] == "elicitation/create") {
    questions_.push_back(message);
  }
}

void HttpClient::hears_answer(const json& message) {
  const json id = message.value("id", json());
  if (!id.is_number_integer()) throw Broken("an answer to nothing: " + message.dump());
  const int mark = id;
  const auto found = said_.requests.find(mark);
  if (found == said_.requests.end()) throw Broken("an answer to nothing: " + message.dump());
  HttpSaid::Request& asked = found->second;
  if (std::exchange(asked.is_answered, true)) {
    throw Broken(fmt::format("request {} is answered twice", mark));
  }
  open_.erase(mark);
  if (mark == opening_mark_ && opening_ == Opening::asked) {
    opening_ = message.contains("result") ? Opening::answered : Opening::none;
  }
  if (message.contains("result")) {
    check_result(mark, asked, message["result"]);
    return;
  }
  json error = message["error"];
  const std::string words = error.value("message", "");
  // A notice stands after the words of the daemon.
  const std::string said = words.substr(0, words.find("\n\n[mcp-sitter]"));
  error["message"] = said;
  if (words.starts_with(kOwn)) {
    check_own_words(asked, words);
  } else if (has(words, "(sitter_rebuild)")) {
    check_own_words(asked, words);
  } else if (!asked.is_builtin && !asked.answers.contains(error.dump()) &&
             said != "Header mismatch" && !has(words, "ession")) {
    throw Broken("an error that nobody has answered: " + message.dump());
  }
}

/// What the bridge says of its own about a request must be true.
void HttpClient::check_own_words(HttpSaid::Request& asked, const std::string& text) const {
  // A read that is repeated may wait when its limit comes.
  if (!asked.is_call) return;
  const bool is_undone = has(text, "had no effect") || has(text, "was not carried out") ||
                         has(text, "was not accepted");
  if (is_undone && asked.executions > 0) {
    throw Broken("a request that was carried out is called undone: " + text);
  }
  asked.is_called_undone = is_undone;
  // A child that is taken down may have read whatever was written to it.
  const bool is_taken_down = has(text, "sitter_kill") || has(text, "replaced");
  const bool is_doubted = has(text, "may or may not have taken effect") && !is_taken_down;
  if (is_doubted && asked.sent == 0) {
    throw Broken("a request that was never sent is said to have been: " + text);
  }
  if (is_doubted && asked.sent == asked.refusals) {
    throw Broken("a request that was only refused is said to have run: " + text);
  }
}

void HttpClient::check_result(int mark, HttpSaid::Request& asked, json result) {
  if (asked.is_builtin || asked.method == "tools/list" || asked.method == "subscriptions/listen") {
    return;
  }
  const auto text_of = [](const json& block) { return block.value("text", ""); };
  if (asked.method == "resources/read" && result.contains("contents")) {
    json& contents = result["contents"];
    if (text_of(contents.back()).starts_with(kOwn)) contents.erase(contents.size() - 1);
  }
  if (asked.method == "tools/call") {
    json& content = result["content"];
    if (result.value("isError", false)) {
      check_own_words(asked, text_of(content.at(0)));
      return;
    }
    while (!content.empty() && text_of(content[0]).starts_with(kOwn)) content.erase(0);
  }
  // The bridge may ask the client not to keep what was read.
  if (result.contains("ttlMs")) result["ttlMs"] = kTtl;
  if (!asked.answers.contains(result.dump())) {
    throw Broken("a result that nobody has answered: " + result.dump());
  }
  succeeded_.insert(mark);
}

std::size_t HttpClient::owed_count() const {
  return static_cast<std::size_t>(std::count_if(open_.begin(), open_.end(), [&](int mark) {
    return said_.requests.at(mark).method != "subscriptions/listen";
  }));
}

std::string HttpClient::owed_words() const {
  std::string words;
  for (const int mark : open_) {
    words += fmt::format(" {} ({})", mark, said_.requests.at(mark).method);
  }
  return words;
}

}  // namespace sitter::sim
