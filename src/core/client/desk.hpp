#pragma once

#include <string>
#include <string_view>

#include "core/base/orders.hpp"
#include "core/client/answers.hpp"
#include "core/client/builtin_names.hpp"
#include "core/client/client_facts.hpp"
#include "core/client/client_requests.hpp"
#include "core/client/client_status.hpp"
#include "core/client/in_flight_throttle.hpp"
#include "core/client/internal_ids.hpp"
#include "core/client/opening.hpp"
#include "core/client/sent_lines.hpp"
#include "core/client/streams.hpp"
#include "core/client/turn.hpp"
#include "core/wire/message.hpp"
#include "core/wire/protocol.hpp"
#include "sitter/bridge_config.hpp"
#include "sitter/line.hpp"
#include "sitter/request_handle.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Serves the client: what the client has asked and is owed, how it has opened, and how answers
/// reach it. Of the servers it knows only their traits and generations.
class Desk {
 public:
  /// The clock and the orders must outlive this object.
  Desk(const BridgeConfig& config, BuiltinNames names, const Now& now, Orders& out);

  ClientRequests& requests() { return requests_; }
  Answers& answers() { return answers_; }
  Opening& opening() { return opening_; }
  Streams& streams() { return streams_; }
  BuiltinNames& names() { return names_; }
  SentLines& sent_lines() { return sent_lines_; }
  InFlightThrottle& throttle() { return throttle_; }

  Turn turn() { return {now_, out_, answers_.output()}; }
  void to_client(Outgoing line) { answers_.output().send(std::move(line), out_); }
  /// Reads a line that was kept, while a message of the line that is being handled may be in use.
  /// Null if it is not a message. The result is valid until the next call.
  const Message* read_kept(Line line) { return kept_reader_.read(line); }

  /// A new raw id for a request of the bridge itself.
  std::string next_id() { return ids_.next(requests_); }
  bool has_given_id(std::string_view raw_id) const { return ids_.has_given(raw_id); }
  /// The `_meta` of a request of the bridge itself; empty if the client has opened a session.
  std::string own_meta() const {
    return opening_.session().is_asked() ? std::string() : opening_.envelope().meta();
  }

  // The client's lines.

  /// Takes in a request of the client. If it is the first with an envelope, it also shows how the
  /// client speaks and what its name is.
  ClientRequest& add(const Message& message);
  /// The request waits for a server. Without room it is refused and no longer valid.
  void wait(ClientRequest& request, Line line);
  /// Whether something waits for a server that serves.
  bool needs_server() const;
  /// The same, if a build may have to make the server first. A client that only probes does not
  /// wait for a build, and may start the same command again meanwhile.
  bool needs_build() const;
  /// Refuses the request if those in flight hold too many bytes. Returns whether it was refused.
  bool refuse_when_throttled(ClientRequest& request);
  /// Answers every message whose id can be read in a line that is not valid JSON.
  void refuse_broken_line(Line line, std::string_view what);
  void refuse_client_line(std::string_view raw_id, ErrorCode code, std::string_view what);

  // The answers.
  // Each of these takes the request out, so `request` is not valid afterwards.

  void answer(ClientRequest& request, Outgoing line);
  void answer_result(ClientRequest& request, std::string_view result);
  void answer_error(ClientRequest& request, ErrorCode code, std::string_view message,
                    std::string_view data = {});
  void answer_tool_text(ClientRequest& request, std::string_view text, bool is_error);
  /// Does nothing if the request is no longer open.
  void answer_tool_text(RequestHandle request, std::string_view text, bool is_error);
  /// With a result that the model reads if the request is a call, otherwise with an error.
  void answer_failure(ClientRequest& request, ErrorCode code, std::string_view text);
  /// `list` is the result of a request for a list.
  void answer_list(ClientRequest& request, std::string_view list);
  /// The line that answers a call with this text.
  std::string tool_text_line(const ClientRequest& request, std::string_view text,
                             bool is_error) const;

  // The opening.

  /// The client's `initialize`, while it is owed an answer.
  ClientRequest* asked_opening() const;
  /// The client's first `initialize`.
  void begin_session(ClientRequest& request, const Message& message, Line line);
  /// A second opening is answered within the same time as the first.
  void expect_answer(ClientRequest& second_opening, Line line);
  /// The client has told its name, which also decides whether sitter_call is offered.
  void meet(std::string_view raw_client_info);
  const ClientFacts& client() const { return client_; }
  /// The client has opened a second time, and is being answered now. Returns false if the line of
  /// that opening was not kept.
  bool begin_session_again(const ClientRequest& second_opening);

  // The streams and the changes of lists.

  /// Takes the request out and opens a stream for it. `is_late`: no server may come before the
  /// client gives up. Returns false if the request was refused.
  bool open_stream(ClientRequest& request, const Message& message, Line line, StreamFilter wanted,
                   bool is_late);
  /// A server reports a change. In the stateless revision the change belongs to a stream, and only
  /// the client of that stream may hear of it.
  void pass_change(const Streams::Sender& sender, const Message& message, Line line);
  /// Tells the client that a list has changed, in every way that the client has asked for. False if
  /// it has asked for none.
  bool tell_changed(CatalogKind kind);

  ClientStatus status() const;

 private:
  std::string own_result_line(const ClientRequest& request, std::string_view result) const;

  const BridgeConfig& config_;
  const Now& now_;
  Orders& out_;
  MessageReader kept_reader_;
  ClientRequests requests_;
  Answers answers_;
  Opening opening_;
  ClientFacts client_;
  Streams streams_;
  InternalIds ids_;
  SentLines sent_lines_;
  BuiltinNames names_;
  InFlightThrottle throttle_;
};

}  // namespace sitter
