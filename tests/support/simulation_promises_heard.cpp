#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/raw_id.hpp"
#include "core/client/client_facts.hpp"
#include "core/client/progress_tokens.hpp"
#include "support/simulation_ids.hpp"
#include "support/simulation_promises.hpp"

namespace sitter::sim {

using json = nlohmann::json;
using nlohmann::literals::operator""_json_pointer;

namespace {

constexpr std::string_view kNoticeStarts[] = {
    R"json({"type":"text","text":"[mcp-sitter] server restarted (spawn #)json",
    R"json({"type":"text","text":"[mcp-sitter] server started (spawn #)json"};
constexpr std::string_view kRemarkStart = R"json({"type":"text","text":"[mcp-sitter] )json";
constexpr std::string_view kToolStart = R"json({"name":")json";
constexpr std::string_view kBehindMessage = R"json(\n\n)json";

/// The beginning of a notice about a restart; empty if the item is none.
std::string_view notice_start(std::string_view item) {
  for (const std::string_view start : kNoticeStarts) {
    if (item.starts_with(start)) return start;
  }
  return {};
}

/// The inserted item without the comma that separates it from other items.
std::string_view item(std::string_view inserted) {
  if (inserted.starts_with(',')) {
    inserted.remove_prefix(1);
  } else if (inserted.ends_with(',')) {
    inserted.remove_suffix(1);
  }
  return inserted;
}

/// The text behind the message of an error, as the item that it would be in a result.
std::string as_item(std::string_view behind_message) {
  return fmt::format(R"json({{"type":"text","text":"{}"}})json",
                     behind_message.substr(kBehindMessage.size()));
}

/// The item that turns `original` into `line` when it is inserted at one place. The item is empty
/// if both are the same. Returns nothing if there is no such item.
std::optional<std::string> inserted_into(std::string_view original, std::string_view line) {
  if (line.size() < original.size()) return std::nullopt;
  const auto same = std::mismatch(original.begin(), original.end(), line.begin());
  auto at = static_cast<std::size_t>(same.first - original.begin());
  if (!line.ends_with(original.substr(at))) return std::nullopt;
  const std::size_t size = line.size() - original.size();
  if (size == 0) return "";
  // The text after the item may begin like the item. Then several places are possible.
  for (;; --at) {
    const std::string_view text = line.substr(at, size);
    if (text.starts_with(kBehindMessage)) return as_item(text);
    const std::string_view found = item(text);
    if (found.ends_with('}') &&
        (found.starts_with(kRemarkStart) || found.starts_with(kToolStart))) {
      return std::string(found);
    }
    if (at == 0 || line[at - 1] != line[at - 1 + size]) return std::nullopt;
  }
}

/// Takes the sentence about a refusal that was never explained out of the message of an error.
std::string without_doubt(std::string line) {
  const std::size_t begin =
      line.find(R"json(\n\n[mcp-sitter] The server may have restarted itself before, )json");
  if (begin == line.npos) return line;
  constexpr std::string_view kEffect = "then this request had no effect.";
  constexpr std::string_view kAdvice = " Call again.";
  std::size_t end = line.find(kEffect, begin) + kEffect.size();
  if (std::string_view(line).substr(end).starts_with(kAdvice)) end += kAdvice.size();
  return line.erase(begin, end - begin);
}

/// Whether the bridge may hold this answer until it knows whether the child was not opened, or is
/// of another era.
bool may_be_held(const ChildSaid& said, const ClientSaid& asked) {
  return said.reads_as_unopened || (said.kind == ChildSaid::Kind::error && !asked.envelope.empty());
}

bool has_id(std::string_view line, const std::string& raw_id) {
  const json message = json::parse(line, nullptr, false);
  return message.contains("id") && message["id"].dump() == json::parse(raw_id).dump();
}

constexpr std::string_view kExpired = R"json("ttlMs":0)json";

/// Whether the answer must tell the client to keep no copy of it. This holds for lists and
/// resources of the stateless revision.
bool must_expire(const ClientSaid& asked) {
  return !asked.envelope.empty() && (is_list(asked.method) || asked.method == "resources/read");
}

std::string expired(std::string line) {
  constexpr std::string_view kept = R"json("ttlMs":60000)json";
  const std::size_t at = line.find(kept);
  return at == line.npos ? line : line.replace(at, kept.size(), kExpired);
}

}  // namespace

std::vector<Heard> Promises::on_send_to_client(const std::string& line) {
  if (has_exited_) throw Broken("a line to the client after the end");
  if (line.find('\n') != line.npos) throw Broken("a line to the client has two lines");
  if (line.starts_with('[')) return heard_batch(line);
  return {heard(line)};
}

Heard Promises::heard(const std::string& line) {
  const int number = sim_number_in(line);
  if (number == 0) return own(line);
  const ChildSaid& said = said_.child[static_cast<std::size_t>(number)];
  if (!read_order_.contains(number)) {
    throw Broken("the client gets what the child has not said yet");
  }
  // Each stream gets its own copy of a change. `Streams` checks that no stream gets it twice.
  const bool is_copied = said.kind == ChildSaid::Kind::change && !is_asked_;
  if (!passed_.insert(number).second && !is_copied && !is_mixed()) {
    throw Broken("the client gets a line of the child twice");
  }
  if (Streams::Stream* const stream = cancelled_stream(said, line)) {
    streams_.close(*stream, now_);
    return {Heard::Kind::stream_ended, stream->said->id};
  }
  check_order(said);
  return passed(line, said);
}

void Promises::check_order(const ChildSaid& said) {
  // The end of a stream waits for the exit of the child. The answers of a batch wait for the last
  // of them.
  if (said.kind == ChildSaid::Kind::stream_end || batch_heard_) return;
  const auto asked = requests_.find(said.mark);
  if (asked != requests_.end()) {
    const Request& request = asked->second;
    // The bridge holds the answer to a call for a notice. If several requests have the same id,
    // each may have got it.
    if (request.said->method == "tools/call" || request.is_doubled ||
        may_be_held(said, *request.said)) {
      return;
    }
  }
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
      const std::string id = questions_.on_cancellation_passed(said.question);
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
      check_progress(said);
      progress_at_[said.token] = now_;
      if (line != said.text()) throw Broken("a notification was changed");
  }
  const bool is_list = line.find("tools/list_changed") != line.npos;
  return {is_list ? Heard::Kind::tools_changed : Heard::Kind::other};
}

/// Progress may not follow the answer to its request, unless that answer has only begun a task, or
/// another request has the same token.
void Promises::check_progress(const ChildSaid& said) const {
  const auto found = requests_.find(said.mark);
  if (found == requests_.end()) return;
  const Request& request = found->second;
  const auto users = std::count_if(requests_.begin(), requests_.end(), [&](const auto& entry) {
    return entry.second.said->token == request.said->token;
  });
  const bool is_plain = !request.is_doubled && !request.may_be_task && users == 1 && !is_mixed();
  const bool is_known =
      ended_count_ - request.ended_number < static_cast<int>(limits::kEndedTokensMax);
  if (request.ended_number != 0 && is_plain && is_known) {
    throw Broken(fmt::format("progress follows the answer to {}", request.said->id));
  }
}

/// The request that gets the end of a stream as its answer, because the bridge cannot tell their
/// ids apart. The client has closed that stream, or another child serves it now.
Promises::Request* Promises::taken_for(const ChildSaid& said, const std::string& line) {
  for (const int mark : open_) {
    Request& request = requests_.at(mark);
    const bool may_be = request.is_doubled && is_big(id_key(said.id));
    // A notice may stand in the answer.
    if (may_be && inserted_into(said.before + request.said->id + said.after, line)) return &request;
  }
  return nullptr;
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
  // The question may have waited until its child was over.
  const bool is_void = life(said.gen).is_over;
  questions_.on_passed(
      id, {said.number, said.gen, is_void ? std::optional(now_ + kGapsMax) : std::nullopt});
  return {Heard::Kind::question, id, !said.token.empty()};
}

Heard Promises::passed_answer(const std::string& line, const ChildSaid& said) {
  if (said.mark == 0) throw Broken("an answer that is not for the client reaches it");
  Request& request = requests_.at(said.mark);
  // The second answer of a child counts as the answer to a later request with the same id, if there
  // is one.
  if (request.is_answered) {
    for (const int mark : open_) {
      Request& later = requests_.at(mark);
      if (later.key == request.key) later.is_doubled = request.is_doubled = true;
    }
  }
  if (request.is_doubled) return passed_to_any(line, said, request.key);
  if (request.is_answered) {
    // A second answer may end a stream whose id the child may have rounded to this one.
    Streams::Stream* const stream = streams_.find_rounded(said.id);
    if (stream != nullptr) return stream_ended(*stream, line, said);
    throw Broken(fmt::format("request {} gets a second answer", request.said->id));
  }
  // A doubt that was dropped is told, also if the same server is opened again later.
  if (without_doubt(line) == line) check_refusal_passed(said, request);
  Heard heard{Heard::Kind::answer, request.said->id, false, request.is_opening};
  if (request.is_opening && said.kind == ChildSaid::Kind::result) {
    check_opening(line, said, request);
    heard.version = json::parse(line)["result"].value("protocolVersion", "");
  } else if (said.is_discovery) {
    check_discovery(line, said, request);
  } else {
    std::string expected = said.before + request.said->id + said.after;
    if (must_expire(*request.said)) expected = expired(std::move(expected));
    const std::string answer = said.reads_as_unopened ? without_doubt(line) : line;
    const auto inserted = inserted_into(expected, answer);
    if (!inserted) throw Broken("an answer was changed, or has another id than its request");
    if (line.size() > expected.size() && !json::accept(line))
      throw Broken("the line is not valid JSON");
    check_inserted(*inserted, said, request);
    check_pause(said, request);
  }
  if (request.is_withdrawn && !may_be_closed() &&
      (!request.said->envelope.empty() || request.batch != 0)) {
    throw Broken("an answer reaches the client that it has cancelled");
  }
  request.may_be_task = request.said->wants_task || line.find("\"task\"") != line.npos;
  answered(request, request.said->id);
  if (request.said->method != "server/discover") return heard;
  return {Heard::Kind::discovery, said.is_discovery ? request.said->id : ""};
}

/// Several requests have the same id, so any of them may get the answer.
Heard Promises::passed_to_any(const std::string& line, const ChildSaid& said,
                              const std::string& key) {
  // The answer may tell what the answer to another of these requests has told already.
  if (said.has_content && line.find("[mcp-sitter] ") != line.npos) {
    notices_.on_unread();
    forgive_remark();
  }
  for (auto& [mark, request] : requests_) {
    if (request.key != key || request.is_answered || !has_id(line, request.said->id)) continue;
    answered(request, request.said->id);
    if (request.said->method == "server/discover") return {Heard::Kind::discovery};
    return {Heard::Kind::answer, request.said->id, false, request.is_opening};
  }
  Streams::Stream* const stream = streams_.find_rounded(said.id);
  if (stream != nullptr) return stream_ended(*stream, line, said);
  throw Broken("an answer has another id than any request that it may be for");
}

/// Some clients need a pause after their list before they get the answers that have waited for it.
void Promises::check_pause(const ChildSaid& said, const Request& request) const {
  const bool has_waited = listed_at_ && request.waits_since < *listed_at_ &&
                          request.answer_read == said.number && said.has_content;
  // Such an error may only have waited until it was known what it means.
  if (may_be_held(said, *request.said)) return;
  if (!has_waited || request.batch != 0 || closed_at_ || stopped_at_) return;
  if (now_ < *listed_at_ + limits::kPauseAfterList && !life(said.gen).retired_at) {
    throw Broken("an answer comes before the client has built its tools from the list");
  }
}

void Promises::check_opening(const std::string& line, const ChildSaid& said,
                             const Request& request) const {
  const json now = json::parse(line, nullptr, false);
  const json before = json::parse(said.text(), nullptr, false);
  if (!now.contains("result") || now.size() != before.size())
    throw Broken("the opening is no answer");
  if (now["id"] != json::parse(request.said->id)) throw Broken("the opening has another id");
  const json& result = now["result"];
  // The child may answer a second opening in any way.
  if ((initialize_count_ > 1 || is_mixed()) && !before["result"].contains("protocolVersion")) {
    if (result != before["result"]) throw Broken("the opening was changed");
    return;
  }
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
  if (said.has_tools && request.said->is_first_page) {
    // The request may have been cancelled before or after the bridge answered it.
    if (item.empty() && request.is_cancelled) return;
    if (!item.starts_with(kToolStart) || item.find("sitter_child_stderr") == item.npos) {
      throw Broken("a list of tools came without the built-in ones");
    }
    if ((item.find("\"sitter_call\"") != item.npos) != scene_.offers_call_tool()) {
      throw Broken("sitter_call is not offered as the user has said");
    }
    return;
  }
  if (item.empty()) {
    if (owes_notice(said, request)) throw Broken("the result after a restart has no notice");
    if (owes_remark(said, request)) throw Broken("a result does not tell what has gone wrong");
    return;
  }
  if (!item.starts_with(kRemarkStart)) throw Broken("something was put into an answer");
  if (request.may_not_carry_notice) {
    throw Broken("a child tells of the restart that has replaced it");
  }
  if (!said.has_content || !config_.writes_notices ||
      (request.is_cancelled && !may_be_closed() && (request.batch == 0 || request.is_withdrawn))) {
    throw Broken("a notice stands where none may stand");
  }
  const bool may_remark_before = notices_.may_remark();
  check_remark(item, said, request);
  const std::string_view start = notice_start(item);
  if (start.empty()) {
    if (!may_remark_before && request.batch == 0 && !notices_.has_crossed())
      throw Broken("a result tells of something that has not happened");
    if (owes_notice(said, request)) throw Broken("the result after a restart does not tell of it");
    if (!said.has_structure) notices_.on_told(request.said->id, item);
    return;
  }
  const int gen = number_behind(item, start);
  const auto before = lives_.find(gen - 1);
  // After its first line, the notice may hold an earlier notice that the client has not read. A
  // child that cannot be killed is given up, and counts as a failed start if it did not serve.
  if (before != lives_.end() && before->second.is_killed && before->second.can_be_killed &&
      !notices_.has_crossed() &&
      item.substr(0, item.find("\\n")).find("previous: \u26a0 crashed") != item.npos) {
    throw Broken("a deliberate kill is called a crash");
  }
  // If the request is cancelled, the bridge tells the notice once more. A changed source repeats
  // it beside structured content, and the first such result may have been on its way for a while.
  const bool names_source = said.has_structure && item.find("is still the old code's") != item.npos;
  notices_.on_restart_told(gen, said.has_structure, !request.is_cancelled,
                           request.batch != 0 || names_source);
  if (said.has_structure) return;
  // The notice of this child also covers the restarts before it.
  for (auto& [other, any] : lives_) {
    if (other <= gen) any.owes_notice = false;
  }
  notices_.on_told(request.said->id);
}

/// Whether the bridge writes what it has to tell into this result. Nobody outside can be sure of
/// that in a mixed session, if the result has stood in an array, or if the child may have retired.
bool Promises::must_tell(const ChildSaid& said, const Request& request) const {
  const Life& its_life = life(said.gen);
  const bool may_have_retired =
      its_life.retired_at || (its_life.was_followed && !its_life.is_killed);
  // An error that was held until its child ended says nothing about the next child.
  const bool may_be_old =
      may_be_held(said, *request.said) && (its_life.is_input_closed || !its_life.is_up);
  const bool is_clear = request.answer_read == said.number && !request.is_cancelled &&
                        !may_have_retired && !may_be_old;
  return is_clear && said.has_content && !said.has_structure && !is_mixed() &&
         !scene_.has_batches && !stopped_at_;
}

bool Promises::owes_notice(const ChildSaid& said, const Request& request) const {
  return life(said.gen).owes_notice && must_tell(said, request) && !notices_.has_crossed();
}

bool Promises::owes_remark(const ChildSaid& said, const Request& request) const {
  const bool was_before = remark_owed_since_ && *remark_owed_since_ < request.waits_since;
  return was_before && must_tell(said, request);
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

}  // namespace sitter::sim
