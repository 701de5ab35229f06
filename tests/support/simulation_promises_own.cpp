#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/json_text.hpp"
#include "support/simulation_promises.hpp"

namespace sitter::sim {

using json = nlohmann::json;
using nlohmann::literals::operator""_json_pointer;

namespace {

/// The raw id in a line that the bridge itself has written; empty if there is none.
std::string_view own_id(std::string_view line) {
  constexpr std::string_view start = R"json({"jsonrpc":"2.0","id":)json";
  if (!line.starts_with(start)) return {};
  line.remove_prefix(start.size());
  std::size_t end = line.find_first_of(",}");
  if (line.front() == '"') {
    end = 1;
    while (line[end] != '"') end += line[end] == '\\' ? 2 : 1;
    ++end;
  }
  return line.substr(0, end);
}

}  // namespace

/// Checks that one array holds all answers to a batch, and no other answers.
std::vector<Heard> Promises::heard_batch(const std::string& line) {
  if (!json::accept(line)) throw Broken("the answers to a batch are not valid JSON");
  batch_heard_ = 0;
  std::vector<Heard> all;
  int errors_without_id = 0;
  for (const std::string_view element : json_elements(line)) {
    const std::string_view id = own_id(element);
    if (sim_number_in(element) == 0 && (id.empty() || id == "null")) {
      ++errors_without_id;
    } else {
      all.push_back(heard(std::string(element)));
    }
  }
  const int batch = *std::exchange(batch_heard_, std::nullopt);
  if (all.empty() && errors_without_id == 0) throw Broken("an empty array");
  if (batch == 0) return all;
  if (std::exchange(batches_.at(batch), 0) != errors_without_id) {
    throw Broken("a batch has not as many errors without an id as it is owed");
  }
  for (const int mark : open_) {
    const Request& request = requests_.at(mark);
    if (request.batch == batch && !request.is_cancelled && !request.is_doubled) {
      throw Broken(fmt::format("a batch is answered without request {}", request.said->id));
    }
  }
  // The cancelled requests of the batch get no answer any more.
  std::erase_if(open_, [&](int mark) {
    Request& request = requests_.at(mark);
    if (request.batch != batch || request.is_doubled) return false;
    return request.is_answered = true;
  });
  return all;
}

/// Checks that a request of a batch is answered in the array of its batch, and any other request
/// outside of arrays.
void Promises::check_batch_of(const Request& request) const {
  if (request.is_doubled) return;
  if (!batch_heard_ && request.batch != 0) throw Broken("a request of a batch is answered alone");
  if (batch_heard_ && (request.batch == 0 || request.batch != *batch_heard_)) {
    throw Broken(
        fmt::format("the answer to {} stands in the array of another batch", request.said->id));
  }
}

Heard Promises::own(const std::string& line) {
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object() || message.value("jsonrpc", "") != "2.0") {
    throw Broken("a line to the client is not a JSON-RPC object");
  }
  if (message.contains("method")) return own_notification(line, message);
  if (message.contains("result") == message.contains("error")) {
    throw Broken("a line to the client is neither request nor answer");
  }
  // The answers that were held for this list follow in a separate read.
  if (message.contains(json::json_pointer("/result/tools"))) {
    output_may_be_closed_until_ = now_ + kGapsMax;
  }
  const std::string_view id = own_id(line);
  if (id.empty() || id == "null") {
    if (--errors_without_id_owed_ < 0) throw Broken("an error without an id that nobody is owed");
    if (!message.contains("error")) throw Broken("a result without an id");
    return {};
  }
  Request* const request = open_with(id);
  if (Streams::Stream* const stream = streams_.find(id, may_be_closed());
      stream != nullptr && !request) {
    const bool is_ending = closed_at_ || stopped_at_;
    if (!message.contains("error")) {
      if (!is_ending) throw Broken("the bridge ends a stream with a result");
      check_stream_named(line, *stream);
      check_stateless_result(message["result"]);
    }
    streams_.close(*stream, now_);
    return {Heard::Kind::stream_ended, stream->said->id};
  }
  if (request == nullptr) {
    throw Broken(fmt::format("an answer with id {}, which nobody is owed", id));
  }
  check_own_answer(*request, line, message);
  // If no child came to serve, the notifications that waited with this request were dropped.
  if (request->sent_to.empty() && !request->is_builtin) owed_notifications_.clear();
  const bool is_opening = request->is_opening;
  answered(*request, id);
  // This counts as a refusal, because the bridge itself cannot answer server/discover with a
  // result.
  if (request->said->method == "server/discover") return {Heard::Kind::discovery};
  return {Heard::Kind::answer, std::string(id), false, is_opening,
          message.value("/result/protocolVersion"_json_pointer, "")};
}

Heard Promises::own_notification(const std::string& line, const json& message) {
  const std::string method = message["method"];
  if (message.contains("id")) throw Broken("the bridge asks the client something");
  if (method == "notifications/cancelled") {
    const json& params = message.at("params");
    return own_cancellation(params.at("requestId").dump(), params.value("reason", ""));
  }
  if (method == "notifications/progress") return own_progress(message);
  if (method == "notifications/subscriptions/acknowledged") {
    streams_.on_acknowledged(message, line, may_be_closed());
    return {};
  }
  const bool is_update = method == "notifications/resources/updated";
  if (!is_update && !method.ends_with("/list_changed")) {
    throw Broken("a notification nobody has sent");
  }
  if (message.contains("/params/_meta"_json_pointer)) {
    streams_.on_change(message, line, 0, may_be_closed());
  } else if (!is_asked_) {
    throw Broken("the bridge tells of a change without the stream that it is for");
  } else if (is_update && !was_subscribed(line)) {
    throw Broken("a notification nobody has sent");
  }
  return {method == "notifications/tools/list_changed" ? Heard::Kind::tools_changed
                                                       : Heard::Kind::other};
}

/// The cancellation of a question whose child is gone, or of a stream. The ids of the bridge's
/// questions may be those of streams, but only the cancellation of a question says that its child
/// is gone.
Heard Promises::own_cancellation(const std::string& id, std::string_view reason) {
  const bool is_of_question = reason == "the server that asked is gone";
  Streams::Stream* const stream = is_of_question ? nullptr : streams_.find(id, may_be_closed());
  if (stream != nullptr) {
    streams_.close(*stream, now_);
    taken_back_.erase(stream->said->mark);
    return {Heard::Kind::stream_ended, stream->said->id};
  }
  questions_.on_declared_void(id, may_be_closed());
  return {Heard::Kind::question_cancelled, id};
}

void Promises::check_own_answer(Request& request, const std::string& line, const json& message) {
  if (request.is_doubled) return;
  const ClientSaid& said = *request.said;
  if (request.is_rebuild && !request.is_cancelled) check_rebuild_answer(request, message);
  const bool has_its_child = !request.sent_to.empty() && lives_.at(request.sent_to.back()).is_over;
  // The error of a request in a batch may have waited for the last answer of the batch.
  if (bystander_died_ && !request.is_builtin && !has_its_child && request.batch == 0 &&
      message.contains("error") && !may_be_closed()) {
    throw Broken("a request fails with a child that it has nothing to do with");
  }
  const bool is_result = message.contains("result");
  if (is_result && said.method != "tools/call" && said.method != "ping" &&
      said.method != "initialize" && said.method != "logging/setLevel" && !is_list(said.method)) {
    throw Broken(fmt::format("the bridge invents a result of {}", said.method));
  }
  if (is_result && !said.envelope.empty()) {
    check_stateless_result(message["result"]);
    if (is_list(said.method)) check_stateless_list(message["result"]);
  }
  if (request.is_cancelled && !may_be_closed() && (request.batch == 0 || request.is_withdrawn)) {
    throw Broken("the bridge answers a cancelled request");
  }
  if (request.is_builtin || request.is_opening || request.sent_to.empty()) return;

  // A child had the request.
  if (request.answer_read != 0) {
    const ChildSaid& answer = said_.child[static_cast<std::size_t>(request.answer_read)];
    // The bridge may replace an error that only meant that the child needed an opening.
    const bool is_explained = answer.kind == ChildSaid::Kind::error && !said.envelope.empty() &&
                              lives_.at(answer.gen).is_doubted;
    const bool may_be_sent_again = answer.is_unopened && has_restarted_itself(answer.gen);
    if (!answer.is_unreadable && !is_explained && !may_be_sent_again &&
        !(answer.is_method_not_found && said.method == "tools/list")) {
      throw Broken("the child's answer was exchanged for another");
    }
    return;
  }
  const Generation gen = request.sent_to.back();
  const Life& its_life = lives_.at(gen);
  // The new server may lack the tool that sitter_call is to call.
  const bool lacks_tool = said.text.find("\"sitter_call\"") != said.text.npos &&
                          message.dump().find("the server has no tool ") != std::string::npos;
  // The new server may have nothing of this kind, so that the bridge answers in its place.
  const bool lacks_kind =
      is_result && (said.method == "logging/setLevel" ||
                    (is_list(said.method) && message.dump().find(":[]") != std::string::npos));
  // A reload may have begun meanwhile, and the client does not wait for it without end.
  const bool waits_for_reload =
      message.dump().find("call again to wait longer") != std::string::npos;
  if (!lacks_tool && !lacks_kind && !waits_for_reload) check_refused_given_up(request);
  if (said.method == "tools/call" && lost_with_server(request) &&
      line.find("restarted itself") == line.npos) {
    throw Broken("a call that is lost with its server does not tell that the server has restarted");
  }
  // A second answer of the child counts as the answer to a later request with the same id.
  if (!its_life.is_over && counts_.at(request.key).asked > 1) return;
  if (!its_life.is_over && !stopped_at_) {
    throw Broken("a request was given up although its child lives");
  }
  if (its_life.is_killed && line.find("crashed") != line.npos) {
    throw Broken("a deliberate kill is called a crash");
  }
  if (said.method == "tools/call" && is_result == said.wants_task) {
    throw Broken("a death is told in the wrong form");
  }
}

void Promises::check_stateless_result(const json& result) {
  if (result.value("resultType", "") != "complete") {
    throw Broken("a result of the bridge does not say that it is complete");
  }
  const json::json_pointer giver("/_meta/io.modelcontextprotocol~1serverInfo/name");
  if (result.value(giver, "") != "mcp-sitter") {
    throw Broken("a result of the bridge does not name mcp-sitter as its author");
  }
}

void Promises::check_stateless_list(const json& result) {
  if (result.value("ttlMs", -1) != 0 || !result.contains("cacheScope")) {
    throw Broken("a list of the bridge does not say how long it may be kept");
  }
}

}  // namespace sitter::sim
