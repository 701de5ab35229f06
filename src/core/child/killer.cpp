#include "core/child/killer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sitter {
namespace {

int reach(KillScope scope) {
  switch (scope) {
    case KillScope::child:
      return 0;
    case KillScope::automatic:
      return 1;
    case KillScope::same_file:
      return 2;
    case KillScope::same_executable:
      break;
  }
  return 3;
}

std::string why_left_alone(const fact::ImageSwept::Process& process) {
  if (process.supervisor == 0) return "it runs with other arguments";
  return fmt::format("it is the server of another mcp-sitter (pid {})", process.supervisor);
}

}  // namespace

void Killer::begin(Caller caller, KillScope scope) {
  is_wanted_down_ = true;
  if (state_ == State::idle || reach(scope) > reach(scope_)) {
    scope_ = scope;
    state_ = State::ending_children;
    deadline_.reset();
  }
  callers_.push_back(caller);
}

bool Killer::on_children_over(Orders& out) {
  if (state_ != State::ending_children) return false;
  if (scope_ == KillScope::child) {
    state_ = State::reporting;
    return true;
  }
  state_ = State::sweeping;
  out.push(order::SweepImage{scope_, order::SignalUnit::How::terminate});
  return false;
}

bool Killer::on_swept(const fact::ImageSwept& fact, Now now) {
  if (!is_killing()) return false;
  const bool is_last = state_ == State::sweeping_last;
  bool are_others_asked = false;
  for (const auto& process : fact.processes) {
    const auto known = std::find_if(report_.killed.begin(), report_.killed.end(),
                                    [&](const auto& k) { return k.pid == process.pid; });
    if (known == report_.killed.end()) {
      report_.killed.push_back({process.pid, "same-path", process.command,
                                process.supervisor != 0
                                    ? fmt::format("by its mcp-sitter (pid {})", process.supervisor)
                                : is_last ? words_.killed
                                          : words_.asked_alone});
    } else if (is_last) {
      known->how = words_.killed;
    }
    are_others_asked = are_others_asked || process.supervisor != 0;
  }
  report_.left_alone.clear();
  for (const auto& process : fact.left_alone) {
    report_.left_alone.push_back({process.pid, process.command, why_left_alone(process)});
  }
  // A wider scope may have been asked for since the sweep began.
  if (state_ != State::sweeping && !is_last) return false;
  if (!is_last && !fact.processes.empty()) {
    // Another mcp-sitter first hears of it, and then closes the stdin of its server.
    deadline_ = now.steady + (are_others_asked ? limits::kAskedSitterWait + 2 * grace_ : grace_);
    return false;
  }
  state_ = State::reporting;
  return true;
}

void Killer::on_timeout(Now now, Orders& out) {
  if (!is_due(deadline_, now)) return;
  deadline_.reset();
  state_ = State::sweeping_last;
  out.push(order::SweepImage{scope_, order::SignalUnit::How::kill});
}

void Killer::add(std::vector<KillReport::Killed> killed) {
  if (!is_killing()) return;
  std::move(killed.begin(), killed.end(), std::back_inserter(report_.killed));
}

void Killer::add_note(std::string note) {
  if (!is_killing()) return;
  if (!report_.note.empty()) report_.note += " ";
  report_.note += note;
}

std::optional<Killer::Result> Killer::finish(std::optional<std::string> path) {
  if (state_ != State::reporting) return std::nullopt;
  state_ = State::idle;
  has_foreign_ = false;
  if (!report_.killed.empty()) ++count_;
  report_.path = std::move(path);
  return Result{std::exchange(report_, {}), std::exchange(callers_, {})};
}

}  // namespace sitter
