#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sitter/core/json_text.hpp"
#include "sitter/core/json_view.hpp"
#include "sitter/core/limits.hpp"
#include "sitter/core/message.hpp"
#include "support/simulation_promises.hpp"

namespace sitter::sim {

using json = nlohmann::json;
using nlohmann::literals::operator""_json_pointer;

namespace {

/// A gap after progress is 1 ms, several may follow each other, and a timer may be late.
constexpr Milliseconds kGapsMax{100};

constexpr std::string_view kNoticeStart =
    R"json({"type":"text","text":"[mcp-sitter] server restarted (spawn #)json";
constexpr std::string_view kToolStart = R"json({"name":")json";

bool is_list(std::string_view method) {
  return method == "tools/list" || method == "prompts/list" || method == "resources/list" ||
         method == "resources/templates/list";
}

bool is_builtin_name(std::string_view tool) {
  while (tool.starts_with("outer_")) tool.remove_prefix(6);
  return tool == "sitter_status" || tool == "sitter_kill" || tool == "sitter_binary_info" ||
         tool == "sitter_child_stderr";
}

/// Without the comma that it needs beside other items.
std::string_view item(std::string_view inserted) {
  if (inserted.starts_with(',')) {
    inserted.remove_prefix(1);
  } else if (inserted.ends_with(',')) {
    inserted.remove_suffix(1);
  }
  return inserted;
}

/// The item that makes `line` out of `original` when it is put in at one place; empty when they are
/// the same, nothing when there is no such item.
std::optional<std::string> inserted_into(std::string_view original, std::string_view line) {
  if (line.size() < original.size()) return std::nullopt;
  const auto same = std::mismatch(original.begin(), original.end(), line.begin());
  auto at = static_cast<std::size_t>(same.first - original.begin());
  if (!line.ends_with(original.substr(at))) return std::nullopt;
  const std::size_t size = line.size() - original.size();
  if (size == 0) return "";
  // What follows may begin like the item, and then its place can be read in several ways.
  for (;; --at) {
    const std::string_view found = item(line.substr(at, size));
    if (found.ends_with('}') &&
        (found.starts_with(kNoticeStart) || found.starts_with(kToolStart))) {
      return std::string(found);
    }
    if (at == 0 || line[at - 1] != line[at - 1 + size]) return std::nullopt;
  }
}

bool has_id(std::string_view line, const std::string& raw_id) {
  const json message = json::parse(line, nullptr, false);
  return message.contains("id") && message["id"].dump() == json::parse(raw_id).dump();
}

constexpr std::string_view kExpired = R"json("ttlMs":0)json";

/// A client of the stateless revision must keep no list.
bool must_expire(const ClientSaid& asked) {
  return !asked.envelope.empty() && (is_list(asked.method) || asked.method == "resources/read");
}

std::string expired(std::string line) {
  constexpr std::string_view kept = R"json("ttlMs":60000)json";
  const std::size_t at = line.find(kept);
  return at == line.npos ? line : line.replace(at, kept.size(), kExpired);
}

/// The raw id of a line that the bridge has made itself; empty for none.
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

void Promises::on_client_line(const ClientSaid& said) {
  must_reach_child_ = 0;
  if (said.kind != ClientSaid::Kind::batch) {
    on_said(said, 0);
    return;
  }
  batches_[said.mark];
  for (const int part : said.parts) {
    on_said(said_.client[static_cast<std::size_t>(part)], said.mark);
  }
}

void Promises::on_said(const ClientSaid& said, int batch) {
  switch (said.kind) {
    case ClientSaid::Kind::request:
      on_request(said);
      requests_.at(said.mark).batch = batch;
      break;
    case ClientSaid::Kind::listen:
      on_listen(said);
      break;
    case ClientSaid::Kind::rubbish:
    case ClientSaid::Kind::too_long:
      if (!said.id.empty()) {
        on_request(said);
      } else {
        ++(batch == 0 ? errors_without_id_owed_ : batches_[batch]);
      }
      break;
    case ClientSaid::Kind::cancelled:
      on_cancellation(said);
      break;
    case ClientSaid::Kind::initialized:
      if (is_asked_) is_initialized_ = true;
      break;
    case ClientSaid::Kind::notification:
    case ClientSaid::Kind::progress:
    case ClientSaid::Kind::batch:
      break;
    case ClientSaid::Kind::answer:
      on_answer_to_question(said);
      break;
  }
}

void Promises::on_listen(const ClientSaid& said) {
  envelopes_.insert(json::parse(said.envelope).dump());
  is_stateless_ = true;
  ++requests_for_child_;
  const auto wait = waiting_max();
  streams_.open(said, wait ? std::optional(now_ + *wait + limits::kListenAckWait) : std::nullopt);
}

void Promises::on_request(const ClientSaid& said) {
  Request& request = requests_[said.mark];
  request.said = &said;
  request.key = id_key(said.id);
  request.came = now_;
  for (const int mark : open_) {
    Request& other = requests_.at(mark);
    if (other.key != request.key) continue;
    other.is_doubled = request.is_doubled = true;
  }
  open_.push_back(said.mark);
  ++counts_[request.key].asked;
  ++raw_counts_[said.id].asked;

  if (!said.envelope.empty()) envelopes_.insert(json::parse(said.envelope).dump());
  const bool is_probe = said.method == "server/discover";
  is_stateless_ |= !said.envelope.empty() && !is_probe;
  const bool is_too_early = !is_asked_ && !is_stateless_ && !is_probe;

  const bool is_request = said.kind == ClientSaid::Kind::request;
  request.is_opening = said.method == "initialize";
  request.is_builtin = is_request && is_builtin_name(said.tool) &&
                       (!scene_.has_outer_tools || said.tool == "sitter_kill");
  const bool is_kill = request.is_builtin && said.tool == "sitter_kill" &&
                       !said.has_wrong_arguments && !said.wants_task;
  const auto serving = std::find_if(lives_.begin(), lives_.end(), [&](const auto& life) {
    return life.second.is_up && life.second.has_served && !life.second.is_input_closed &&
           (life.second.is_open || !is_asked_);
  });
  const bool is_deaf = serving != lives_.end() && serving->second.full_since &&
                       now_ > *serving->second.full_since + limits::kDeafAfter + kGapsMax;
  const bool nobody_is_up = std::none_of(lives_.begin(), lives_.end(),
                                         [](const auto& life) { return life.second.is_up; });
  if (is_kill) {
    last_kill_ = said.mark;
    request.due = now_ + ladder_max() + config_.kill_grace + kGapsMax;
    for (auto& [gen, life] : lives_) {
      life.was_meant_by_kill = true;
      if (life.is_up && !life.is_input_closed) life.is_killed = true;
    }
  } else if (!is_request || request.is_builtin || (is_too_early && !request.is_opening) ||
             (is_deaf && !request.is_opening && !scene_.has_outer_tools) ||
             (said.method == "ping" && nobody_is_up)) {
    request.is_due_at_once = !(scene_.has_outer_tools && is_builtin_name(said.tool));
  } else {
    ++requests_for_child_;
    waits_again(request);
    if (is_mixed()) {
      // A child that serves without an opening is asked as for anything else.
    } else if (request.is_opening && initialize_count_ == 0) {
      request.due = now_ + config_.answer_within + kGapsMax;
    } else if (request.is_opening && request.due) {
      *request.due += config_.answer_within;
    }
  }
  if (request.is_opening) {
    is_asked_ = true;
    is_initialized_ = false;
    ++initialize_count_;
  }
}

void Promises::on_cancellation(const ClientSaid& said) {
  if (Streams::Stream* const stream = streams_.find(said.about)) {
    const auto asked = lives_.find(stream->gen);
    const bool is_asked = asked != lives_.end() && !asked->second.is_over;
    // Its end may be on its way.
    if (is_asked && listens(stream->gen) && !may_be_closed()) {
      must_reach_child_ = said.mark;
    }
    streams_.close(*stream, now_);
    return;
  }
  const std::string key = id_key(said.about);
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](int mark) {
    const Request& request = requests_.at(mark);
    return request.key == key && !request.is_cancelled &&
           request.said->kind == ClientSaid::Kind::request;
  });
  if (found == open_.rend()) return;
  Request& request = requests_.at(*found);
  if (request.is_doubled) {
    // Nobody outside can tell which of them it was.
    request.is_cancelled = !request.is_opening;
    ++counts_[key].cancelled;
    return;
  }
  if (request.is_opening) return;
  if (is_in_flight(request) && request.answer_read == 0) {
    if (listens(request.sent_to.back())) must_reach_child_ = said.mark;
  }
  request.is_cancelled = true;
  request.is_withdrawn = request.answer_read == 0 && !request.is_due_at_once &&
                         !request.is_builtin && is_in_flight(request);
  request.due.reset();
  if (request.must_carry_notice) {
    request.must_carry_notice = false;
    // If it is still held, the next result has to carry it.
    if (!may_be_closed()) life(request.sent_to.back()).owes_notice = true;
  }
  ++counts_[key].cancelled;
  if (!is_in_flight(request)) forget(request);
}

/// A cancelled request of which nothing will be heard any more, unless its answer is on its way.
void Promises::forget(Request& request) {
  if (may_be_closed() || request.is_doubled) return;
  // Its answer may stand in the array already, which is not complete.
  if (request.batch != 0 && !request.is_withdrawn) return;
  request.is_answered = true;
  std::erase(open_, request.said->mark);
}

void Promises::on_answer_to_question(const ClientSaid& said) {
  auto question = questions_.extract(said.about);
  if (question.empty()) return;
  if (listens(question.mapped().gen) && !cancelled_questions_.contains(question.mapped().number)) {
    must_reach_child_ = said.mark;
  }
  answered_questions_.insert(std::move(question));
}

std::vector<Heard> Promises::on_send_to_client(const std::string& line) {
  if (has_exited_) throw Broken("a line to the client after the end");
  if (line.find('\n') != line.npos) throw Broken("a line to the client has two lines");
  if (line.starts_with('[')) return heard_batch(line);
  return {heard(line)};
}

/// The answers to a batch: all of them, of no other, in one array.
std::vector<Heard> Promises::heard_batch(const std::string& line) {
  if (!json::accept(line)) throw Broken("the answers to a batch are no valid JSON");
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
  // What was cancelled is not heard of any more.
  std::erase_if(open_, [&](int mark) {
    Request& request = requests_.at(mark);
    if (request.batch != batch || request.is_doubled) return false;
    return request.is_answered = true;
  });
  return all;
}

/// It is answered where it was asked: in the array of its batch, or outside of any.
void Promises::check_batch_of(const Request& request) const {
  if (request.is_doubled) return;
  if (!batch_heard_ && request.batch != 0) throw Broken("a request of a batch is answered alone");
  if (batch_heard_ && (request.batch == 0 || request.batch != *batch_heard_)) {
    throw Broken(
        fmt::format("the answer to {} stands in the array of another batch", request.said->id));
  }
}

Heard Promises::heard(const std::string& line) {
  const int number = sim_number_in(line);
  if (number == 0) return own(line);
  const ChildSaid& said = said_.child[static_cast<std::size_t>(number)];
  if (!read_order_.contains(number)) {
    throw Broken("the client gets what the child has not said yet");
  }
  // Each stream gets its own copy of a change, and sees to that itself.
  const bool is_copied = said.kind == ChildSaid::Kind::change && !is_asked_;
  if (!passed_.insert(number).second && !is_copied && !is_mixed()) {
    throw Broken("the client gets a line of the child twice");
  }
  check_order(said);
  return passed(line, said);
}

void Promises::check_order(const ChildSaid& said) {
  // The end of a stream waits for the exit of the child, and answers for the last of their batch.
  if (said.kind == ChildSaid::Kind::stream_end || batch_heard_) return;
  const auto asked = requests_.find(said.mark);
  const bool may_be_held = said.kind == ChildSaid::Kind::result && asked != requests_.end() &&
                           (asked->second.said->method == "tools/call" || asked->second.is_doubled);
  if (may_be_held) return;
  const int order = read_order_.at(said.number);
  int& last = life(said.gen).passed_order;
  if (order < last) throw Broken("lines of the child changed places");
  last = order;
}

Heard Promises::passed(const std::string& line, const ChildSaid& said) {
  switch (said.kind) {
    case ChildSaid::Kind::result:
    case ChildSaid::Kind::error:
      return passed_answer(line, said);
    case ChildSaid::Kind::question:
      return passed_question(line, said);
    case ChildSaid::Kind::cancelled: {
      const std::string id = taken_question(said.question);
      if (line != said.before + id + said.after) throw Broken("a cancellation was changed");
      return {Heard::Kind::question_cancelled, id};
    }
    case ChildSaid::Kind::acknowledgement:
    case ChildSaid::Kind::stream_end:
      return passed_to_stream(line, said);
    case ChildSaid::Kind::change:
      if (line.find(kStreamTag) != line.npos) return passed_to_stream(line, said);
      if (!is_asked_) throw Broken("a change reaches the client without the stream it is for");
      [[fallthrough]];
    case ChildSaid::Kind::notification:
      if (line != said.text()) throw Broken("a notification was changed");
      break;
    case ChildSaid::Kind::progress:
      progress_at_[said.token] = now_;
      if (line != said.text()) throw Broken("a notification was changed");
  }
  const bool is_list = line.find("tools/list_changed") != line.npos;
  return {is_list ? Heard::Kind::tools_changed : Heard::Kind::other};
}

Heard Promises::passed_to_stream(const std::string& line, const ChildSaid& said) {
  if (said.kind == ChildSaid::Kind::stream_end) {
    Streams::Stream* const stream = streams_.find(said.id, may_be_closed());
    if (stream == nullptr) throw Broken("a stream ends that is not open");
    if (line != said.before + stream->said->id + said.after) {
      throw Broken("the end of a stream was changed, or has another id");
    }
    streams_.close(*stream, now_);
    return {Heard::Kind::stream_ended, stream->said->id};
  }
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object()) throw Broken("the line is not valid JSON");
  if (said.kind == ChildSaid::Kind::acknowledgement) {
    streams_.on_acknowledged(message, line, may_be_closed());
    return {};
  }
  const Streams::Stream& stream = streams_.told_of(message, line, may_be_closed());
  const std::string tagged = fmt::format("{}{}{}}}}}}}", said.before, kStreamTag, stream.said->id);
  if (line != (said.token.empty() ? tagged : said.text())) throw Broken("a change was changed");
  streams_.on_change(message, line, said.number, may_be_closed());
  const bool is_tools = said.about == "notifications/tools/list_changed";
  return {is_tools ? Heard::Kind::tools_changed : Heard::Kind::other};
}

/// The id that the client knows a question by, which is open no more.
std::string Promises::taken_question(int number) {
  // The client may have answered it while the cancellation was on its way.
  for (auto* questions : {&questions_, &answered_questions_}) {
    for (auto it = questions->begin(); it != questions->end(); ++it) {
      if (it->second.number == number) return questions->extract(it).key();
    }
  }
  throw Broken("a cancelled question was not open");
}

Heard Promises::passed_question(const std::string& line, const ChildSaid& said) {
  if (!is_asked_) throw Broken("a child asks a client that has opened no session");
  const std::size_t size = said.before.size();
  const std::size_t end = line.find_first_not_of("0123456789", size);
  if (!line.starts_with(said.before) || end == line.npos || end == size) {
    throw Broken("a question of the child has no number as its id");
  }
  const std::string id = line.substr(size, end - size);
  if (line != said.before + id + said.middle + (said.token.empty() ? "" : id) + said.after) {
    throw Broken("a question of the child was changed");
  }
  if (!question_ids_.insert(id).second) throw Broken("the id of a question was used twice");
  if (questions_.size() >= limits::kChildRequestsMax) throw Broken("too many open questions");
  questions_[id] = {said.number, said.gen, {}};
  // It may have waited until its child was over.
  if (life(said.gen).is_over) questions_[id].void_due = now_ + kGapsMax;
  return {Heard::Kind::question, id, !said.token.empty()};
}

Heard Promises::passed_answer(const std::string& line, const ChildSaid& said) {
  if (said.mark == 0) throw Broken("an answer that is not for the client reaches it");
  Request* request = &requests_.at(said.mark);
  if (request->said->id != said.id && request->key != id_key(said.id)) {
    throw Broken("an answer of the child reaches another request");
  }
  // A child that answers twice answers a later request with the same id, if there is one.
  if (request->is_answered) {
    for (const int mark : open_) {
      Request& later = requests_.at(mark);
      if (later.key == request->key) later.is_doubled = request->is_doubled = true;
    }
  }
  if (request->is_opening && said.kind == ChildSaid::Kind::result && !request->is_doubled) {
    check_opening(line, said, *request);
    answered(*request, request->said->id);
    return {Heard::Kind::answer, request->said->id, false, true,
            json::parse(line)["result"].value("protocolVersion", "")};
  }
  if (said.is_discovery && !request->is_doubled) {
    check_discovery(line, said, *request);
    answered(*request, request->said->id);
    return {Heard::Kind::discovery, request->said->id};
  }
  // With the same id twice, either request may get it.
  std::vector<Request*> candidates = {request};
  bool may_be_opening = false;
  if (request->is_doubled) {
    candidates.clear();
    for (auto& [mark, other] : requests_) {
      if (other.key != request->key) continue;
      if (!other.is_answered) candidates.push_back(&other);
      may_be_opening |= other.is_opening || said.is_discovery;
    }
  } else if (request->is_answered) {
    throw Broken(fmt::format("request {} gets a second answer", request->said->id));
  }
  for (Request* candidate : candidates) {
    std::string expected = said.before + candidate->said->id + said.after;
    const bool may_be_of_list = candidate->is_doubled && line.find(kExpired) != line.npos;
    if (may_be_of_list || must_expire(*candidate->said)) expected = expired(std::move(expected));
    auto inserted = inserted_into(expected, line);
    if (may_be_opening && has_id(line, candidate->said->id)) inserted = "";
    if (!inserted) continue;
    if (!inserted->empty() && !json::accept(line)) throw Broken("the line is not valid JSON");
    check_inserted(*inserted, said, *candidate);
    if (candidate->is_withdrawn && !candidate->is_doubled && !may_be_closed() &&
        (!candidate->said->envelope.empty() || candidate->batch != 0)) {
      throw Broken("an answer reaches the client that it has cancelled");
    }
    answered(*candidate, candidate->said->id);
    const bool is_probe = candidate->said->method == "server/discover";
    if (is_probe) return {Heard::Kind::discovery};
    return {Heard::Kind::answer, candidate->said->id, false, candidate->is_opening};
  }
  throw Broken("an answer was changed, or has another id than its request");
}

void Promises::check_opening(const std::string& line, const ChildSaid& said,
                             const Request& request) const {
  if (request.is_answered) throw Broken("initialize gets a second answer");
  const json now = json::parse(line, nullptr, false);
  const json before = json::parse(said.text(), nullptr, false);
  if (!now.contains("result") || now.size() != before.size())
    throw Broken("the opening is no answer");
  if (now["id"] != json::parse(request.said->id)) throw Broken("the opening has another id");
  const json& result = now["result"];
  for (const char* const key : {"sim", "protocolVersion", "serverInfo"}) {
    if (result.value(key, json()) != before["result"].value(key, json())) {
      throw Broken("the opening was changed");
    }
  }
  if (result.value(json::json_pointer("/capabilities/tools/listChanged"), false) != true) {
    throw Broken("the opening does not declare listChanged");
  }
  if (result.value("instructions", "").empty()) throw Broken("the opening has no instructions");
}

void Promises::check_discovery(const std::string& line, const ChildSaid& said,
                               const Request& request) const {
  if (request.is_answered) throw Broken("server/discover gets a second answer");
  if (request.is_withdrawn && !may_be_closed()) {
    throw Broken("an answer reaches the client that it has cancelled");
  }
  const json now = json::parse(line, nullptr, false);
  if (!now.is_object()) throw Broken("the line is not valid JSON");
  if (now["id"] != json::parse(request.said->id)) throw Broken("server/discover gets another id");
  json result = now["result"];
  if (result.value("/capabilities/tools/listChanged"_json_pointer, false) != true) {
    throw Broken("the answer to server/discover does not declare listChanged");
  }
  if (result.value("instructions", "").empty()) {
    throw Broken("the answer to server/discover has no instructions");
  }
  if (result["ttlMs"] != 0) throw Broken("the answer to server/discover may be kept");
  const json before = json::parse(said.text(), nullptr, false)["result"];
  for (const char* const key : {"sim", "resultType", "supportedVersions", "cacheScope"}) {
    if (result.value(key, json()) != before.value(key, json())) {
      throw Broken("the answer to server/discover was changed");
    }
  }
}

void Promises::check_inserted(std::string_view item, const ChildSaid& said, Request& request) {
  if (said.has_tools && request.said->is_first_page && !request.is_doubled) {
    // It may have been cancelled before or after it was answered.
    if (item.empty() && request.is_cancelled) return;
    if (!item.starts_with(kToolStart) || item.find("sitter_child_stderr") == item.npos) {
      throw Broken("a list of tools came without the built-in ones");
    }
    return;
  }
  if (item.empty()) {
    if (request.must_carry_notice && !request.is_doubled)
      throw Broken("the result after a restart has no notice");
    return;
  }
  if (request.is_doubled && item.starts_with(kToolStart)) return;
  if (!item.starts_with(kNoticeStart)) throw Broken("something was put into an answer");
  if (!said.has_content || !config_.writes_notices ||
      (request.is_cancelled && !request.is_doubled && !may_be_closed() &&
       (request.batch == 0 || request.is_withdrawn))) {
    throw Broken("a notice stands where none may stand");
  }
  const int gen = number_behind(item, kNoticeStart);
  const auto before = lives_.find(gen - 1);
  const bool has_served =
      before != lives_.end() && before->second.has_served &&
      (is_asked_ ? before->second.initialized_count > 0 : before->second.has_answered);
  if (has_served && before->second.is_killed &&
      item.find("previous: \u26a0 crashed") != item.npos) {
    throw Broken("a deliberate kill is called a crash");
  }
  bool& was_told = notices_[gen][said.has_structure ? 1 : 0];
  if (was_told) throw Broken(fmt::format("the notice of child {} comes twice", gen));
  was_told = true;
  if (!said.has_structure) life(gen).owes_notice = false;
}

/// Whether the client has subscribed to the resource that this update is about.
bool Promises::was_subscribed(std::string_view update) const {
  const std::size_t at = update.find("\"uri\":");
  if (at == update.npos) return false;
  const std::string_view uri = update.substr(at, update.rfind("}}") - at);
  return std::any_of(requests_.begin(), requests_.end(), [&](const auto& entry) {
    const ClientSaid& said = *entry.second.said;
    return said.method == "resources/subscribe" && said.text.find(uri) != said.text.npos;
  });
}

Heard Promises::own(const std::string& line) {
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object() || message.value("jsonrpc", "") != "2.0") {
    throw Broken("a line to the client is no JSON-RPC object");
  }
  if (message.contains("method")) return own_notification(line, message);
  if (message.contains("result") == message.contains("error")) {
    throw Broken("a line to the client is neither request nor answer");
  }
  // What was held for a list follows in a read of its own.
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
  if (Streams::Stream* const stream = streams_.find(id); stream != nullptr && !request) {
    if (!message.contains("error")) throw Broken("the bridge ends a stream with a result");
    streams_.close(*stream, now_);
    return {Heard::Kind::stream_ended, stream->said->id};
  }
  if (request == nullptr) {
    throw Broken(fmt::format("an answer with id {}, which nobody is owed", id));
  }
  check_own_answer(*request, line, message);
  const bool is_opening = request->is_opening;
  answered(*request, id);
  // As a refusal, since the bridge has no other answer to it.
  if (request->said->method == "server/discover") return {Heard::Kind::discovery};
  return {Heard::Kind::answer, std::string(id), false, is_opening,
          message.value("/result/protocolVersion"_json_pointer, "")};
}

Heard Promises::own_notification(const std::string& line, const json& message) {
  const std::string method = message["method"];
  if (message.contains("id")) throw Broken("the bridge asks the client something");
  if (method == "notifications/cancelled") {
    return own_cancellation(message.at("params").at("requestId").dump());
  }
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

/// Of a question whose child is gone, or of a stream.
Heard Promises::own_cancellation(const std::string& id) {
  if (Streams::Stream* const stream = streams_.find(id, may_be_closed())) {
    streams_.close(*stream, now_);
    taken_back_.erase(stream->said->mark);
    return {Heard::Kind::stream_ended, stream->said->id};
  }
  // The client may have answered it while this was on its way.
  auto& questions =
      may_be_closed() && answered_questions_.contains(id) ? answered_questions_ : questions_;
  const auto question = questions.find(id);
  if (question == questions.end() || !life(question->second.gen).is_over) {
    throw Broken("a question is declared void that is not");
  }
  questions.erase(question);
  return {Heard::Kind::question_cancelled, id};
}

void Promises::check_own_answer(const Request& request, const std::string& line,
                                const json& message) const {
  if (request.is_doubled) return;
  const ClientSaid& said = *request.said;
  const bool is_result = message.contains("result");
  if (is_result && said.method != "tools/call" && said.method != "ping" &&
      said.method != "initialize" && said.method != "logging/setLevel" && !is_list(said.method)) {
    throw Broken(fmt::format("the bridge invents a result of {}", said.method));
  }
  if (is_result && !said.envelope.empty()) check_stateless_result(request, message["result"]);
  if (request.is_cancelled && !may_be_closed() && (request.batch == 0 || request.is_withdrawn)) {
    throw Broken("the bridge answers a cancelled request");
  }
  if (request.is_builtin || request.is_opening || request.sent_to.empty()) return;

  // It was with a child.
  if (request.answer_read != 0) {
    const ChildSaid& answer = said_.child[static_cast<std::size_t>(request.answer_read)];
    if (!answer.is_unreadable && !(answer.is_method_not_found && said.method == "tools/list")) {
      throw Broken("the child's answer was exchanged for another");
    }
    return;
  }
  const Generation gen = request.sent_to.back();
  const Life& its_life = lives_.at(gen);
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

void Promises::check_stateless_result(const Request& request, const json& result) const {
  if (result.value("resultType", "") != "complete") {
    throw Broken("a result of the bridge does not say that it is complete");
  }
  if (!is_list(request.said->method)) return;
  if (result.value("ttlMs", -1) != 0 || !result.contains("cacheScope")) {
    throw Broken("a list of the bridge does not say how long it may be kept");
  }
}

/// The request that an answer of the bridge with this id is probably for.
Promises::Request* Promises::open_with(std::string_view raw_id) {
  const auto rank = [](const Request& request) {
    return (request.is_cancelled ? 0 : 4) + (request.is_due_at_once ? 2 : 0) +
           (request.is_builtin ? 1 : 0);
  };
  Request* best = nullptr;
  for (const int mark : open_) {
    Request& request = requests_.at(mark);
    if (request.said->id != raw_id) continue;
    if (best == nullptr || rank(request) > rank(*best)) best = &request;
  }
  return best;
}

void Promises::answered(Request& request, std::string_view raw_id) {
  if (batch_heard_ == 0 && !request.is_doubled) batch_heard_ = request.batch;
  check_batch_of(request);
  Count& raw = raw_counts_[std::string(raw_id)];
  if (++raw.answered > raw.asked) {
    throw Broken(fmt::format("id {} gets more answers than were asked", raw_id));
  }
  ++counts_[request.key].answered;
  request.is_answered = true;
  request.due.reset();
  std::erase(open_, request.said->mark);
  if (is_list(request.said->method) && request.said->is_first_page) {
    output_may_be_closed_until_ = now_ + kGapsMax;
    list_answered_ = true;
    list_answered_mark_ = std::max(list_answered_mark_, request.said->mark);
  }
  const auto progress = progress_at_.find(request.said->token);
  if (request.said->token.empty() || request.is_cancelled || request.is_doubled ||
      progress == progress_at_.end()) {
    return;
  }
  if (now_ < progress->second + limits::kProgressGap) {
    wrong_unless_exit_ =
        fmt::format("the answer to {} comes in one read with its progress", request.said->id);
  }
}

/// A batch is answered as late as the last of its requests.
bool Promises::is_late(const Request& request) const {
  const ClientSaid& batch = said_.client[static_cast<std::size_t>(request.batch)];
  return std::all_of(batch.parts.begin(), batch.parts.end(), [&](int mark) {
    const auto found = requests_.find(mark);
    if (found == requests_.end()) return true;
    const Request& part = found->second;
    if (part.is_doubled) return false;
    const bool is_due = part.is_due_at_once || (part.due && now_ > *part.due);
    return is_due || part.is_answered || part.is_cancelled;
  });
}

void Promises::check_requests() {
  std::size_t waiting_count = 0;
  for (const int mark : open_) {
    const Request& request = requests_.at(mark);
    if (request.is_cancelled || request.is_doubled) continue;
    if (request.sent_to.empty() && !request.is_builtin && !request.is_opening) ++waiting_count;
    if (request.batch != 0 && !is_late(request)) continue;
    if (request.is_due_at_once && !may_be_closed()) {
      throw Broken(fmt::format("request {} ({} {}) was not answered at once", request.said->id,
                               request.said->method, request.said->tool));
    }
    if (request.due && now_ > *request.due) {
      throw Broken(fmt::format("request {} ({} {}) waits too long for its answer", request.said->id,
                               request.said->method, request.said->tool));
    }
  }
  if (waiting_count > limits::kWaitingCountMax && !may_be_closed()) {
    throw Broken("more requests wait than may");
  }
  if (errors_without_id_owed_ > 0 && !may_be_closed()) {
    throw Broken("a line of the client was dropped in silence");
  }
  for (const auto& [id, question] : questions_) {
    if (question.void_due && now_ > *question.void_due) {
      throw Broken(fmt::format("question {} of a dead child was not declared void", id));
    }
  }
}

void Promises::check_counts() const {
  for (const auto& [key, count] : counts_) {
    if (count.answered + count.cancelled < count.asked) {
      throw Broken(fmt::format("id {}: {} requests, {} answers, {} cancelled", key, count.asked,
                               count.answered, count.cancelled));
    }
  }
  for (const int mark : open_) {
    const Request& request = requests_.at(mark);
    if (!request.is_cancelled && !request.is_doubled) {
      throw Broken(fmt::format("request {} was never answered", request.said->id));
    }
  }
  if (errors_without_id_owed_ > 0) throw Broken("a line of the client was dropped in silence");
}

}  // namespace sitter::sim
