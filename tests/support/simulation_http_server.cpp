#include "support/simulation_http_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/http/http_link_limits.hpp"
#include "support/sent_headers.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

using nlohmann::json;
using Reply = HttpServer::Reply;
using Work = HttpServer::Work;
using Verb = order::HttpSend::Method;

namespace {

std::string error_body(int code, std::string_view message) {
  return json{{"jsonrpc", "2.0"},
              {"id", nullptr},
              {"error", {{"code", code}, {"message", std::string(message)}}}}
      .dump();
}

std::string error_line(const json& id, int code, std::string_view message) {
  return json{{"jsonrpc", "2.0"},
              {"id", id},
              {"error", {{"code", code}, {"message", std::string(message)}}}}
      .dump();
}

}  // namespace

void HttpServer::begin() {
  end();
  lives_ = true;
  ++life_;
  last_question_ = 0;
  if (random_.chance(50)) tools_ = random_.below(4);
}

void HttpServer::end() {
  lives_ = false;
  had_session_ = false;
  sessions_.clear();
  works_.clear();
}

/// Its streams end with a session.
void HttpServer::forget_sessions() {
  sessions_.clear();
  if (scene_.has_sessions()) works_.clear();
}

Work* HttpServer::find(int number) {
  const auto found = works_.find(number);
  return found == works_.end() ? nullptr : &found->second;
}

std::string HttpServer::event_id(const Work& work, std::size_t index) const {
  return scene_.has_event_ids ? fmt::format("{}.{}.{}", life_, work.number, index) : "";
}

void HttpServer::on_closed(int number) {
  if (scene_.is_stateless()) works_.erase(number);
}

Reply HttpServer::refuse(int status, std::string body, std::string type) const {
  Reply reply;
  reply.status = status;
  if (!body.empty()) reply.headers.push_back({"content-type", std::move(type)});
  reply.body = std::move(body);
  return reply;
}

Reply HttpServer::refuse_session() {
  Reply reply = session_refusal();
  reply.is_session_lost = true;
  return reply;
}

Reply HttpServer::session_refusal() {
  switch (random_.below(6)) {
    case 0:
      return refuse(404, "");
    case 1:
      return refuse(404, "<html><title>Not Found</title></html>", "text/html");
    case 2:
      return refuse(400, error_body(-32000, "Bad Request: No valid session ID provided"));
    case 3:
      return refuse(400, error_body(-32000, "Bad Request: Server not initialized"));
    case 4:
      return refuse(401, error_body(-32000, "Unauthorized: unknown session"));
    default:
      return refuse(404, error_body(-32001, "Session not found"));
  }
}

Reply HttpServer::receive(const order::HttpSend& sent) {
  const std::string session = sent_value(sent, "Mcp-Session-Id");
  if (!scene_.has_sessions() && !session.empty()) throw Broken("a session that nobody has opened");
  const json message =
      sent.method == Verb::post ? json::parse(sent.body, nullptr, false) : json::object();
  if (message.is_discarded()) throw Broken("a body that is no JSON: " + sent.body);
  if (scene_.has_sessions() && message.value("method", "") != "initialize" &&
      !sessions_.contains(session)) {
    return refuse_session();
  }
  switch (sent.method) {
    case Verb::get:
      return get(sent, session);
    case Verb::del:
      sessions_.erase(session);
      return refuse(random_.pick(std::array{200, 204, 405}), "");
    case Verb::post:
      break;
  }
  return take_message(message, sent, session);
}

Reply HttpServer::take_message(const json& message, const order::HttpSend& sent,
                               const std::string& session) {
  if (scene_.is_stateless()) {
    check_mirrored(message, sent);
    if (lacks_region(message, sent)) {
      return refuse(400, error_line(message["id"], -32020, "Header mismatch"));
    }
  }
  const bool is_request = message.contains("method") && message.contains("id");
  if (is_request) return take_request(message, session);
  const Reply taken = refuse(random_.chance(80) ? 202 : 204, "");
  if (!message.contains("method")) {
    take_answer(message, session);
    return taken;
  }
  if (message["method"] == "notifications/cancelled") {
    const std::string id = message["params"]["requestId"].dump();
    std::erase_if(works_, [&](const auto& entry) {
      const Work& work = entry.second;
      return work.session == session && work.id == id && !work.has_answer && random_.chance(70);
    });
  }
  const int number = message.contains("params") ? message["params"].value("sim", 0) : 0;
  if (number != 0 && ++said_.notifications[number] > 1) {
    throw Broken("a notification was taken twice");
  }
  return taken;
}

/// Headers repeat parts of a message of the stateless revision.
void HttpServer::check_mirrored(const json& message, const order::HttpSend& sent) const {
  if (!message.contains("id") || message.value("method", "") == "initialize") return;
  if (!message.contains("method")) throw Broken("an answer without a question");
  if (sent_value(sent, "Mcp-Method") != message["method"].get<std::string>()) {
    throw Broken("no Mcp-Method");
  }
  if (sent_value(sent, "MCP-Protocol-Version") != kStatelessVersion) {
    throw Broken("no MCP-Protocol-Version");
  }
  if (message["method"] == "tools/call" &&
      sent_value(sent, "Mcp-Name") != message["params"]["name"].get<std::string>()) {
    throw Broken("no Mcp-Name");
  }
}

/// Some of the daemon's processes want a parameter of a tool in a header.
bool HttpServer::lacks_region(const json& message, const order::HttpSend& sent) const {
  if (tools_ % 2 == 0 || message.value("method", "") != "tools/call") return false;
  return sent_value(sent, "Mcp-Param-Region") !=
         message["params"]["arguments"].value("region", std::string());
}

Reply HttpServer::take_request(const json& message, const std::string& session) {
  const std::string method = message["method"];
  if (method == "initialize") return open(message);
  Work work;
  work.number = ++last_work_;
  work.session = session;
  work.method = method;
  work.id = message["id"].dump();
  work.is_listen = method == "subscriptions/listen";
  work.is_json = !work.is_listen && random_.chance(30);
  if (message["id"].is_number_integer() && message["id"] < kMarkMax) work.mark = message["id"];
  const json params = message.value("params", json::object());
  if (params.contains("_meta") && params["_meta"].contains("progressToken")) {
    work.token = params["_meta"]["progressToken"].dump();
  }
  if (work.mark != 0 && !work.is_listen) {
    HttpSaid::Request& asked = said_.requests.at(work.mark);
    ++asked.executions;
    if (asked.is_call && asked.executions > 1) throw Broken("a call was carried out twice");
    if (asked.executions > 2) throw Broken("a request was carried out three times");
    if (asked.is_called_undone) throw Broken("a request that had no effect was carried out");
  }
  Reply reply;
  reply.work = work.number;
  reply.headers.push_back(
      {"content-type", work.is_json ? "application/json" : "text/event-stream"});
  if (!work.is_json && scene_.has_event_ids && random_.chance(70)) work.events.emplace_back();
  works_.emplace(work.number, std::move(work));
  return reply;
}

Reply HttpServer::open(const json& message) {
  if (scene_.is_stateless()) {
    return refuse(400, error_line(message["id"], -32022, "Unsupported protocol version"));
  }
  if (scene_.daemon == HttpScene::Daemon::one_session && std::exchange(had_session_, true)) {
    return refuse(400, error_body(-32600, "Invalid Request: Server already initialized"));
  }
  Reply reply;
  if (scene_.has_sessions()) {
    const std::string session = fmt::format("s{}.{}", life_, ++last_session_);
    sessions_.insert(session);
    reply.headers.push_back({"mcp-session-id", session});
  }
  const json answer = {
      {"jsonrpc", "2.0"},
      {"id", message["id"]},
      {"result",
       {{"protocolVersion", kVersion},
        {"capabilities", {{"tools", {{"listChanged", true}}}, {"resources", json::object()}}},
        {"serverInfo", {{"name", "sim"}, {"version", "1"}}}}}};
  if (random_.chance(50)) {
    reply.headers.push_back({"content-type", "application/json"});
    reply.body = answer.dump();
    return reply;
  }
  reply.headers.push_back({"content-type", "text/event-stream"});
  reply.body = "data: " + answer.dump() + "\n\n";
  return reply;
}

/// The rest of a stream, or a stream for what the daemon says without being asked.
Reply HttpServer::get(const order::HttpSend& sent, const std::string& session) {
  if (scene_.is_stateless()) throw Broken("a GET to a daemon of the stateless revision");
  const std::string after = sent_value(sent, "Last-Event-ID");
  Reply reply;
  reply.headers.push_back({"content-type", "text/event-stream"});
  if (!after.empty()) {
    const auto found = std::find_if(works_.begin(), works_.end(), [&](const auto& entry) {
      return after.starts_with(fmt::format("{}.{}.", life_, entry.first));
    });
    if (found == works_.end()) return refuse(random_.pick(std::array{404, 400, 405}), "");
    Work& work = found->second;
    const std::size_t index =
        static_cast<std::size_t>(std::stoul(after.substr(after.rfind('.') + 1)));
    const bool is_next = index + 1 == work.heard || index == work.heard;
    if (!is_next) throw Broken("a stream is not taken up where it broke");
    work.heard = index + 1;
    if (work.session != session) return refuse(404, "");
    reply.work = work.number;
    reply.from = work.heard;
    return reply;
  }
  if (!scene_.gives_stream || !scene_.has_sessions()) return refuse(405, "");
  const bool is_freed = std::erase_if(works_, [&](const auto& entry) {
                          return entry.second.id.empty() && entry.second.session == session;
                        }) > 0;
  // The daemon has not seen yet that the former stream is broken.
  if (is_freed && !is_behaving_ && random_.chance(50)) return refuse(409, "");
  Work work;
  work.number = ++last_work_;
  work.session = session;
  reply.work = work.number;
  works_.emplace(work.number, std::move(work));
  return reply;
}

void HttpServer::take_answer(const json& answer, const std::string& session) {
  if (!answer.contains("result") || !answer["result"].contains("sim")) return;
  HttpSaid::Question& question = said_.questions.at(answer["result"]["sim"]);
  // Nobody can tell a daemon without sessions from the one that was there before.
  if (!scene_.has_sessions()) return;
  if (question.session != session) throw Broken("an answer came to another session");
  if (question.id != answer["id"].dump()) throw Broken("an answer came to another question");
  // An answer whose connection breaks is sent again, though it may have been taken.
  if (++question.answers > 1 + limits::kHttpAnswerRepeatsMax) {
    throw Broken("a question was answered more often than an answer is sent");
  }
}

}  // namespace sitter::sim
