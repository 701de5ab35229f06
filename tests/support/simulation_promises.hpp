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

/// Checks what goes into the bridge and what comes out of it. This class knows nothing of the
/// inside of the bridge. It throws `Broken` at the first broken promise.
class Promises {
 public:
  Promises(const BridgeConfig& config, const Said& said, const Scene& scene);

  // What happens. The world calls these functions just before the bridge is told.
  void set_now(Now now) { now_ = now.steady; }
  void on_client_line(const ClientSaid& said);
  void on_client_closed();
  void on_stop();
  void on_child_started(Generation gen, bool is_remote_runner, bool can_be_killed);
  void on_start_failed(Generation gen);
  /// The start has failed because the file is busy. The bridge tries it again, unless it takes the
  /// child down meanwhile, and then nobody outside sees that.
  void on_start_postponed(Generation gen);
  void on_child_line(Generation gen, const std::vector<int>& numbers);
  void on_build_started(Generation gen, bool can_be_killed);
  void on_build_not_started(Generation gen);
  void on_exited(Generation gen, const ExitStatus& status);
  void on_child_full(Generation gen);
  void on_child_moved(Generation gen);
  void on_child_drained(Generation gen);
  void on_files_checked(bool changed);
  void on_source_changed(Generation gen, const std::string& file);
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
  void on_sources_ordered(Generation gen) const;
  void on_log(const std::string& text);
  void on_close_input(Generation gen);
  void on_release(Generation gen);
  /// The watcher of the child has announced that it starts the server anew.
  void on_restart_announced(Generation gen);
  void on_renumber_child(Generation from, Generation gen);
  void on_send_to_control(ControlId connection, const std::string& line);
  void on_exit();

  /// Called after one fact or timeout and everything that followed from it.
  void on_settled(const Bridge& bridge);
  /// Called after a timeout and everything that followed from it.
  void on_timeout_handled(std::optional<Instant> next);

  bool has_exited() const { return has_exited_; }

 private:
  /// A gap after progress is 1 ms. Several gaps may follow each other, and a timer may be late.
  static constexpr Milliseconds kGapsMax{100};
  /// The time that a few late timers may add to any wait.
  static constexpr Milliseconds kLate{150};

  struct Request {
    const ClientSaid* said = nullptr;
    std::string key;
    /// When the request came. The wait begins anew when its child answers.
    Instant waits_since;
    bool is_doubled = false;
    bool is_cancelled = false;
    bool is_answered = false;
    bool is_opening = false;
    bool is_builtin = false;
    /// The bridge must answer this request at once.
    bool is_due_at_once = false;
    /// The successor of the child already served when the child answered.
    bool may_not_carry_notice = false;
    /// A valid call of sitter_rebuild.
    bool is_rebuild = false;
    /// A call of sitter_rebuild that came before the child of an earlier rebuild served.
    bool has_joined = false;
    /// The last progress that the bridge reported for this call.
    std::int64_t progress = 0;
    std::optional<Instant> progress_at;
    Milliseconds progress_late{};
    /// The mark of the batch that held the request; 0 if the request came alone.
    int batch = 0;
    /// The client cancelled the request before the bridge can have known an answer to it.
    bool is_withdrawn = false;
    std::vector<Generation> sent_to;
    /// How many requests had been sent then, together with this one.
    std::size_t sent_number = 0;
    /// So many requests were open then that the bridge may have kept no copy of this one.
    bool was_sent_in_crowd = false;
    /// The number of the child's answer that the bridge has read; 0 if there is none.
    int answer_read = 0;
    /// The child that served when the request came, if that child had stopped reading.
    Generation deaf = kNoGeneration;
    /// The place of this request among the answered requests that had a progress token; 0 if it has
    /// none.
    int ended_number = 0;
    bool may_be_task = false;
    /// The server was started anew and has refused the request, and the bridge opens that server
    /// again. So the request must be sent once more.
    bool is_refused = false;
    /// A server that was started anew has refused this request, or another one with the same id.
    Generation refused_by = kNoGeneration;
  };

  struct Life {
    bool is_up = false;
    bool is_over = false;
    /// By this time the start must be tried again. If it is not, the child was taken down.
    std::optional<Instant> starts_again_by;
    bool is_remote_runner = false;
    bool can_be_killed = true;
    bool has_exited = false;
    std::optional<ExitStatus> status;
    bool has_spoken = false;
    /// When the child wrote its first line. Noise counts too, because it may hold an error without
    /// an id.
    std::optional<Instant> wrote_first_at;
    bool is_input_closed = false;
    bool was_meant_by_kill = false;
    /// The child was killed on purpose, and nothing else had begun to end it.
    bool is_killed = false;
    bool is_open = false;  ///< it has answered its opening
    /// The step in which it has answered its opening; 0 for none.
    int opened_in = 0;
    /// The child has answered a request of the client, other than its opening, in a line that can
    /// be read.
    bool has_answered = false;
    bool is_doubted = false;  ///< the bridge asked it `initialize` to learn its era
    bool has_shown_era = false;
    /// The child has refused to list its tools, as a server may do that needs an opening first.
    bool has_refused_list = false;
    bool is_replay = false;
    /// In a session without an opening: an earlier child was lost before this child started.
    bool is_after_loss = false;
    Instant started;
    std::set<std::string> own_ids;  // by key
    /// The id under which the bridge last asked for the child's tools.
    std::string tools_list_id;
    int line_count = 0;
    int initialized_count = 0;
    int last_mark = 0;
    bool has_served = false;
    /// No result without structured content has carried the notice of this restart yet.
    bool owes_notice = false;
    std::string opening_id;
    std::optional<Instant> full_since;
    int passed_order = 0;
    /// When its successor began to serve.
    std::optional<Instant> retired_at;
    /// The next child already existed when this child was over.
    bool has_ended_late = false;
    /// The child took over from a child that served before it.
    bool has_taken_over = false;
    /// The step in which its input was closed.
    int closed_in = 0;
    /// Its successor existed when its input was closed.
    bool was_followed = false;
    /// The child was taken down for a rebuild, as far as this class can see.
    bool was_replaced = false;
    /// The answer to sitter_rebuild tells everything that a notice would tell.
    bool is_told_by_rebuild = false;
    /// The server was started anew behind its process, which is another child since then.
    std::optional<Instant> restarted_itself_at;
    /// How many servers before it have restarted themselves in a row.
    int own_restarts = 0;
    /// When the bridge last read that the server is to be started anew, and whether the child was
    /// asked something for the client since.
    std::optional<Instant> announced_at;
    bool was_asked_since = false;
    /// Its last answer to the bridge was a refusal in the words of a server that was not opened. So
    /// the bridge knows that a call that was refused in these words was not carried out.
    bool has_refused_own_list = false;
    /// The step in which it last did so; 0 for none.
    int refused_own_list_in = 0;
  };

  struct BuildLife {
    bool can_be_killed = true;
    bool is_over = false;
    bool is_input_closed = false;
    /// The server was killed while no call of sitter_rebuild waited for this build.
    bool is_abandoned = false;
    /// The build began for a reload, and nothing that has happened since may have changed that.
    bool is_for_reload = false;
    std::optional<ExitStatus> status;
    Instant started, ended;
    /// When somebody last asked for a rebuild or reload that may wait for this build.
    Instant asked_at;
    std::optional<Instant> closed_at;

    bool has_succeeded() const {
      return status && status->code == 0 && !is_input_closed && !is_abandoned;
    }
  };

  struct Count {
    int asked = 0, answered = 0, cancelled = 0;
  };

  /// The client has sent stateless requests and has not sent `initialize`.
  bool is_modern_only() const { return is_stateless_ && !is_asked_; }
  /// The client sends requests of both eras. Fewer promises hold in such a session.
  bool is_mixed() const { return scene_.client == Scene::Client::mixed; }

  // simulation_promises_client.cpp: what the client says, and what the bridge owes the client
  void on_said(const ClientSaid& said, int batch);
  void on_notification(const ClientSaid& said);
  void on_listen(const ClientSaid& said);
  std::string key_of(std::string_view raw_id) const;
  void on_request(const ClientSaid& said, int batch);
  bool was_cancelled_in_flight(const Request& request) const;
  void on_cancellation(const ClientSaid& said);
  void on_answer_to_question(const ClientSaid& said);
  Request* open_with(std::string_view raw_id);
  void answered(Request& request, std::string_view raw_id);
  void forget(Request& request);
  bool is_late(const Request& request) const;
  void check_requests();
  std::optional<Instant> due(const Request& request) const;
  void check_counts() const;

  // simulation_promises_heard.cpp: what the client gets from the children
  Heard heard(const std::string& line);
  Heard passed(const std::string& line, const ChildSaid& said);
  Request* taken_for(const ChildSaid& said, const std::string& line);
  void check_order(const ChildSaid& said);
  void check_progress(const ChildSaid& said) const;
  Heard passed_answer(const std::string& line, const ChildSaid& said);
  Heard passed_to_any(const std::string& line, const ChildSaid& said, const std::string& key);
  Heard passed_question(const std::string& line, const ChildSaid& said);
  bool was_subscribed(std::string_view update) const;
  void check_pause(const ChildSaid& said, const Request& request) const;
  void check_opening(const std::string& line, const ChildSaid& said, const Request& request) const;
  void check_discovery(const std::string& line, const ChildSaid& said,
                       const Request& request) const;
  void check_inserted(std::string_view item, const ChildSaid& said, Request& request);
  bool must_tell(const ChildSaid& said, const Request& request) const;
  bool owes_notice(const ChildSaid& said, const Request& request) const;
  bool owes_remark(const ChildSaid& said, const Request& request) const;

  // simulation_promises_streams.cpp: what the client hears on its streams
  Heard passed_to_stream(const std::string& line, const ChildSaid& said);
  Heard stream_ended(Streams::Stream& stream, const std::string& line, const ChildSaid& said);
  static std::string check_stream_named(const std::string& line, const Streams::Stream& stream);
  Streams::Stream* cancelled_stream(const ChildSaid& said, const std::string& line);

  // simulation_promises_restart.cpp: servers that were started anew behind their process
  void lose_requests(Generation from);
  void check_refusal_passed(const ChildSaid& said, const Request& request) const;
  void check_refused_given_up(const Request& request) const;
  bool has_restarted_itself(Generation gen) const {
    return lives_.at(gen).restarted_itself_at.has_value();
  }
  std::optional<Instant> lost_with_server(const Request& request) const;

  // simulation_promises_own.cpp: what the bridge itself tells the client
  std::vector<Heard> heard_batch(const std::string& line);
  Heard own(const std::string& line);
  Heard own_notification(const std::string& line, const nlohmann::json& message);
  Heard own_cancellation(const std::string& id, std::string_view reason);
  void check_own_answer(Request& request, const std::string& line, const nlohmann::json& message);
  static void check_stateless_result(const nlohmann::json& result);
  static void check_stateless_list(const nlohmann::json& result);
  void check_batch_of(const Request& request) const;

  // simulation_promises_rebuild.cpp: builds, and two children at the same time
  void on_build_asked(Milliseconds timeout);
  void on_rebuild(Request& request);
  std::vector<Request*> open_rebuilds();
  BuildLife* running_build();
  void on_rebuild_cancelled();
  void on_close_build_input(Generation gen);
  void on_release_build(Generation gen);
  void build_over(BuildLife& build);
  bool is_candidate(Generation gen) const;
  bool check_start_beside_others();
  void take_over(Generation gen);
  void check_not_retired(const Life& life, Generation gen, const ClientSaid& said);
  Heard own_progress(const nlohmann::json& message);
  void check_rebuild_answer(Request& request, const nlohmann::json& message);
  void check_rebuilds();
  void check_all_released() const;

  // simulation_promises_reload.cpp: what happens without a request of the client
  bool is_reload_on() const;
  bool is_not_wanted() const;
  bool is_child_coming() const;
  bool is_another_up(Generation gen) const;
  void want_reload(Milliseconds timeout);
  void begin_reload();
  void check_reload_reason();
  void on_reload_failed(bool is_sure);
  void on_child_ordered();
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
  void goes_on();
  bool is_in_flight(const Request& request) const;
  bool listens(Generation gen) const;
  Life& life(Generation gen);
  const Life& life(Generation gen) const { return lives_.at(gen); }
  bool may_be_closed() const;
  std::optional<Milliseconds> standstill_max() const;

  void forget_postponed(Life& its_life);
  void check_end(const Bridge& bridge);

  const BridgeConfig& config_;
  const Said& said_;
  const Scene& scene_;
  Instant now_;

  std::map<int, Request> requests_;          // by mark
  std::vector<int> open_;                    // marks of requests without an answer
  bool is_crowded_ = false;                  // very many were open since `open_` was last empty
  std::map<std::string, Count> counts_;      // by key
  std::map<std::string, Count> raw_counts_;  // by spelling
  int errors_without_id_owed_ = 0;
  Streams streams_;
  /// The marks of streams that the bridge has cancelled at a child. The client must be told.
  std::set<int> taken_back_;
  /// For each batch, by mark: how many errors without an id its array of answers must hold.
  std::map<int, int> batches_;
  /// The mark of the batch whose array of answers is being checked. 0 until the first answer shows
  /// which batch it is. Empty outside an array.
  std::optional<int> batch_heard_;
  /// The envelopes that the client has sent, each parsed and serialized again.
  std::set<std::string> envelopes_;
  bool is_asked_ = false;
  /// The client has sent an envelope with another request than `server/discover`.
  bool is_stateless_ = false;
  /// While `is_stateless_` was true, a child was lost or got a successor.
  bool has_lost_stateless_ = false;
  bool is_initialized_ = false;
  int initialize_count_ = 0;
  std::map<std::string, Instant> progress_at_;  // by raw token
  int ended_count_ = 0;
  std::optional<Instant> output_may_be_closed_until_;
  /// When a client that needs a pause after its list last got the end of the list.
  std::optional<Instant> listed_at_;
  /// The marks of notifications that a child must get before any later request.
  std::set<int> owed_notifications_;
  /// A broken promise, unless the bridge exits in this step.
  std::string wrong_unless_exit_;

  /// The place of each message of a child in the order in which messages were read, by number.
  std::map<int, int> read_order_;
  std::set<int> passed_;
  Questions questions_;
  Notices notices_;

  std::map<Generation, Life> lives_;
  Generation last_gen_ = kNoGeneration;
  Instant last_start_;
  int failures_in_row_ = 0;
  bool files_changed_ = false;
  /// A built-in tool was called since the last start and the last kill.
  bool was_builtin_called_ = false;
  /// The mark of the last call of sitter_kill; 0 for none.
  int last_kill_ = 0;
  /// When `goes_on` was last called.
  Instant moved_at_;
  /// If nothing else happens, the bridge must reload by this time for a saved file, or restart a
  /// crashed server.
  std::optional<Instant> save_due_, restart_due_;
  /// The line that is being read asks for a kill that begins behind the line.
  bool kills_late_ = false;
  /// A list request was answered in this step.
  bool list_answered_ = false;
  int starts_ = 0, requests_for_child_ = 0;
  /// The mark of the line that a child must have got at the end of this step.
  int must_reach_child_ = 0;

  std::map<Generation, BuildLife> builds_;
  Generation last_build_ = kNoGeneration;
  /// The last build has succeeded, and its child has not been started yet.
  bool is_child_built_ = false;
  /// The child of the last build.
  Generation built_gen_ = kNoGeneration;
  /// The longest build timeout that anybody has asked for.
  Milliseconds timeout_max_{};
  std::optional<Instant> rebuild_cancelled_at_;
  /// The child or build whose input must be closed at the end of this step.
  Generation must_close_input_ = kNoGeneration;
  /// A candidate or a retiring child has ended in this step. No request has waited for it.
  bool bystander_died_ = false;
  /// Counts the steps. A step is one fact or timeout with everything that follows from it.
  int step_ = 1;
  /// The step in which a reload has failed last.
  int reload_failed_in_ = 0;
  /// The step in which the client last sent `notifications/initialized`. A child may have begun to
  /// serve before that.
  int initialized_in_ = 0;

  Controls controls_;
  Replays replays_;
  /// Somebody other than the client has asked for a reload that may not have begun yet.
  bool is_reload_asked_ = false;
  /// The bridge may drop that reload, because nobody waits for it or no client needs a child.
  bool may_be_unwanted_ = false;
  /// A call has asked for the mode swap since the last build began.
  bool may_be_swap_ = false;
  Saves saves_;
  Restarts restarts_;
  /// No call was waiting for a rebuild when the server was killed on purpose, so no changed file
  /// may start a child.
  bool is_killed_for_good_ = false;
  /// Since when the next result must tell of something.
  std::optional<Instant> remark_owed_since_;

  std::optional<Instant> closed_at_, stopped_at_;
  bool owed_nothing_when_closed_ = false;
  bool has_exited_ = false;
  std::size_t sent_count_ = 0;
};

}  // namespace sitter::sim
