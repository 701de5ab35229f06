#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/build/rebuild.hpp"
#include "core/build/rebuilder.hpp"
#include "support/simulation_promises.hpp"

namespace sitter::sim {

using json = nlohmann::json;

namespace {

constexpr std::string_view kRestarted = "server restarted (spawn #";
constexpr std::string_view kStarted = "server started (spawn #";

/// Whether the answer to a rebuild tells more than the rebuild itself.
bool tells_remark(std::string_view text) {
  constexpr std::string_view start = "\n[mcp-sitter] ";
  for (auto at = text.find(start); at != text.npos; at = text.find(start, at + 1)) {
    if (!text.substr(at + start.size()).starts_with("This call has joined")) return true;
  }
  return false;
}

}  // namespace

/// Somebody asks for a rebuild or reload, which may have to wait for the build that runs.
void Promises::on_build_asked(Milliseconds timeout) {
  timeout_max_ = std::max(timeout_max_, timeout);
  if (BuildLife* const build = running_build()) build->asked_at = now_;
  on_wanted();
  goes_on();
}

void Promises::on_rebuild(Request& request) {
  request.is_rebuild = true;
  request.has_joined = running_build() == nullptr && (is_child_built_ || is_child_coming());
  may_be_swap_ |= !request.said->is_kill_first;
  if (BuildLife* const build = running_build()) build->is_for_reload = false;
  on_build_asked(request.said->build_timeout);
}

/// The calls of sitter_rebuild that are owed an answer.
std::vector<Promises::Request*> Promises::open_rebuilds() {
  std::vector<Request*> all;
  for (const int mark : open_) {
    Request& request = requests_.at(mark);
    if (request.is_rebuild && !request.is_cancelled) all.push_back(&request);
  }
  return all;
}

Promises::BuildLife* Promises::running_build() {
  const auto last = builds_.find(last_build_);
  return last == builds_.end() || last->second.is_over ? nullptr : &last->second;
}

/// The call, or a connection that waited for a reload, has left. In a session with reloads, nobody
/// outside can tell whether the rebuild goes on.
void Promises::on_rebuild_cancelled() {
  rebuild_cancelled_at_ = now_;
  if (BuildLife* const build = running_build()) build->is_for_reload = false;
  if (!open_rebuilds().empty() || scene_.has_outside()) return;
  if (const BuildLife* const build = running_build()) {
    if (!build->is_input_closed && !build->status) must_close_input_ = last_build_;
  } else if (is_candidate(last_gen_)) {
    const Life& its_life = lives_.at(last_gen_);
    // A child from before the last build belongs to an earlier rebuild.
    const auto last = builds_.find(last_build_);
    const bool is_earlier = last != builds_.end() && its_life.started < last->second.started;
    if (its_life.is_up && !its_life.is_input_closed && !is_earlier) must_close_input_ = last_gen_;
  }
}

void Promises::on_start_build(Generation gen) {
  if (config_.build_command.empty()) throw Broken("a build without a build command");
  if (has_exited_ || stopped_at_) throw Broken("a build at the end");
  if (gen != last_build_ - 1) throw Broken("builds are not counted one by one");
  if (running_build() != nullptr) throw Broken("a second build beside one that runs");
  const bool has_calls = !open_rebuilds().empty();
  if (!has_calls) check_reload_reason();
  const bool is_kill_first = has_calls && !may_be_swap_ && !scene_.has_outside();
  for (const auto& [other, its_life] : lives_) {
    if (is_kill_first && !its_life.is_over && !its_life.starts_again_by) {
      throw Broken(fmt::format("a build of mode kill-first beside child {}", other));
    }
  }
  BuildLife& build = builds_[last_build_ = gen];
  is_child_built_ = false;
  build.started = now_;
  build.is_for_reload = !has_calls;
  if (has_calls) saves_.on_somebody();
  on_build_asked(std::chrono::seconds(scene_.has_outside() ? limits::kBuildSecondsDefault : 0));
  forgive_remark();
  begin_reload();
  built_gen_ = kNoGeneration;
}

void Promises::on_build_started(Generation gen, bool can_be_killed) {
  builds_.at(gen).can_be_killed = can_be_killed;
}

void Promises::on_build_not_started(Generation gen) { build_over(builds_.at(gen)); }

/// A build is stopped when its time is over, and when nobody waits for it any more.
void Promises::on_close_build_input(Generation gen) {
  BuildLife& build = builds_.at(gen);
  build.is_input_closed = true;
  build.closed_at = now_;
  if (stopped_at_ || closed_at_ || may_be_closed()) return;
  const auto before = std::next(builds_.find(gen));  // the last build comes first
  for (const Request* call : open_rebuilds()) {
    // A kill may stand before the call in the same array.
    if (call->batch != 0 && call->waits_since == now_) continue;
    // Such a call may only wait for the client to list the tools.
    if (call->has_joined || (before != builds_.end() && call->waits_since <= before->second.ended))
      continue;
    if (now_ < build.started + call->said->build_timeout) {
      throw Broken("a build is stopped while somebody waits for it");
    }
  }
}

void Promises::on_release_build(Generation gen) {
  BuildLife& build = builds_.at(gen);
  if (build.is_over) throw Broken("a build is released twice");
  build_over(build);
}

void Promises::build_over(BuildLife& build) {
  build.is_over = true;
  build.ended = now_;
  owed_notifications_.clear();
  goes_on();
  is_child_built_ = build.has_succeeded();
  if (scene_.has_outside() && !build.has_succeeded()) {
    on_reload_failed(build.is_for_reload && !build.is_input_closed);
  }
}

/// Whether another child serves, and this child is to take its place.
bool Promises::is_candidate(Generation gen) const {
  const auto found = lives_.find(gen);
  if (found == lives_.end() || found->second.is_over || found->second.retired_at) return false;
  return std::any_of(lives_.begin(), found, [](const auto& entry) {
    const Life& other = entry.second;
    return other.is_up && !other.is_input_closed && !other.retired_at;
  });
}

/// Returns whether the new child is the child of a rebuild. Only such a child may be started beside
/// a child that serves. Any child may be started beside a child that retires. There is never a
/// third child.
bool Promises::check_start_beside_others() {
  if (running_build() != nullptr) throw Broken("a child is started while a build runs");
  const bool has_build = !config_.build_command.empty();
  const auto last = builds_.find(last_build_);
  for (const Request* call : open_rebuilds()) {
    // Requests that stand before the call in its batch come first.
    const bool is_later = call->batch != 0 && call->waits_since == now_;
    // The answer of a failed rebuild may only wait for the client to list the tools.
    const bool has_failed = last != builds_.end() && last->second.ended >= call->waits_since;
    if (!call->has_joined && !is_later && !is_child_built_ && !has_failed) {
      throw Broken("a start before the build has succeeded");
    }
  }
  // In a session with reloads, nobody outside can tell what a successful build was for. Otherwise
  // the next request starts the child if no call waits for the build any more.
  bool is_built = has_build ? is_child_built_ && (!open_rebuilds().empty() || scene_.has_outside())
                            : is_reload_on();
  int others = 0;
  for (const auto& [other, its_life] : lives_) {
    if (its_life.is_over) continue;
    if (++others > 1) throw Broken("a third child");
    if (!is_built && !its_life.retired_at) {
      throw Broken(fmt::format("a second child beside child {}", other));
    }
    // A rebuild waits until the retiring child is gone.
    if (its_life.retired_at) is_built = false;
    if (!is_built) continue;
    if (!its_life.is_up || its_life.is_input_closed) {
      throw Broken(fmt::format("a start while child {} ends", other));
    }
    has_lost_stateless_ |= is_stateless_;
  }
  is_child_built_ = false;
  return is_built;
}

/// The bridge looks at the binary of the child that serves, or of the last child if none serves.
/// When a child takes the place of another, the bridge looks at its binary at that moment, for the
/// answer to sitter_rebuild.
void Promises::on_inspect(Generation gen) {
  if (!lives_.contains(gen)) return;
  take_over(gen);
  if (gen != built_gen_) return;
  // The bridge need not tell of problems that the new server has solved.
  forgive_remark();
  if (open_rebuilds().empty()) return;
  // The answer to the rebuild tells of this restart, and of earlier restarts that were not told
  // yet.
  Life& its_life = life(gen);
  if (its_life.initialized_count > 0 || !is_asked_) its_life.is_told_by_rebuild = true;
  for (auto& [other, any] : lives_) any.owes_notice = false;
}

/// The child that served before this one retires.
void Promises::take_over(Generation gen) {
  for (auto& [other, before] : lives_) {
    if (other >= gen || before.is_over || before.retired_at) continue;
    if (before.was_meant_by_kill && (before.is_input_closed || !before.has_served)) continue;
    // A child that ends for another reason has no successor yet. The successor may serve since its
    // opening, which is before it gets its first request.
    const bool ends_otherwise = before.is_input_closed && before.closed_in != step_ &&
                                before.closed_in != life(gen).opened_in;
    if (!before.is_up || ends_otherwise) continue;
    if (!life(gen).is_open && is_asked_ && !is_mixed()) {
      throw Broken(fmt::format("child {} takes over before it is open", gen));
    }
    before.retired_at = now_;
    life(gen).has_taken_over = true;
    streams_.on_lost(other);
  }
}

/// Checks a line that only the serving child may get.
void Promises::check_not_retired(const Life& its_life, Generation gen, const ClientSaid& said) {
  // A candidate is told of changed roots too. It does not take over by that.
  if (said.kind == ClientSaid::Kind::initialized || said.kind == ClientSaid::Kind::cancelled ||
      said.method == "notifications/roots/list_changed") {
    return;
  }
  if (its_life.retired_at) {
    throw Broken(fmt::format("child {} gets {}, and its successor serves", gen, said.method));
  }
  take_over(gen);
}

Heard Promises::own_progress(const json& message) {
  const json& params = message.at("params");
  const json& token = params.at("progressToken");
  const auto calls = open_rebuilds();
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const Request* call) {
    return !call->said->token.empty() && json::parse(call->said->token) == token;
  });
  if (found == calls.end()) {
    // The call may have been cancelled while the progress was on its way.
    if (may_be_closed() && rebuild_cancelled_at_) return {};
    throw Broken("the bridge tells of progress that nobody waits for");
  }
  Request& call = **found;
  const std::int64_t number = params.at("progress").get<std::int64_t>();
  if (number <= call.progress) throw Broken("the progress of a build does not grow");
  call.progress = number;
  const Milliseconds late = may_be_closed() ? kLate : Milliseconds::zero();
  if (call.progress_at &&
      now_ + late + call.progress_late < *call.progress_at + limits::kBuildProgressInterval) {
    throw Broken("the progress of a build is told too often");
  }
  call.progress_at = now_;
  call.progress_late = late;
  progress_at_[call.said->token] = now_;
  const Instant until = now_ + kGapsMax;
  output_may_be_closed_until_ = std::max(output_may_be_closed_until_.value_or(until), until);
  return {};
}

void Promises::check_rebuild_answer(Request& request, const json& message) {
  if (!message.contains("result")) {
    if (!stopped_at_ && !closed_at_) throw Broken("a rebuild is answered with an error");
    return;
  }
  const json& result = message["result"];
  const std::string text = result.at("content").at(0).at("text");
  // Below its first line a notice may stand, which may tell once more of an earlier rebuild.
  const std::string about_it = text.substr(0, text.find('\n'));
  const auto has = [&](std::string_view words) { return about_it.find(words) != about_it.npos; };
  const bool is_error = result.value("isError", false);
  if (has(" and goes on, since others wait")) {
    if (!is_error) throw Broken("a call that leaves a build is no error");
    if (now_ < request.waits_since + request.said->build_timeout) {
      throw Broken("a call leaves a build too early");
    }
    return;
  }
  // The build has ended since the call, or it was the last build before the call and its child was
  // coming.
  const auto may_be_its = [&](const BuildLife& build) {
    if (has("the build succeeded") != build.has_succeeded()) return false;
    if (has("the build failed") && (!build.status || build.is_input_closed)) return false;
    return build.has_succeeded() || is_error;
  };
  bool fits = false;
  for (const auto& [gen, build] : builds_) {  // the last build first
    if (!build.is_over) continue;
    // If a build was being stopped when the call came, the bridge builds once more for the call.
    const bool is_too_late = build.closed_at && *build.closed_at < request.waits_since;
    fits |= may_be_its(build) && (!is_too_late || build.ended < request.waits_since);
    if (fits || build.ended < request.waits_since) break;
  }
  if (!fits) {
    throw Broken("the answer to a rebuild does not fit the result of the build");
  }
  const bool is_kept = has("serves on");
  const bool has_one = std::any_of(lives_.begin(), lives_.end(), [](const auto& entry) {
    const Life& its_life = entry.second;
    return its_life.is_up && !its_life.is_input_closed && !its_life.retired_at;
  });
  if (is_kept && !has_one && !may_be_closed() && request.batch == 0) {
    throw Broken("the answer to a rebuild says that a server serves on, and none does");
  }
  if (is_error || has("is started when the client opens")) return;
  const int gen = std::max(number_behind(text, kRestarted), number_behind(text, kStarted));
  if (gen != 0 || tells_remark(text)) {
    notices_.on_rebuild_told(gen != 0 ? gen : built_gen_, gen != 0, request.said->id);
    return;
  }
  // The next build may have begun while the answer was on its way.
  const auto built = lives_.find(built_gen_);
  if (built != lives_.end() && built->second.is_replay && built->second.is_told_by_rebuild &&
      !is_mixed() && initialize_count_ == 1) {
    throw Broken("the answer to a rebuild does not tell of the restart");
  }
}

void Promises::check_rebuilds() {
  bystander_died_ = false;
  ++step_;
  if (must_close_input_ != kNoGeneration) {
    throw Broken(is_build(must_close_input_) ? "a build that nobody waits for any more goes on"
                                             : "the child of a cancelled rebuild goes on to start");
  }
  if (const BuildLife* const build = running_build()) {
    const bool may_run = build->is_input_closed || build->status;
    if (!may_run && now_ > build->asked_at + timeout_max_ + kLate) {
      throw Broken("a build runs longer than it may");
    }
  }
  for (const auto& [gen, its_life] : lives_) {
    if (!its_life.retired_at || !its_life.is_up || its_life.is_input_closed) continue;
    const bool is_busy = std::any_of(open_.begin(), open_.end(), [&, lives_on = gen](int mark) {
      const Request& request = requests_.at(mark);
      return request.is_doubled ||
             (!request.sent_to.empty() && request.sent_to.back() == lives_on &&
              request.answer_read == 0 && !request.is_cancelled);
    });
    if (!is_busy || now_ > *its_life.retired_at + config_.on_busy_wait + kLate) {
      throw Broken(fmt::format("child {} lives on, and its successor serves", gen));
    }
  }
}

void Promises::check_all_released() const {
  for (const auto& [gen, build] : builds_) {
    if (!build.is_over) throw Broken(fmt::format("build {} is left at the end", -gen));
  }
  for (const auto& [gen, its_life] : lives_) {
    if (!its_life.is_over && !its_life.starts_again_by) {
      throw Broken(fmt::format("child {} is left at the end", gen));
    }
  }
}

}  // namespace sitter::sim
