#include "support/simulation_promises_lives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/child/child_lifecycle.hpp"
#include "core/child/ending.hpp"
#include "core/child/restart_policy.hpp"
#include "core/rebuild/rebuild.hpp"

namespace sitter::sim {

namespace {

std::string name_of(Generation gen) {
  return is_build(gen) ? fmt::format("build {}", -gen) : fmt::format("child {}", gen);
}

}  // namespace

Life& Lives::at(Generation gen) {
  const auto found = lives_.find(gen);
  if (found == lives_.end()) throw Broken(fmt::format("there is no {}", name_of(gen)));
  return found->second;
}

bool Lives::is_over(Generation gen) const {
  const auto found = lives_.find(gen);
  return found == lives_.end() || found->second.is_over;
}

void Lives::on_start_child(Generation gen) {
  if (gen == last_gen_ && at(gen).is_postponed) {
    at(gen).is_over = at(gen).is_postponed = false;
    return;
  }
  if (gen != last_gen_ + 1) throw Broken("generations are not counted one by one");
  if (has_running_build()) throw Broken("a child is started while a build runs");
  int others = 0;
  for (const auto& [other, life] : lives_) {
    if (life.is_over) continue;
    if (++others > 1) throw Broken("a third child");
    if (!scene_.has_builds && !scene_.has_outside()) {
      throw Broken(fmt::format("a second child beside {}", name_of(other)));
    }
  }
  lives_[last_gen_ = gen].started = now_;
  goes_on();
  // A start that fails at once may be tried once more. Besides, the policy allows some restarts.
  const bool restarts = config_.restarts != BridgeConfig::Restarts::lazy;
  const int own = restarts ? config_.restarts_max * (1 + good_runs_) : 0;
  if (++starts_ > 2 * asked_ + own) throw Broken("more starts than requests account for");
}

void Lives::on_start_build(Generation gen) {
  if (gen != last_build_ - 1) throw Broken("builds are not counted one by one");
  if (has_running_build()) throw Broken("a second build beside one that runs");
  lives_[last_build_ = gen].started = now_;
  on_build_asked(std::chrono::seconds(scene_.has_outside() ? limits::kBuildSecondsDefault : 0));
}

void Lives::on_build_asked(Milliseconds timeout) {
  build_asked_at_ = now_;
  build_timeout_max_ = std::max(build_timeout_max_, timeout);
  goes_on();
}

void Lives::on_close_input(Generation gen) {
  Life& life = at(gen);
  life.is_input_closed = true;
  if (!life.ends_since) life.ends_since = now_;
  goes_on();
}

void Lives::on_release(Generation gen) {
  Life& life = at(gen);
  if (std::exchange(life.is_over, true)) throw Broken(name_of(gen) + " is released twice");
  if (!life.ends_since) throw Broken(name_of(gen) + " is released while it runs");
  life.is_up = false;
  if (!is_build(gen) && now_ >= life.started + limits::kGoodRunning) ++good_runs_;
  goes_on();
}

void Lives::on_renumber(Generation from, Generation gen) {
  if (gen != last_gen_ + 1) throw Broken("generations are not counted one by one");
  Life& former = at(from);
  if (!former.is_up || former.is_input_closed || former.retired_at) {
    throw Broken(fmt::format("{}, which does not serve, is opened again", name_of(from)));
  }
  Life& next = lives_[last_gen_ = gen];
  next.is_up = true;
  next.is_full = former.is_full;
  next.started = now_;
  former.is_over = true;
  former.is_up = false;
  goes_on();
}

void Lives::on_serves(Generation gen) {
  if (gen < serving_) throw Broken(name_of(gen) + " gets a request, and its successor serves");
  if (gen == std::exchange(serving_, gen)) return;
  goes_on();
  for (auto& [other, life] : lives_) {
    const bool serves = life.is_up && !life.is_input_closed && !life.retired_at;
    if (other < gen && !is_build(other) && serves) life.retired_at = now_;
  }
}

void Lives::on_start_failed(Generation gen, bool may_be_tried_again) {
  at(gen).is_over = true;
  at(gen).is_postponed = may_be_tried_again;
  goes_on();
}

void Lives::on_exited(Generation gen) {
  Life& life = at(gen);
  life.is_up = false;
  if (!life.ends_since) life.ends_since = now_;
}

Milliseconds Lives::end_max() const {
  return limits::kRemoteTermGrace + 2 * config_.kill_grace + limits::kGiveUpAfterKill +
         limits::kDrain + limits::kBuildLeavesWait + kLate;
}

void Lives::check(std::optional<Milliseconds> settles_in) const {
  int settled = 0;
  for (const auto& [gen, life] : lives_) {
    if (life.is_over) continue;
    if (life.ends_since && now_ > *life.ends_since + end_max()) {
      throw Broken(name_of(gen) + " is not released in time");
    }
    if (life.ends_since) continue;
    if (life.retired_at && now_ > *life.retired_at + config_.on_busy_wait + kLate) {
      throw Broken(name_of(gen) + " lives on, and its successor serves");
    }
    const bool has_settled = settles_in && !is_build(gen) && now_ > life.started + *settles_in;
    if (has_settled && ++settled > 1) throw Broken("two children live on side by side");
    if (is_build(gen) && now_ > build_asked_at_ + build_timeout_max_ + kLate) {
      throw Broken("a build runs longer than it may");
    }
  }
}

void Lives::check_all_released() const {
  for (const auto& [gen, life] : lives_) {
    if (!life.is_over) throw Broken(name_of(gen) + " is left at the end");
  }
}

}  // namespace sitter::sim
