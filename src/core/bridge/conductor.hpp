#pragma once

#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/orders.hpp"
#include "core/bridge/tools.hpp"
#include "core/child/ending.hpp"
#include "core/child/servers.hpp"
#include "core/client/desk.hpp"
#include "core/rebuild/rebuilds.hpp"
#include "core/report/news.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/message.hpp"
#include "sitter/bridge_config.hpp"
#include "sitter/fact.hpp"
#include "sitter/generation.hpp"
#include "sitter/line.hpp"
#include "sitter/order.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The implementation of `Bridge`. It holds the owners of the state and routes what happens to
/// them, and what they return to each other. An owner knows those before it in this list, and none
/// after it:
///
///     Desk       what the client is owed
///     Servers    the children
///     Rebuilds   builds, and what replaces a child
///     News       what the client and the model are told of all that
///     Tools      the built-in tools
///
/// Handlers react to what happened; `settle()`, which runs after each of them, restores what must
/// always hold.
class Conductor {
 public:
  Conductor(BridgeConfig config, Now now);

  void handle(const Fact& fact, Now now);
  /// Harmless when nothing is due.
  void handle_timeout(Now now);
  Order* poll_order();
  std::optional<Instant> next_timeout();

  /// See `Bridge::reads_client`.
  bool reads_client();

  /// Requests that are owed an answer.
  std::size_t owed_count() { return desk_.requests().owed_count(); }

 private:
  /// One of several JSON objects on the child's line that is being handled.
  struct Part {
    Generation gen = kNoGeneration;
    Line line;
  };

  /// The stream or the request that an answer of a child belongs to. Both are null if none is open.
  struct Answered {
    Streams::Stream* stream = nullptr;
    ClientRequest* request = nullptr;
  };

  // conductor.cpp: facts that are not lines, time, and what follows from all of them
  void on(const fact::ClientClosedInput& fact);
  void on(const fact::ClientClosedOutput& fact);
  void on(const fact::StopSignalled& fact);
  void on(const fact::ChildStarted& fact);
  void on(const fact::ChildStartFailed& fact);
  void on(const fact::ChildErrorLine& fact);
  void on(const fact::ChildOutputEnded& fact);
  void on(const fact::ChildErrorEnded& fact);
  void on(const fact::ChildOutputMoved& fact);
  void on(const fact::ChildExited& fact);
  void on(const fact::ChildLost& fact);
  void on(const fact::ChildInputFull& fact);
  void on(const fact::ChildInputMoved& fact);
  void on(const fact::ChildInputDrained& fact);
  void on(const fact::ChildInputBroken& fact);
  void on(const fact::UnitSignalled& fact);
  void on(const fact::OrphanEnded& fact);
  void on(const fact::CommandFilesChecked& fact);
  void on(const fact::BinaryInspected& fact);
  void on(const fact::ProcessSeen& fact);
  void on(const fact::StatusAsked&) { servers_.inspect(Look::Purpose::status_for_log); }
  /// Any other fact concerns one owner alone.
  template <class Other>
  void on(const Other& fact) {
    if constexpr (requires { news_.on(fact); }) {
      news_.on(fact);
    } else if constexpr (requires { rebuilds_.on(fact); }) {
      rebuilds_.on(fact);
    } else {
      servers_.on(fact);
    }
  }
  template <class Row>
  void each_deadline(Row row);
  void on_startup_timeout(Child& child);
  void on_deaf(Child& child);
  void on_ending_timeout();
  ChildLifecycle* lifecycle(Generation gen);
  void settle();
  bool is_at_rest();
  bool nothing_to_settle();
  void stop(ChildLifecycle::Ladder ladder);
  void advance_ending();

  // conductor_servers.cpp: what follows from what the servers do
  void advance(Child& child);
  void begin_serving(Child& child);
  void refuse(Child& child);
  void on_over(Child dead);
  bool take_own_restart();
  void on_build_over();
  void release_waiting(Child& child);

  // conductor_client.cpp: the client's lines
  void on(const fact::ClientLine& fact);
  void on(const fact::ClientLineTooLong& fact);
  void on_client_message(const Message& message, Line line);
  void on_batch(Line line);
  void on_client_request(const Message& message, Line line);
  void take_for_initialized(const Message& request);
  void on_initialize(ClientRequest& request, const Message& message, Line line);
  void on_client_notification(const Message& message, Line line);
  void notify(Child& child, Outgoing notification);
  void on_client_answer(const Message& message, Line line);
  void on_cancelled(const Message& message, Line line);
  void cancel(const Message& message, Line line);
  void forget(const ClientRequest& request);
  void pass_on(ClientRequest& request, const Message& message, Line line, Outgoing outgoing);
  bool on_listen(ClientRequest& request, const Message& message, Line line);
  bool answer_ourselves(ClientRequest& request, Child* child, const Message::Params& params);
  void forward(ClientRequest& request, Line line, Outgoing outgoing, Child& child,
               const Message* message = nullptr);

  // conductor_child.cpp: the children's lines
  void on(const fact::ChildLine& fact);
  void on(const fact::ChildLineTooLong& fact);
  void on_child_message(Child& child, const Message& message, Line line);
  void on_child_notification(Child& child, const Message& message, Line line);
  void on_child_cancelled(Child& child, const Message& message, Line line);
  bool refuse_answer(Child& child, const Message& message, Line line);
  bool take_other_type(Child& child, const Message& message, Line line);

  void take_respelled(Child& child, std::string line);
  void on_error_without_id(Child& child, const Message& message, Line line);
  void on_child_answer(Child& child, const Message& message, Line line);
  void on_opening_answer(Child& child, const Message& message, Line line);
  void pass_answer(Child& child, ClientRequest& request, const Message& message, Line line);
  void note_handed_out(Child& child, const ClientRequest& request, std::string_view result,
                       Edits& edits);
  bool explain_stale(const Child& child, const ClientRequest& request, const Message& answer,
                     Edits& edits);
  Answered answered_by(Child& child, const Message& answer);
  bool may_be_refusal(const Child& child, const ClientRequest& request, std::string_view error);
  void note_version(Child& child, const ClientRequest& request, const Message& answer);
  void take_missing_lists(Child& child);
  void on_success(Child& child, const ClientRequest& request, std::string_view result,
                  Edits& edits);
  void on_discovered(Child& child, std::string_view result, Edits& edits);
  void on_part(const Part& part);
  void on_unreadable(Child& child, Line line, bool is_unfinished);
  void add_noise(Child& child, std::string_view text);
  bool is_owed(Child& child, const Message& message);
  void answer_unreadable(Child& child, std::string_view id, std::string_view what);
  ClientRequest* only_request(const Child& child, bool is_about_request);
  std::string only_id(const Child& child);

  // conductor_control.cpp: what is asked from outside
  void on(const fact::ControlLine& fact);
  void on(const fact::ControlClosed& fact);
  void follow(ControlId connection, std::string_view arguments);

  const BridgeConfig config_;
  Now now_;
  Orders out_;
  MessageReader reader_;
  /// What is left of the line of a child that is being handled.
  std::vector<Part> parts_;
  /// Answers that were changed before they were read. They pass to the client without a copy.
  std::deque<OwnedLine> respelled_;
  Ending ending_;
  /// As the last `settle()` has left it.
  bool is_at_rest_ = false;
  /// The fact that is being handled was a request that was passed on, or the answer to a call.
  bool has_only_passed_ = false;

  Desk desk_;
  Servers servers_;
  Rebuilds rebuilds_;
  News news_;
  Tools tools_;
};

}  // namespace sitter
