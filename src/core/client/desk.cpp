#include "core/client/desk.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/base/text.hpp"
#include "core/http/http_link_limits.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/method.hpp"
#include "core/wire/reply.hpp"
#include "core/wire/salvage.hpp"

namespace sitter {

using Level = order::Log::Level;
using State = ClientRequest::State;

Desk::Desk(const BridgeConfig& config, BuiltinNames names, const Now& now, Orders& out)
    : config_(config),
      now_(now),
      out_(out),
      requests_(
          ServerTraits::of(config).has_address
              ? ClientRequests::Room{limits::kHttpWaitingCountMax, limits::kHttpWaitingBytesMax}
              : ClientRequests::Room()),
      // The bridge finds a change of the tools itself, since it compares them after a restart; and
      // of any other list that the client was not told is empty.
      streams_([this](CatalogKind kind) {
        return kind == CatalogKind::tools || opening_.may_have(kind);
      }),
      ids_(config.seed),
      names_(std::move(names)) {}

// ---- the client's lines

ClientRequest& Desk::add(const Message& message) {
  ClientRequest& request = requests_.add(message.id);
  const Message::Params& params = message.params;
  request.method = message.method;
  request.is_first_page = !is_there(params.cursor);
  if (!request.is_first_page && is_list(message.method)) {
    request.more().cursor = text_key(params.cursor);
  }
  request.wants_task = params.has_task;
  request.is_stateless = params.has_envelope();
  if (request.is_stateless) opening_.on_envelope();
  if (answers_.batch() != Batches::kNone) request.more().batch = answers_.batch();
  if (request.is_stateless && message.method != Method::server_discover) {
    if (!opening_.is_open()) {
      ids_.match_id_style(message.id);
      meet(params.envelope_client);
    }
    request.envelope = opening_.note(params);
  }
  if (!params.task_id.empty() && message.method_text.starts_with("tasks/")) {
    request.more().task = text_key(params.task_id);
  }
  if (!params.request_state.empty()) request.more().state = text_key(params.request_state);
  if (!params.meta_progress_token.empty()) {
    request.wants_progress = true;
    answers_.on_request(params.meta_progress_token);
    if (params.meta_progress_token != message.id) {
      request.more().progress_token = params.meta_progress_token;
    }
  }
  return request;
}

void Desk::wait(ClientRequest& request, Line line) {
  if (requests_.make_room(line.text().size()) > 0) {
    out_.log(Level::warn,
             "notifications that waited for the child were dropped to make room for a request");
  }
  if (!requests_.may_wait(line.text().size())) {
    answer_error(
        request, ErrorCode::internal_error,
        fmt::format("the server is not up, and too much waits for it already ({}, {} bytes), so "
                    "this request was not accepted; try again when the server is up",
                    counted(requests_.waiting_count(), "request"), requests_.waiting_bytes()));
    return;
  }
  requests_.enqueue(request, line.text(), now_.steady);
}

bool Desk::needs_server() const {
  return asked_opening() != nullptr || requests_.first_waiting_request() != nullptr ||
         streams_.is_waiting();
}

bool Desk::needs_build() const {
  return asked_opening() != nullptr || requests_.first_waiting_request(false) != nullptr ||
         streams_.is_waiting();
}

bool Desk::refuse_when_throttled(ClientRequest& request) {
  if (!throttle_.refuses()) return false;
  answer_error(request, ErrorCode::internal_error,
               fmt::format("unanswered requests hold {} bytes, and mcp-sitter keeps at most {}; "
                           "wait for answers, or cancel some",
                           requests_.bytes(), limits::kInFlightBytesMax));
  return true;
}

void Desk::refuse_broken_line(Line line, std::string_view what) {
  const auto objects = split_objects(line.text());
  std::vector<std::string_view> ids;
  for (const auto& pieces : {objects, texts_around(objects, line.text())}) {
    for (const std::string_view piece : pieces) {
      if (const auto id = lenient_id(piece); !id.empty()) ids.push_back(id);
    }
  }
  if (ids.empty()) ids.emplace_back();
  for (const std::string_view id : ids) refuse_client_line(id, ErrorCode::parse_error, what);
}

void Desk::refuse_client_line(std::string_view raw_id, ErrorCode code, std::string_view what) {
  out_.log(Level::warn, fmt::format("a line of the client was refused: {}", what));
  if (raw_id.empty() && opening_.session().needs_ids_in_errors()) raw_id = "null";
  to_client(Outgoing::own(
      error_line(raw_id, code, fmt::format("mcp-sitter did not pass this on: {}", what))));
}

// ---- the answers

void Desk::answer(ClientRequest& request, Outgoing line) {
  answers_.send(request, std::move(line), turn());
  requests_.take(request);
}

void Desk::answer_result(ClientRequest& request, std::string_view result) {
  answer(request, Outgoing::own(own_result_line(request, result)));
}

void Desk::answer_error(ClientRequest& request, ErrorCode code, std::string_view message,
                        std::string_view data) {
  answer(request, Outgoing::own(error_line(request.id(), code, message, data)));
}

void Desk::answer_tool_text(ClientRequest& request, std::string_view text, bool is_error) {
  answer(request, Outgoing::own(tool_text_line(request, text, is_error)));
}

void Desk::answer_tool_text(RequestHandle request, std::string_view text, bool is_error) {
  if (ClientRequest* const open = requests_.find(request)) answer_tool_text(*open, text, is_error);
}

void Desk::answer_failure(ClientRequest& request, ErrorCode code, std::string_view text) {
  if (request.fails_with_result()) {
    answer_tool_text(request, text, true);
  } else {
    answer_error(request, code, text);
  }
}

void Desk::answer_list(ClientRequest& request, std::string_view list) {
  answer(request,
         Outgoing::own(result_line(
             request.id(), request.is_stateless
                               ? complete_list(list, server_info_member(config_.sitter_version))
                               : std::string(list))));
}

std::string Desk::tool_text_line(const ClientRequest& request, std::string_view text,
                                 bool is_error) const {
  return own_result_line(request, tool_text(text, is_error));
}

std::string Desk::own_result_line(const ClientRequest& request, std::string_view result) const {
  if (!request.is_stateless) return result_line(request.id(), result);
  return result_line(request.id(), complete(result, server_info_member(config_.sitter_version)));
}

// ---- the opening

ClientRequest* Desk::asked_opening() const {
  return opening_.first() ? requests_.find(*opening_.first()) : nullptr;
}

void Desk::begin_session(ClientRequest& request, const Message& message, Line line) {
  // A client that opens a session does not wait for its probes any more.
  for (ClientRequest* sent : requests_.all(State::sent)) {
    if (sent->method == Method::server_discover) requests_.waive(*sent);
  }
  meet(member(message.params_raw, "clientInfo"));
  ids_.match_id_style(message.id);
  request.more().line = OwnedLine(line.text());
  requests_.mark_ours(request);
  opening_.begin(message, request.handle(), now_.steady + config_.answer_within);
}

void Desk::expect_answer(ClientRequest& second_opening, Line line) {
  second_opening.more().line = OwnedLine(line.text());
  opening_.on_asked_again();
  if (config_.answer_within == Milliseconds::zero()) return;
  second_opening.more().answer_by = now_.steady + config_.answer_within;
  opening_.expect_second(*second_opening.extra->answer_by);
}

void Desk::meet(std::string_view raw_client_info) {
  using CallTool = BridgeConfig::CallTool;
  client_ = facts_of_client(string_value(member(raw_client_info, "name")));
  if (config_.call_tool == CallTool::automatic && !client_.lists_again) names_.offer(Builtin::call);
}

bool Desk::begin_session_again(const ClientRequest& second_opening) {
  const Message* const message = read_kept(second_opening.extra->line.line());
  if (message == nullptr) return false;
  meet(member(message->params_raw, "clientInfo"));
  opening_.begin_again(*message);
  return true;
}

// ---- the streams and the changes of lists

bool Desk::open_stream(ClientRequest& request, const Message& message, Line line,
                       StreamFilter wanted, bool is_late) {
  if (const std::string refusal = streams_.refusal(line.text().size()); !refusal.empty()) {
    answer_error(request, ErrorCode::internal_error, refusal);
    return false;
  }
  if (request.is_in_batch()) {
    answer_error(request, ErrorCode::invalid_request,
                 "a stream has no answer while it is open, so it can't be part of a batch");
    return false;
  }
  // It has no answer as long as it is open.
  requests_.take(request);
  streams_.open(message.id, line, std::move(wanted),
                is_late ? std::optional(now_.steady + limits::kStreamAckWait) : std::nullopt);
  return true;
}

void Desk::pass_change(const Streams::Sender& sender, const Message& message, Line line) {
  const auto kind = changed_kind(message.method);
  if (!message.params.subscription_id.empty()) {
    streams_.pass_change(sender, kind, message, line, turn());
  } else if (opening_.session().is_asked()) {
    to_client(Outgoing::passed(line));
  } else {
    streams_.spread_change(kind, message, line, turn());
  }
}

bool Desk::tell_changed(CatalogKind kind) {
  const bool hears_session = opening_.hears_change(kind);
  if (hears_session) {
    to_client(Outgoing::own(notification_line(method_name(changed_method(kind)))));
  }
  const bool hears_stream = streams_.tell_changed(kind, turn());
  return hears_session || hears_stream;
}

ClientStatus Desk::status() const {
  ClientStatus status;
  if (opening_.session().is_asked()) {
    status.protocol_era = "legacy";
    if (opening_.session().is_answered())
      status.protocol_version = opening_.session().negotiated_version;
  } else if (opening_.envelope().is_known()) {
    status.protocol_era = "modern";
    status.protocol_version = opening_.envelope().version();
  }
  status.requests_in_flight = static_cast<std::int64_t>(requests_.in_flight_count());
  status.requests_waiting = static_cast<std::int64_t>(requests_.waiting_count());
  for (const ClientRequest* const request : requests_.cancelled()) {
    if (request->method != Method::tools_call) continue;
    const auto age = now_.steady - request->extra->cancelled_at;
    status.given_up.push_back({request->tool, std::chrono::duration_cast<Milliseconds>(age),
                               request->extra->has_timed_out});
  }
  return status;
}

}  // namespace sitter
