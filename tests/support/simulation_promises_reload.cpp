#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/raw_id.hpp"
#include "core/build/rebuild.hpp"
#include "core/child/restart_policy.hpp"
#include "support/simulation_promises.hpp"

/// What happens without a request of the client: reloads by somebody else or for changed files,
/// restarts, and calls that are made again.
namespace sitter::sim {

using json = nlohmann::json;

void Promises::on_reload_asked() {
  want_reload(std::chrono::seconds(limits::kBuildSecondsDefault));
}

void Promises::on_control_line(const ControlAsked& asked) {
  controls_.on_asked(asked, now_);
  if (asked.is_wrong) return;
  if (asked.kind == ControlAsked::Kind::kill) controls_.on_kill(false);
  if (stopped_at_) return;
  if (asked.kind == ControlAsked::Kind::reload) {
    want_reload(asked.build_timeout);
    if (may_be_unwanted_) controls_.on_reload_begun();
  }
  if (asked.kind == ControlAsked::Kind::kill) on_kill();
}

/// The connection is closed, so it no longer waits for a reload.
void Promises::on_control_closed(ControlId connection) {
  if (!controls_.on_closed(connection)) return;
  may_be_unwanted_ |= is_reload_asked_;
  on_rebuild_cancelled();
}

void Promises::on_send_to_control(ControlId connection, const std::string& line) {
  if (has_exited_) throw Broken("a line to a connection after the end");
  controls_.on_line(connection, line, stopped_at_ || closed_at_);
}

void Promises::on_error_line(Generation gen, const std::string& text) {
  if (!life(gen).is_over) controls_.on_error_line(text);
}

/// Somebody other than the client asks for a reload.
void Promises::want_reload(Milliseconds timeout) {
  if (closed_at_ || stopped_at_) return;
  on_build_asked(timeout);
  saves_.on_somebody();
  is_reload_asked_ = true;
  may_be_unwanted_ |= is_not_wanted();
}

void Promises::on_files_changed(const fact::FilesChanged& fact, bool is_by_person) {
  if (!config_.watches() || closed_at_ || stopped_at_) return;
  const bool may_be_meant = saves_.on_changed(fact, now_, running_build() != nullptr);
  if (is_by_person) saves_.on_somebody();
  restart_due_.reset();
  const bool is_served = std::any_of(lives_.begin(), lives_.end(), [&](const auto& entry) {
    return entry.second.has_served && !is_another_up(entry.first) && listens(entry.first);
  });
  const bool is_idle = (is_asked_ || is_stateless_) && is_served && running_build() == nullptr &&
                       !is_child_built_ && !is_reload_asked_ && open_rebuilds().empty() &&
                       !restarts_.is_killed() && !is_mixed() &&
                       now_ >= moved_at_ + config_.debounce;
  const auto wait = standstill_max();
  if (((is_by_person && may_be_meant && is_idle) || save_due_) && wait) {
    save_due_ = now_ + config_.debounce + *wait;
  }
}

void Promises::on_watch_changed(const std::string& problem) {
  if (!notices_.on_watch_problem(problem)) return;
  if (problem.empty()) {
    forgive_remark();
  } else {
    owe_remark();
  }
}

void Promises::on_source_changed(Generation gen, const std::string& file) {
  notices_.on_source_changed(gen, file);
}

void Promises::on_sources_ordered(Generation gen) const {
  if (config_.watches()) throw Broken("watched sources are looked at once more");
  const Life& its_life = lives_.at(gen);
  if (!its_life.is_up || its_life.is_input_closed) {
    throw Broken("the sources of a child that does not serve are looked at");
  }
}

/// Whether a reload may begin, because somebody asked for it or because files have changed.
bool Promises::is_reload_on() const { return is_reload_asked_ || saves_.have_settled(now_); }

/// Whether a reload has nothing to do: there is no build command, and no session that needs a
/// child.
bool Promises::is_not_wanted() const {
  // If a child refuses the version of an envelope, the bridge forgets that version, and with it
  // that there was a client.
  return ((!is_asked_ && !is_stateless_) || is_mixed()) && config_.build_command.empty();
}

/// Whether the child of a rebuild exists and does not serve yet, as far as this class can see.
bool Promises::is_child_coming() const {
  const auto found = lives_.find(built_gen_);
  if (found == lives_.end()) return false;
  const Life& its_life = found->second;
  return !its_life.is_over && !its_life.has_served && !its_life.has_taken_over;
}

/// Whether another child is not over. A retiring child counts too.
bool Promises::is_another_up(Generation gen) const {
  return std::any_of(lives_.begin(), lives_.end(), [&](const auto& entry) {
    return entry.first != gen && !entry.second.is_over;
  });
}

/// A build begins, or a child is started if there is no build command. It covers every reload that
/// was asked for and every file that has changed.
void Promises::begin_reload() {
  is_reload_asked_ = may_be_unwanted_ = false;
  saves_.on_reload_begun();
  may_be_swap_ = false;
  controls_.on_reload_begun();
}

/// Checks the reason of a reload that no call has asked for.
void Promises::check_reload_reason() {
  if (!is_reload_asked_) saves_.check_reason(now_, is_killed_for_good_, closed_at_);
}

/// `is_sure`: the reload has surely failed, and no call gets an answer that tells of it.
void Promises::on_reload_failed(bool is_sure) {
  notices_.on_failed_reload();
  reload_failed_in_ = step_;
  if (may_be_closed()) notices_.on_unread();
  if (is_sure && !closed_at_ && !stopped_at_) owe_remark();
}

void Promises::on_child_ordered() {
  on_wanted();
  goes_on();
  if (config_.build_command.empty()) begin_reload();
}

void Promises::on_child_over(const Life& its_life, Generation gen, bool was_candidate) {
  const bool is_alone = its_life.status && !its_life.is_input_closed;
  const bool has_crashed =
      is_alone && its_life.status->code != 0 && its_life.status->signal != "SIGTERM";
  if (replays_.has_called(gen)) notices_.on_news();
  replays_.on_over(gen, has_crashed && its_life.has_spoken && !its_life.was_meant_by_kill, now_);
  goes_on();
  if (was_candidate || its_life.retired_at) return;
  // If a child ended because it has a successor, it is not the last child that served.
  if (!its_life.was_followed) {
    restarts_.on_end(
        now_, is_alone && !has_crashed && !is_mixed() && (its_life.is_open || is_modern_only()));
  } else if (!is_another_up(gen)) {
    restarts_.on_end_after_successor(now_);
  }
  if (now_ >= its_life.started + limits::kGoodRunning) restarts_.on_good_running();
  if (has_crashed) expect_restart(its_life, gen);
}

/// The child has crashed. If nothing else is in progress, a restart must follow.
void Promises::expect_restart(const Life& its_life, Generation gen) {
  const bool is_open = is_asked_ ? its_life.is_open : its_life.has_answered;
  const bool is_free = running_build() == nullptr && !is_child_built_ && open_rebuilds().empty() &&
                       !is_reload_asked_ && !saves_.has_changed() && !closed_at_ && !stopped_at_;
  const bool is_killed = restarts_.is_killed() || its_life.was_meant_by_kill;
  if (!is_open || !is_free || is_killed || is_mixed() || is_another_up(gen)) return;
  restart_due_ = restarts_.due(now_, last_gen_);
}

/// The client or somebody else kills the server on purpose. A rebuild goes on only if a call of the
/// client waits for it.
void Promises::on_kill() {
  owed_notifications_.clear();
  was_builtin_called_ = false;
  restarts_.on_kill();
  goes_on();
  is_killed_for_good_ = open_rebuilds().empty();
  if (BuildLife* const build = running_build()) {
    build->is_for_reload = false;
    build->is_abandoned = is_killed_for_good_;
    if (is_killed_for_good_ && !build->is_input_closed && !build->status) {
      must_close_input_ = last_build_;
    }
  }
  if (is_killed_for_good_) is_child_built_ = is_reload_asked_ = may_be_unwanted_ = false;
  may_be_unwanted_ |= is_reload_asked_;
  controls_.on_kill(is_killed_for_good_ && !closed_at_);
  for (auto& [gen, its_life] : lives_) {
    if (its_life.starts_again_by) forget_postponed(its_life);
    its_life.was_meant_by_kill = true;
    if (its_life.is_up && !its_life.is_input_closed) its_life.is_killed = true;
  }
}

/// Somebody wants a server again.
void Promises::on_wanted() {
  restarts_.on_wanted();
  is_killed_for_good_ = false;
}

/// Notes the success of a call that may have to be made again at the next child.
void Promises::note_success(const ChildSaid& said) {
  const auto found = requests_.find(said.mark);
  if (!replays_.are_there() || found == requests_.end()) return;
  if (said.kind != ChildSaid::Kind::result || said.is_unreadable) return;
  const std::string& key = found->second.key;
  const auto count = std::count_if(requests_.begin(), requests_.end(),
                                   [&](const auto& entry) { return entry.second.key == key; });
  for (const auto& [mark, request] : requests_) {
    const ClientSaid& call = *request.said;
    if (call.method != "tools/call" || call.wants_task) continue;
    if (request.key != key) continue;
    const bool is_heard = !request.is_answered && !request.is_cancelled &&
                          request.answer_read == 0 && !request.sent_to.empty() &&
                          request.sent_to.back() == said.gen;
    const bool is_success = is_heard && said.has_content && !said.is_error;
    // If several requests have the same id, nobody outside can tell which of them this answers.
    if (count > 1 || is_success) {
      replays_.on_success(said.gen, call.tool, call.arguments, count == 1);
      if (count == 1 && may_tell_successor(said.gen, call.tool)) {
        replays_.on_late_success(last_gen_, call.tool, call.arguments);
      }
    }
  }
}

/// Whether the successor of this child serves, and has no open call of this tool from the client.
bool Promises::may_tell_successor(Generation gen, std::string_view tool) const {
  const Life& successor = lives_.at(last_gen_);
  if (!lives_.at(gen).retired_at || !successor.has_taken_over || is_mixed() || may_be_closed()) {
    return false;
  }
  return listens(last_gen_) && std::none_of(open_.begin(), open_.end(), [&](int mark) {
           const Request& request = requests_.at(mark);
           return request.said->tool == tool && !request.sent_to.empty() &&
                  request.sent_to.back() == last_gen_;
         });
}

void Promises::check_called(Generation gen, const std::string& id, const json& params) {
  notices_.on_news();
  replays_.on_called(gen, params.value("name", ""),
                     params.contains("arguments") ? params["arguments"].dump() : "", id, now_);
}

/// Checks what a notice tells besides a restart or without one.
void Promises::check_remark(std::string_view item, const ChildSaid& said, const Request& request) {
  // The answer may have stood in an array for a while.
  const bool is_late = may_be_closed() || request.batch != 0 || notices_.has_crossed();
  if (!is_late) notices_.check_watch_problem(item);
  notices_.check_old_code(item, said.gen, said.has_structure, is_late || request.is_cancelled);
  if (said.has_structure) return;
  forgive_remark();
  // The bridge may read of a failed reload only after it has given this answer.
  if (!is_late) notices_.on_remark_told(replays_.is_calling() || reload_failed_in_ == step_);
}

void Promises::owe_remark() {
  if (config_.writes_notices && !remark_owed_since_) remark_owed_since_ = now_;
}

/// The model has been told, or need not be told any more.
void Promises::forgive_remark() { remark_owed_since_.reset(); }

void Promises::check_unasked() {
  const bool is_alone = std::all_of(lives_.begin(), lives_.end(),
                                    [](const auto& entry) { return entry.second.is_over; });
  const bool is_building = running_build() != nullptr;
  const auto wait = standstill_max();
  // Until then, a kill may still be on its way, and the client may open a session meanwhile.
  const bool is_decided = wait && now_ > moved_at_ + *wait;
  if (may_be_unwanted_ && is_not_wanted() && is_alone && is_decided && !is_mixed()) {
    is_reload_asked_ = may_be_unwanted_ = false;
  }
  controls_.check(wait && !is_building ? std::optional(now_ - *wait) : std::nullopt, moved_at_);
  if (closed_at_ || stopped_at_) return;
  const bool is_reload_due = is_reload_asked_ && !may_be_unwanted_ && !is_building;
  if (is_reload_due && is_decided) throw Broken("a reload was forgotten");
  if (save_due_ && now_ > *save_due_) throw Broken("a saved file brings no reload");
  if (restart_due_ && now_ > *restart_due_ + kLate) {
    throw Broken("a server that has crashed does not come back");
  }
}

}  // namespace sitter::sim
