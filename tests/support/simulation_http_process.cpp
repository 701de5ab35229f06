#include <fmt/format.h>

#include <utility>

#include "support/simulation_http_world.hpp"
#include "support/simulation_said.hpp"

/// The process of a daemon that is started here.
namespace sitter::sim {

void HttpWorld::carry_out_for_process(const DaemonOrder& order) {
  if (const auto* const start = std::get_if<order::StartChild>(&order)) {
    starts(*start);
  } else if (const auto* const number = std::get_if<order::RenumberChild>(&order)) {
    tell("  link", fmt::format("calls process {} process {}", number->from, number->gen));
    if (!process_ || process_->gen != number->from) throw Broken("no process has this number");
    process_->gen = number->gen;
  } else if (const auto* const close = std::get_if<order::CloseChildInput>(&order)) {
    tell("  link", fmt::format("closes the input of process {}", close->gen));
    if (!process_ || !random_.chance(30)) return;
    later(100, [this, pid = process_->pid] { process_dies(pid, {0, ""}); });
  } else if (const auto* const signalled = std::get_if<order::SignalUnit>(&order)) {
    signals(*signalled);
  } else if (const auto* const released = std::get_if<order::ReleaseChild>(&order)) {
    tell("  link", fmt::format("releases process {}", released->gen));
    if (!process_ || process_->gen != released->gen) throw Broken("no process has this number");
    if (process_->lives) network_.dies();
    process_.reset();
  } else {
    takes(std::get<order::TakeDaemon>(order));
  }
}

void HttpWorld::takes(const order::TakeDaemon& order) {
  if (process_) throw Broken("a daemon is taken beside another process");
  if (!network_.listens() || random_.chance(50)) {
    link_.handle(fact::ChildStartFailed{order.gen, "nobody here has started it"}, now_);
    return;
  }
  tell("  link", fmt::format("takes process {}", order.gen));
  const std::int64_t pid = ++last_pid_;
  process_ = Process{order.gen, pid, true};
  link_.handle(fact::ChildStarted{order.gen, pid}, now_);
}

void HttpWorld::starts(const order::StartChild& order) {
  tell("  link", fmt::format("starts process {}", order.gen));
  if (process_) throw Broken("a process is started beside another one");
  if (network_.listens()) throw Broken("a process is started beside a daemon that listens");
  if (!is_behaving_ && random_.chance(10)) {
    link_.handle(fact::ChildStartFailed{order.gen, "no such file", false, false, {}}, now_);
    return;
  }
  const std::int64_t pid = ++last_pid_;
  process_ = Process{order.gen, pid, true};
  link_.handle(fact::ChildStarted{order.gen, pid}, now_);
  const bool fails = !is_behaving_ && random_.chance(10);
  later(1000, [this, pid, fails] {
    if (!process_ || process_->pid != pid || !process_->lives) return;
    if (fails) {
      process_dies(pid, {3, ""});
    } else {
      tell("daemon", "listens");
      network_.begins();
    }
  });
}

void HttpWorld::signals(const order::SignalUnit& order) {
  using How = order::SignalUnit::How;
  tell("  link", fmt::format("signals process {}", order.gen));
  fact::UnitSignalled fact{order.gen, {}};
  if (process_ && process_->gen == order.gen && process_->lives) {
    fact.processes.push_back({process_->pid, true, "daemon", "", false});
    const bool ends = order.how == How::kill || (order.how == How::terminate && random_.chance(80));
    if (ends) {
      later(50, [this, pid = process_->pid] { process_dies(pid, {143, "SIGTERM"}); });
    }
  }
  of_process_.push_back(std::move(fact));
}

/// The connections of the process break at the same time, and its exit is seen a little later.
void HttpWorld::process_dies(std::int64_t pid, ExitStatus status) {
  if (!process_ || process_->pid != pid || !std::exchange(process_->lives, false)) return;
  tell("daemon", "its process dies");
  network_.dies();
  later(random_.chance(80) ? 20 : 600, [this, pid, status] {
    if (!process_ || process_->pid != pid) return;
    tell("daemon", "its exit is seen");
    const Generation gen = process_->gen;
    network_.on_exit_seen();
    link_.handle(fact::ChildExited{gen, status}, now_);
    feed_from_played();
    if (!process_ || process_->pid != pid) return;
    feed(fact::ChildErrorEnded{process_->gen});
    feed_from_played();
  });
}

}  // namespace sitter::sim
