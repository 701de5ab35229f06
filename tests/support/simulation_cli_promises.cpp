#include "support/simulation_cli_promises.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/child/child_lifecycle.hpp"
#include "sitter/cli.hpp"

// What the server that is played for the tool says.

namespace sitter::sim {

using nlohmann::json;

bool CliPromises::has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

std::string CliPromises::key_of(const json& id) { return id.dump(); }

std::string CliPromises::key_of(const std::string& raw_id) {
  return key_of(json::parse(raw_id, nullptr, false));
}

std::vector<std::string> CliPromises::texts_of(const json& result) {
  std::vector<std::string> texts;
  for (const json& block : result.value("content", json::array())) {
    texts.push_back(block.value("text", ""));
  }
  return texts;
}

void CliPromises::on_order(const order::StartChild& order) {
  children_.try_emplace(order.gen);
  described_child_ = order.gen;
}

void CliPromises::on_described(Generation child, CliDescribed described) {
  children_.at(child).described = std::move(described);
}

void CliPromises::on_order(const order::SendToChild& order) {
  const std::string line = order.line.text();
  const json message = json::parse(line, nullptr, false);
  if (message.value("method", "") == "notifications/cancelled") {
    on_cancelled(order.gen, key_of(message["params"]["requestId"]));
    return;
  }
  const auto found = requests_.find(mark_in(line));
  if (found == requests_.end() || message.value("id", json()).is_null()) return;
  Request& request = found->second;
  if (!request.is_call()) return;
  if (request.child != kNoGeneration) throw Broken("a call is sent twice: " + line);
  request.child = order.gen;
  request.sent_at = now_;
  request.sent_in = step_;
  const bool is_known = children_.at(order.gen).described.tools.contains(request.said->tool);
  request.must_run = is_known && request.is_fitting();
  request.is_parked = !is_known;
  sent_.push_back(found->first);
}

void CliPromises::on_cancelled(Generation child, const std::string& id) {
  Request* const request = with_id(id);
  if (request == nullptr || request->child != child || request->told) return;
  if (request->cancelled_in == 0) request->cancelled_in = step_;
  if (request->run != kNoGeneration) must_end(request->run, now_);
}

void CliPromises::on_closed(Generation gen) {
  Child& child = children_.at(gen);
  if (std::exchange(child.is_closed, true)) return;
  for (auto& [run, begun] : begun_) {
    if (begun.child == gen) must_end(run, now_);
  }
}

void CliPromises::must_end(Generation run, Instant at) {
  Begun& begun = begun_.at(run);
  if (!begun.must_end_at || at < *begun.must_end_at) begun.must_end_at = at;
}

void CliPromises::on_fact(const Fact& fact) {
  if (const auto* const started = std::get_if<fact::ChildStarted>(&fact)) {
    Child& child = children_.at(started->gen);
    child.is_up = true;
    // A child that is taken down while its description is read starts only to end.
    if (child.is_closed) return;
    if (child.described.version == 0) throw Broken("a child starts without a description");
    on_description_read();
  } else if (std::holds_alternative<fact::ChildStartFailed>(fact)) {
    on_description_read();
  } else if (const auto* const line = std::get_if<fact::ChildLine>(&fact)) {
    const json message = json::parse(line->line.text(), nullptr, false);
    if (!message.contains("method")) on_told(line->gen, message);
  } else if (const auto* const exited = std::get_if<fact::ChildExited>(&fact)) {
    for (const auto& [run, begun] : begun_) {
      if (begun.child == exited->gen && runs_.contains(run) && !runs_.at(run).is_released) {
        throw Broken("a child is over, and one of its runs is not");
      }
    }
    children_.at(exited->gen).is_over = true;
  } else if (std::holds_alternative<fact::ReloadAsked>(fact)) {
    ++tally_["reloads for an unknown tool"];
  }
}

/// What was parked is run or answered now.
void CliPromises::on_description_read() {
  has_read_ = true;
  const Child* const child = newest();
  if (child == nullptr) return;
  for (const int mark : sent_) {
    Request& request = requests_.at(mark);
    const bool is_known = child->described.tools.contains(request.said->tool);
    if (request.is_parked && request.is_fitting() && is_known) request.must_run = true;
  }
}

const CliPromises::Child* CliPromises::newest() const {
  const Child* newest = nullptr;
  for (const auto& [gen, child] : children_) {
    if (child.is_up && !child.is_over) newest = &child;
  }
  return newest;
}

void CliPromises::on_told(Generation gen, const json& message) {
  Request* const request = with_id(key_of(message.value("id", json())));
  // The requests of the bridge itself are its own business.
  if (request == nullptr || !request->is_call() || request->child != gen) return;
  if (request->told) throw Broken("a call is answered twice: " + message.dump());
  if (request->cancelled_in != 0 && request->cancelled_in != step_) {
    throw Broken("a cancelled call is answered: " + message.dump());
  }
  request->told = message;
  if (message.contains("result")) {
    check_told_result(*request, message["result"]);
  } else if (has(message["error"].value("message", ""), "Unknown tool")) {
    check_unknown(*request);
  } else {
    throw Broken("a call gets an error: " + message.dump());
  }
}

void CliPromises::check_unknown(const Request& request) const {
  const Child* const child = newest();
  if (!request.is_parked) throw Broken("a tool that is known is called unknown");
  const bool is_late = now_ >= request.sent_at + tool_.call_timeout;
  if (!is_late && child != nullptr && child->described.tools.contains(request.said->tool)) {
    throw Broken("a tool that was described is called unknown");
  }
  ++tally_["calls of unknown tools"];
}

void CliPromises::check_told_result(const Request& request, const json& result) const {
  const std::vector<std::string> texts = texts_of(result);
  const std::string last = texts.empty() ? "" : texts.back();
  const bool is_refused = has(last, "was not run");
  if (is_refused == request.is_fitting())
    throw Broken("the arguments are judged wrongly: " + result.dump());
  if (is_refused) return;
  if (request.run == kNoGeneration) throw Broken("a result without a run: " + result.dump());
  const Begun& begun = begun_.at(request.run);
  if (has(last, "could not be run")) {
    if (!begun.has_failed) throw Broken("a run that was started is said not to be");
    if (has(last, "busy") && now_ < begun.at + limits::kBusyFileWait) {
      throw Broken("the start of a busy file is not tried for long");
    }
    ++tally_["runs that could not be started"];
    return;
  }
  if (begun.has_failed) {
    if (!result.value("isError", false)) throw Broken("a result of a run that was not started");
    return;
  }
  check_told_run(runs_.at(request.run), begun, result);
}

void CliPromises::check_told_run(const CliRun& run, const Begun& begun, const json& result) const {
  const Instant limit = begun.at + begun.timeout;
  // Of two events at one moment, either may count.
  const bool may_be_late = !begun.exited_at || *begun.exited_at >= limit;
  const bool must_be_late = !begun.exited_at || *begun.exited_at > limit;
  const bool has_worked = run.told_status && run.told_status->code == 0;
  const bool is_error = result.value("isError", false);
  if (is_error ? has_worked && !may_be_late : !has_worked || must_be_late) {
    throw Broken("a run is judged wrongly: " + result.dump());
  }
  const std::string& output = run.told_output;
  const json read = json::parse(output, nullptr, false);
  ++tally_[is_error ? "runs that have failed" : "runs that have worked"];
  if (!is_error && read.is_object() && read.contains("content")) {
    if (texts_of(result) != texts_of(read)) throw Broken("a result is changed: " + result.dump());
    return;
  }
  if (!is_error && read.is_object() != (result.value("structuredContent", json()) == read)) {
    throw Broken("the structured content is another: " + result.dump());
  }
  if (is_error && output.empty()) return;
  const std::vector<std::string> texts = texts_of(result);
  if (texts.empty()) throw Broken("a result says nothing");
  if (output.size() <= limits::kRunOutputMax) {
    if (texts.front() != output) throw Broken("the output of a run is another: " + result.dump());
    return;
  }
  ++tally_["floods"];
  constexpr std::size_t kShown = 1000;
  if (texts.front().substr(0, kShown) != output.substr(0, kShown) ||
      !texts.front().ends_with(output.substr(output.size() - kShown))) {
    throw Broken("both ends of much output are not kept");
  }
}

}  // namespace sitter::sim
