#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/orders.hpp"
#include "core/base/server_traits.hpp"
#include "core/child/child.hpp"
#include "core/child/child_end.hpp"
#include "core/child/child_requests.hpp"
#include "core/child/ending.hpp"
#include "core/child/followers.hpp"
#include "core/child/generations.hpp"
#include "core/child/history.hpp"
#include "core/child/killer.hpp"
#include "core/child/list_survey.hpp"
#include "core/child/replays.hpp"
#include "core/child/server_status.hpp"
#include "core/child/starts.hpp"
#include "core/child/stderr_ring.hpp"
#include "core/client/desk.hpp"
#include "core/wire/message.hpp"
#include "sitter/bridge_config.hpp"
#include "sitter/fact.hpp"
#include "sitter/generation.hpp"
#include "sitter/order.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The servers under development: when a child is started, how it comes to serve, how it ends, and
/// what is remembered of those that have ended. What the client and the model must be told of it is
/// returned, and told by the caller.
class Servers {
 public:
  /// What is on its way to replace the child that serves.
  struct Replacement {
    bool is_on = false;
    /// The child that serves makes way first, so requests wait for the next.
    bool holds_requests = false;
    /// The child that serves is used until the next is about to be started.
    bool is_far = false;
    /// In a few words; empty if a call of the model has caused it. Valid until the next command to
    /// the rebuilds.
    std::string_view cause;
  };

  /// What follows for a child in this round.
  enum class Step {
    none,      ///< nothing follows now
    retires,   ///< its successor serves
    refused,   ///< it cannot serve this client, and must be taken down
    unopened,  ///< it serves without a session
    goes_on,   ///< it is open
  };

  /// A child that is over.
  struct Ended {
    Child child;
    ChildEnd end;
    /// The last lines of its stderr.
    std::string tail;
    /// Another child serves, so the client notices nothing.
    bool was_candidate = false;
    /// The client has only probed it.
    bool was_probed = false;
    /// The bridge was asked to end it.
    bool is_deliberate = false;

    Generation gen() const { return child.gen(); }
    /// The end matters to the client.
    bool was_awaited() const { return !was_candidate && !child.is_retiring(); }
    /// It had requests of the client. Without an opening it may get them before it has shown that
    /// it works.
    bool had_requests() const { return child.role != Child::Role::coming && !was_probed; }
    bool is_replaced() const { return end.reason == EndReason::replaced; }
  };

  /// The server of this child was started anew behind its process, and is the next child.
  struct RestartedItself {
    Child former;
    ChildEnd end;
    std::string tail;
  };

  /// All references must outlive this object. `replacement` is asked for when it matters.
  Servers(const BridgeConfig& config, const Ending& ending, const Now& now, Orders& out, Desk& desk,
          std::function<Replacement()> replacement);

  Generations& generations() { return generations_; }
  Starts& starts() { return starts_; }
  Replays& replays() { return replays_; }
  Killer& killer() { return killer_; }
  History& history() { return history_; }
  Followers& followers() { return followers_; }
  StderrRing& ring() { return ring_; }
  ChildRequests& questions() { return questions_; }
  const ServerTraits& traits() const { return traits_; }
  const Secrets& secrets() const { return secrets_; }

  // servers.cpp: processes, starts and kills

  /// The process of this child; null if the child is over.
  ChildLifecycle* life(Generation gen);
  void on_started(const fact::ChildStarted& fact);
  void on(const fact::ChildErrorLine& fact);
  /// A process has exited that no child has any more.
  void on_left_exited(const fact::ChildExited& fact);
  void on(const fact::ImageSwept& fact);

  /// How a child that is taken down now is made to end.
  ChildLifecycle::Ladder ladder() const;
  /// The end of a child that is being taken down now. `child` is null if there is none.
  ChildEnd end_for(EndReason reason, const Child* child) const;
  ChildEnd end_for(EndReason reason) const { return end_for(reason, generations_.shown()); }
  void take_down_all(EndReason reason, const std::string& why);
  StderrRing& ring_of(Child& child) { return child.stderr_apart ? *child.stderr_apart : ring_; }

  /// Whether the process behind this child is not ours. Without a child, a daemon may run all the
  /// same.
  bool is_foreign(const Child* child) const;
  /// Whether the child that serves can only be ended where it was started.
  bool serves_foreign();
  bool has_left_process() const { return left_process_ != kNoGeneration; }
  /// Begins a child for a process that has none any more, so that the process ends like any other.
  void take_back_process(std::string cause);

  /// A limit or a reload would end this child. Returns false while a debugger is attached to it; to
  /// be asked again in the next round.
  bool may_end(Child& child);
  /// Keeps what this kind of server shows of its era when it is probed or opened.
  void remember(order::RememberEra::Sign sign);
  /// Orders a look at the process of this child, if there is one here.
  void look_at_process(const Child& child);

  /// How to let a child run that was started stopped; empty if it was not, or has run since.
  std::string stopped_clause(const Child& child) const;
  /// Why no message of the child can be read, if the first line that it wrote to stdout shows it;
  /// otherwise empty.
  std::string framing_clause(const Child& child) const;

  /// Whether no child but a retiring one is there, and nothing is on its way that ends or starts a
  /// child.
  bool is_idle() const;
  /// Whether the command of the server was missing at the last start, and a build may bring it.
  bool is_unbuilt() const;
  /// The build that was to bring the command has succeeded, and the command is still missing.
  /// Returns that as the end of the last child.
  ChildEnd note_still_missing();
  void start(std::string cause);
  void start_if_due();
  /// After a failed start, starts the server as soon as its files have changed. A client that knows
  /// no tool of the server can only call the built-in tools, so a model that has mended the server
  /// could not start it in another way.
  void start_if_mended(bool has_tools);
  /// Starts the server without a request (`--restart`), unless something else starts it already.
  void restart();
  /// Lets `restart` follow if `--restart` asks for it after this end.
  void restart_later(const ChildEnd& end);
  /// Orders a look at the file of the child that texts speak of.
  void inspect(Look::Purpose purpose, std::optional<RequestHandle> request = {});
  /// Lets a kill go on once no child is left.
  void advance_kill();

  // servers_way.cpp: each child on its way from its start to serving, and out of it

  /// Does what the child needs next. `has_tools`: the server before it had any.
  Step advance(Child& child, bool has_tools);
  /// The child serves from now on. Returns false if it serves already.
  bool begin_serving(Child& child);
  /// The child has shown that it works: it was opened, or has answered without an opening. An
  /// answer does not count if it came before the child served or belongs to no open request. The
  /// answer of a retiring child shows nothing about the starts since.
  void note_served(Child& child);
  void note_startup(Child& child);
  void on_opened(Child& child);
  void finish_retiring(Child& child);
  void expect_start(Child& child);
  /// Gives children the calls that others have answered since they were given theirs.
  void catch_up();
  void ask_for_streams(Child& child);
  void on_streams_timeout();
  /// The client ends a stream. Returns false if no stream has this id.
  bool cancel_stream(std::string_view raw_id, Line line);
  /// Takes leave of a child that is over. The requests that it had are still open.
  Ended on_over(Child dead);
  /// The requests of the child are answered. `is_told`: an answer has told the model of its end.
  void on_end_told(const Ended& ended, bool is_told);
  /// The child is gone for the client: its questions are cancelled, and its streams wait for the
  /// next child.
  void on_gone(Generation gen);

  // servers_messages.cpp: what the children say

  void on_child_request(Child& child, const Message& message, Line line);
  /// A request or stream with exactly this id takes precedence over a request whose id the child
  /// may have rounded to it.
  ClientRequest* find_sent(const Child& child, std::string_view raw_id);
  /// Text on stdout that is not a message. The ring keeps it, because it would break the client.
  bool add_noise(Child& child, std::string_view text);
  /// The line is on its way to the child.
  void on_sent(Generation gen, const Outgoing& line);
  /// Whether the child sends back what it was sent, which is noise too.
  bool is_echo(Child& child, const Message& message, std::string_view line);
  bool add_echo(Child& child, std::string_view line);
  /// What a request has set up is remembered only now, since the child could have refused it.
  void on_setting_accepted(const Child& child, const ClientRequest& request);

  // servers_status.cpp

  /// A person has the commands of `mcp-sitter ctl` and no tools.
  ServerStatus status(bool is_for_person) const;

  // servers_absence.cpp: a daemon that cannot be reached for a while

  /// The absence of the child that is to serve next; null if it can be reached.
  const Absence* absence() const;
  /// Returns false if there is no such child any more.
  bool on_absent(Generation gen, const std::string& why, Milliseconds again_after);
  void try_again(Child& child);
  /// The bridge's own line, or the answer to it, was lost. Sends the line once more, or later when
  /// the daemon is back. Returns whether the daemon counts as absent now.
  bool repeat(Child& child, const fact::RequestLost& fact, const Message& message);
  /// How long a request waits for a daemon that cannot be reached. Empty if none is awaited, or if
  /// the daemon was started here and still has the time of its start.
  std::optional<Milliseconds> absence_patience() const;
  /// When the request that has waited longest for an absent daemon has waited long enough.
  std::optional<Instant> absence_patience_end() const;
  /// How the absence is told as the end of a child that nobody has reached.
  ChildEnd absence_end() const;

  // servers_own_restart.cpp: a server that was started anew behind the process of its child

  /// If the error may mean that the server was started anew and not opened, the child is asked for
  /// a list, which shows it. Returns whether the error must be held until then.
  bool doubt_opening(Child& child, ClientRequest& request, std::string_view error);
  /// Doubts the opening for each of these lists that was refused: a server that was started anew
  /// before its lists were taken refuses them.
  void doubt_opening(Child& child, const std::vector<ListSurvey::List>& lists);
  /// Takes a server that was started anew for the next child, or gives a doubt up: then the child
  /// is returned, whose held errors may leave.
  std::variant<std::monostate, Child*, RestartedItself> take_own_restart();
  void on_own_restart_timeout(Child& child);
  /// The requests whose held answer is an error of this child that may be a refusal.
  std::vector<ClientRequest*> held_refusals(Generation gen);
  /// Nobody knows whether the held error is that of a server that was not opened.
  void tell_doubt(ClientRequest& request);

 private:
  void cancel_child_requests(Generation gen);
  std::string state_word() const;
  Child& begin_child(std::string cause);
  Step advance_unopened(Child& child, bool has_tools);
  void open(Child& child);
  void take_over();
  void show_stderr(Child& child);
  std::string start_hint(const Child& child, const ChildEnd& end) const;
  void expect_own_restart(Child& child, Announcement announcement);
  bool may_take_own_restart(const Child& child) const;
  bool may_await_own_restart(const Child& child) const;
  RestartedItself on_restarted_itself(Child& child);
  void drop_doubt(Child& child);
  void tell_doubts(const Child& child);

  const BridgeConfig& config_;
  const ServerTraits traits_;
  const Secrets secrets_;
  const Ending& ending_;
  const Now& now_;
  Orders& out_;
  Desk& desk_;
  const std::function<Replacement()> replacement_;

  Generations generations_;
  Starts starts_;
  Replays replays_;
  Killer killer_;
  History history_;
  /// The requests of the children that the client has not answered.
  ChildRequests questions_;
  StderrRing ring_;
  Followers followers_;
  /// The child whose session was lost and whose process, which is ours, lives on.
  Generation left_process_ = kNoGeneration;
};

}  // namespace sitter
