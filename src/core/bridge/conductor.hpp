#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/orders.hpp"
#include "core/bridge/ending.hpp"
#include "core/child/child.hpp"
#include "core/child/child_lifecycle.hpp"
#include "core/child/generations.hpp"
#include "core/child/handshake.hpp"
#include "core/child/stderr_ring.hpp"
#include "core/client/answers.hpp"
#include "core/client/client_requests.hpp"
#include "core/client/internal_ids.hpp"
#include "core/client/sent_lines.hpp"
#include "core/client/streams.hpp"
#include "core/client/turn.hpp"
#include "core/rebuild/pending_rebuild.hpp"
#include "core/rebuild/rebuild.hpp"
#include "core/report/builtin_tools.hpp"
#include "core/report/death_report.hpp"
#include "core/report/status.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/message.hpp"
#include "core/wire/reply.hpp"
#include "sitter/bridge_config.hpp"
#include "sitter/fact.hpp"

namespace sitter {

struct CallArguments;
struct CatalogComparison;
class Catalogs;
class ChildRequests;
class InFlightThrottle;
class Followers;
class History;
class Killer;
class Lints;
struct NoticeFacts;
class Notices;
class OldCode;
class Opening;
class Rebuilder;
class RelistWait;
class Replays;
class Starts;
class Watch;

/// The implementation of `Bridge`. Handlers react to what happened; `settle()`, which runs after
/// each of them, restores what must always hold.
class Conductor {
 public:
  Conductor(BridgeConfig config, Now now);
  ~Conductor();

  void handle(const Fact& fact, Now now);
  /// Harmless when nothing is due.
  void handle_timeout(Now now);
  Order* poll_order() { return out_.poll(); }
  std::optional<Instant> next_timeout();

  /// See `Bridge::reads_client`.
  bool reads_client() const;

  /// Requests that are owed an answer.
  std::size_t owed_count() const { return requests_.owed_count(); }

 private:
  using Purpose = Look::Purpose;

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
  void on(const fact::ChildExited& fact);
  void on(const fact::ChildLost& fact);
  void on(const fact::ChildInputFull& fact);
  void on(const fact::ChildInputMoved& fact);
  void on(const fact::ChildInputDrained& fact);
  void on(const fact::ChildInputBroken& fact);
  void on(const fact::UnitSignalled& fact);
  void on(const fact::OrphanEnded& fact);
  void on(const fact::CommandFilesChecked& fact);

  Turn turn() { return {now_, out_, answers_.output()}; }
  void to_client(Outgoing line) { answers_.output().send(std::move(line), out_); }
  template <class Row>
  void each_deadline(Row row);
  void on_startup_timeout(Child& child);
  void on_deaf(Child& child);
  void on_ending_timeout();
  void settle();
  void stop(ChildLifecycle::Ladder ladder);
  void advance_ending();

  bool is_tool() const { return config_.kind == ServerKind::tool; }
  ChildLifecycle::Ladder ladder() const;
  ChildEnd end_for(EndReason reason) const { return end_for(reason, generations_.shown()); }
  ChildEnd end_for(EndReason reason, const Child* child) const;
  ChildLifecycle* hears_life(Generation gen);
  StderrRing& ring_of(Child& child);

  // conductor_generations.cpp: each child on its way from its start to serving, and out of it
  bool needs_child() const;
  bool is_idle() const;
  void start_if_due();
  void start(std::string cause);
  Child& begin_child(std::string cause);
  void replay_first(Child& child);
  void catch_up(Child& child);
  void restart_later(const ChildEnd& end);
  void restart();
  void advance(Child& child);
  void refuse_opening(Child& child);
  void fail_refused(Child& child);
  void release_explained(Child& child);
  void open(Child& child);
  void expect_start(Child& child);
  void advance_unopened(Child& child);
  void take_over();
  void show_stderr(Child& child);
  void finish_retiring(Child& child);
  void begin_serving(Child& child);
  void note_served(Child& child);
  void note_startup(Child& child);
  void on_opened(Child& child);
  void on_lists(Child& child, const std::vector<ListSurvey::List>& lists);
  void note_era(Child& child, const std::vector<ListSurvey::List>& lists);
  void restore_subscriptions(const Child& child);
  void release_waiting(Child& child);

  // conductor_ends.cpp: what follows from the end of a child
  void on_over(Child dead);
  bool build_first();
  void on_start_failed(const ChildEnd& end, const std::string& stderr_tail, bool is_repeated,
                       const std::string& build_output = {});
  void start_if_mended();
  void cancel_child_requests(Generation gen);
  void on_child_lost(const Child& dead, ClientRequest& request, const DeathReport& report,
                     bool is_deliberate);
  void blame_replay(const Child& dead, ChildEnd& end);

  // conductor_absence.cpp: a daemon that cannot be reached for a while, or loses requests
  void on(const fact::RequestRefused& fact);
  void on(const fact::RequestLost& fact);
  void on_absent(Generation gen, const std::string& why, Milliseconds again_after);
  void try_again(Child& child);
  const Absence* absence() const;
  bool answers_lists_meanwhile() const;
  std::optional<Milliseconds> absence_patience() const;
  std::optional<Instant> absence_patience_end() const;
  void answer_undelivered();
  ChildEnd absence_end() const;
  bool is_foreign(const Child* child) const;
  bool serves_foreign();
  void take_back_process(std::string cause);

  // conductor_own_restart.cpp: a server that was started anew behind the process of its child
  bool doubt_opening(Child& child, ClientRequest& request, std::string_view error);
  void doubt_opening(Child& child, const std::vector<ListSurvey::List>& lists);
  void expect_own_restart(Child& child, Announcement announcement);
  bool take_own_restarts();
  bool may_restart_itself() const;
  bool may_take_own_restart(const Child& child) const;
  bool may_await_own_restart(const Child& child) const;
  static CatalogKind list_for_doubt(const Child& child);
  void on_own_restart_timeout(Child& child);
  void drop_doubt(Child& child);
  void tell_doubts(const Child& child);
  void tell_doubt(ClientRequest& request);
  void on_restarted_itself(Child& child);

  // conductor_client.cpp: the client's lines
  void on(const fact::ClientLine& fact);
  void on(const fact::ClientLineTooLong& fact);
  void on_client_message(const Message& message, Line line);
  void on_batch(Line line);
  void on_client_request(const Message& message, Line line);
  void on_client_notification(const Message& message, Line line);
  void on_client_answer(const Message& message, Line line);
  void pass_on(ClientRequest& request, const Message& message, Line line, Outgoing outgoing);
  void wait(ClientRequest& request, Line line);
  void on_cancelled(const Message& message, Line line);
  void cancel(const Message& message, Line line);
  void forget(const ClientRequest& request);
  void refuse_broken_line(Line line, std::string_view what);
  void refuse_client_line(std::string_view id, ErrorCode code, std::string_view what);
  /// Answers what needs no child or what this child lacks. Returns false if the request must be
  /// passed on.
  bool answer_ourselves(ClientRequest& request, Child* child, const Message::Params& params);
  void forward(ClientRequest& request, Line line, Outgoing outgoing, Child& child,
               const Message* message = nullptr);
  bool refuse_when_throttled(ClientRequest& request);
  bool must_keep(const ClientRequest& request, Line line) const;

  // conductor_opening.cpp: the client's `initialize`, the first and later ones
  void on_initialize(ClientRequest& request, const Message& message, Line line);
  void expect_answer(ClientRequest& second_opening, Line line);
  void answer_second_openings();
  void meet(std::string_view client_info);
  /// The client's `initialize`, while it is owed an answer.
  ClientRequest* opening() const;
  void begin_session_again(const Message& opening);
  void on_opening_answer(Child& child, const Message& message, Line line);
  void on_second_opening(const ClientRequest& request, std::string_view result);

  // conductor_answers.cpp: the answers to the client, and those that the bridge makes itself
  // Each of these takes the request out, so `request` is not valid afterwards.
  void answer(ClientRequest& request, Outgoing line);
  void answer_result(ClientRequest& request, std::string_view result);
  void answer_error(ClientRequest& request, ErrorCode code, std::string_view message);
  void answer_tool_text(ClientRequest& request, std::string_view text, bool is_error);
  /// Does nothing if the request is no longer open.
  void answer_tool_text(RequestHandle request, std::string_view text, bool is_error);
  /// With a result that the model reads if the request is a call, otherwise with an error.
  void answer_failure(ClientRequest& request, ErrorCode code, std::string_view text);
  std::string tool_text_line(const ClientRequest& request, std::string_view text,
                             bool is_error) const;
  void answer_last_list(ClientRequest& request);
  void answer_opening_ourselves(ClientRequest& request, std::string_view why,
                                std::string_view stderr_tail = {},
                                std::string_view build_output = {});
  void answer_slow_opening();
  void answer_opening_with(ClientRequest& request, std::string_view why,
                           std::string_view instructions);
  void fail(ClientRequest& request, const DeathReport& report);
  void fail_waiting(const DeathReport& report);
  void answer_lost_opening(ClientRequest& request, std::string_view why,
                           std::string_view stderr_tail, std::string_view build_output = {});
  void fail_undone(ClientRequest& request, const DeathReport& report);
  /// `end` is empty for a child that lives but does not read.
  DeathReport report_of(const std::optional<ChildEnd>& end, std::string stderr_tail,
                        DeathReport::Reach reach) const;

  // conductor_child.cpp: the child's lines
  void on(const fact::ChildLine& fact);
  void on(const fact::ChildLineTooLong& fact);
  void on_child_message(Child& child, const Message& message, Line line);
  void on_child_request(Child& child, const Message& message, Line line);
  void on_child_notification(Child& child, const Message& message, Line line);
  void survey_again(Child& child, CatalogKind kind);
  void on_child_answer(Child& child, const Message& message, Line line);
  Answered answered_by(Child& child, const Message& answer);
  ClientRequest* find_sent(const Child& child, std::string_view raw_id);
  bool may_be_refusal(const Child& child, const ClientRequest& request,
                      std::string_view error) const;
  void note_version(Child& child, const ClientRequest& request, const Message& answer);
  void take_missing_lists(Child& child);
  void on_part(const Part& part);
  void on_unreadable(Child& child, Line line, bool is_unfinished);
  void answer_unreadable(Child& child, std::string_view id, std::string_view what);
  void add_noise(Child& child, std::string_view text);

  // conductor_results.cpp: what the results of the child mean to the bridge
  void pass_tools(Child& child, ClientRequest& request, const Message& message, Edits& edits);
  void on_success(Child& child, const ClientRequest& request, std::string_view result,
                  Edits& edits);
  void note_listed(CatalogKind kind, std::string_view items, std::string_view cursor);
  void on_discovered(Child& child, std::string_view result, Edits& edits);
  void make_way_for_page(std::string_view tools);
  void on_setting_accepted(const Child& child, const ClientRequest& request);
  bool is_replayed(const ClientRequest& request) const;
  void note_replayed(Child& child, const ClientRequest& request, std::string_view result);

  // conductor_notices.cpp: what the model is told, and when
  void announce(const CatalogComparison& comparison);
  void pass_tool_result(ClientRequest& request, const Message& message, Edits& edits);
  bool has_notice() const;
  std::string old_code_in(const ClientRequest& request) const;
  bool has_lint_news() const;
  void lint_tools();
  bool wants_lint(const Child& child, const ClientRequest& call, const Message& answer) const;
  void lint_result(std::string_view tool, std::string_view result);
  bool would_carry_notice(const ClientRequest& request, const Message& answer) const;
  void put_notice(const ClientRequest& request, const Message& answer, Edits& edits);
  NoticeFacts known_for_notice() const;
  std::string tell_notice(const ClientRequest& request);
  void tell_shown(const ClientRequest& request);
  void on_notice_told();
  void amend_notice();
  std::string version_of(const OpeningResult& opened) const;
  void on_client_listed(bool is_last_page);
  void hold(ClientRequest& request, std::string line);
  void release_held();
  std::vector<ClientRequest*> refusals_of(Generation gen);
  void answer_held(ClientRequest& request);

  // conductor_streams.cpp: how the streams of the stateless revision concern the other machines
  bool on_listen(ClientRequest& request, const Message& message, Line line);
  void ask_for_streams(Child& child);
  bool finds_changes(CatalogKind kind) const;
  static Streams::Sender sender(const Child& child, std::string_view raw_id);
  bool on_stream_cancelled(std::string_view raw_id, Line line);
  void on_streams_timeout();
  void pass_change(Child& child, const Message& message, Line line);
  bool tell_changed(CatalogKind kind);

  // conductor_tools.cpp: the built-in tools
  void on(const fact::ImageSwept& fact);
  void on(const fact::BinaryInspected& fact);
  void inspect(Purpose purpose, std::optional<RequestHandle> request = {});
  void on_builtin(ClientRequest& request, Builtin builtin, const Message& message);
  void run_builtin(ClientRequest& request, Builtin builtin, std::string_view arguments);
  void pass_call(ClientRequest& request, const Message& message, Line line);
  std::string wrong_call(const CallArguments& call);
  bool refuse_waiting_call(ClientRequest& request, const Message& message);
  void begin_kill(ClientRequest& request, KillScope scope);
  void finish_kill();
  StatusFacts status(bool is_for_person) const;
  std::string state_word() const;

  // conductor_rebuild.cpp: how a rebuild concerns the other machines
  void on(const fact::ReloadAsked& fact);
  void on(const fact::StatusAsked& fact);
  void reload(const Reload& wanted, const ClientRequest* caller = nullptr);
  bool may_replace_new_child() const;
  bool is_awaited(const Child& child) const;
  std::optional<Instant> replaceable_at(const Child& child) const;
  void begin_next_rebuild(PendingRebuild before);
  void begin_rebuild(ClientRequest& request, const RebuildArguments& arguments);
  void advance_rebuild();
  void on_rebuild_timeout();
  std::string rebuild_clause() const;
  std::string rebuild_hint() const;
  bool keeps_waiting() const;
  std::optional<Instant> patience_end() const;
  void answer_patient_requests();
  void start_new_child();
  void make_way(Child& serving);
  void on_looked_at_new_child();
  void on_build_line(const fact::ChildErrorLine& fact);
  void tell_build_progress();
  void on_build_over();
  RebuildReport::Server server_without_rebuild();
  bool is_unbuilt() const;
  bool waits_for_build() const;
  std::string first_build_clause() const;
  void fail_unbuilt();
  void on_new_child_over(const ChildEnd& end, const std::string& stderr_tail);
  void give_up_rebuild(std::string_view killer);
  void tell_given_up(const std::vector<RebuildCaller>& callers, std::string_view why);
  void abandon_rebuild();
  void finish_rebuild(RebuildReport report);
  void tell_rebuilt(const PendingRebuild& rebuild, RebuildReport report);
  std::string reload_text(const PendingRebuild& rebuild, RebuildReport report) const;
  void show_build_log(ClientRequest& request, const StderrRing::Query& query);
  std::optional<StatusFacts::BuildFacts> build_status() const;

  // conductor_control.cpp: what is asked from outside
  void on(const fact::ControlLine& fact);
  void on(const fact::ControlClosed& fact);
  void reload_for(ClientRequest& request, std::string_view arguments);
  void follow(ControlId connection, std::string_view arguments);

  // conductor_watch.cpp: files that change
  void on(const fact::FilesChanged& fact);
  void on(const fact::WatchChanged& fact);
  void on(const fact::SourcesChecked& fact);
  void on_files_settled();
  void note_reload();
  std::optional<StatusFacts::WatchFacts> watch_status() const;

  const BridgeConfig config_;
  const Now begun_;
  Now now_;
  Orders out_;
  MessageReader reader_;
  /// For lines that were kept, while a message of `reader_` may be in use.
  MessageReader kept_reader_;
  std::vector<Part> parts_;

  Ending ending_;
  ClientRequests requests_;
  Answers answers_;
  Generations generations_;
  Streams streams_{[this](CatalogKind kind) { return finds_changes(kind); }};
  InternalIds ids_;
  SentLines sent_lines_;
  BuiltinNames names_;
  /// The child whose session was lost and whose process, which is ours, lives on.
  Generation left_process_ = kNoGeneration;
  StderrRing ring_;
  BinaryFacts binary_;

  // These machines are only declared here. Each source of Conductor includes the machines that it
  // uses.
  const std::unique_ptr<Opening> opening_;
  const std::unique_ptr<InFlightThrottle> throttle_;
  const std::unique_ptr<ChildRequests> child_requests_;
  const std::unique_ptr<Starts> starts_;
  const std::unique_ptr<Replays> replays_;
  const std::unique_ptr<Killer> killer_;
  const std::unique_ptr<History> history_;
  const std::unique_ptr<Rebuilder> rebuilder_;
  const std::unique_ptr<Watch> watch_;
  const std::unique_ptr<Catalogs> catalogs_;
  const std::unique_ptr<Lints> lints_;
  const std::unique_ptr<Notices> notices_;
  const std::unique_ptr<OldCode> old_code_;
  const std::unique_ptr<RelistWait> relist_;
  const std::unique_ptr<Followers> followers_;
};

}  // namespace sitter
