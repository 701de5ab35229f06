#include "io/process/process_look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

#include "io/process/process_table.hpp"

namespace sitter {
namespace {

/// The system counts the time of a processor in steps of 10 ms.
constexpr Milliseconds kShortestSpan{100};

/// A process that waits for something uses less.
constexpr auto kSpinningPercent = 50;

std::string program_name_of(long pid) {
  const auto words = arguments_of(pid);
  return words.empty() ? "unknown" : std::filesystem::path(words.front()).filename().string();
}

/// A program that keeps what it writes to a pipe until it has a block of it; empty if there is
/// none.
std::string holder_in(const std::vector<ProcessInfo>& members) {
  constexpr std::array kHolders{"awk", "cut", "gawk", "grep", "jq", "mawk", "sed", "tr"};
  for (const ProcessInfo& member : members) {
    const std::string name = program_name_of(member.pid);
    if (std::find(kHolders.begin(), kHolders.end(), name) == kHolders.end()) continue;
    // With an argument of this kind it does not.
    const auto words = arguments_of(member.pid);
    const bool is_told = std::any_of(words.begin(), words.end(), [](const std::string& word) {
      return word.starts_with("-u") || word.starts_with("--unbuffered") ||
             word.starts_with("--line-buffered");
    });
    if (!is_told) return fmt::format("{} (pid {})", name, member.pid);
  }
  return {};
}

/// Whether a tracer that was started with the server debugs it. Others (strace, proot) trace it for
/// as long as it lives.
bool is_debugger(const std::string& name) {
  return name.starts_with("gdb") || name.starts_with("lldb") || name.starts_with("dlv") ||
         name == "debugserver";
}

std::string debugger_of(const std::vector<ProcessInfo>& members) {
  for (const ProcessInfo& member : members) {
    const long tracer = tracer_of(member.pid);
    if (tracer == 0) continue;
    if (tracer == kUnknownTracer) return "the system does not tell which";
    const bool is_inside = std::any_of(members.begin(), members.end(),
                                       [&](const ProcessInfo& one) { return one.pid == tracer; });
    const std::string name = program_name_of(tracer);
    if (!is_inside || is_debugger(name)) return fmt::format("{} (pid {})", name, tracer);
  }
  return {};
}

std::string state_words(const ProcessActivity& activity) {
  switch (activity.state) {
    case 'R':
      return "running";
    case 'T':
      return "stopped by a signal";
    case 't':
      return "stopped by a debugger";
    default:
      return activity.waits_in.empty() ? "sleeping" : "sleeping in " + activity.waits_in;
  }
}

}  // namespace

fact::ProcessSeen ProcessLook::at(Generation gen, const std::vector<ProcessInfo>& members) {
  return {gen, debugger_of(members), activity(members)};
}

/// Behind a wrapper, the process that was started last is the server, or does its work.
std::string ProcessLook::activity(const std::vector<ProcessInfo>& members) {
  Milliseconds used{};
  ProcessActivity last;
  for (const ProcessInfo& member : members) {
    last = activity_of(member.pid);
    used += last.used;
  }
  if (last.state == 0) return {};
  const Instant now = std::chrono::steady_clock::now();
  const auto span = std::chrono::duration_cast<Milliseconds>(now - looked_at_);
  std::string what = state_words(last);
  if (span >= kShortestSpan) {
    const auto percent = 100 * (used - used_) / span;
    if (looked_at_ != Instant() && percent >= kSpinningPercent) {
      what = fmt::format("spinning at {} % CPU", percent);
    }
    used_ = used;
    looked_at_ = now;
  }
  const std::string holder = holder_in(members);
  if (!holder.empty()) {
    what += fmt::format(", and {} may hold back what is written: start it with stdbuf -oL", holder);
  }
  return fmt::format("process {} is {}", members.back().pid, what);
}

}  // namespace sitter
