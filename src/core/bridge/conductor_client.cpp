#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "core/base/ascii.hpp"
#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/child/call_replay.hpp"
#include "core/client/batches.hpp"
#include "core/wire/method.hpp"
#include "core/wire/reply.hpp"
#include "core/wire/salvage.hpp"

namespace sitter {

using Level = order::Log::Level;
using Reach = DeathReport::Reach;
using State = ClientRequest::State;

namespace {

/// Whether the line must be kept until the answer, because the bridge then reads from it what was
/// set up. The line of any other request is kept only to be sent once more.
bool must_keep(const ClientRequest& request, Line line, bool is_replayed) {
  if (is_replayed) return line.text().size() <= limits::kReplayLineMax;
  return request.method == Method::initialize || is_setting(request.method);
}

/// Whether the answer says that old code has given it, if so.
bool may_tell_old_code(Method method) {
  return method == Method::tools_call || method == Method::prompts_get ||
         method == Method::resources_read;
}

/// Whether the client has given the request up because it took too long. A user who stops a call
/// needs no word about it. The official clients say "Request timed out".
bool is_timeout(const Message& cancellation) {
  const std::string reason =
      ascii_lower(json_decoded(member(cancellation.params_raw, "reason")).value_or(""));
  return reason.find("timed out") != reason.npos || reason.find("timeout") != reason.npos;
}

}  // namespace

void Conductor::on(const fact::ClientLine& fact) {
  // A server may skip a line that it can't read, and then the request would never be answered.
  const Message* const message = reader_.read(fact.line, MessageReader::Values::checked);
  if (message == nullptr) {
    const Defect& defect = reader_.defect();
    if (defect.kind == Defect::Kind::batch && desk_.opening().session().takes_batches()) {
      on_batch(fact.line);
      return;
    }
    if (defect.kind == Defect::Kind::not_utf8 || defect.kind == Defect::Kind::not_json) {
      desk_.refuse_broken_line(fact.line, defect.what);
    } else {
      desk_.refuse_client_line(defect.id, ErrorCode::invalid_request, defect.what);
    }
    return;
  }
  on_client_message(*message, fact.line);
}

void Conductor::on_client_message(const Message& message, Line line) {
  switch (message.kind) {
    case Message::Kind::request:
      on_client_request(message, line);
      break;
    case Message::Kind::notification:
      on_client_notification(message, line);
      break;
    case Message::Kind::result:
    case Message::Kind::error:
      on_client_answer(message, line);
      break;
  }
}

/// Splits a batch: the child gets one message after the other, and the client gets all answers in
/// one array.
void Conductor::on_batch(Line line) {
  const std::string_view text = line.text();
  if (!has_json_grammar(text)) {
    desk_.refuse_broken_line(line, "the line is not valid JSON");
    return;
  }
  const std::vector<std::string_view> elements = json_elements(text, limits::kBatchCountMax + 1);
  const auto read = [&](std::string_view element) {
    // The rest of the line after the element serves as its padding.
    const Line part = Line::padded(element);
    return std::pair{reader_.read(part, MessageReader::Values::checked), part};
  };
  std::size_t owed = 0;
  for (const std::string_view element : elements) {
    const Message* const message = read(element).first;
    if (message == nullptr || message->kind == Message::Kind::request) ++owed;
  }
  if (elements.empty()) {
    desk_.refuse_client_line({}, ErrorCode::invalid_request, "the batch is empty");
    return;
  }
  if (elements.size() > limits::kBatchCountMax) {
    desk_.refuse_client_line(
        {}, ErrorCode::invalid_request,
        fmt::format("the batch has more than {} entries", limits::kBatchCountMax));
    return;
  }
  desk_.answers().begin_batch(owed);
  const auto refuse = [&](std::string_view id, std::string_view what) {
    const std::string_view raw_id = id.empty() ? "null" : id;
    desk_.answers().send_in_batch(error_line(raw_id, ErrorCode::invalid_request, what),
                                  desk_.turn());
  };
  for (const std::string_view element : elements) {
    const auto [message, part] = read(element);
    if (message == nullptr) {
      refuse(reader_.defect().id, reader_.defect().what);
    } else if (message->kind == Message::Kind::request && message->method == Method::initialize) {
      refuse(message->id, "initialize must not be part of a batch");
    } else {
      on_client_message(*message, part);
    }
  }
  desk_.answers().end_batch();
}

void Conductor::on(const fact::ClientLineTooLong& fact) {
  desk_.refuse_client_line(lenient_id(fact.head, fact.tail), ErrorCode::invalid_request,
                           too_long_text(fact.size));
}

void Conductor::on_client_request(const Message& message, Line line) {
  const bool is_asked_already = message.method == Method::subscriptions_listen &&
                                desk_.requests().find_open(message.id) != nullptr;
  ClientRequest& request = desk_.add(message);
  if (ending_.is_stopping()) {
    news_.fail(request,
               news_.report_of(servers_.end_for(EndReason::shut_down), {}, Reach::not_delivered));
    return;
  }
  // The bridge could not tell to which of the two an answer belongs.
  if (is_asked_already || desk_.streams().find(message.id) != nullptr) {
    desk_.answer_error(
        request, ErrorCode::invalid_request,
        fmt::format("a {} with the id {} is open already", is_asked_already ? "request" : "stream",
                    brief(message.id, 100)));
    return;
  }
  if (message.method == Method::initialize) {
    on_initialize(request, message, line);
    return;
  }
  take_for_initialized(message);
  if (message.method == Method::tools_call) {
    request.tool = message.params.name_text;
    const auto builtin = desk_.names().find(request.tool);
    if (builtin == Builtin::call) {
      if (const auto changed = tools_.passed_call(request, message, line)) {
        pass_on(request, message, changed->line(), Outgoing::own(changed->text()));
      }
      return;
    }
    if (builtin) {
      tools_.on_call(request, *builtin, message);
      return;
    }
  }
  pass_on(request, message, line, Outgoing::passed(line));
}

/// Some clients never send `initialized`. Their first request shows that they have begun, and some
/// servers refuse requests that come before `initialized`.
void Conductor::take_for_initialized(const Message& request) {
  const Session& session = desk_.opening().session();
  if (!session.is_asked() || session.is_initialized() || request.params.has_envelope()) return;
  if (request.method == Method::initialize || request.method == Method::ping) return;
  static const OwnedLine line(notification_line(method_name(Method::initialized)));
  on_client_notification(*desk_.read_kept(line.line()), line.line());
  desk_.opening().on_initialized_by_request();
  if (Child* const child = servers_.generations().serving()) advance(*child);
}

void Conductor::on_initialize(ClientRequest& request, const Message& message, Line line) {
  Child* const child = servers_.generations().serving();
  const bool was_opened =
      child != nullptr && child->handshake.state() != Handshake::State::unopened;
  // A server that may have been started anew would lose this opening, too.
  const bool is_suspected = child != nullptr && child->own_restart.is_suspected();
  if (was_opened && !is_suspected && desk_.requests().waiting_count() == 0) {
    desk_.expect_answer(request, line);
    if (child->input.is_deaf()) {
      news_.fail(request, news_.report_of({}, {}, Reach::not_delivered));
    } else {
      forward(request, line, Outgoing::passed(line), *child);
    }
  } else if (desk_.asked_opening() != nullptr || servers_.generations().has_one_begun()) {
    desk_.expect_answer(request, line);
    desk_.wait(request, line);
  } else {
    desk_.begin_session(request, message, line);
  }
}

/// Passes the request to a child unless the bridge can answer it. If it waits, `line` is kept;
/// `outgoing` is the same line, to be sent.
void Conductor::pass_on(ClientRequest& request, const Message& message, Line line,
                        Outgoing outgoing) {
  Child* const child = servers_.generations().serving();
  const bool is_unheard =
      child == nullptr || child->input.is_deaf() || child->own_restart.is_suspected();
  if (message.method == Method::ping && (is_unheard || rebuilds_.holds_requests())) {
    desk_.answer_result(request, "{}");
    return;
  }
  // A probe needs no opening.
  if (!desk_.opening().is_open() && !request.is_stateless) {
    desk_.answer_error(request, ErrorCode::invalid_request,
                       fmt::format("{} came before initialize, and was not passed on",
                                   brief(message.method_text, 100)));
    return;
  }
  const bool is_probe = message.method == Method::server_discover;
  if (is_probe && config_.is_of_earlier_era && servers_.generations().last() == kNoGeneration) {
    desk_.answer_error(request, ErrorCode::method_not_found,
                       "the server speaks only revisions with initialize, as an earlier start of "
                       "the same files has shown; it was not started");
    return;
  }
  if (child != nullptr && child->input.is_deaf()) {
    news_.fail(request, news_.report_of({}, {}, Reach::not_delivered));
    return;
  }
  if (message.method == Method::subscriptions_listen && on_listen(request, message, line)) return;
  if (answer_ourselves(request, child, message.params)) return;
  if (child != nullptr && child->takes_requests() && desk_.requests().waiting_count() == 0 &&
      !rebuilds_.holds_requests()) {
    forward(request, line, std::move(outgoing), *child, &message);
    return;
  }
  desk_.wait(request, line);
}

/// Returns false if the request is not valid; the child then refuses it.
bool Conductor::on_listen(ClientRequest& request, const Message& message, Line line) {
  auto wanted = StreamFilter::of(message.params.notifications);
  if (!wanted || !request.is_stateless) return false;
  Child* const child = servers_.generations().serving();
  // A build may take longer than the client waits.
  const bool is_late = child == nullptr && rebuilds_.delays_requests();
  const bool is_open = desk_.open_stream(request, message, line, *std::move(wanted), is_late);
  if (is_open && child != nullptr) servers_.ask_for_streams(*child);
  return true;
}

/// Answers what needs no child or what this child lacks. Returns false if the request must be
/// passed on.
bool Conductor::answer_ourselves(ClientRequest& request, Child* child,
                                 const Message::Params& params) {
  if (request.method == Method::logging_set_level && desk_.opening().session().answered_by_us &&
      (child == nullptr ? !servers_.generations().is_one_past_opening()
                        : !child->may_have("logging"))) {
    desk_.opening().set_log_level(params.level);
    desk_.answer_result(request, "{}");
    return true;
  }
  if (!is_list(request.method)) return false;
  if (!request.is_first_page) {
    const bool is_stale =
        servers_.history().last_served() &&
        (child == nullptr || !child->cursors.may_have_given(request.method, params.cursor));
    if (!is_stale) return false;
    desk_.answer_error(request, ErrorCode::invalid_params,
                       "the server that gave this cursor is gone; list again from the beginning");
    return true;
  }
  if (news_.answers_lists_meanwhile()) {
    news_.answer_last_list(request);
    return true;
  }
  if (child == nullptr) {
    if (!desk_.opening().session().answered_by_us) return false;
    news_.answer_last_list(request);
    // The list does not wait, so it is no reason to build a server that does not exist yet.
    if (servers_.is_idle() && ending_.is_none() && !servers_.is_unbuilt() &&
        servers_.starts().may_start_now(now_)) {
      servers_.start("a request for a list");
    }
    return true;
  }
  const bool is_lacking =
      (request.method == Method::tools_list && !child->may_have("tools")) ||
      (desk_.opening().session().answered_by_us &&
       ((request.method == Method::prompts_list && !child->may_have("prompts")) ||
        ((request.method == Method::resources_list ||
          request.method == Method::resource_templates_list) &&
         !child->may_have("resources"))));
  if (is_lacking) news_.answer_last_list(request);
  return is_lacking;
}

/// `message` is what the reader has found in `line`; null if it will have read something else when
/// the order is carried out.
void Conductor::forward(ClientRequest& request, Line line, Outgoing outgoing, Child& child,
                        const Message* message) {
  if (!desk_.requests().may_send()) {
    desk_.answer_error(request, ErrorCode::internal_error,
                       fmt::format("the server has {} requests unanswered, which is the most that "
                                   "mcp-sitter passes on; wait for answers",
                                   limits::kInFlightCountMax));
    return;
  }
  if (desk_.refuse_when_throttled(request)) return;
  const bool is_kept = must_keep(request, line, servers_.replays().repeats(request)) ||
                       (request.is_repeatable() && desk_.requests().may_keep(line.text().size()));
  if (!is_kept && desk_.opening().session().is_asked() &&
      desk_.requests().in_flight_count() < limits::kSentLinesMax) {
    desk_.sent_lines().keep(request.order, line.text());
  }
  desk_.requests().mark_sent(request, child.gen(), is_kept ? OwnedLine(line.text()) : OwnedLine());
  // The orders of a batch are carried out when all of it was read.
  const bool is_as_read = outgoing.is_unchanged() && desk_.answers().batch() == Batches::kNone;
  out_.push(order::SendToChild{child.gen(), std::move(outgoing), is_as_read ? message : nullptr});
  if (may_tell_old_code(request.method)) news_.on_request(child.gen());
  has_only_passed_ = is_as_read;
}

void Conductor::on_client_notification(const Message& message, Line line) {
  if (message.method == Method::cancelled) {
    on_cancelled(message, line);
    return;
  }
  if (message.params.has_envelope()) desk_.opening().on_envelope();
  Child* const child = servers_.generations().serving();
  if (message.method == Method::initialized && desk_.opening().session().is_asked()) {
    const bool is_news = desk_.opening().on_initialized(line.text());
    // Any other child gets this notification in its handshake.
    if (!is_news || child == nullptr || child->handshake.state() == Handshake::State::opened)
      return;
  }
  // A client that has said anything with an envelope, a probe too, need not open a session first.
  if (!desk_.opening().is_open() && !desk_.opening().has_met_envelope()) {
    out_.log(Level::warn, fmt::format("{} came before initialize, and was dropped",
                                      brief(message.method_text, 100)));
    return;
  }
  if (child != nullptr && child->input.is_deaf()) {
    out_.log(Level::warn, fmt::format("{} was dropped: the child has stopped reading",
                                      brief(message.method_text, 100)));
    return;
  }
  if (message.method == Method::progress) {
    // The client names the child's question by the number that the bridge gave it.
    const auto* const question = servers_.questions().find(message.params.progress_token);
    Child* const asker = question == nullptr ? nullptr : servers_.generations().find(question->gen);
    if (asker == nullptr || !asker->life.is_up() || question->progress_token.empty()) {
      out_.log(Level::debug, "progress for a question that is no longer open was dropped");
      return;
    }
    notify(*asker,
           Outgoing::spliced(line, message.params.progress_token, question->progress_token));
    return;
  }
  if (child != nullptr && child->takes_requests() && desk_.requests().waiting_count() == 0) {
    notify(*child, Outgoing::passed(line));
    if (message.method == Method::initialized) take_missing_lists(*child);
    if (message.method == Method::roots_list_changed) {
      // A candidate that is past its opening may already have asked for the roots.
      for (Child& other : servers_.generations()) {
        const bool is_opening = other.handshake.state() == Handshake::State::opening;
        if (!servers_.generations().is_candidate(other) || !other.has_begun() || is_opening)
          continue;
        notify(other, Outgoing::own(std::string(line.text())));
      }
    }
    return;
  }
  if (message.method == Method::roots_list_changed &&
      !servers_.generations().is_one_past_opening()) {
    out_.log(Level::debug, "roots/list_changed was dropped: the next child asks for the roots");
    return;
  }
  if (!desk_.requests().may_wait(line.text().size())) {
    out_.log(Level::warn, fmt::format("{} was dropped: too much waits for the child",
                                      brief(message.method_text, 100)));
    return;
  }
  desk_.requests().enqueue_notification(line.text());
}

void Conductor::on_cancelled(const Message& message, Line line) {
  if (message.params.request_id.empty()) return;
  const bool was_waiting = rebuilds_.is_awaited_by_client();
  cancel(message, line);
  // Only a cancellation shows that nobody wants a first build any more: if the bridge answers the
  // last request because the build is slow, the answer tells the client to wait.
  if (was_waiting) rebuilds_.leave_unwanted_build();
}

void Conductor::cancel(const Message& message, Line line) {
  if (servers_.cancel_stream(message.params.request_id, line)) return;
  ClientRequest* const request = desk_.requests().find_open(message.params.request_id);
  if (request == nullptr) {
    // The cancellation came after the answer had left.
    news_.on_answered_cancelled(message.params.request_id);
    return;
  }
  // The opening can't be cancelled.
  if (request->method == Method::initialize) return;
  if (request->state == State::sent) {
    Child* const child = servers_.generations().find(request->gen);
    if (child != nullptr && child->life.is_up() && !child->input.is_deaf()) {
      notify(*child, Outgoing::passed(line));
    }
  }
  desk_.answers().on_cancelled(*request);
  forget(*request);
  if (request->method == Method::tools_call) {
    request->more().cancelled_at = now_.steady;
    // The status says what the server has done since.
    const Child* const child = servers_.generations().find(request->gen);
    if (child != nullptr) servers_.look_at_process(*child);
    request->more().has_timed_out = is_timeout(message);
    if (request->extra->has_timed_out) news_.on_timed_out();
  }
  desk_.requests().cancel(*request);
}

/// The caller of this request no longer waits for an answer.
void Conductor::forget(const ClientRequest& request) {
  desk_.answers().leave(request, desk_.turn());
  rebuilds_.forget(request);
}

void Conductor::notify(Child& child, Outgoing notification) {
  child.notified_before = desk_.requests().next_order();
  out_.push(order::SendToChild{child.gen(), std::move(notification)});
}

void Conductor::on_client_answer(const Message& message, Line line) {
  const auto question = message.id.empty() ? std::nullopt : servers_.questions().take(message.id);
  if (!question) {
    out_.log(Level::debug, "an answer of the client was dropped: it belongs to no open question");
    return;
  }
  Child* const child = servers_.generations().find(question->gen);
  if (child == nullptr || !child->life.is_up()) return;
  if (child->input.is_deaf()) {
    out_.log(Level::warn, "an answer of the client was dropped: the child has stopped reading");
    return;
  }
  child->hear(question->id, message);
  out_.push(order::SendToChild{child->gen(), Outgoing::spliced(line, message.id, question->id)});
}

}  // namespace sitter
