#include "support/simulation_cli_promises.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sitter/cli_limits.hpp"

namespace sitter::sim {

using nlohmann::json;
using Kind = ClientSaid::Kind;

namespace {

/// The time that the system may take for signals, exits and the ends of outputs.
constexpr Milliseconds kLate{150};
/// What a run leaves behind may hold its end for so long.
constexpr Milliseconds kLeaves = limits::kBuildLeavesWait + 2 * limits::kDrain;

constexpr std::string_view kOwn = "[mcp-sitter]";

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// The id as everybody reads it, however it is spelled.
std::string key_of(const json& id) { return id.dump(); }
std::string key_of(const std::string& raw) { return key_of(json::parse(raw, nullptr, false)); }

std::vector<std::string> texts_of(const json& result) {
  std::vector<std::string> texts;
  for (const json& block : result.value("content", json::array())) {
    texts.push_back(block.value("text", ""));
  }
  return texts;
}

}  // namespace

// ---- the client

void CliPromises::on_client_line(const ClientSaid& said) {
  switch (said.kind) {
    case Kind::batch:
      for (const int part : said.parts)
        on_client_line(said_.client[static_cast<std::size_t>(part)]);
      break;
    case Kind::request:
    case Kind::listen:
    case Kind::rubbish:
      if (!said.id.empty()) on_request(said);
      break;
    case Kind::cancelled: {
      Request* const request = with_id(key_of(said.about));
      if (request != nullptr && !request->is_answered) request->is_cancelled = true;
      break;
    }
    default:
      break;
  }
}

void CliPromises::on_request(const ClientSaid& said) {
  Request request;
  request.said = &said;
  request.id = key_of(said.id);
  requests_[said.mark] = std::move(request);
}

CliPromises::Request* CliPromises::with_id(const std::string& id) {
  const auto found = std::find_if(requests_.begin(), requests_.end(),
                                  [&](const auto& entry) { return entry.second.id == id; });
  return found == requests_.end() ? nullptr : &found->second;
}

std::size_t CliPromises::owed_count() const {
  return static_cast<std::size_t>(
      std::count_if(requests_.begin(), requests_.end(), [](const auto& entry) {
        const Request& request = entry.second;
        return !request.is_answered && !request.is_cancelled && request.said->kind == Kind::request;
      }));
}

std::string CliPromises::owed_words() const {
  std::string words;
  for (const auto& [mark, request] : requests_) {
    if (request.is_answered || request.is_cancelled || request.said->kind != Kind::request)
      continue;
    words += fmt::format(" {} ({} {})", request.id, request.said->method, request.said->tool);
  }
  return words;
}

std::vector<Heard> CliPromises::on_send_to_client(const std::string& line) {
  const json message = json::parse(line, nullptr, false);
  if (!message.is_array()) return {heard(message)};
  std::vector<Heard> all;
  for (const json& part : message) all.push_back(heard(part));
  return all;
}

Heard CliPromises::heard(const json& message) {
  if (!message.is_object()) throw Broken("a line that is no message");
  if (!message.contains("method")) return answered(message);
  const std::string method = message["method"];
  const json params = message.value("params", json::object());
  if (method == "notifications/progress") {
    const std::string token = params["progressToken"].dump();
    const auto wants = [&](const auto& entry) {
      const ClientSaid& said = *entry.second.said;
      return !said.token.empty() && key_of(said.token) == token && !entry.second.is_answered;
    };
    const auto found = std::find_if(requests_.begin(), requests_.end(), wants);
    if (found == requests_.end()) throw Broken("progress that nobody waits for");
    const std::string words = params.value("message", "");
    if (found->second.run != kNoGeneration && !has(words, run_word(found->first))) {
      throw Broken("the progress of another call: " + words);
    }
    ++tally_["progress"];
  }
  if (method == "notifications/tools/list_changed") {
    told_at_ = static_cast<int>(said_.client.size());
    return {Heard::Kind::tools_changed};
  }
  return {};
}

Heard CliPromises::answered(const json& message) {
  const json id = message.value("id", json());
  // Nobody can say whose line could not be read.
  if (id.is_null() && message.contains("error")) return {};
  Request* const request = with_id(key_of(id));
  if (request == nullptr) throw Broken("an answer to nothing: " + message.dump());
  if (std::exchange(request->is_answered, true)) {
    throw Broken("a request is answered twice: " + message.dump());
  }
  const ClientSaid& said = *request->said;
  check_passed(*request, message);
  if (said.kind == Kind::listen) return {Heard::Kind::stream_ended, said.id};
  if (said.method == "server/discover") {
    return {Heard::Kind::discovery, message.contains("result") ? said.id : ""};
  }
  Heard heard{Heard::Kind::answer, said.id};
  if (said.method == "initialize" && message.contains("result")) {
    heard.is_opening = true;
    heard.version = message["result"].value("protocolVersion", "");
  }
  if (said.method == "tools/list" && message.contains("result")) {
    listed_at_ = said.mark;
    for (const json& tool : message["result"].value("tools", json::array())) {
      const std::string words = tool.value("description", "");
      if (words.starts_with("version ")) listed_ = std::stoi(words.substr(8));
    }
  }
  return heard;
}

/// What the child has answered is what the client gets, perhaps with a notice.
void CliPromises::check_passed(const Request& request, const json& message) {
  if (!request.is_call() || request.said->tool.starts_with("sitter_")) return;
  const json result = message.value("result", json::object());
  const std::vector<std::string> texts = texts_of(result);
  if (!request.told) {
    for (const std::string& text : texts) {
      if (has(text, "<run ") && !text.starts_with(kOwn)) {
        throw Broken("a result that no run has written: " + text);
      }
    }
    if (!result.value("isError", true)) throw Broken("a result of nothing: " + message.dump());
    ++tally_["calls that the bridge answers"];
    return;
  }
  const json& told = *request.told;
  if (told.contains("error")) {
    if (!message.contains("error") || message["error"]["code"] != told["error"]["code"]) {
      throw Broken("an error becomes something else: " + message.dump());
    }
    return;
  }
  if (result.value("isError", false) != told["result"].value("isError", false)) {
    throw Broken("a result becomes something else: " + message.dump());
  }
  for (const std::string& text : texts_of(told["result"])) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      throw Broken("the output of a run is missing: " + message.dump());
    }
  }
}

void CliPromises::check_listed() const {
  const Child* const child = newest();
  // A client of the stateless revision hears of a change only on a stream.
  if (scene_.client != Scene::Client::legacy || child == nullptr || child->is_closed) return;
  if (listed_ == 0 || listed_ == child->described.version || told_at_ > listed_at_) return;
  throw Broken(fmt::format("the client knows version {} of the tools, and not of version {}",
                           listed_, child->described.version));
}

// ---- the child

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

// ---- the runs

/// How many calls are under way, with or without those whose start may be tried again.
std::size_t CliPromises::running_count(bool counts_failed) const {
  return static_cast<std::size_t>(
      std::count_if(requests_.begin(), requests_.end(), [&](const auto& entry) {
        const Request& request = entry.second;
        if (request.run == kNoGeneration) return false;
        if (!begun_.at(request.run).has_failed) return !runs_.at(request.run).is_released;
        // A start that is not tried again is answered.
        return counts_failed && !request.told && request.cancelled_in == 0 &&
               !children_.at(request.child).is_closed;
      }));
}

/// The call must be run, and its turn has not come.
bool CliPromises::waits(const Request& request) const {
  const Child& child = children_.at(request.child);
  return request.must_run && request.run == kNoGeneration && request.cancelled_in == 0 &&
         !request.told && child.is_up && !child.is_closed;
}

/// The child whose description says what is run for the call. A call that was parked follows a
/// description that was read later.
const CliPromises::Child& CliPromises::described_for(const Request& request, int version) const {
  const auto fits = [&](const auto& entry) {
    const bool is_its =
        request.is_parked ? entry.first > request.child : entry.first == request.child;
    return is_its && entry.second.described.version == version;
  };
  const auto found = std::find_if(children_.begin(), children_.end(), fits);
  if (found == children_.end()) {
    throw Broken(fmt::format("a run follows version {} of the tools, which is another", version));
  }
  return found->second;
}

/// The call still waits for a description that has its tool.
bool CliPromises::is_parked(const Request& request) const {
  if (!request.is_parked || request.told || request.cancelled_in != 0) return false;
  if (children_.at(request.child).is_closed) return false;
  return std::none_of(children_.begin(), children_.end(), [&](const auto& entry) {
    const Child& later = entry.second;
    return entry.first > request.child && later.is_up &&
           later.described.tools.contains(request.said->tool);
  });
}

void CliPromises::on_start_run(const order::StartRun& order) {
  const auto again = begun_.find(order.gen);
  if (again != begun_.end()) {
    if (!std::exchange(again->second.has_failed, false)) throw Broken("a run is started twice");
    if (again->second.must_end_at) throw Broken("a run that was to end is tried again");
    return;
  }
  if (order.arguments == std::vector<std::string>{"schema"}) {
    begun_[order.gen] = {now_, limits::kDescriptionTimeout, described_child_, false, {}, {}};
    return;
  }
  if (order.arguments.size() != 4) throw Broken("a run has other words");
  const int mark = std::stoi(order.arguments[3]);
  const auto found = requests_.find(mark);
  if (found == requests_.end()) throw Broken("a run that nobody has called");
  Request& request = found->second;
  const std::string& tool = order.arguments[1];
  if (request.run != kNoGeneration) throw Broken("a call is run twice");
  if (request.child == kNoGeneration) throw Broken("a call is run that was not sent");
  if (request.said->tool != tool) throw Broken("another tool is run");
  if (request.cancelled_in != 0) throw Broken("a cancelled call is run");
  if (children_.at(request.child).is_closed) throw Broken("a call is run for a child that is down");
  if (order.input != order.arguments[3] ||
      order.environment != std::vector<std::string>{"N=" + order.arguments[3]}) {
    throw Broken("a run gets the input of another one");
  }
  const Child& child = described_for(request, std::stoi(order.arguments[2]));
  if (running_count(false) >= tool_.calls_max) throw Broken("too many calls run at once");
  for (const int earlier : sent_) {
    if (earlier == mark) break;
    const Request& other = requests_.at(earlier);
    if (!request.is_parked && !other.is_parked && waits(other))
      throw Broken("a call overtakes one");
  }
  request.run = order.gen;
  begun_[order.gen] = {now_, child.described.tools.at(tool), request.child, false, {}, {}};
  if (request.is_parked) ++tally_["parked calls that were run"];
}

void CliPromises::on_start_failed(Generation run) { begun_.at(run).has_failed = true; }

void CliPromises::on_exited(Generation run) { begun_.at(run).exited_at = now_; }

void CliPromises::on_released(Generation run) {
  const int mark = runs_.at(run).call;
  if (mark != 0) due_.insert(mark);
}

void CliPromises::check_open(Generation child, const std::set<std::string>& raw_ids) {
  if (children_.at(child).is_closed) return;
  for (const std::string& raw_id : raw_ids) {
    const Request* const request = with_id(key_of(raw_id));
    if (request == nullptr || !request->is_call()) {
      throw Broken(fmt::format("request {} is not answered at once", raw_id));
    }
  }
}

void CliPromises::check() {
  for (const int mark : std::exchange(due_, {})) {
    const Request& request = requests_.at(mark);
    const bool is_owed = request.cancelled_in == 0 && !children_.at(request.child).is_closed;
    if (is_owed && !request.told) throw Broken(fmt::format("run {} has ended in silence", mark));
  }
  const bool has_room = running_count(true) < tool_.calls_max;
  for (const int mark : sent_) {
    const Request& request = requests_.at(mark);
    if (has_room && waits(request)) throw Broken(fmt::format("call {} waits for nothing", mark));
    const bool is_over =
        now_ > request.sent_at + tool_.call_timeout || (has_read_ && request.sent_in < step_);
    if (is_over && is_parked(request)) throw Broken("a call of an unknown tool is forgotten");
  }
  for (const auto& [gen, run] : runs_) {
    if (!run.is_released) check_run(run, begun_.at(gen));
  }
  has_read_ = false;
  ++step_;
}

void CliPromises::check_run(const CliRun& run, const Begun& begun) const {
  if (begun.exited_at && now_ > *begun.exited_at + kLeaves + kLate && !begun.must_end_at) {
    throw Broken("a run has exited, and is not over");
  }
  const Instant limit = begun.at + begun.timeout;
  std::optional<Instant> end = begun.must_end_at;
  if (!begun.exited_at && (!end || limit < *end)) end = limit;
  if (!end) return;
  if (begun.exited_at) *end = std::max(*end, *begun.exited_at + kLeaves);
  const bool can_be_killed = std::any_of(
      run.processes.begin(), run.processes.end(),
      [&](const Unit::Process& process) { return run.is_there(process) && !process.ignores_kill; });
  if (can_be_killed && now_ > *end + limits::kRunGrace + kLate) {
    throw Broken("a run lives on after its grace");
  }
  if (now_ > *end + limits::kRunGrace + limits::kGiveUpAfterKill + kLeaves + kLate) {
    throw Broken("a run is not given up");
  }
}

bool CliPromises::is_held() const {
  return std::any_of(runs_.begin(), runs_.end(), [](const auto& entry) {
    const auto& run = entry.second;
    return !run.is_released && run.processes.front().ignores_kill;
  });
}

void CliPromises::check_end() const {
  for (const auto& [gen, run] : runs_) {
    if (!run.is_released) throw Broken("the bridge has ended, and one of its runs has not");
  }
}

}  // namespace sitter::sim
