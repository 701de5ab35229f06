#include "core/child/servers.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/ascii.hpp"
#include "core/base/text.hpp"

namespace sitter {

using Level = order::Log::Level;

Servers::Servers(const BridgeConfig& config, const Ending& ending, const Now& now, Orders& out,
                 Desk& desk, std::function<Replacement()> replacement)
    : config_(config),
      traits_(ServerTraits::of(config)),
      secrets_(config.secret_headers),
      ending_(ending),
      now_(now),
      out_(out),
      desk_(desk),
      replacement_(std::move(replacement)),
      starts_(config.restarts, config.restarts_max),
      replays_(config.replayed_tools),
      killer_(config.kill_grace, config.end_words),
      ring_(config.stderr_lines) {}

// ---- what the system tells of processes

ChildLifecycle* Servers::life(Generation gen) {
  Child* const child = generations_.find(gen);
  return child == nullptr ? nullptr : &child->life;
}

void Servers::on_started(const fact::ChildStarted& fact) {
  left_process_ = kNoGeneration;
  out_.log(Level::info,
           fact.pid != 0 ? fmt::format("child {} started, pid {}", fact.gen, fact.pid)
           : traits_.has_process
               ? fmt::format("child {} is reached at {}", fact.gen, config_.url)
               : fmt::format("child {} is a description of {}", fact.gen, config_.command));
  Child* const child = generations_.find(fact.gen);
  if (child == nullptr) return;
  if (const std::string stopped = stopped_clause(*child); !stopped.empty()) {
    out_.log(Level::warn, fmt::format("child {}: {}", fact.gen, stopped));
  }
  child->absence.on_try();
  if (generations_.is_candidate(*child)) {
    child->stderr_apart.emplace(config_.stderr_lines);
  } else {
    ring_.child_started(fact.gen, fact.pid);
  }
}

void Servers::on(const fact::ChildErrorLine& fact) {
  Child* const child = generations_.find(fact.gen);
  if (child == nullptr && fact.gen != left_process_) return;
  (child == nullptr ? ring_ : ring_of(*child)).add(fact.gen, fact.line, fact.bytes_cut);
  followers_.tell(fact.line, out_);
  if (child != nullptr) expect_own_restart(*child, announcement_in(fact.line));
}

void Servers::on_left_exited(const fact::ChildExited& fact) {
  if (fact.gen != left_process_) return;
  left_process_ = kNoGeneration;
  history_.on_left_process_over(fact.gen, fact.status, ring_.last_words(fact.gen), now_.wall);
}

void Servers::on(const fact::ImageSwept& fact) {
  if (killer_.on_swept(fact, now_)) inspect(Look::Purpose::kill);
}

ChildLifecycle::Ladder Servers::ladder() const {
  ChildLifecycle::Ladder ladder = ending_.ladder(config_.kill_grace);
  // A tool has no stdin of its own to close, so its commands are ended at once.
  if (!traits_.has_process) ladder.close = Milliseconds::zero();
  return ladder;
}

ChildEnd Servers::end_for(EndReason reason, const Child* child) const {
  ChildEnd end{reason, {}, {}, {}};
  end.is_unseen = true;
  end.had_no_child = child == nullptr;
  end.is_foreign = is_foreign(child);
  if (child != nullptr) end.lifetime = child->life.lifetime(now_);
  return end;
}

void Servers::take_down_all(EndReason reason, const std::string& why) {
  generations_.take_down_all(reason, why, ladder(), now_, out_);
}

bool Servers::is_foreign(const Child* child) const {
  return traits_.has_address && (child == nullptr || child->life.pid() == 0);
}

bool Servers::serves_foreign() {
  const Child* const serving = generations_.serving();
  return serving != nullptr && is_foreign(serving);
}

// ---- starts and kills

void Servers::take_back_process(std::string cause) {
  if (has_left_process() && !generations_.has_any()) start(std::move(cause));
}

bool Servers::may_end(Child& child) {
  return child.life.pid() == 0 || child.debugger.lets_end(child.gen(), now_, out_);
}

void Servers::remember(order::RememberEra::Sign sign) {
  if (traits_.has_process && !traits_.has_address) out_.push(order::RememberEra{sign});
}

void Servers::look_at_process(const Child& child) {
  if (child.life.pid() != 0) out_.push(order::LookAtProcess{child.gen()});
}

std::string Servers::stopped_clause(const Child& child) const {
  const auto pid = child.life.pid();
  if (!config_.starts_stopped || pid == 0 || child.handshake.has_spoken()) return {};
  return fmt::format(
      "it was started stopped (--debug-wait): attach a debugger (gdb -p {0}, or lldb -p {0}), and "
      "then let it run with kill -CONT {0}",
      pid);
}

std::string Servers::framing_clause(const Child& child) const {
  const auto& noise = history_.noise();
  if (!noise || noise->gen != child.gen()) return {};
  if (noise->is_echo) {
    return "it sends back what it is sent, as cat does, or a terminal in which a server runs; it "
           "must write nothing but messages of its own";
  }
  constexpr std::string_view kRule = "and over stdio each message of MCP is one line";
  if (noise->split_line.empty()) return {};
  return fmt::format(
      "it writes {}, {} (the first is {})",
      noise->has_headers ? "headers as a language server does" : "JSON over several lines", kRule,
      noise->split_line);
}

bool Servers::is_idle() const {
  return !generations_.has_any() && !killer_.is_killing() && !replacement_().is_on;
}

bool Servers::is_unbuilt() const {
  return !config_.build_command.empty() && !generations_.has_any() && history_.last_end() &&
         history_.last_end()->is_command_missing;
}

ChildEnd Servers::note_still_missing() {
  history_.on_unbuilt(
      fmt::format("the build succeeded, and {} still does not exist", config_.command), now_.wall);
  return *history_.last_end();
}

void Servers::start_if_due() {
  if (starts_.is_checking() || ending_.has_stopped() || !desk_.needs_server() || !is_idle()) return;
  if (starts_.may_start_now(now_)) {
    start("a request");
  } else {
    starts_.check_files(Starts::Check::for_request, out_);
  }
}

void Servers::start_if_mended(bool has_tools) {
  const bool may_start = is_idle() && !starts_.is_checking() && ending_.is_none();
  if (has_tools || !may_start || history_.last_served() || !starts_.last_failure()) return;
  starts_.check_files(Starts::Check::for_mended, out_);
}

void Servers::restart_later(const ChildEnd& end) {
  if (!starts_.on_end(end, now_)) return;
  out_.log(Level::warn,
           fmt::format("the server was started again {} in a row without a minute "
                       "of running; the next request starts it",
                       counted(static_cast<std::size_t>(starts_.restarts().max()), "time")));
}

void Servers::restart() {
  if (!is_idle() || !ending_.is_none()) {
    starts_.cancel_restart();
    return;
  }
  out_.log(Level::info, fmt::format("the server is started again (restart {} of {} in a row)",
                                    starts_.restarts().count() + 1, starts_.restarts().max()));
  start("--restart");
}

void Servers::start(std::string cause) {
  starts_.on_start(now_);
  killer_.on_wanted();
  if (generations_.has_any()) desk_.opening().on_another_child();
  Child& child = begin_child(std::move(cause));
  // A tool has to describe itself first.
  if (!traits_.has_process) child.life.expect_slow_start();
  out_.push(order::StartChild{child.gen()});
}

Child& Servers::begin_child(std::string cause) {
  Child& child = generations_.begin(
      now_, [this] { return desk_.next_id(); }, [this] { return desk_.own_meta(); },
      config_.sitter_version, secrets_, config_.end_words);
  child.cause = std::move(cause);
  return child;
}

void Servers::inspect(Look::Purpose purpose, std::optional<RequestHandle> request) {
  using Purpose = Look::Purpose;
  const Child* const child = generations_.shown();
  const bool is_shown = purpose == Purpose::status || purpose == Purpose::status_for_log ||
                        purpose == Purpose::binary_info;
  if (is_shown && child != nullptr) look_at_process(*child);
  out_.push(order::InspectBinary{child == nullptr ? kNoGeneration : child->gen(),
                                 purpose == Purpose::kill_check,
                                 is_shown,
                                 {purpose, request}});
}

void Servers::advance_kill() {
  if (generations_.is_empty() && killer_.on_children_over(out_)) inspect(Look::Purpose::kill);
}

}  // namespace sitter
