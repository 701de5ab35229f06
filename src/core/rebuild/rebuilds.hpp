#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/orders.hpp"
#include "core/child/ending.hpp"
#include "core/child/servers.hpp"
#include "core/client/desk.hpp"
#include "core/rebuild/pending_rebuild.hpp"
#include "core/rebuild/rebuild.hpp"
#include "core/rebuild/rebuild_status.hpp"
#include "core/rebuild/rebuilder.hpp"
#include "core/rebuild/watch.hpp"
#include "sitter/bridge_config.hpp"
#include "sitter/fact.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Builds the server and replaces the child that serves: for a call, for a reload that somebody has
/// asked for, and after a change of a watched file.
class Rebuilds {
 public:
  /// All references must outlive this object.
  Rebuilds(const BridgeConfig& config, const Ending& ending, const Now& now, Orders& out,
           Desk& desk, Servers& servers);

  Rebuilder& rebuilder() { return rebuilder_; }
  Watch& watch() { return watch_; }
  bool is_on() const { return rebuilder_.is_on(); }
  Servers::Replacement replacement() const;

  // rebuilds.cpp: what is asked for, and how a rebuild goes on

  /// A call of the model.
  void call(ClientRequest& request, const RebuildArguments& arguments);
  /// Starts the server anew after a kill, for this call. `kill_report` becomes part of the answer.
  void restart(const ClientRequest& call, const std::string& kill_report);
  void on(const fact::ReloadAsked& fact);
  /// Asks for a reload. `caller` gets the answer; it may be null.
  void reload(const Reload& wanted, const ClientRequest* caller = nullptr);
  /// The requests that wait need a build, since the command of the server is missing. Returns false
  /// if no build may bring it, or if the client only probes.
  bool build_first();

  /// Lets the rebuild go on if what it waits for has happened. If it has ended, returns the report,
  /// which the caller must pass on to those who wait; then `begin_next` follows.
  std::optional<RebuildReport> advance();
  /// The build has ended. Returns the report if it has failed and somebody wants the rebuild.
  std::optional<RebuildReport> on_build_over();
  /// The file of the new server was looked at after it has come to serve.
  RebuildReport on_looked_at_new_child();
  /// The new server has ended before the callers were told that it serves.
  RebuildReport on_new_child_over(const ChildEnd& end, const std::string& stderr_tail) const;
  /// The rebuild is over. Begins the next rebuild, if it was asked for meanwhile.
  void begin_next(PendingRebuild before);

  /// The caller of this request no longer waits for an answer.
  void forget(const ClientRequest& request);
  /// Whether the client waits for the rebuild that is on its way, if there is one.
  bool is_awaited_by_client() const;
  /// The client has cancelled what it waited for. If nobody wants the build any more, it is given
  /// up.
  void leave_unwanted_build();
  /// A kill was called. Only a call of the client keeps the rebuild going.
  void give_up(std::string_view killer);

  /// Whether new requests wait although a server serves.
  bool holds_requests() const {
    return rebuilder_.holds_requests() || fresh_wait_end().has_value();
  }
  /// Whether the client's requests wait for the new server.
  bool delays_requests() const;
  /// When the request that has waited longest has waited long enough. The time before the rebuild
  /// does not count.
  std::optional<Instant> patience_end() const;
  /// The time from which a child that hangs is no longer awaited. A rebuild may then put another
  /// child in its place.
  std::optional<Instant> replaceable_at(const Child& child) const;
  /// Until when the new server, which is a daemon that cannot be reached, is waited for.
  std::optional<Instant> absent_deadline() const;
  /// Until when a child may finish its open requests before it must end. Empty while a debugger may
  /// be attached.
  std::optional<Instant> quiet_deadline() const;
  /// Answers the callers whose `timeout_seconds` is over while others still wait.
  void on_timeout();
  /// Answers the calls of the client that have waited for `limits::kRebuildCallPatience`.
  void on_answer_due();
  void on_build_line(const fact::ChildErrorLine& fact);
  /// Sends the newest line of the build to the callers that have asked for progress.
  void tell_build_progress();

  // The next four may be called only while a rebuild is on.

  /// Says what is on its way, and for whom.
  std::string progress_words() const;
  /// Says which tool shows the rebuild, and which tool ends it.
  std::string hint() const;
  /// Says that a debugger holds the rebuild, and what ends the server all the same.
  std::string held_text() const;
  /// Says what an opening waits for. A build must be running.
  std::string first_build_clause() const;
  StderrRing::Answer build_log(const StderrRing::Query& query) const;
  RebuildStatus status() const;

  // rebuilds_watch.cpp: the watched files

  void on(const fact::FilesChanged& fact);
  void on(const fact::WatchChanged& fact) { watch_.on_watched(fact, desk_.turn()); }
  /// Tells the watch which builds and servers were started.
  void note_starts();
  /// The same, and tells the watch if no reload runs any more.
  void note_reload();
  /// When the watched files have stayed unchanged for long enough. A client that has only probed
  /// the server gets the new code when it begins to use it.
  std::optional<Instant> files_deadline() const;
  void on_files_settled();
  void on_serving(const Child& child) { watch_.on_serving(child.gen()); }
  void on_answer(const Child& child) {
    if (child.serves()) watch_.on_answer();
  }
  /// Until when requests wait because the server that serves does not run the code that was saved.
  /// Nothing if they do not wait for that.
  std::optional<Instant> fresh_wait_end() const;
  /// Says what becomes of the changes that the server does not run. `newer`: when a file has
  /// changed that the server reads at its start.
  std::string unserved_clause(const UnservedChanges::Open& changes,
                              std::optional<WallTime> newer) const;

 private:
  std::string cause() const;
  RebuildCaller caller_of(const ClientRequest& request, Milliseconds timeout) const;
  bool may_replace_new_child() const;
  bool may_end(Child& child);
  bool is_awaited(const Child& child) const;
  std::optional<RebuildReport> start_new_child();
  std::optional<RebuildReport> make_way(Child& serving);
  RebuildReport::Server server_without_rebuild() const;
  void tell_given_up(const std::vector<RebuildCaller>& callers, std::string_view why);
  void abandon();

  const BridgeConfig& config_;
  const Ending& ending_;
  const Now& now_;
  Orders& out_;
  Desk& desk_;
  Servers& servers_;

  Rebuilder rebuilder_;
  Watch watch_;
};

}  // namespace sitter
