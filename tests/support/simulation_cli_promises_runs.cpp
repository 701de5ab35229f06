#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/child/child_lifecycle.hpp"
#include "core/tool_server/cli_server.hpp"
#include "support/simulation_cli_promises.hpp"

// When runs begin and end.

namespace sitter::sim {
namespace {

/// The time that the system may take for signals, exits and the ends of outputs.
constexpr Milliseconds kLate{150};
/// What a run leaves behind may hold its end for so long.
constexpr Milliseconds kLeaves = limits::kBuildLeavesWait + 2 * limits::kDrain;

}  // namespace

/// How many calls are under way, with or without those whose start may be tried again.
std::size_t CliPromises::running_count(bool counts_failed) const {
  return static_cast<std::size_t>(
      std::count_if(requests_.begin(), requests_.end(), [&](const auto& entry) {
        const Request& request = entry.second;
        if (request.run == kNoGeneration) return false;
        if (!begun_.at(request.run).has_failed) return !runs_.at(request.run).is_released;
        // A start that is not tried again is answered.
        return counts_failed && !request.told && request.cancelled_in == 0 &&
               !children_.at(request.child).is_closed;
      }));
}

/// The call must be run, and its turn has not come.
bool CliPromises::waits(const Request& request) const {
  const Child& child = children_.at(request.child);
  return request.must_run && request.run == kNoGeneration && request.cancelled_in == 0 &&
         !request.told && child.is_up && !child.is_closed;
}

/// The child whose description says what is run for the call. A call that was parked follows a
/// description that was read later.
const CliPromises::Child& CliPromises::described_for(const Request& request, int version) const {
  const auto fits = [&](const auto& entry) {
    const bool is_its =
        request.is_parked ? entry.first > request.child : entry.first == request.child;
    return is_its && entry.second.described.version == version;
  };
  const auto found = std::find_if(children_.begin(), children_.end(), fits);
  if (found == children_.end()) {
    throw Broken(fmt::format("a run follows version {} of the tools, which is another", version));
  }
  return found->second;
}

/// The call still waits for a description that has its tool.
bool CliPromises::is_parked(const Request& request) const {
  if (!request.is_parked || request.told || request.cancelled_in != 0) return false;
  if (children_.at(request.child).is_closed) return false;
  return std::none_of(children_.begin(), children_.end(), [&](const auto& entry) {
    const Child& later = entry.second;
    return entry.first > request.child && later.is_up &&
           later.described.tools.contains(request.said->tool);
  });
}

void CliPromises::on_start_run(const order::StartRun& order) {
  const auto again = begun_.find(order.gen);
  if (again != begun_.end()) {
    if (!std::exchange(again->second.has_failed, false)) throw Broken("a run is started twice");
    if (again->second.must_end_at) throw Broken("a run that was to end is tried again");
    return;
  }
  if (order.arguments == std::vector<std::string>{"schema"}) {
    begun_[order.gen] = {now_, limits::kDescriptionTimeout, described_child_, false, {}, {}};
    return;
  }
  if (order.arguments.size() != 4) throw Broken("a run has other words");
  const int mark = std::stoi(order.arguments[3]);
  const auto found = requests_.find(mark);
  if (found == requests_.end()) throw Broken("a run that nobody has called");
  Request& request = found->second;
  const std::string& tool = order.arguments[1];
  if (request.run != kNoGeneration) throw Broken("a call is run twice");
  if (request.child == kNoGeneration) throw Broken("a call is run that was not sent");
  if (request.said->tool != tool) throw Broken("another tool is run");
  if (request.cancelled_in != 0) throw Broken("a cancelled call is run");
  if (children_.at(request.child).is_closed) throw Broken("a call is run for a child that is down");
  if (order.input != order.arguments[3] ||
      order.environment != std::vector<std::string>{"N=" + order.arguments[3]}) {
    throw Broken("a run gets the input of another one");
  }
  const Child& child = described_for(request, std::stoi(order.arguments[2]));
  if (running_count(false) >= tool_.calls_max) throw Broken("too many calls run at once");
  for (const int earlier : sent_) {
    if (earlier == mark) break;
    const Request& other = requests_.at(earlier);
    if (!request.is_parked && !other.is_parked && waits(other))
      throw Broken("a call overtakes one");
  }
  request.run = order.gen;
  begun_[order.gen] = {now_, child.described.tools.at(tool), request.child, false, {}, {}};
  if (request.is_parked) ++tally_["parked calls that were run"];
}

void CliPromises::on_start_failed(Generation run) { begun_.at(run).has_failed = true; }

void CliPromises::on_exited(Generation run) { begun_.at(run).exited_at = now_; }

void CliPromises::on_released(Generation run) {
  const int mark = runs_.at(run).call;
  if (mark != 0) due_.insert(mark);
}

void CliPromises::check_open(Generation child, const std::set<std::string>& raw_ids) {
  if (children_.at(child).is_closed) return;
  for (const std::string& raw_id : raw_ids) {
    const Request* const request = with_id(key_of(raw_id));
    if (request == nullptr || !request->is_call()) {
      throw Broken(fmt::format("request {} is not answered at once", raw_id));
    }
  }
}

void CliPromises::check() {
  for (const int mark : std::exchange(due_, {})) {
    const Request& request = requests_.at(mark);
    const bool is_owed = request.cancelled_in == 0 && !children_.at(request.child).is_closed;
    if (is_owed && !request.told) throw Broken(fmt::format("run {} has ended in silence", mark));
  }
  const bool has_room = running_count(true) < tool_.calls_max;
  for (const int mark : sent_) {
    const Request& request = requests_.at(mark);
    if (has_room && waits(request)) throw Broken(fmt::format("call {} waits for nothing", mark));
    const bool is_over =
        now_ > request.sent_at + tool_.call_timeout || (has_read_ && request.sent_in < step_);
    if (is_over && is_parked(request)) throw Broken("a call of an unknown tool is forgotten");
  }
  for (const auto& [gen, run] : runs_) {
    if (!run.is_released) check_run(run, begun_.at(gen));
  }
  has_read_ = false;
  ++step_;
}

void CliPromises::check_run(const CliRun& run, const Begun& begun) const {
  if (begun.exited_at && now_ > *begun.exited_at + kLeaves + kLate && !begun.must_end_at) {
    throw Broken("a run has exited, and is not over");
  }
  const Instant limit = begun.at + begun.timeout;
  std::optional<Instant> end = begun.must_end_at;
  if (!begun.exited_at && (!end || limit < *end)) end = limit;
  if (!end) return;
  if (begun.exited_at) *end = std::max(*end, *begun.exited_at + kLeaves);
  const bool can_be_killed = std::any_of(
      run.processes.begin(), run.processes.end(),
      [&](const Unit::Process& process) { return run.is_there(process) && !process.ignores_kill; });
  if (can_be_killed && now_ > *end + limits::kRunGrace + kLate) {
    throw Broken("a run lives on after its grace");
  }
  if (now_ > *end + limits::kRunGrace + limits::kGiveUpAfterKill + kLeaves + kLate) {
    throw Broken("a run is not given up");
  }
}

bool CliPromises::is_held() const {
  return std::any_of(runs_.begin(), runs_.end(), [](const auto& entry) {
    const auto& run = entry.second;
    return !run.is_released && run.processes.front().ignores_kill;
  });
}

void CliPromises::check_end() const {
  for (const auto& [gen, run] : runs_) {
    if (!run.is_released) throw Broken("the bridge has ended, and one of its runs has not");
  }
}

}  // namespace sitter::sim
