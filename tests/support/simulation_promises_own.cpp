#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "support/simulation_promises.hpp"

/// What the bridge itself tells the client.
namespace sitter::sim {

using json = nlohmann::json;
using nlohmann::literals::operator""_json_pointer;

namespace {

/// The raw id in a line that the bridge itself has written; empty if there is none.
std::string_view own_id(std::string_view line) {
  constexpr std::string_view start = R"json({"jsonrpc":"2.0","id":)json";
  if (!line.starts_with(start)) return {};
  const std::size_t end = std::min(line.find(R"(,"result":)"), line.find(R"(,"error":)"));
  const std::string_view id = line.substr(start.size(), end - start.size());
  return id == "null" ? "" : id;
}

}  // namespace

std::vector<Heard> Promises::on_send_to_client(const std::string& line) {
  if (line.find('\n') != line.npos) throw Broken("a line to the client has two lines");
  if (!line.starts_with('[')) return {heard(line)};
  // One array holds all answers to a batch, and no other answers.
  if (!json::accept(line)) throw Broken("the answers to a batch are not valid JSON");
  requests_.begin_array();
  std::vector<Heard> all;
  int errors_without_id = 0;
  for (const std::string_view element : json_elements(line)) {
    if (sim_number_in(element) == 0 && own_id(element).empty()) {
      ++errors_without_id;
    } else {
      all.push_back(heard(std::string(element)));
    }
  }
  requests_.end_array(errors_without_id);
  return all;
}

Heard Promises::own(const std::string& line) {
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object()) throw Broken("a line to the client is not a JSON object");
  const bool is_answer = message.contains("result") != message.contains("error");
  if (message.value("jsonrpc", "") != "2.0" || is_answer == message.contains("method")) {
    throw Broken("a line to the client is no message");
  }
  if (!is_answer) return own_notification(line, message);
  if (message.contains("/result/tools"_json_pointer)) requests_.hold(kGapsMax);
  const std::string_view id = own_id(line);
  if (id.empty()) {
    requests_.error_without_id();
    return {};
  }
  if (Request* const request = requests_.open_with(id)) {
    check_own_answer(*request, message);
    Heard heard = answered(*request);
    // The bridge itself cannot answer server/discover with a result.
    if (heard.kind == Heard::Kind::answer) {
      heard.version = message.value("/result/protocolVersion"_json_pointer, "");
    }
    return heard;
  }
  Streams::Stream* const stream = streams_.find(id, requests_.is_held());
  const bool may_end = message.contains("error") || is_ending();
  if (stream != nullptr && may_end) return stream_ended(*stream);
  throw Broken(fmt::format("an answer with id {}, which nobody is owed", id));
}

Heard Promises::own_notification(const std::string& line, const json& message) {
  const std::string method = message["method"];
  const bool is_held = requests_.is_held();
  if (message.contains("id")) throw Broken("the bridge asks the client something");
  if (method == "notifications/cancelled") {
    // The ids of questions may be those of streams, but only the cancellation of a question says
    // that its child is gone.
    const json& params = message.at("params");
    const std::string id = params.at("requestId").dump();
    const bool is_of_question = params.value("reason", "") == "the server that asked is gone";
    Streams::Stream* const stream = is_of_question ? nullptr : streams_.find(id, is_held);
    if (stream != nullptr) return stream_ended(*stream);
    questions_.on_declared_void(id, is_held);
    return {Heard::Kind::question_cancelled, id};
  }
  if (method == "notifications/progress") {
    // The call may have been cancelled while the progress was on its way.
    if (!is_held && !requests_.has_open_token(message["params"]["progressToken"].dump())) {
      throw Broken("the bridge tells of progress that nobody waits for");
    }
    requests_.hold(kGapsMax);
    return {};
  }
  if (method == "notifications/subscriptions/acknowledged") {
    streams_.on_acknowledged(message, line, is_held);
    return {};
  }
  if (method != "notifications/resources/updated" && !method.ends_with("/list_changed")) {
    throw Broken("a notification nobody has sent");
  }
  if (message.contains("/params/_meta"_json_pointer)) {
    streams_.on_change(message, line, 0, is_held);
  } else if (initialize_count_ == 0) {
    throw Broken("the bridge tells of a change without the stream that it is for");
  }
  return {method == kToolsChanged ? Heard::Kind::tools_changed : Heard::Kind::other};
}

void Promises::check_own_answer(const Request& request, const json& message) {
  if (request.is_doubled) return;
  const ClientSaid& said = *request.said;
  if (message.contains("result") && said.method != "tools/call" && said.method != "ping" &&
      said.method != "initialize" && said.method != "logging/setLevel" && !is_list(said.method)) {
    throw Broken(fmt::format("the bridge invents a result of {}", said.method));
  }
  if (request.is_cancelled && !requests_.is_held() &&
      (request.batch == 0 || request.is_withdrawn)) {
    throw Broken("the bridge answers a cancelled request");
  }
  if (request.is_builtin || request.is_opening || request.sent_to.empty()) return;
  // An error that names no request answers the only one that its child has.
  if (message.dump().find("names no request") != std::string::npos) return;
  if (request.answer_read != 0) {
    const ChildSaid& answer = said_.child[static_cast<std::size_t>(request.answer_read)];
    // The bridge explains some errors: of servers without an opening, and of those without tools.
    const bool is_explained = answer.is_unopened ||
                              (answer.is_method_not_found && said.method == "tools/list") ||
                              (answer.kind == ChildSaid::Kind::error && !said.envelope.empty());
    if (answer.is_unreadable || is_explained) return;
    throw Broken("the child's answer was exchanged for another");
  }
  // A second answer of the child counts as the answer to a later request with the same id.
  if (is_in_flight(request) && !requests_.is_used_again(request) && !stopped_at_) {
    throw Broken("a request was given up although its child lives");
  }
}

}  // namespace sitter::sim
