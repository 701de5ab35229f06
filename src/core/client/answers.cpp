#include "core/client/answers.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"

namespace sitter {

void Answers::send(const ClientRequest& request, Outgoing line, const Turn& turn) {
  if (request.is_control()) {
    turn.orders.push(order::SendToControl{request.extra->control, line.text()});
    return;
  }
  const std::string_view token = request.progress_token();
  output_.before_answer(token, turn.now);
  if (!token.empty()) tokens_.on_answered(token, !request.goes_on);
  if (!request.is_in_batch()) {
    turn.to_client(std::move(line));
    return;
  }
  const Batches::Number batch = request.extra->batch;
  const std::string text = line.text();
  // An answer that has no room in the array of its batch is replaced by an error.
  send_whole(
      batches_.add(
          batch, batches_.has_room(batch, text.size())
                     ? text
                     : error_line(request.id(), ErrorCode::internal_error,
                                  fmt::format("with this answer of {} bytes the open batches would "
                                              "have more than {}; send the request alone",
                                              text.size(), limits::kBatchBytesMax))),
      turn);
}

void Answers::send_late(const ClientRequest& request, Outgoing line, const Turn& turn) {
  // The stateless revision forbids an answer to a cancelled request, and a batch must not hold two
  // answers.
  if (!request.is_stateless && !request.is_in_batch()) turn.to_client(std::move(line));
  if (request.wants_progress && !request.goes_on) {
    tokens_.on_answered_late(request.progress_token());
  }
}

void Answers::leave(const ClientRequest& request, const Turn& turn) {
  if (request.is_in_batch()) send_whole(batches_.drop(request.extra->batch), turn);
}

void Answers::send_in_batch(std::string_view error, const Turn& turn) {
  send_whole(batches_.add(batch_, error), turn);
}

/// Sends the answers of a batch that is complete now.
void Answers::send_whole(std::optional<std::string> array, const Turn& turn) {
  if (array) turn.to_client(Outgoing::own(std::move(*array)));
}

void Answers::on_cancelled(const ClientRequest& request) {
  // In the stateless revision, no progress may follow the cancellation.
  if (request.wants_progress) tokens_.on_answered(request.progress_token(), request.is_stateless);
}

void Answers::on_retried(const ClientRequest& request) {
  if (request.wants_progress) tokens_.mute(request.progress_token());
}

bool Answers::passes_progress(std::string_view token, Now now) {
  if (!tokens_.passes(token)) return false;
  output_.on_progress(token, now);
  return true;
}

}  // namespace sitter
