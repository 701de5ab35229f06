#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/child/call_replay.hpp"
#include "core/child/child_requests.hpp"
#include "core/child/history.hpp"
#include "core/child/killer.hpp"
#include "core/child/starts.hpp"
#include "core/client/batches.hpp"
#include "core/client/in_flight_throttle.hpp"
#include "core/client/opening.hpp"
#include "core/rebuild/rebuilder.hpp"
#include "core/report/notices.hpp"
#include "core/report/old_code.hpp"
#include "core/wire/method.hpp"
#include "core/wire/salvage.hpp"

namespace sitter {

using Level = order::Log::Level;
using Reach = DeathReport::Reach;
using State = ClientRequest::State;

void Conductor::on(const fact::ClientLine& fact) {
  // A server may skip a line that it can't read, and then the request would never be answered.
  const Message* const message = reader_.read(fact.line, MessageReader::Values::checked);
  if (message == nullptr) {
    const Defect& defect = reader_.defect();
    if (defect.kind == Defect::Kind::batch && opening_->session().takes_batches()) {
      on_batch(fact.line);
      return;
    }
    if (defect.kind == Defect::Kind::not_utf8 || defect.kind == Defect::Kind::not_json) {
      refuse_broken_line(fact.line, defect.what);
    } else {
      refuse_client_line(defect.id, ErrorCode::invalid_request, defect.what);
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
    refuse_broken_line(line, "the line is not valid JSON");
    return;
  }
  const std::vector<std::string_view> elements = json_elements(text);
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
    refuse_client_line({}, ErrorCode::invalid_request, "the batch is empty");
    return;
  }
  if (elements.size() > limits::kBatchCountMax) {
    refuse_client_line({}, ErrorCode::invalid_request,
                       fmt::format("the batch has {} entries, and at most {} are accepted",
                                   elements.size(), limits::kBatchCountMax));
    return;
  }
  answers_.begin_batch(owed);
  const auto refuse = [&](std::string_view id, std::string_view what) {
    const std::string_view raw_id = id.empty() ? "null" : id;
    answers_.send_in_batch(error_line(raw_id, ErrorCode::invalid_request, what), turn());
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
  answers_.end_batch();
}

void Conductor::on(const fact::ClientLineTooLong& fact) {
  refuse_client_line(lenient_id(fact.head, fact.tail), ErrorCode::invalid_request,
                     too_long_text(fact.size));
}

/// Answers every message whose id can be read in a line that is not valid JSON.
void Conductor::refuse_broken_line(Line line, std::string_view what) {
  const SplitLine split = split_objects(line.text());
  std::vector<std::string_view> ids;
  for (const auto* pieces : {&split.objects, &split.texts}) {
    for (const std::string_view piece : *pieces) {
      if (const auto id = lenient_id(piece); !id.empty()) ids.push_back(id);
    }
  }
  if (ids.empty()) ids.emplace_back();
  for (const std::string_view id : ids) refuse_client_line(id, ErrorCode::parse_error, what);
}

void Conductor::refuse_client_line(std::string_view id, ErrorCode code, std::string_view what) {
  out_.log(Level::warn, fmt::format("a line of the client was refused: {}", what));
  if (id.empty() && opening_->session().needs_ids_in_errors()) id = "null";
  to_client(Outgoing::own(
      error_line(id, code, fmt::format("mcp-sitter did not pass this on: {}", what))));
}

void Conductor::on_client_request(const Message& message, Line line) {
  const bool is_asked_already =
      message.method == Method::subscriptions_listen && requests_.find_open(message.id) != nullptr;
  ClientRequest& request = requests_.add(message.id);
  const Message::Params& params = message.params;
  request.method = message.method;
  request.is_first_page = !is_there(params.cursor);
  request.wants_task = params.has_task;
  request.is_stateless = params.has_envelope();
  if (request.is_stateless) opening_->on_envelope();
  if (answers_.batch() != Batches::kNone) request.more().batch = answers_.batch();
  if (request.is_stateless && message.method != Method::server_discover) {
    if (!opening_->is_open()) {
      ids_.match_id_style(message.id);
      meet(params.envelope_client);
    }
    request.envelope = opening_->note(params);
  }
  if (!params.meta_progress_token.empty()) {
    request.wants_progress = true;
    answers_.on_request(params.meta_progress_token);
    if (params.meta_progress_token != message.id) {
      request.more().progress_token = params.meta_progress_token;
    }
  }
  if (ending_.is_stopping()) {
    fail(request, report_of(end_for(EndReason::shut_down), {}, Reach::not_delivered));
    return;
  }
  // The bridge could not tell to which of the two an answer belongs.
  if (is_asked_already || streams_.find(message.id) != nullptr) {
    answer_error(request, ErrorCode::invalid_request,
                 fmt::format("a {} with the id {} is open already",
                             is_asked_already ? "request" : "stream", brief(message.id, 100)));
    return;
  }
  if (message.method == Method::initialize) {
    on_initialize(request, message, line);
    return;
  }
  if (message.method == Method::tools_call) {
    request.tool = params.name_text;
    const auto builtin = names_.find(request.tool);
    if (builtin == Builtin::call) {
      pass_call(request, message, line);
      return;
    }
    if (builtin) {
      on_builtin(request, *builtin, message);
      return;
    }
  }
  pass_on(request, message, line, Outgoing::passed(line));
}

/// Passes the request to a child unless the bridge can answer it. If it waits, `line` is kept;
/// `outgoing` is the same line, to be sent.
void Conductor::pass_on(ClientRequest& request, const Message& message, Line line,
                        Outgoing outgoing) {
  Child* const child = generations_.serving();
  const bool is_unheard =
      child == nullptr || child->input.is_deaf() || child->own_restart.is_suspected();
  if (message.method == Method::ping && (is_unheard || rebuilder_->holds_requests())) {
    answer_result(request, "{}");
    return;
  }
  // A probe needs no opening.
  if (!opening_->is_open() && !request.is_stateless) {
    answer_error(request, ErrorCode::invalid_request,
                 fmt::format("{} came before initialize, and was not passed on",
                             brief(message.method_text, 100)));
    return;
  }
  if (child != nullptr && child->input.is_deaf()) {
    fail(request, report_of({}, {}, Reach::not_delivered));
    return;
  }
  if (message.method == Method::subscriptions_listen && on_listen(request, message, line)) return;
  if (answer_ourselves(request, child, message.params)) return;
  if (child != nullptr && child->takes_requests() && requests_.waiting_count() == 0 &&
      !rebuilder_->holds_requests()) {
    forward(request, line, std::move(outgoing), *child, &message);
    return;
  }
  wait(request, line);
}

void Conductor::wait(ClientRequest& request, Line line) {
  if (requests_.make_room(line.text().size()) > 0) {
    out_.log(Level::warn,
             "notifications that waited for the child were dropped to make room for a request");
  }
  if (!requests_.may_wait(line.text().size())) {
    answer_error(
        request, ErrorCode::internal_error,
        fmt::format("the server is not up, and {} requests ({} bytes) already wait for it, "
                    "so this request was not accepted; try again when it is up",
                    requests_.waiting_count(), requests_.waiting_bytes()));
    return;
  }
  requests_.enqueue(request, line.text(), now_.steady);
}

bool Conductor::answer_ourselves(ClientRequest& request, Child* child,
                                 const Message::Params& params) {
  if (request.method == Method::logging_set_level && opening_->session().answered_by_us &&
      (child == nullptr ? !generations_.is_one_past_opening() : !child->may_have("logging"))) {
    opening_->set_log_level(params.level);
    answer_result(request, "{}");
    return true;
  }
  if (!is_list(request.method)) return false;
  if (!request.is_first_page) {
    const bool is_stale =
        history_->last_served() && (child == nullptr || !child->may_have_given(params.cursor));
    if (!is_stale) return false;
    answer_error(request, ErrorCode::invalid_params,
                 "the server that gave this cursor is gone; list again from the beginning");
    return true;
  }
  if (answers_lists_meanwhile()) {
    answer_last_list(request);
    return true;
  }
  if (child == nullptr) {
    if (!opening_->session().answered_by_us) return false;
    answer_last_list(request);
    // The list does not wait, so it is no reason to build a server that does not exist yet.
    if (is_idle() && ending_.is_none() && !is_unbuilt() && starts_->may_start_now(now_)) {
      start("a request for a list");
    }
    return true;
  }
  const bool is_lacking =
      (request.method == Method::tools_list && !child->may_have("tools")) ||
      (opening_->session().answered_by_us &&
       ((request.method == Method::prompts_list && !child->may_have("prompts")) ||
        ((request.method == Method::resources_list ||
          request.method == Method::resource_templates_list) &&
         !child->may_have("resources"))));
  if (is_lacking) answer_last_list(request);
  return is_lacking;
}

/// `message` is what the reader has found in `line`; null if it will have read something else when
/// the order is carried out.
void Conductor::forward(ClientRequest& request, Line line, Outgoing outgoing, Child& child,
                        const Message* message) {
  if (!requests_.may_send()) {
    answer_error(request, ErrorCode::internal_error,
                 fmt::format("the server has {} requests unanswered, which is the most that "
                             "mcp-sitter passes on; wait for answers",
                             limits::kInFlightCountMax));
    return;
  }
  if (refuse_when_throttled(request)) return;
  const bool is_kept = must_keep(request, line) ||
                       (request.is_repeatable() && requests_.may_keep(line.text().size()));
  if (!is_kept && opening_->session().is_asked() &&
      requests_.in_flight_count() < limits::kSentLinesMax) {
    sent_lines_.keep(request.order, line.text());
  }
  requests_.mark_sent(request, child.gen(), is_kept ? OwnedLine(line.text()) : OwnedLine());
  // The orders of a batch are carried out when all of it was read.
  const bool is_as_read = outgoing.is_unchanged() && answers_.batch() == Batches::kNone;
  out_.push(order::SendToChild{child.gen(), std::move(outgoing), is_as_read ? message : nullptr});
  // A rebuild that is on its way reads the changes.
  const bool is_call = request.method == Method::tools_call;
  if (is_call && old_code_->may_look(now_) && !rebuilder_->is_on()) {
    old_code_->on_call(child.gen(), now_, out_);
  }
}

bool Conductor::refuse_when_throttled(ClientRequest& request) {
  if (!throttle_->refuses()) return false;
  answer_error(request, ErrorCode::internal_error,
               fmt::format("unanswered requests hold {} bytes, and mcp-sitter keeps at most {}; "
                           "wait for answers, or cancel some",
                           requests_.bytes(), limits::kInFlightBytesMax));
  return true;
}

/// Whether the line must be kept until the answer, because the bridge then reads from it what was
/// set up. The line of any other request is kept only to be sent once more.
bool Conductor::must_keep(const ClientRequest& request, Line line) const {
  if (is_replayed(request)) return line.text().size() <= limits::kReplayLineMax;
  return request.method == Method::initialize || is_setting(request.method);
}

void Conductor::on_client_notification(const Message& message, Line line) {
  if (message.method == Method::cancelled) {
    on_cancelled(message, line);
    return;
  }
  if (message.params.has_envelope()) opening_->on_envelope();
  Child* const child = generations_.serving();
  if (message.method == Method::initialized && opening_->session().is_asked()) {
    opening_->on_initialized(line.text());
    // Any other child gets this notification in its handshake.
    if (child == nullptr || child->handshake.state() == Handshake::State::opened) return;
  }
  // A client that has said anything with an envelope, a probe too, need not open a session first.
  if (!opening_->is_open() && !opening_->has_met_envelope()) {
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
    const auto* const question = child_requests_->find(message.params.progress_token);
    Child* const asker = question == nullptr ? nullptr : generations_.find(question->gen);
    if (asker == nullptr || !asker->life.is_up() || question->progress_token.empty()) {
      out_.log(Level::debug, "progress for a question that is no longer open was dropped");
      return;
    }
    out_.push(order::SendToChild{
        asker->gen(),
        Outgoing::spliced(line, message.params.progress_token, question->progress_token)});
    return;
  }
  if (child != nullptr && child->takes_requests() && requests_.waiting_count() == 0) {
    out_.push(order::SendToChild{child->gen(), Outgoing::passed(line)});
    if (message.method == Method::initialized) take_missing_lists(*child);
    if (message.method == Method::roots_list_changed) {
      // A candidate that is past its opening may already have asked for the roots.
      for (const Child& other : generations_) {
        const bool is_opening = other.handshake.state() == Handshake::State::opening;
        if (!generations_.is_candidate(other) || !other.has_begun() || is_opening) continue;
        out_.push(order::SendToChild{other.gen(), Outgoing::own(std::string(line.text()))});
      }
    }
    return;
  }
  if (message.method == Method::roots_list_changed && !generations_.is_one_past_opening()) {
    out_.log(Level::debug, "roots/list_changed was dropped: the next child asks for the roots");
    return;
  }
  if (!requests_.may_wait(line.text().size())) {
    out_.log(Level::warn, fmt::format("{} was dropped: too much waits for the child",
                                      brief(message.method_text, 100)));
    return;
  }
  requests_.enqueue_notification(line.text());
}

void Conductor::on_cancelled(const Message& message, Line line) {
  if (message.params.request_id.empty()) return;
  const bool was_waiting = waits_for_build();
  cancel(message, line);
  // Only a cancellation shows that nobody wants a first build any more: if the bridge answers the
  // last request because the build is slow, the answer tells the client to wait.
  if (was_waiting && rebuilder_->waits_for(Rebuilder::State::build) && !waits_for_build() &&
      rebuilder_->leave_requests()) {
    abandon_rebuild();
  }
}

void Conductor::cancel(const Message& message, Line line) {
  if (on_stream_cancelled(message.params.request_id, line)) return;
  ClientRequest* const request = requests_.find_open(message.params.request_id);
  if (request == nullptr) {
    // The cancellation came after the answer had left.
    if (notices_->on_answered_cancelled(message.params.request_id)) old_code_->on_unread();
    return;
  }
  // The opening can't be cancelled.
  if (request->method == Method::initialize) return;
  if (request->state == State::sent) {
    Child* const child = generations_.find(request->gen);
    if (child != nullptr && child->life.is_up() && !child->input.is_deaf()) {
      out_.push(order::SendToChild{child->gen(), Outgoing::passed(line)});
    }
  }
  answers_.on_cancelled(*request);
  forget(*request);
  requests_.cancel(*request);
}

/// The caller of this request no longer waits for an answer.
void Conductor::forget(const ClientRequest& request) {
  answers_.leave(request, turn());
  if (rebuilder_->leave(request.handle())) abandon_rebuild();
}

void Conductor::on_client_answer(const Message& message, Line line) {
  const auto question = message.id.empty() ? std::nullopt : child_requests_->take(message.id);
  if (!question) {
    out_.log(Level::debug, "an answer of the client was dropped: it belongs to no open question");
    return;
  }
  Child* const child = generations_.find(question->gen);
  if (child == nullptr || !child->life.is_up()) return;
  if (child->input.is_deaf()) {
    out_.log(Level::warn, "an answer of the client was dropped: the child has stopped reading");
    return;
  }
  out_.push(order::SendToChild{child->gen(), Outgoing::spliced(line, message.id, question->id)});
}

}  // namespace sitter
