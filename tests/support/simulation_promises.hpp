#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/bridge.hpp"
#include "sitter/fact.hpp"
#include "sitter/order.hpp"
#include "sitter/time.hpp"
#include "support/simulation_controls.hpp"
#include "support/simulation_notices.hpp"
#include "support/simulation_questions.hpp"
#include "support/simulation_replays.hpp"
#include "support/simulation_restarts.hpp"
#include "support/simulation_said.hpp"
#include "support/simulation_saves.hpp"
#include "support/simulation_streams.hpp"

namespace sitter::sim {

/// Watches what goes into the bridge and what comes out of it, knows nothing of its inside, and
/// throws `Broken` at the first thing that must not be.
class Promises {
 public:
  Promises(const BridgeConfig& config, const Said& said, const Scene& scene);

  // What the bridge is about to be told.
  void set_now(Now now) { now_ = now.steady; }
  void on_client_line(const ClientSaid& said);
  void on_client_closed();
  void on_stop();
  void on_child_started(Generation gen, bool is_remote_runner, bool can_be_killed);
  void on_start_failed(Generation gen);
  void on_child_line(Generation gen, const std::vector<int>& numbers);
  void on_build_started(Generation gen, bool can_be_killed);
  void on_build_not_started(Generation gen);
  void on_exited(Generation gen, const ExitStatus& status);
  void on_child_full(Generation gen);
  void on_child_moved(Generation gen);
  void on_child_drained(Generation gen);
  void on_files_checked(bool changed);
  void on_error_line(Generation gen, const std::string& text);
  void on_reload_asked();
  void on_files_changed(const fact::FilesChanged& fact, bool is_by_person);
  void on_watch_changed(const std::string& problem);
  void on_control_line(const ControlAsked& asked);
  void on_control_closed(ControlId connection);

  // What the bridge has ordered.
  std::vector<Heard> on_send_to_client(const std::string& line);
  Asked on_send_to_child(Generation gen, const std::string& line);
  void on_start_child(Generation gen);
  void on_start_build(Generation gen);
  void on_inspect(Generation gen);
  void on_log(const std::string& text);
  void on_close_input(Generation gen);
  void on_release(Generation gen);
  void on_send_to_control(ControlId connection, const std::string& line);
  void on_exit();

  /// After one input and all that followed from it.
  void on_settled(const Bridge& bridge);
  /// After a timeout and all that followed from it.
  void on_timeout_handled(std::optional<Instant> next);

  bool has_exited() const { return has_exited_; }

 private:
  /// A gap after progress is 1 ms, several may follow each other, and a timer may be late.
  static constexpr Milliseconds kGapsMax{100};
  /// What a few late timers may add to any wait.
  static constexpr Milliseconds kLate{150};

  struct Request {
    const ClientSaid* said = nullptr;
    std::string key;
    Instant came;
    bool is_doubled = false;
    bool is_cancelled = false;
    bool is_answered = false;
    bool is_opening = false;
    bool is_builtin = false;
    /// Nothing may stand between it and its answer.
    bool is_due_at_once = false;
    bool must_carry_notice = false;
    /// Or tell of anything at all.
    bool must_carry_remark = false;
    /// It was answered by a child whose successor served then.
    bool may_not_carry_notice = false;
    /// A build that is on its way may be waited for, and since when it waits.
    bool may_wait_for_build = false;
    Instant waits_since;
    /// A sitter_rebuild without a mistake.
    bool is_rebuild = false;
    /// What was built for it has ended, or a new child is on its way that may be its own.
    bool is_built = false;
    /// What it was told last.
    std::int64_t progress = 0;
    std::optional<Instant> progress_at;
    Milliseconds progress_late{};
    /// The mark of the batch that it came in; 0 for none.
    int batch = 0;
    /// It was cancelled before any answer to it can have been known.
    bool is_withdrawn = false;
    std::vector<Generation> sent_to;
    /// The child's answer that the bridge has read.
    int answer_read = 0;
    std::optional<Instant> due;
    /// The client needs a pause behind its list.
    Instant not_before;
    /// Of those with a token that were answered.
    int ended_number = 0;
    bool may_be_task = false;
  };

  struct Life {
    bool is_up = false;
    bool is_over = false;
    bool is_remote_runner = false;
    bool can_be_killed = true;
    bool has_exited = false;
    std::optional<ExitStatus> status;
    bool has_spoken = false;
    /// A message, or noise among which an error without an id may have been.
    std::optional<Instant> wrote_first_at;
    bool has_shown_digits = false;  ///< it rounds no ids
    bool is_input_closed = false;
    bool was_meant_by_kill = false;
    bool is_killed = false;     ///< by sitter_kill, and nothing else had begun to end it
    bool is_open = false;       ///< it has answered its opening
    bool has_answered = false;  ///< something else than the opening and the bridge's own requests
    bool has_answered_us = false;  ///< a request of the bridge's own
    bool is_doubted = false;       ///< it was asked `initialize` to know its era
    bool has_shown_era = false;
    bool has_refused_list = false;  ///< as a server may that has to be opened first
    bool is_replay = false;
    /// Without a session: it was not the first.
    bool is_after_loss = false;
    Instant started;
    /// Until when it must have said anything, or be taken down.
    std::optional<Instant> must_speak_by;
    std::set<std::string> own_ids;  // by key
    /// Under which the bridge has asked for its tools last.
    std::string tools_list_id;
    int line_count = 0;
    int initialized_count = 0;
    int last_mark = 0;
    bool has_served = false;
    /// No result without structured content has carried the notice.
    bool owes_notice = false;
    std::string opening_id;
    std::optional<Instant> full_since;
    int passed_order = 0;
    /// From when on its successor serves.
    std::optional<Instant> retired_at;
    /// The next one was there already.
    bool has_ended_late = false;
    /// It is such a successor.
    bool has_taken_over = false;
    /// The step in which its input was closed.
    int closed_in = 0;
    /// Its successor was there when its input was closed.
    bool was_followed = false;
    /// It was taken down for a rebuild, as far as can be seen.
    bool was_replaced = false;
    /// The answer to sitter_rebuild says all that a notice would.
    bool is_told_by_rebuild = false;
  };

  struct BuildLife {
    bool can_be_killed = true;
    bool is_over = false;
    bool is_input_closed = false;
    /// All who have called for it have cancelled.
    bool is_abandoned = false;
    std::optional<ExitStatus> status;
    Instant started, ended;
    std::optional<Instant> closed_at;
    Milliseconds timeout_min{}, timeout_max{};
    /// Whether a reload was asked for when it began; it may have joined in later, too.
    bool is_for_reload = false, may_be_for_reload = false;
    /// The first, if it is not for a reload.
    bool may_be_abandoned = false;

    bool has_succeeded() const { return status && status->code == 0 && !is_input_closed; }
  };

  struct Count {
    int asked = 0, answered = 0, cancelled = 0;
  };

  /// A session of which the client has shown that it has no opening.
  bool is_modern_only() const { return is_stateless_ && !is_asked_; }
  /// A session with both kinds of requests, of which less is promised.
  bool is_mixed() const { return scene_.client == Scene::Client::mixed; }

  // simulation_promises_client.cpp: what the client says, and what it is owed
  void on_said(const ClientSaid& said, int batch);
  void on_notification(const ClientSaid& said);
  void on_listen(const ClientSaid& said);
  std::string key_of(std::string_view raw_id) const;
  void on_request(const ClientSaid& said);
  bool was_cancelled_in_flight(const Request& request) const;
  void on_cancellation(const ClientSaid& said);
  void on_answer_to_question(const ClientSaid& said);
  Request* open_with(std::string_view raw_id);
  void answered(Request& request, std::string_view raw_id);
  void forget(Request& request);
  bool is_late(const Request& request) const;
  void check_requests();
  void check_patience(const Request& request);
  void check_counts() const;

  // simulation_promises_heard.cpp: what the client gets of the children
  Heard heard(const std::string& line);
  Heard passed(const std::string& line, const ChildSaid& said);
  Request* taken_for(const ChildSaid& said, const std::string& line);
  Heard stream_ended(Streams::Stream& stream, const std::string& line, const ChildSaid& said);
  Heard passed_to_stream(const std::string& line, const ChildSaid& said);
  Streams::Stream* cancelled_stream(const ChildSaid& said, const std::string& line);
  void check_order(const ChildSaid& said);
  void check_progress(const ChildSaid& said) const;
  Heard passed_answer(const std::string& line, const ChildSaid& said);
  Heard passed_question(const std::string& line, const ChildSaid& said);
  bool was_subscribed(std::string_view update) const;
  void check_opening(const std::string& line, const ChildSaid& said, const Request& request) const;
  void check_discovery(const std::string& line, const ChildSaid& said,
                       const Request& request) const;
  void check_inserted(std::string_view item, const ChildSaid& said, Request& request);
  void notice_told(Generation gen);

  // simulation_promises_own.cpp: what the bridge tells the client itself
  std::vector<Heard> heard_batch(const std::string& line);
  Heard own(const std::string& line);
  Heard own_notification(const std::string& line, const nlohmann::json& message);
  Heard own_cancellation(const std::string& id);
  void check_own_answer(Request& request, const std::string& line, const nlohmann::json& message);
  static void check_stateless_result(const nlohmann::json& result);
  static void check_stateless_list(const nlohmann::json& result);
  static std::string check_stream_named(const std::string& line, const Streams::Stream& stream);
  void check_batch_of(const Request& request) const;

  // simulation_promises_rebuild.cpp: builds, and two children at the same time
  Milliseconds before_build_max() const;
  Milliseconds build_ladder_max() const;
  Milliseconds before_start_max() const;
  std::optional<Milliseconds> serving_max() const;
  void rebuilds_go_on(Milliseconds timeout);
  void note_asked(bool is_kill_first, Milliseconds timeout);
  void on_rebuild(Request& request);
  std::vector<Request*> open_rebuilds();
  BuildLife* running_build();
  bool is_rebuilding();
  void on_rebuild_cancelled();
  void on_close_build_input(Generation gen);
  void on_release_build(Generation gen);
  void build_over(BuildLife& build);
  static void abandon(BuildLife& build);
  bool is_candidate(Generation gen) const;
  bool check_start_beside_others();
  void take_over(Generation gen);
  void check_not_retired(const Life& life, Generation gen, const ClientSaid& said);
  Heard own_progress(const nlohmann::json& message);
  void check_rebuild_answer(Request& request, const nlohmann::json& message);
  void check_rebuilds();
  void check_all_released() const;

  // simulation_promises_reload.cpp: what is done that the client has not asked for
  bool is_reload_on() const;
  bool is_built_for_reload() const;
  bool is_not_wanted() const;
  bool is_child_coming() const;
  bool is_another_up(Generation gen) const;
  Milliseconds replay_max() const;
  std::optional<Milliseconds> reload_max() const;
  void want_reload(bool is_kill_first, Milliseconds timeout);
  void begin_reload();
  void begin_build(BuildLife& build);
  void check_reload_reason();
  void on_reload_failed(bool is_sure);
  void on_child_ordered(bool is_built);
  void on_child_over(const Life& life, Generation gen, bool was_candidate);
  void expect_restart(const Life& life, Generation gen);
  void on_kill();
  void on_wanted();
  void note_success(const ChildSaid& said);
  bool may_tell_successor(Generation gen, std::string_view tool) const;
  void check_called(Generation gen, const std::string& id, const nlohmann::json& params);
  void check_remark(std::string_view item, const ChildSaid& said, const Request& request);
  void owe_remark();
  void forgive_remark();
  void check_unasked();

  // simulation_promises_asked.cpp: what children get
  void check_passed_to_child(Life& life, Generation gen, const ClientSaid& said);
  void check_own_to_child(Life& life, Generation gen, const std::string& line,
                          const nlohmann::json& message);
  void check_own_opening(Life& life, const std::string& id, const std::string& line);
  void check_own_cancellation(Generation gen, const nlohmann::json& message);
  void check_envelope(const nlohmann::json& message) const;
  void request_sent(Life& life, Generation gen, Request& request);

  // simulation_promises.cpp: the lives of children, and the end
  Milliseconds relist_max() const;
  void begin_pause(const ChildSaid& said, const Request& request, const std::vector<int>& read);
  void waits_again(Request& request);
  bool is_in_flight(const Request& request) const;
  bool is_held(const Request& request) const;
  bool listens(Generation gen) const;
  Life& life(Generation gen);
  bool may_be_closed() const;
  std::optional<Milliseconds> waiting_max() const;
  Milliseconds ladder_max() const;
  Milliseconds any_ladder_max() const;

  bool may_be_taken_for(const Request& a, const Request& b) const;
  void check_rounding(Life& its_life, const ChildSaid& said);
  void check_silent() const;
  void check_end(const Bridge& bridge);

  const BridgeConfig& config_;
  const Said& said_;
  const Scene& scene_;
  Instant now_;

  std::map<int, Request> requests_;          // by mark
  std::vector<int> open_;                    // marks of those without an answer
  bool is_crowded_ = false;                  // and they were many since there was none
  std::map<std::string, Count> counts_;      // by key
  std::map<std::string, Count> raw_counts_;  // by spelling
  int errors_without_id_owed_ = 0;
  Streams streams_;
  /// Streams that the bridge has taken back from a child; the client must hear of it.
  std::set<int> taken_back_;
  /// Of each batch, by mark: errors without an id that are owed in it.
  std::map<int, int> batches_;
  /// The mark of the batch whose answers are being looked at; 0 while the first is unknown, and
  /// nothing outside of an array.
  std::optional<int> batch_heard_;
  /// What the client has said of itself, parsed and written again.
  std::set<std::string> envelopes_;
  bool is_asked_ = false;
  /// An envelope came with anything but a probe.
  bool is_stateless_ = false;
  /// And a child was lost since.
  bool has_lost_stateless_ = false;
  bool is_initialized_ = false;
  int initialize_count_ = 0;
  std::map<std::string, Instant> progress_at_;  // by raw token
  int ended_count_ = 0;
  std::optional<Instant> output_may_be_closed_until_;
  Instant pause_until_;
  /// Marks of notifications that a child gets before any later request.
  std::set<int> owed_notifications_;
  /// Wrong unless the bridge ends in this very moment.
  std::string wrong_unless_exit_;

  std::map<int, int> read_order_;  // of what a child has said, by number
  std::set<int> passed_;
  Questions questions_;
  Notices notices_;

  std::map<Generation, Life> lives_;
  Generation last_gen_ = kNoGeneration;
  Instant last_start_;
  int failures_in_row_ = 0;
  bool files_changed_ = false;
  /// The mark of the last call of a built-in tool since the last start; 0 for none.
  int last_builtin_ = 0;
  int last_kill_ = 0;
  bool list_answered_ = false;
  int list_answered_mark_ = 0;
  int starts_ = 0, requests_for_child_ = 0;
  /// The mark of the line that a child must have got when all is settled.
  int must_reach_child_ = 0;

  std::map<Generation, BuildLife> builds_;
  Generation last_build_ = kNoGeneration;
  /// The last build has succeeded, and its child was not started yet.
  bool is_child_built_ = false;
  /// The child of the last build.
  Generation built_gen_ = kNoGeneration;
  /// Of all that was asked for since the last build began.
  std::optional<Milliseconds> timeout_min_, timeout_max_;
  std::optional<Instant> rebuild_cancelled_at_;
  /// What must be on its way out when all is settled.
  Generation must_close_input_ = kNoGeneration;
  /// In this moment, and the one before it lives.
  bool candidate_died_ = false;
  bool was_rebuilding_ = false;
  /// Counts inputs with all that follows from them.
  int step_ = 1;
  /// The step in which the client has said so last; a child may serve since before that.
  int initialized_in_ = 0;

  Controls controls_;
  Replays replays_;
  /// Somebody else than the client has asked for a reload that has not begun, or may have.
  bool is_reload_asked_ = false;
  /// There was nobody whom a child would be started for.
  bool may_be_unwanted_ = false;
  std::optional<Instant> must_reload_by_;
  /// How, by those who have asked.
  bool may_be_swap_ = false, may_be_kill_first_ = false;
  Saves saves_;
  Restarts restarts_;
  /// Nothing was on its way when it was killed, so no changed file starts a child.
  bool is_killed_for_good_ = false;
  /// Something is to be told in the next result.
  bool owes_remark_ = false;

  std::optional<Instant> closed_at_, stopped_at_;
  bool owed_nothing_when_closed_ = false;
  bool has_exited_ = false;
};

}  // namespace sitter::sim
