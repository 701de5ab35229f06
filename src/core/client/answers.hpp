#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/orders.hpp"
#include "core/client/batches.hpp"
#include "core/client/client_output.hpp"
#include "core/client/client_requests.hpp"
#include "core/client/progress_tokens.hpp"
#include "core/client/turn.hpp"

namespace sitter {

/// How answers and progress leave: to the client or to the control connection that has asked, alone
/// or in the array of a batch, and with no progress after the answer. `ClientRequests` knows which
/// requests are open.
class Answers {
 public:
  /// The output for all other lines to the client.
  ClientOutput& output() { return output_; }
  std::optional<Instant> deadline() const { return output_.deadline(); }
  void on_timeout(Now now, Orders& out) { output_.on_timeout(now, out); }

  /// The one answer to a request. The caller takes the request out.
  void send(const ClientRequest& request, Outgoing line, const Turn& turn);
  /// The child has answered a request that was cancelled. Only some clients may get such an answer.
  void send_late(const ClientRequest& request, Outgoing line, const Turn& turn);
  /// The request is no longer owed an answer.
  void leave(const ClientRequest& request, const Turn& turn);

  /// The entries of a batch follow, and `owed` of them are owed an answer. Until `end_batch` each
  /// request belongs to `batch()`.
  void begin_batch(std::size_t owed) { batch_ = owed > 0 ? batches_.open(owed) : Batches::kNone; }
  void end_batch() { batch_ = Batches::kNone; }
  Batches::Number batch() const { return batch_; }
  /// An entry of the batch is not a request; this is its answer.
  void send_in_batch(std::string_view error, const Turn& turn);

  /// A request asks for progress under this raw token.
  void on_request(std::string_view token) { tokens_.on_request(token); }
  void on_cancelled(const ClientRequest& request);
  /// The request goes to a second child, whose progress begins again from the start. Progress
  /// values must only grow.
  void on_retried(const ClientRequest& request);
  /// See `ProgressTokens::on_child_lost`.
  void on_child_lost() { tokens_.on_child_lost(); }
  /// Whether this progress of a child may follow the progress that the client has. If so, the
  /// caller must send it next.
  bool passes_progress(std::string_view token, Now now);

 private:
  void send_whole(std::optional<std::string> array, const Turn& turn);

  ClientOutput output_;
  Batches batches_;
  Batches::Number batch_ = Batches::kNone;
  ProgressTokens tokens_;
};

}  // namespace sitter
