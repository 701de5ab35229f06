#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/child/child_requests.hpp"
#include "core/child/history.hpp"
#include "core/child/list_survey.hpp"
#include "core/child/unopened.hpp"
#include "core/client/opening.hpp"
#include "core/client/stream_tag.hpp"
#include "core/report/catalogs.hpp"
#include "core/wire/method.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/salvage.hpp"
#include "sitter/bytes.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Level = order::Log::Level;
using RequestState = ClientRequest::State;

namespace {

/// The official TypeScript clients end their connection at a line of this size, with or without a
/// bridge. The log says so when such a line is passed on.
constexpr std::size_t kTypeScriptLineMax = 10 * limits::kMiB;

/// A longer result is not searched for the beginning of a task. A result that begins a task names
/// the task and little more.
constexpr std::size_t kTaskResultMax = 64 * limits::kKiB;

/// Whether the request goes on as a task, of which this is only the beginning.
bool is_task(const ClientRequest& request, std::string_view result) {
  if (result.size() > kTaskResultMax) return false;
  return request.is_stateless ? member(result, "resultType") == "\"task\""
                              : request.wants_task && is_object(member(result, "task"));
}

}  // namespace

void Conductor::on(const fact::ChildLine& fact) {
  Child* const child = generations_.find(fact.gen);
  if (child == nullptr) return;
  const Message* const message = fact.message != nullptr ? fact.message : reader_.read(fact.line);
  if (message != nullptr) {
    on_child_message(*child, *message, fact.line);
  } else {
    on_unreadable(*child, fact.line, fact.is_unfinished);
  }
}

void Conductor::on_child_message(Child& child, const Message& message, Line line) {
  child.handshake.on_spoken(now_);
  if (child.absence.is_on()) try_again(child);
  child.absence.on_heard();
  switch (message.kind) {
    case Message::Kind::request:
      on_child_request(child, message, line);
      break;
    case Message::Kind::notification:
      on_child_notification(child, message, line);
      break;
    case Message::Kind::result:
    case Message::Kind::error:
      on_child_answer(child, message, line);
      break;
  }
}

/// A line that is not one message: several on one line, text before a message, or no message at
/// all.
void Conductor::on_unreadable(Child& child, Line line, bool is_unfinished) {
  const std::string what = reader_.defect().what;
  const SplitLine split = split_objects(line.text());
  for (const std::string_view text : split.texts) add_noise(child, text);
  bool has_message = false;
  for (const std::string_view object : split.objects) {
    parts_.push_back({child.gen(), Line::padded(object)});
    has_message = has_message || reader_.read(parts_.back().line) != nullptr;
  }
  // A dying child was still writing this line, so the line is not an answer. The end of the child
  // says more.
  if (is_unfinished) return;
  // An answer that breaks off may still hold whole objects.
  if (!has_message && !split.texts.empty() && looks_like_answer(split.texts.front())) {
    answer_unreadable(child, lenient_id(split.texts.front()), what);
  }
}

/// One of several objects on a line, as if it had stood on a line of its own.
void Conductor::on_part(const Part& part) {
  Child* const child = generations_.find(part.gen);
  if (child == nullptr) return;
  if (const Message* const message = reader_.read(part.line)) {
    on_child_message(*child, *message, part.line);
    return;
  }
  const std::string what = reader_.defect().what;
  const std::string_view object = part.line.text();
  add_noise(*child, object);
  if (looks_like_answer(object)) answer_unreadable(*child, lenient_id(object), what);
}

void Conductor::on(const fact::ChildLineTooLong& fact) {
  Child* const child = generations_.find(fact.gen);
  if (child == nullptr) return;
  const std::string what = too_long_text(fact.size);
  add_noise(*child, fact.head);
  out_.log(Level::warn, fmt::format("child {}: {}", fact.gen, what));
  if (const std::string_view id = lenient_id(fact.head, fact.tail); !id.empty()) {
    answer_unreadable(*child, id, what);
  } else {
    // Some request may never be answered now, and nobody can tell which.
    child->life.take_down(EndReason::wrote_rubbish,
                          fmt::format("it wrote a line of {} bytes that shows no id", fact.size),
                          ladder(), now_, out_);
  }
}

void Conductor::answer_unreadable(Child& child, std::string_view id, std::string_view what) {
  if (id.empty()) return;
  if (child.handshake.state() == Handshake::State::opening &&
      same_id(id, child.handshake.opening_id())) {
    std::string why = fmt::format("its answer to initialize could not be read: {}", what);
    if (ClientRequest* const asked = opening()) {
      answer_opening_ourselves(*asked, why, ring_.tail(child.gen()));
    }
    child.life.take_down(EndReason::opening_refused, std::move(why), ladder(), now_, out_);
    return;
  }
  ClientRequest* const request = find_sent(child, id);
  if (request == nullptr) return;
  if (request->state == RequestState::cancelled) {
    requests_.take(*request);
    return;
  }
  std::string text = fmt::format(
      "[mcp-sitter] The server answered this request, but its answer could not be read: {}.", what);
  if (names_.offers(Builtin::child_stderr)) {
    text += fmt::format(" {} shows what the server {}, marked [stdout].",
                        names_.name(Builtin::child_stderr), config_.url.empty() ? "wrote" : "sent");
  }
  answer_failure(*request, ErrorCode::internal_error, text);
}

/// Text on stdout that is not a message. The ring keeps it, because it would break the client.
void Conductor::add_noise(Child& child, std::string_view text) {
  constexpr std::size_t kept = limits::kStderrLineMax;
  ring_of(child).add_stdout(child.gen(), text.substr(0, kept),
                            text.size() - std::min(text.size(), kept));
  if (const Announcement announcement = announcement_in(text); announcement != Announcement::none) {
    expect_own_restart(child, announcement);
    return;
  }
  if (history_->add_noise(child.gen(), text.substr(0, kept))) {
    out_.log(Level::warn, fmt::format("child {} {} what is not a message: {}", child.gen(),
                                      config_.url.empty() ? "wrote to stdout" : "sent",
                                      history_->noise()->first_line));
  }
}

void Conductor::on_child_request(Child& child, const Message& message, Line line) {
  if (!opening_->session().is_asked()) {
    // No client of the stateless revision would answer.
    out_.log(Level::warn, fmt::format("child {} sent a request ({}) outside of a session that was "
                                      "opened with initialize; it was dropped",
                                      child.gen(), brief(message.method_text, 100)));
    return;
  }
  const std::string_view token = message.params.meta_progress_token;
  if (!child_requests_->has_room(message.id, token)) {
    // A child that asks and does not read would fill its queue with these errors.
    if (!child.life.is_up() || !child.input.is_open()) return;
    out_.push(order::SendToChild{
        child.gen(),
        Outgoing::own(error_line(
            message.id, ErrorCode::internal_error,
            fmt::format("the client has {} requests of the server unanswered, and mcp-sitter "
                        "passes on at most {}, with {} bytes of ids and progress tokens",
                        child_requests_->count(), limits::kChildRequestsMax,
                        limits::kChildRequestBytesMax)))});
    return;
  }
  const std::string id = child_requests_->add(child.gen(), message.id, token);
  Edits edits(line);
  edits.replace(message.id, id);
  if (!token.empty()) edits.replace(token, id);
  to_client(edits.outgoing());
}

void Conductor::on_child_notification(Child& child, const Message& message, Line line) {
  switch (message.method) {
    case Method::progress:
      if (!answers_.passes_progress(message.params.progress_token, now_)) {
        out_.log(Level::debug, "progress that may not follow what the client has was dropped");
        return;
      }
      break;
    case Method::cancelled: {
      const std::string_view cancelled = message.params.request_id;
      auto* stream = streams_.find(cancelled, child.gen());
      const std::string id = child_requests_->client_id(child.gen(), cancelled);
      if (stream == nullptr && id.empty())
        stream = streams_.find(cancelled, sender(child, cancelled));
      if (stream != nullptr) {
        streams_.on_cancelled(*stream, message, line, !ending_.is_none(), turn());
      } else if (!id.empty()) {
        child_requests_->take(id);
        to_client(Outgoing::spliced(line, cancelled, id));
      } else {
        out_.log(Level::debug, "a cancellation by the child of nothing that is open was dropped");
      }
      return;
    }
    case Method::tools_list_changed:
      survey_again(child, CatalogKind::tools);
      pass_change(child, message, line);
      return;
    case Method::prompts_list_changed:
      survey_again(child, CatalogKind::prompts);
      pass_change(child, message, line);
      return;
    case Method::resources_list_changed:
      survey_again(child, CatalogKind::resources);
      pass_change(child, message, line);
      return;
    case Method::resources_updated:
      pass_change(child, message, line);
      return;
    case Method::subscriptions_acknowledged:
      streams_.on_acknowledged(sender(child, message.params.subscription_id), message, line,
                               turn());
      return;
    default:
      break;
  }
  to_client(Outgoing::passed(line));
}

void Conductor::survey_again(Child& child, CatalogKind kind) {
  if (child.life.is_up() && !child.is_retiring()) child.handshake.survey_again(kind, now_, out_);
}

/// The lists that could not be taken before, because the child did not know the client's version.
void Conductor::take_missing_lists(Child& child) {
  if (child.lists == Child::Lists::unknown || catalogs_->tools().is_known()) return;
  for (const CatalogKind kind : kCatalogKinds) survey_again(child, kind);
}

void Conductor::on_child_answer(Child& child, const Message& message, Line line) {
  if (message.id.empty()) {
    out_.log(Level::warn, fmt::format("child {} sent an error without an id: {}", child.gen(),
                                      brief(message.error, 300)));
    return;
  }
  if (shows_every_digit(message.id)) child.keeps_integers = true;
  const auto before = child.handshake.state();
  // A child that is on its way out cannot be asked for the next page.
  if ((child.life.is_up() || before == Handshake::State::opening) &&
      child.handshake.on_answer(message, now_, out_)) {
    if (before == Handshake::State::opening) on_opening_answer(child, message, line);
    note_served(child);
    return;
  }
  if (child.own_restart.on_answer(message)) return;
  const auto [stream, request] = answered_by(child, message);
  if (stream != nullptr) {
    note_served(child);
    streams_.on_answer(*stream, message, line, !ending_.is_none(), turn());
    return;
  }
  if (request == nullptr) {
    out_.log(Level::debug, fmt::format("child {} answered id {}, which nobody waits for",
                                       child.gen(), brief(message.id, 100)));
    return;
  }
  note_served(child);
  if (child.prove_answer() && child.life.is_up()) ask_for_streams(child);
  if (line.text().size() > kTypeScriptLineMax) {
    out_.log(Level::warn, fmt::format("an answer of {} bytes is passed on; the official TypeScript "
                                      "clients close the connection at {}",
                                      line.text().size(), kTypeScriptLineMax));
  }
  Edits edits(line);
  if (const auto id = request->id(); id != message.id) {
    edits.replace(message.id, std::string(id));
  }
  if (request->is_stateless) note_version(child, *request, message);
  if (request->wants_progress) request->goes_on = is_task(*request, message.result);
  if (is_replayed(*request) && request->state != RequestState::cancelled) {
    note_replayed(child, *request, message.result);
  }
  const bool may_hold = message.error.size() <= limits::kRefusalBytesMax &&
                        requests_.held_bytes() + line.text().size() <= limits::kHeldBytesMax;
  const bool is_held = message.kind == Message::Kind::error && may_hold &&
                       (may_be_refusal(child, *request, message.error) ||
                        doubt_opening(child, *request, message.error));
  if (is_held) {
    child.has_held_errors = true;
    request->more().is_refusal = true;
    hold(*request, edits.apply());
    const bool is_unclear = child.handshake.was_opened() && !child.own_restart.is_suspected();
    if (is_unclear) tell_doubt(*request);
  } else if (request->state == RequestState::cancelled) {
    answers_.send_late(*request, edits.outgoing(), turn());
    requests_.take(*request);
  } else if (request->method == Method::tools_list) {
    pass_tools(child, *request, message, edits);
  } else if (request->method == Method::tools_call && !child.is_retiring()) {
    // A client may reject a result with a finding, so the finding is told in a later result.
    const bool is_linted = wants_lint(child, *request, message);
    const std::string tool = is_linted ? request->tool : std::string();
    pass_tool_result(*request, message, edits);
    if (is_linted) lint_result(tool, message.result);
  } else {
    if (message.kind == Message::Kind::result) on_success(child, *request, message.result, edits);
    answer(*request, edits.outgoing());
  }
}

/// An exact match of the id wins over an id that the child may have rounded.
Conductor::Answered Conductor::answered_by(Child& child, const Message& answer) {
  if (Streams::Stream* const stream = streams_.find(answer.id, child.gen())) return {stream};
  if (streams_.was_cancelled(answer.id) && names_stream(answer.result)) return {};
  if (child.is_late_opening(answer)) return {};
  ClientRequest* const request = find_sent(child, answer.id);
  if (request != nullptr && same_id(request->id(), answer.id)) return {nullptr, request};
  Streams::Stream* const stream = streams_.find(answer.id, sender(child, answer.id));
  // A stream has no answer but its end, and the end names the stream.
  if (stream != nullptr && (request == nullptr || names_stream(answer.result))) return {stream};
  return {nullptr, request};
}

/// A request or stream with exactly this id takes precedence over a request whose id the child may
/// have rounded to it.
ClientRequest* Conductor::find_sent(const Child& child, std::string_view raw_id) {
  ClientRequest* const request = requests_.find_sent(raw_id, child.gen());
  if (request != nullptr || !child.may_round(raw_id)) return request;
  if (streams_.find(raw_id, child.gen()) != nullptr) return nullptr;
  return requests_.find_rounded(raw_id, child.gen());
}

/// Whether the error may only mean that the child was not opened.
bool Conductor::may_be_refusal(const Child& child, const ClientRequest& request,
                               std::string_view error) const {
  return child.handshake.is_in_doubt() && request.is_stateless &&
         request.state != RequestState::cancelled && !opening_->session().is_asked() &&
         ending_.is_none() && request.method != Method::server_discover && may_mean_unopened(error);
}

/// Learns from the answer whether the child knows the client's version, and whether it knows the
/// revision at all.
void Conductor::note_version(Child& child, const ClientRequest& request, const Message& answer) {
  if (answer.kind == Message::Kind::error) {
    if (has_code(answer.error, ErrorCode::unsupported_version)) {
      opening_->on_version_refused(request.envelope);
    }
    return;
  }
  if (opening_->on_served(request.envelope)) take_missing_lists(child);
  if (child.handshake.is_in_doubt() && !member(answer.result, "resultType").empty()) {
    child.handshake.end_doubt();
  }
}

}  // namespace sitter
