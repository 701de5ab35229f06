#include "support/simulation_replays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "core/base/raw_id.hpp"
#include "core/child/call_replay.hpp"

namespace sitter::sim {

void Replays::on_success(Generation gen, const std::string& tool, const std::string& arguments,
                         bool is_sure) {
  if (std::find(tools_.begin(), tools_.end(), tool) == tools_.end()) return;
  // The answer of the successor counts, even if this answer of the earlier child comes later.
  if (const auto last = last_.find(tool); last != last_.end() && last->second.gen > gen) {
    if (!last->second.is_sure) successes_.emplace(tool, arguments);
    return;
  }
  last_[tool] = {arguments, is_sure, gen};
  successes_.emplace(tool, arguments);
}

void Replays::on_late_success(Generation gen, const std::string& tool,
                              const std::string& arguments) {
  const auto life = lives_.find(gen);
  if (life == lives_.end() || !life->second.is_ready || !life->second.running_id.empty()) return;
  const auto last = last_.find(tool);
  if (last == last_.end() || last->second.gen >= gen || last->second.arguments != arguments) return;
  due_late_.insert(tool);
}

void Replays::check() const {
  if (due_late_.empty()) return;
  throw Broken(*due_late_.begin() + " has succeeded at the server before, and is not called again");
}

void Replays::on_ready(Generation gen) {
  const auto first = std::find_if(tools_.begin(), tools_.end(),
                                  [this](const std::string& tool) { return last_.contains(tool); });
  Life& life = lives_[gen];
  life.is_ready = true;
  life.known = last_;
  if (first != tools_.end() && last_.at(*first).is_sure) life.due = *first;
}

void Replays::on_called(Generation gen, const std::string& tool, const std::string& arguments,
                        const std::string& id, Instant now) {
  // Nobody outside can tell when this child was ready.
  if (!lives_.contains(gen)) lives_[gen].known = last_;
  Life& life = lives_[gen];
  const auto place = std::find(tools_.begin(), tools_.end(), tool);
  if (place == tools_.end())
    throw Broken(fmt::format("a call of {} is made again, and nobody named that tool", tool));
  // The other calls follow, one at a time.
  due_late_.clear();
  if (has_overlapped_) {
    if (!successes_.contains({tool, arguments})) {
      throw Broken(
          fmt::format("{} is called again with {}, which has not succeeded", tool, arguments));
    }
    life.last = static_cast<std::size_t>(place - tools_.begin());
    life.running_id = id;
    life.running_tool = tool;
    life.is_running_late = true;
    life.begun = now;
    return;
  }
  const auto known = life.known.find(tool);
  if (known == life.known.end()) {
    throw Broken(fmt::format("a call of {} is made again, and none has succeeded", tool));
  }
  if (!successes_.contains({tool, arguments}) ||
      (known->second.is_sure && known->second.arguments != arguments)) {
    throw Broken(fmt::format("{} is called again with {}, which was called last with {}", tool,
                             arguments, known->second.arguments));
  }
  if (life.was_asked) throw Broken("a call is made again after something else");
  if (!life.running_id.empty()) throw Broken("two calls are made again at the same time");
  if (life.due && !life.last && *life.due != tool) throw Broken("another call is made again first");
  const auto number = static_cast<std::size_t>(place - tools_.begin());
  if (life.last && number <= *life.last) throw Broken("calls are made again in another order");
  if (!life.last) life.begun = now;
  life.last = number;
  life.running_id = id;
  life.running_tool = tool;
  life.is_running_late = false;
}

void Replays::on_asked(Generation gen, bool is_own, Instant now) {
  const auto found = lives_.find(gen);
  if (found == lives_.end() || !found->second.is_ready) return;
  Life& life = found->second;
  if (is_waited_for(life, now) && !life.is_running_late)
    throw Broken("a child is asked while a call is made again");
  if (is_own && life.due && !life.last && !has_overlapped_ && !life.may_skip) {
    throw Broken(fmt::format("{} is not called again at a new child", *life.due));
  }
  life.was_asked = true;
}

bool Replays::on_answered(Generation gen, const std::string& id) {
  const auto found = lives_.find(gen);
  if (found == lives_.end() || found->second.running_id.empty()) return false;
  if (!same_id(id, found->second.running_id)) return false;
  found->second.running_id.clear();
  return true;
}

void Replays::on_over(Generation gen, bool is_to_blame, Instant now) {
  const auto found = lives_.find(gen);
  if (found == lives_.end()) return;
  if (const Life& life = found->second; !life.running_id.empty()) {
    const std::string& tool = life.running_tool;
    const auto known = last_.find(tool);
    // A call that has killed a child would kill the next one, too.
    if (is_to_blame && is_waited_for(life, now)) {
      last_.erase(tool);
    } else if (known != last_.end()) {
      known->second.is_sure = false;
    }
  }
  lives_.erase(found);
}

bool Replays::has_called(Generation gen) const {
  const auto found = lives_.find(gen);
  return found != lives_.end() && found->second.last;
}

bool Replays::is_calling() const {
  return std::any_of(lives_.begin(), lives_.end(),
                     [](const auto& entry) { return !entry.second.running_id.empty(); });
}

/// Whether the bridge still waits for the running call. All calls together have this much time, or
/// more if the child has to speak first.
bool Replays::is_waited_for(const Life& life, Instant now) const {
  return !life.running_id.empty() && now < life.begun + limits::kReplayWait;
}

}  // namespace sitter::sim
