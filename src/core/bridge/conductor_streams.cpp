#include "core/bridge/conductor.hpp"
#include "core/client/opening.hpp"
#include "core/wire/method.hpp"

namespace sitter {
/// Returns false if the request is not valid; the child then refuses it.
bool Conductor::on_listen(ClientRequest& request, const Message& message, Line line) {
  auto wanted = StreamFilter::of(message.params.notifications);
  if (!wanted || !request.is_stateless) return false;
  if (const std::string refusal = streams_.refusal(line.text().size()); !refusal.empty()) {
    answer_error(request, ErrorCode::internal_error, refusal);
    return true;
  }
  if (request.is_in_batch()) {
    answer_error(request, ErrorCode::invalid_request,
                 "a stream has no answer while it is open, so it can't be part of a batch");
    return true;
  }
  // It has no answer as long as it is open.
  requests_.take(request);
  Child* const child = generations_.serving();
  // A build may take longer than the client waits.
  const bool is_late = child == nullptr && keeps_waiting();
  streams_.open(message.id, line, std::move(*wanted),
                is_late ? std::optional(now_.steady + limits::kStreamAckWait) : std::nullopt);
  if (child != nullptr) ask_for_streams(*child);
  return true;
}

void Conductor::ask_for_streams(Child& child) {
  if (child.is_retiring() || generations_.is_candidate(child)) return;
  streams_.ask(child.gen(), child.has_answered(), turn());
}

/// Whether the bridge will find changes of this list itself: it compares the list after a restart,
/// and the client was not told that the list is empty.
bool Conductor::finds_changes(CatalogKind kind) const {
  return kind == CatalogKind::tools || opening_->may_have(kind);
}

/// The child as the sender of a message that holds this id.
Streams::Sender Conductor::sender(const Child& child, std::string_view raw_id) {
  return {child.gen(), child.life.is_up(), child.may_round(raw_id)};
}

void Conductor::on_streams_timeout() {
  const auto is_up = [this](Generation gen) {
    const Child* const child = generations_.find(gen);
    return child != nullptr && child->life.is_up();
  };
  streams_.on_timeout(is_up, turn());
}

/// The client ends a stream. Returns false if no stream has this id.
bool Conductor::on_stream_cancelled(std::string_view raw_id, Line line) {
  Streams::Stream* const stream = streams_.find(raw_id);
  if (stream == nullptr) return false;
  const Child* const child = generations_.find(stream->gen);
  const bool is_heard = child != nullptr && child->life.is_up() && !child->input.is_deaf();
  streams_.cancel(*stream, line, is_heard, turn());
  return true;
}

/// The child reports a change. In the stateless revision the change belongs to a stream, and only
/// the client of that stream may hear of it.
void Conductor::pass_change(Child& child, const Message& message, Line line) {
  const auto kind = changed_kind(message.method);
  const std::string_view id = message.params.subscription_id;
  if (!id.empty()) {
    streams_.pass_change(sender(child, id), kind, message, line, turn());
  } else if (opening_->session().is_asked()) {
    to_client(Outgoing::passed(line));
  } else {
    streams_.spread_change(kind, message, line, turn());
  }
}

/// Tells the client that a list has changed, in every way that the client has asked for. False if
/// it has asked for none.
bool Conductor::tell_changed(CatalogKind kind) {
  const bool hears_session = opening_->hears_change(kind);
  if (hears_session) {
    to_client(Outgoing::own(notification_line(method_name(changed_method(kind)))));
  }
  const bool hears_stream = streams_.tell_changed(kind, turn());
  return hears_session || hears_stream;
}

}  // namespace sitter
