#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/raw_id.hpp"
#include "sitter/limits.hpp"
#include "support/simulation_promises.hpp"

/// What is done that the client has not asked for: reloads by somebody else or for files that have
/// changed, restarts, and calls that are made again.
namespace sitter::sim {

using json = nlohmann::json;

namespace {

/// Reloads that only files have led to which were written in reloads. The last may have begun
/// before the files were taken for their work.
constexpr int kFollowingMax = limits::kFollowingReloadsMax + 1;

}  // namespace

void Promises::on_reload_asked() {
  want_reload(false, std::chrono::seconds(limits::kBuildSecondsDefault));
}

void Promises::on_control_line(const ControlAsked& asked) {
  const bool is_reload = asked.kind == ControlAsked::Kind::reload;
  const Milliseconds wait = is_reload ? reload_max().value_or(std::chrono::hours(100))
                                      : ladder_max() + config_.kill_grace + kGapsMax;
  controls_.on_asked(asked, now_ + wait);
  if (asked.is_wrong) return;
  if (asked.kind == ControlAsked::Kind::kill) controls_.on_kill(false);
  if (stopped_at_) return;
  if (is_reload) {
    want_reload(asked.is_kill_first, asked.build_timeout);
    if (may_be_unwanted_) controls_.on_reload_begun();
  }
  if (asked.kind == ControlAsked::Kind::kill) {
    on_kill();
    // Whoever has waited until now is answered, and starts nothing.
    last_kill_ = static_cast<int>(said_.client.size()) - 1;
  }
}

/// It does not wait any more for what it has asked for.
void Promises::on_control_closed(ControlId connection) {
  if (!controls_.on_closed(connection)) return;
  may_be_unwanted_ |= is_reload_asked_;
  if (BuildLife* const build = running_build()) {
    build->may_be_abandoned = true;
    if (build->is_input_closed) abandon(*build);
  }
  rebuild_cancelled_at_ = now_;
}

void Promises::on_send_to_control(ControlId connection, const std::string& line) {
  if (has_exited_) throw Broken("a line to a connection after the end");
  controls_.on_line(connection, line, stopped_at_ || closed_at_);
}

void Promises::on_error_line(Generation gen, const std::string& text) {
  if (!life(gen).is_over) controls_.on_error_line(text);
}

/// Somebody else than the client asks for a reload.
void Promises::want_reload(bool is_kill_first, Milliseconds timeout) {
  if (closed_at_ || stopped_at_) return;
  on_wanted();
  restarts_.expect_none();
  following_ = 0;
  if (!std::exchange(is_reload_asked_, true)) asked_timeout_min_ = asked_timeout_max_ = timeout;
  asked_timeout_min_ = std::min(asked_timeout_min_, timeout);
  asked_timeout_max_ = std::max(asked_timeout_max_, timeout);
  (is_kill_first ? may_be_kill_first_ : may_be_swap_) = true;
  may_be_unwanted_ |= is_not_wanted();
}

void Promises::on_files_changed(const fact::FilesChanged& fact, bool is_by_person) {
  if (!config_.watches() || closed_at_ || stopped_at_) return;
  has_settled_ = have_files_settled();
  // What follows a reload within that time is taken for its work.
  const bool is_quiet = now_ >= changed_at_ + config_.debounce;
  bool is_usable = false;
  for (const auto& file : fact.files) {
    // It is what a build is for, and counts only where none is on its way.
    const bool may_be_built = file.is_binary && !config_.build_command.empty();
    if (may_be_built && running_build() != nullptr) continue;
    if (!may_be_built || !has_changed_) changed_at_ = now_;
    has_changed_ |= file.is_usable;
    is_usable |= file.is_usable && !may_be_built;
  }
  if (is_by_person) following_ = 0;
  restarts_.expect_none();
  const bool is_open = is_asked_ || is_stateless_;
  const bool is_idle = is_open && idle_since_ && now_ >= *idle_since_ + config_.debounce &&
                       running_build() == nullptr && !is_child_built_ && !is_reload_asked_ &&
                       open_rebuilds().empty() && !restarts_.is_killed();
  const bool is_saved = is_by_person && is_usable && is_idle && is_quiet && !is_mixed();
  if (is_saved || must_reload_saved_by_) {
    must_reload_saved_by_ = now_ + config_.debounce + before_start_max();
  }
}

void Promises::on_watch_changed(const std::string& problem) {
  if (watch_problem_ == problem) return;
  watch_problem_ = problem;
  if (problem.empty()) {
    forgive_remark();
  } else {
    may_remark_ = true;
    owe_remark();
  }
}

/// One may begin that was asked for, or for which files have changed.
bool Promises::is_reload_on() const {
  return is_reload_asked_ || is_built_for_reload() || have_files_settled();
}

/// The child of one may be started now.
bool Promises::is_built_for_reload() const {
  return is_child_built_ && builds_.at(last_build_).may_be_for_reload;
}

/// Nothing is built, and there is no session that a child would be started for.
bool Promises::is_not_wanted() const {
  // A version that is refused is forgotten again, and with it that there was somebody.
  return ((!is_asked_ && !is_stateless_) || is_mixed()) && config_.build_command.empty();
}

/// The child of a rebuild, which does not serve yet as far as can be seen.
bool Promises::is_child_coming() const {
  const auto found = lives_.find(built_gen_);
  if (found == lives_.end()) return false;
  const Life& its_life = found->second;
  return !its_life.is_over && !its_life.has_served && !its_life.has_taken_over;
}

/// Besides this one, and not because it has retired.
bool Promises::is_another_up(Generation gen) const {
  return std::any_of(lives_.begin(), lives_.end(), [&](const auto& entry) {
    return entry.first != gen && !entry.second.is_over;
  });
}

bool Promises::have_files_settled() const {
  return has_changed_ && (has_settled_ || now_ >= changed_at_ + config_.debounce);
}

/// All calls that are made again at one child.
Milliseconds Promises::replay_max() const {
  return replays_.are_there() ? limits::kReplayWait : Milliseconds::zero();
}

/// From the moment in which nothing else is on its way.
std::optional<Milliseconds> Promises::reload_max() const {
  const auto serving = serving_max();
  if (!serving) return std::nullopt;
  return before_build_max() + before_start_max() + *serving;
}

/// What is built now, or started where nothing is built, has all that was wanted and changed.
void Promises::begin_reload() {
  is_reload_asked_ = may_be_unwanted_ = has_changed_ = has_settled_ = false;
  may_be_swap_ = may_be_kill_first_ = false;
  timeout_min_.reset();
  timeout_max_.reset();
  must_reload_by_.reset();
  must_reload_saved_by_.reset();
  restarts_.expect_none();
  idle_since_.reset();
  controls_.on_reload_begun();
}

void Promises::begin_build(BuildLife& build) {
  const bool has_calls = !open_rebuilds().empty();
  build.is_for_reload = (is_reload_asked_ && !may_be_unwanted_) || !has_calls;
  build.may_be_for_reload = build.is_for_reload || is_reload_asked_ || have_files_settled();
  constexpr auto usual = std::chrono::seconds(limits::kBuildSecondsDefault);
  build.timeout_min = timeout_min_.value_or(usual);
  build.timeout_max = timeout_max_.value_or(usual);
  if (build.may_be_for_reload) {
    build.timeout_min = std::min<Milliseconds>(build.timeout_min, usual);
    build.timeout_max = std::max<Milliseconds>(build.timeout_max, usual);
  }
  if (is_reload_asked_) {
    build.timeout_min = std::min(build.timeout_min, asked_timeout_min_);
    build.timeout_max = std::max(build.timeout_max, asked_timeout_max_);
  }
  if (has_calls) following_ = 0;
  forgive_remark();
  begin_reload();
}

/// A reload begins that no call has asked for.
void Promises::check_reload_reason() {
  if (is_reload_asked_) return;
  if (!has_changed_) throw Broken("a reload that nobody has asked for");
  if (!have_files_settled()) throw Broken("a reload before the files have settled");
  if (is_killed_for_good_) throw Broken("a changed file brings a server back that was killed");
  if (closed_at_ && !has_settled_ && changed_at_ + config_.debounce > *closed_at_) {
    throw Broken("a changed file brings a reload at the end");
  }
  if (++following_ > kFollowingMax) throw Broken("reloads without end");
}

/// `is_sure`: and nobody who has called for it is told.
void Promises::on_reload_failed(bool is_sure) {
  may_remark_ = true;
  // It may be told once more beside structure.
  for (auto& [gen, told] : notices_) told[1] = false;
  if (is_sure && !closed_at_ && !stopped_at_) owe_remark();
}

void Promises::on_child_ordered(bool is_built) {
  on_wanted();
  restarts_.expect_none();
  idle_since_.reset();
  if (config_.build_command.empty()) begin_reload();
  if (!is_built) return;
  // What waits, waits for this one from now on.
  for (const int mark : open_) {
    Request& request = requests_.at(mark);
    if (request.may_wait_for_build) waits_again(request);
  }
  if (const auto wait = waiting_max()) streams_.wait_again(now_ + *wait + limits::kStreamAckWait);
}

void Promises::on_child_over(const Life& its_life, Generation gen, bool was_candidate) {
  const bool is_alone = its_life.status && !its_life.is_input_closed;
  const bool has_crashed =
      is_alone && its_life.status->code != 0 && its_life.status->signal != "SIGTERM";
  may_remark_ |= replays_.has_called(gen);
  replays_.on_over(gen, has_crashed && its_life.has_spoken && !its_life.was_meant_by_kill, now_);
  idle_since_.reset();
  must_reload_saved_by_.reset();
  if (was_candidate || its_life.retired_at) return;
  // A server that has ended for its successor is not the last that has served.
  if (!its_life.was_followed) {
    restarts_.on_end(
        now_, is_alone && !has_crashed && !is_mixed() && (its_life.is_open || is_modern_only()));
  }
  if (now_ >= its_life.started + limits::kGoodRunning) restarts_.on_good_running();
  if (has_crashed) expect_restart(its_life, gen);
}

/// It has crashed, and nothing else is on its way.
void Promises::expect_restart(const Life& its_life, Generation gen) {
  const bool is_open = is_asked_ ? its_life.is_open : its_life.has_answered;
  const bool is_free = running_build() == nullptr && !is_child_built_ && open_rebuilds().empty() &&
                       !is_reload_asked_ && !has_changed_ && !closed_at_ && !stopped_at_;
  const bool is_killed = restarts_.is_killed() || its_life.was_meant_by_kill;
  if (!is_open || !is_free || is_killed || is_mixed() || is_another_up(gen)) return;
  restarts_.expect(now_ + limits::kRestartWaitMax + kLate, last_gen_);
}

/// Of the client or of somebody else. Only what a call of the client waits for goes on.
void Promises::on_kill() {
  owed_notifications_.clear();
  restarts_.on_kill();
  BuildLife* const build = running_build();
  const bool is_alone = open_rebuilds().empty();
  // The answer to others may only wait for the client's list.
  const auto calls = open_rebuilds();
  const bool may_be_alone =
      std::all_of(calls.begin(), calls.end(), [](const Request* call) { return call->is_built; });
  if (build != nullptr && may_be_alone) {
    build->may_be_abandoned = true;
    if (is_alone) abandon(*build);
    if (is_alone && !build->is_input_closed && !build->status) must_close_input_ = last_build_;
  }
  if (build != nullptr && !is_alone) {
    build->is_for_reload = false;
    build->may_be_for_reload = controls_.is_reload_owed();
  }
  is_killed_for_good_ = is_alone;
  if (is_alone) {
    is_child_built_ = is_reload_asked_ = may_be_unwanted_ = false;
    may_be_swap_ = may_be_kill_first_ = false;
  }
  may_be_unwanted_ |= is_reload_asked_;
  controls_.on_kill(is_alone && !closed_at_);
  must_reload_saved_by_.reset();
  idle_since_.reset();
  for (auto& [gen, its_life] : lives_) {
    its_life.was_meant_by_kill = true;
    if (its_life.is_up && !its_life.is_input_closed) its_life.is_killed = true;
  }
}

void Promises::abandon(BuildLife& build) {
  build.is_abandoned = true;
  build.is_for_reload = build.may_be_for_reload = false;
}

/// Somebody wants a server again.
void Promises::on_wanted() {
  restarts_.on_wanted();
  is_killed_for_good_ = false;
}

/// Of a tool that may have to be called again.
void Promises::note_success(const ChildSaid& said) {
  const auto found = requests_.find(said.mark);
  if (!replays_.are_there() || found == requests_.end()) return;
  if (said.kind != ChildSaid::Kind::result || said.is_unreadable) return;
  const std::string& key = found->second.key;
  const auto count = std::count_if(requests_.begin(), requests_.end(),
                                   [&](const auto& entry) { return entry.second.key == key; });
  for (const auto& [mark, request] : requests_) {
    const ClientSaid& call = *request.said;
    if (request.key != key || call.method != "tools/call" || call.wants_task) continue;
    const bool is_heard = !request.is_answered && !request.is_cancelled &&
                          request.answer_read == 0 && !request.sent_to.empty() &&
                          request.sent_to.back() == said.gen;
    const bool is_success = is_heard && said.has_content && !said.is_error;
    // Of several with the same id, nobody outside can tell which it is the answer of.
    if (count > 1 || is_success) {
      replays_.on_success(said.gen, call.tool, call.arguments, count == 1);
      if (count == 1 && may_tell_successor(said.gen, call.tool)) {
        replays_.on_late_success(last_gen_, call.tool, call.arguments);
      }
    }
  }
}

/// Whether the server after this one serves, and does nothing of that kind for the client.
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
  may_remark_ = true;
  replays_.on_called(gen, params.value("name", ""),
                     params.contains("arguments") ? params["arguments"].dump() : "", id, now_);
}

/// What a notice tells besides a restart, or alone.
void Promises::check_remark(std::string_view item, const ChildSaid& said, const Request& request) {
  constexpr std::string_view words = "Not every save is noticed: ";
  // In an array it may have stood for a while.
  const bool is_late = may_be_closed() || request.batch != 0 || has_crossed();
  if (const std::size_t at = item.find(words); at != item.npos && !is_late) {
    const bool is_one =
        !watch_problem_.empty() && item.substr(at + words.size()).starts_with(watch_problem_);
    if (!is_one) throw Broken("a problem of the watch is told that is none");
  }
  if (said.has_structure) return;
  forgive_remark();
  if (!is_late) may_remark_ = replays_.is_calling();
}

void Promises::owe_remark() { owes_remark_ = config_.writes_notices; }

/// It was told, or need not be told any more.
void Promises::forgive_remark() {
  owes_remark_ = false;
  for (const int mark : open_) requests_.at(mark).must_carry_remark = false;
}

void Promises::check_unasked() {
  const bool is_alone = std::all_of(lives_.begin(), lives_.end(),
                                    [](const auto& entry) { return entry.second.is_over; });
  if (may_be_unwanted_ && is_not_wanted() && is_alone && !is_mixed()) {
    is_reload_asked_ = may_be_unwanted_ = false;
  }
  const bool is_busy = running_build() != nullptr || is_child_built_ || is_child_coming();
  if (!is_reload_asked_ || may_be_unwanted_ || closed_at_ || stopped_at_ || is_busy) {
    must_reload_by_.reset();
  } else if (!must_reload_by_) {
    must_reload_by_ = now_ + before_build_max() + before_start_max();
  }
  const bool is_ending = closed_at_ || stopped_at_;
  if (must_reload_by_ && now_ > *must_reload_by_) throw Broken("a reload was forgotten");
  if (must_reload_saved_by_ && now_ > *must_reload_saved_by_ && !is_ending) {
    throw Broken("a saved file brings no reload");
  }
  if (!is_ending) restarts_.check(now_);
  controls_.check(now_, is_busy || is_reload_asked_ || is_ending, reload_max());
}

}  // namespace sitter::sim
