#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/child/unopened.hpp"
#include "core/client/session.hpp"
#include "core/client/stream_tag.hpp"
#include "core/wire/answer_defect.hpp"
#include "core/wire/method.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"
#include "sitter/bytes.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Level = order::Log::Level;
using RequestState = ClientRequest::State;

namespace {

/// The official TypeScript clients end their connection at a line of this size, with or without a
/// bridge. The log says so when such a line is passed on.
constexpr std::size_t kTypeScriptLineMax = 10 * limits::kMiB;

/// A longer result is not searched for a task or a request state. A result that begins a task names
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
  Child* const child = servers_.generations().find(fact.gen);
  if (child == nullptr) return;
  if (!child->life.is_up()) child->note_late(fact.line.text(), fact.is_unfinished);
  const Message* const message = fact.message != nullptr ? fact.message : reader_.read(fact.line);
  if (message != nullptr) {
    on_child_message(*child, *message, fact.line);
  } else {
    on_unreadable(*child, fact.line, fact.is_unfinished);
  }
}

void Conductor::on_child_message(Child& child, const Message& message, Line line) {
  if (servers_.is_echo(child, message, line.text())) {
    if (servers_.add_echo(child, line.text())) news_.on_noise();
    return;
  }
  child.echo.on_own_word();
  child.handshake.on_spoken(now_);
  if (child.absence.is_on()) servers_.try_again(child);
  child.absence.on_heard();
  switch (message.kind) {
    case Message::Kind::request:
      servers_.on_child_request(child, message, line);
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

void Conductor::on_child_notification(Child& child, const Message& message, Line line) {
  switch (message.method) {
    case Method::progress:
      if (!desk_.answers().passes_progress(message.params.progress_token, now_)) {
        out_.log(Level::debug, "progress that may not follow what the client has was dropped");
        return;
      }
      break;
    case Method::cancelled:
      on_child_cancelled(child, message, line);
      return;
    case Method::tools_list_changed:
    case Method::prompts_list_changed:
    case Method::resources_list_changed:
      child.survey_again(*changed_kind(message.method), now_, out_);
      [[fallthrough]];
    case Method::resources_updated:
      news_.lint_notification(child, message.method, line.text());
      desk_.pass_change(child.sender(message.params.subscription_id), message, line);
      return;
    case Method::subscriptions_acknowledged:
      desk_.streams().on_acknowledged(child.sender(message.params.subscription_id), message, line,
                                      desk_.turn());
      return;
    default:
      break;
  }
  news_.lint_notification(child, message.method, line.text());
  desk_.to_client(Outgoing::passed(line));
}

void Conductor::on_child_cancelled(Child& child, const Message& message, Line line) {
  const std::string_view cancelled = message.params.request_id;
  auto* stream = desk_.streams().find(cancelled, child.gen());
  const std::string id = servers_.questions().client_id(child.gen(), cancelled);
  if (stream == nullptr && id.empty()) {
    stream = desk_.streams().find(cancelled, child.sender(cancelled));
  }
  if (stream != nullptr) {
    desk_.streams().on_cancelled(*stream, message, line, !ending_.is_none(), desk_.turn());
  } else if (!id.empty()) {
    servers_.questions().take(id);
    desk_.to_client(Outgoing::spliced(line, cancelled, id));
  } else {
    out_.log(Level::debug, "a cancellation by the child of nothing that is open was dropped");
  }
}

/// The lists that could not be taken before, because the child did not know the client's version.
void Conductor::take_missing_lists(Child& child) {
  if (child.lists == Child::Lists::unknown || news_.catalogs().tools().is_known()) return;
  for (const CatalogKind kind : kCatalogKinds) child.survey_again(kind, now_, out_);
}

void Conductor::on_child_answer(Child& child, const Message& message, Line line) {
  if (message.id.empty()) {
    on_error_without_id(child, message, line);
    return;
  }
  if (shows_every_digit(message.id)) child.keeps_integers = true;
  const auto note_match = [&] {
    const bool is_own_spelling =
        respelled_.empty() || line.text().data() != respelled_.back().text().data();
    if (is_own_spelling && !child.keeps_id_types) child.keeps_id_types = has_other_type(message.id);
  };
  const auto before = child.handshake.state();
  if (message.has_others && config_.lints) {
    const bool is_opening = before == Handshake::State::opening;
    if (is_opening) {
      news_.on_opening_finding(others_finding(line.text()));
    } else {
      news_.on_finding(others_finding(line.text()));
    }
    // Other members pass, since some clients ignore what they do not know.
    if (message.has_null_method || is_opening) {
      take_respelled(child, without_others(message));
      return;
    }
  }
  if (before == Handshake::State::opening && same_id(message.id, child.handshake.opening_id()) &&
      refuse_answer(child, message, line)) {
    return;
  }
  // A child that is on its way out cannot be asked for the next page.
  if ((child.life.is_up() || before == Handshake::State::opening) &&
      child.handshake.on_answer(message, now_, out_)) {
    note_match();
    if (before == Handshake::State::opening) on_opening_answer(child, message, line);
    servers_.note_served(child);
    return;
  }
  if (child.own_restart.on_answer(message)) return;
  const auto [stream, request] = answered_by(child, message);
  if (stream != nullptr) {
    servers_.note_served(child);
    desk_.streams().on_answer(*stream, message, line, !ending_.is_none(), desk_.turn());
    return;
  }
  if (request == nullptr && take_other_type(child, message, line)) return;
  if (request == nullptr) {
    out_.log(Level::debug, fmt::format("child {} answered id {}, which nobody waits for",
                                       child.gen(), brief(message.id, 100)));
    // Some servers write 0, -1 or "" for the id that they could not read.
    if (has_code(message.error, ErrorCode::parse_error)) on_error_without_id(child, message, line);
    return;
  }
  note_match();
  std::optional<std::string> mended;
  if (message.kind == Message::Kind::result && is_list(request->method)) {
    mended = news_.mended_page(child, *request, message.result, line);
  }
  if (!mended) return pass_answer(child, *request, message, line);
  const OwnedLine& respelled = respelled_.emplace_back(std::move(*mended));
  if (const Message* const page = reader_.read(respelled.line())) {
    pass_answer(child, *request, *page, respelled.line());
  }
}

/// The child has answered this request of the client.
void Conductor::pass_answer(Child& child, ClientRequest& request, const Message& message,
                            Line line) {
  if (refuse_answer(child, message, line)) return;
  if (child.notified_before && request.order >= *child.notified_before) {
    child.notified_before.reset();
  }
  servers_.note_served(child);
  rebuilds_.on_answer(child);
  if (child.prove_answer() && child.life.is_up()) servers_.ask_for_streams(child);
  if (line.text().size() > kTypeScriptLineMax) {
    out_.log(Level::warn, fmt::format("an answer of {} bytes is passed on; the official TypeScript "
                                      "clients close the connection at {}",
                                      line.text().size(), kTypeScriptLineMax));
  }
  Edits edits(line);
  if (const auto id = request.id(); id != message.id) {
    edits.replace(message.id, std::string(id));
  }
  if (request.is_stateless) note_version(child, request, message);
  if (request.wants_progress) request.goes_on = is_task(request, message.result);
  if (request.state != RequestState::cancelled && servers_.replays().repeats(request)) {
    const Message* const call =
        request.has_line() ? desk_.read_kept(request.extra->line.line()) : nullptr;
    servers_.replays().on_result(child, request, message.result,
                                 call == nullptr ? std::string_view() : call->params_raw, out_);
  }
  const bool is_stale = explain_stale(child, request, message, edits);
  if (message.kind == Message::Kind::result) note_handed_out(child, request, message.result, edits);
  const bool may_hold = message.error.size() <= limits::kRefusalBytesMax &&
                        desk_.requests().held_bytes() + line.text().size() <= limits::kHeldBytesMax;
  const bool is_held = message.kind == Message::Kind::error && may_hold &&
                       (may_be_refusal(child, request, message.error) ||
                        servers_.doubt_opening(child, request, message.error));
  if (is_held) {
    child.has_held_errors = true;
    request.more().is_refusal = true;
    news_.hold(request, edits.apply());
    const bool is_unclear = child.handshake.was_opened() && !child.own_restart.is_suspected();
    if (is_unclear) servers_.tell_doubt(request);
  } else if (request.state == RequestState::cancelled) {
    desk_.answers().send_late(request, edits.outgoing(), desk_.turn());
    desk_.requests().take(request);
  } else if (request.method == Method::tools_list) {
    news_.pass_tools(child, request, message, edits);
  } else if (request.method == Method::tools_call && !is_stale) {
    news_.pass_tool_result(child, request, message, edits);
    has_only_passed_ = true;
  } else {
    if (message.kind == Message::Kind::result) on_success(child, request, message.result, edits);
    news_.tell_old_code(child, request, message, edits);
    desk_.answer(request, edits.outgoing());
  }
}

/// Remembers what later requests may name to go on with this result, and puts right its type.
void Conductor::note_handed_out(Child& child, const ClientRequest& request, std::string_view result,
                                Edits& edits) {
  if (result.size() > kTaskResultMax || !(request.wants_task || request.is_stateless)) return;
  const auto [task, task_id, state, type] =
      members<4>(result, {"task", "taskId", "requestState", "resultType"});
  if (request.is_stateless && !is_list(request.method))
    news_.mend_type(child, request, result, type, edits);
  child.hand_out(is_object(task) ? member(task, "taskId") : task_id);
  child.hand_out(state);
}

/// The server has refused a request that goes on with what another server has begun. Its own words
/// would only puzzle, because it knows nothing of the other. A server that keeps its tasks, or the
/// key of its states, answers such a request.
bool Conductor::explain_stale(const Child& child, const ClientRequest& request,
                              const Message& answer, Edits& edits) {
  if (!request.extra || child.is_retiring() || !servers_.history().last_served()) return false;
  const bool is_error = has_message(answer.error);
  const bool is_refusal =
      is_error || (takes_text(answer.result) && member(answer.result, "isError") == "true");
  if (!is_refusal) return false;
  const bool is_task = request.extra->task != 0;
  const std::size_t key = is_task ? request.extra->task : request.extra->state;
  if (key == 0 || child.may_have_handed_out(key)) return false;
  const std::string text = fmt::format(
      "[mcp-sitter] This {} by a server that is gone. The server that runs now (spawn "
      "#{}) started {}. {}.",
      is_task ? "task was probably begun" : "requestState was probably given", child.gen(),
      age_text(child.life.lifetime(now_)),
      is_task ? "Call the tool again to begin a new task"
              : "Send the request again without requestState and inputResponses");
  if (is_error) {
    append_to_error(answer.error, text, edits);
  } else {
    put_text(answer.result, text, edits);
  }
  return true;
}

/// An exact match of the id wins over an id that the child may have rounded.
Conductor::Answered Conductor::answered_by(Child& child, const Message& answer) {
  if (Streams::Stream* const stream = desk_.streams().find(answer.id, child.gen())) return {stream};
  if (desk_.streams().was_cancelled(answer.id) && names_stream(answer.result)) return {};
  if (child.is_late_opening(answer)) return {};
  ClientRequest* const request = servers_.find_sent(child, answer.id);
  if (request != nullptr && same_id(request->id(), answer.id)) return {nullptr, request};
  Streams::Stream* const stream = desk_.streams().find(answer.id, child.sender(answer.id));
  // A stream has no answer but its end, and the end names the stream.
  if (stream != nullptr && (request == nullptr || names_stream(answer.result))) return {stream};
  return {nullptr, request};
}

/// Whether the error may only mean that the child was not opened.
bool Conductor::may_be_refusal(const Child& child, const ClientRequest& request,
                               std::string_view error) {
  return child.handshake.is_in_doubt() && request.is_stateless &&
         request.state != RequestState::cancelled && !desk_.opening().session().is_asked() &&
         ending_.is_none() && request.method != Method::server_discover && may_mean_unopened(error);
}

/// Learns from the answer whether the child knows the client's version, and whether it knows the
/// revision at all.
void Conductor::note_version(Child& child, const ClientRequest& request, const Message& answer) {
  using Sign = order::RememberEra::Sign;
  const bool is_probe = request.method == Method::server_discover;
  if (answer.kind == Message::Kind::error) {
    if (has_code(answer.error, ErrorCode::unsupported_version)) {
      desk_.opening().on_version_refused(request.envelope);
    }
    const auto of_newer_era = {ErrorCode::unsupported_version, ErrorCode::header_mismatch,
                               ErrorCode::missing_client_capability};
    if (is_probe && std::none_of(of_newer_era.begin(), of_newer_era.end(),
                                 [&](ErrorCode code) { return has_code(answer.error, code); })) {
      const bool is_unknown = has_code(answer.error, ErrorCode::method_not_found);
      servers_.remember(is_unknown ? Sign::knows_no_probe : Sign::fails_probe);
    }
    return;
  }
  if (is_probe) servers_.remember(Sign::answers_probe);
  if (desk_.opening().on_served(request.envelope)) take_missing_lists(child);
  if (child.handshake.is_in_doubt() && !member(answer.result, "resultType").empty()) {
    child.handshake.end_doubt();
  }
}

/// A child has answered `initialize`: the client's own, or a replay that the client never sees.
void Conductor::on_opening_answer(Child& child, const Message& message, Line line) {
  if (child.handshake.state() != Handshake::State::opened) return;
  // The bridge or the client says `initialized` next.
  child.notified_before = desk_.requests().next_order();
  servers_.on_opened(child);
  news_.lint_opening(message.result);
  const OpeningResult& result = child.handshake.opened_with();
  if (!desk_.opening().was_sent_to(child.gen()) || desk_.asked_opening() == nullptr) return;
  ClientRequest& request = *desk_.asked_opening();
  servers_.remember(order::RememberEra::Sign::opens);
  desk_.opening().on_answered(result);
  Edits edits(line);
  if (const auto id = request.id(); id != message.id) {
    edits.replace(message.id, std::string(id));
  }
  amend_opening(message.result, desk_.names().instructions(), config_.lints, edits);
  desk_.answer(request, edits.outgoing());
}

/// What the result of any other request means to the bridge. The result of a retiring child reaches
/// the client, but changes nothing that the bridge knows about the server.
void Conductor::on_success(Child& child, const ClientRequest& request, std::string_view result,
                           Edits& edits) {
  news_.lint_answer(child, request, result);
  switch (request.method) {
    case Method::resource_templates_list:
    case Method::prompts_list:
    case Method::resources_list:
      news_.amend_page(child, request, result, {}, edits);
      break;
    case Method::resources_read:
      if (request.is_stateless) expire(result, edits);
      break;
    case Method::server_discover:
      on_discovered(child, result, edits);
      break;
    case Method::logging_set_level:
    case Method::resources_subscribe:
    case Method::resources_unsubscribe:
      servers_.on_setting_accepted(child, request);
      break;
    case Method::initialize:
      if (!member(result, "protocolVersion").starts_with('"')) break;
      // The client may have sent a newer `initialize`, and only the newer one changes the session.
      if (desk_.asked_opening() == nullptr && desk_.begin_session_again(request)) {
        desk_.opening().on_answered(OpeningResult::of(result));
      }
      amend_opening(result, desk_.names().instructions(), config_.lints, edits);
      break;
    default:
      break;
  }
}

void Conductor::on_discovered(Child& child, std::string_view result, Edits& edits) {
  if (!is_array(member(result, "supportedVersions"))) {
    out_.log(Level::warn,
             fmt::format("child {} answered server/discover without supportedVersions, "
                         "which no client can use",
                         child.gen()));
    return;
  }
  OpeningResult discovered = OpeningResult::of_discovery(result);
  child.handshake.on_discovered(discovered);
  if (!child.is_retiring()) desk_.opening().on_discovered(std::move(discovered));
  amend_opening(result, desk_.names().instructions(), false, edits);
  expire(result, edits);
}

}  // namespace sitter
