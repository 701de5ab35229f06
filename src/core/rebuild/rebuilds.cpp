#include "core/rebuild/rebuilds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/base/text.hpp"
#include "core/http/http_link_limits.hpp"
#include "core/wire/method.hpp"
#include "core/wire/reply.hpp"

namespace sitter {

using Server = RebuildReport::Server;
using State = Rebuilder::State;

namespace {

RebuildReport report_of(Server server) {
  RebuildReport report;
  report.server = server;
  return report;
}

}  // namespace

Rebuilds::Rebuilds(const BridgeConfig& config, const Ending& ending, const Now& now, Orders& out,
                   Desk& desk, Servers& servers)
    : config_(config),
      ending_(ending),
      now_(now),
      out_(out),
      desk_(desk),
      servers_(servers),
      rebuilder_(Rebuilder::Options{!config.build_command.empty(), config.on_busy_wait,
                                    config.kill_grace, servers.traits().has_address,
                                    config.end_words}),
      watch_(Watch::Options{config.watches(), !config.build_command.empty(), config.built_endings,
                            !config.needs_no_build, config.debounce, config.fresh_wait}) {}

Servers::Replacement Rebuilds::replacement() const {
  if (!is_on()) return {};
  return {true, rebuilder_.holds_requests(),
          rebuilder_.waits_for(State::build) || rebuilder_.waits_for(State::room),
          rebuilder_.rebuild().cause};
}

/// The cause of the rebuild in a few words, for texts.
std::string Rebuilds::cause() const {
  const PendingRebuild& rebuild = rebuilder_.rebuild();
  if (!rebuild.cause.empty()) return one_line(rebuild.cause);
  return desk_.names().name(rebuild.builds ? Builtin::rebuild : Builtin::kill);
}

// ---- what is asked for

RebuildCaller Rebuilds::caller_of(const ClientRequest& request, Milliseconds timeout) const {
  RebuildCaller caller{request.handle(), !request.is_control(), timeout};
  if (caller.is_client) caller.answer_by = now_.steady + limits::kRebuildCallPatience;
  return caller;
}

void Rebuilds::call(ClientRequest& request, const RebuildArguments& arguments) {
  if (desk_.refuse_when_throttled(request)) return;
  servers_.killer().on_wanted();
  rebuilder_.call(caller_of(request, arguments.timeout), arguments, desk_.turn());
}

void Rebuilds::restart(const ClientRequest& call, const std::string& kill_report) {
  servers_.killer().on_wanted();
  RebuildCaller caller = caller_of(call, RebuildArguments().timeout);
  caller.kill_report = kill_report;
  rebuilder_.restart(std::move(caller), desk_.turn());
}

void Rebuilds::on(const fact::ReloadAsked& fact) {
  // A call that the client is still owed may wait for the next description of a tool.
  const bool may_follow = ending_.is_none() || !servers_.traits().has_process;
  if (ending_.is_stopping() || !may_follow) return;
  reload({fact.cause});
}

void Rebuilds::reload(const Reload& wanted, const ClientRequest* caller) {
  servers_.killer().on_wanted();
  std::optional<RebuildCaller> waiting;
  if (caller != nullptr) {
    waiting = caller_of(*caller, wanted.how.timeout);
  }
  rebuilder_.reload(wanted, waiting, may_replace_new_child(), desk_.turn());
}

bool Rebuilds::build_first() {
  if (!servers_.is_unbuilt() || !desk_.needs_build() || servers_.killer().is_killing() ||
      !ending_.is_none()) {
    return false;
  }
  if (!is_on()) rebuilder_.build_for_requests("the server is not built yet", desk_.turn());
  return true;
}

/// Whether a rebuild may replace a server that is still on its way: it is of no use to wait for a
/// server only to replace it. A server that requests wait for must not be replaced: the requests
/// are owed an answer, and saves might replace one server after another for ever.
bool Rebuilds::may_replace_new_child() const {
  if (!rebuilder_.waits_for(State::room) && !rebuilder_.waits_for(State::new_child)) return false;
  if (!rebuilder_.rebuild().callers.empty()) return false;
  const Generations& generations = servers_.generations();
  return std::none_of(generations.begin(), generations.end(), [&](const Child& child) {
    return rebuilder_.is_new_child(child.gen()) && is_awaited(child);
  });
}

/// Whether requests wait for this child, and no other child could serve them. A child that hangs is
/// not awaited for ever.
bool Rebuilds::is_awaited(const Child& child) const {
  return !servers_.generations().takes_requests() && desk_.needs_server() && !child.is_retiring() &&
         now_.steady < child.life.started().steady + limits::kBuildPatience;
}

std::optional<Instant> Rebuilds::replaceable_at(const Child& child) const {
  if (!is_on() || !is_awaited(child)) return std::nullopt;
  return child.life.started().steady + limits::kBuildPatience;
}

std::optional<Instant> Rebuilds::absent_deadline() const {
  if (!rebuilder_.waits_for(State::new_child)) return std::nullopt;
  const Child* const child = servers_.generations().find(rebuilder_.rebuild().gen);
  // A daemon that is started here has the time of a start.
  if (child == nullptr || !servers_.is_foreign(child)) return std::nullopt;
  if (child->absence.is_on()) return child->absence.since().steady + config_.wait_for_server;
  return child->life.started().steady +
         std::max(config_.wait_for_server, limits::kHttpOpeningWaitMin);
}

std::optional<Instant> Rebuilds::quiet_deadline() const {
  const Generations& generations = servers_.generations();
  const bool is_held = std::any_of(generations.begin(), generations.end(),
                                   [](const Child& child) { return child.debugger.holds(); });
  // Once it has passed, something else is waited for.
  const auto deadline = rebuilder_.quiet_deadline();
  return is_held || deadline <= now_.steady ? std::nullopt : deadline;
}

// ---- how a rebuild goes on

std::optional<RebuildReport> Rebuilds::advance() {
  if (!is_on() || ending_.is_stopping()) return std::nullopt;
  Generations& generations = servers_.generations();
  if (rebuilder_.waits_for(State::quiet)) {
    const bool is_busy = desk_.requests().in_flight_count() > 0;
    if (is_busy && !is_due(rebuilder_.quiet_deadline(), now_)) return std::nullopt;
    if (!std::all_of(generations.begin(), generations.end(),
                     [this](Child& child) { return may_end(child); })) {
      return std::nullopt;
    }
    rebuilder_.on_quiet();
    if (!servers_.serves_foreign()) {
      servers_.take_back_process(rebuilder_.rebuild().cause);
      servers_.take_down_all(EndReason::replaced, rebuilder_.rebuild().cause);
    }
  }
  if (rebuilder_.waits_for(State::no_children) &&
      (generations.is_empty() || servers_.serves_foreign()) && !servers_.killer().is_killing()) {
    rebuilder_.on_no_children(desk_.turn());
  }
  if (rebuilder_.waits_for(State::room)) return start_new_child();
  if (rebuilder_.waits_for(State::new_child)) {
    const Child* const child = generations.find(rebuilder_.rebuild().gen);
    const bool is_coming = child != nullptr && child->role == Child::Role::coming;
    if (is_coming && is_due(absent_deadline(), now_)) {
      RebuildReport report = report_of(Server::absent);
      report.start_failure = servers_.absence_end();
      return report;
    }
    if (child == nullptr || is_coming) return std::nullopt;
    rebuilder_.on_served();
    servers_.inspect(Look::Purpose::rebuild);
  }
  return std::nullopt;
}

/// Whether the rebuild may end this child. If a debugger is attached to it, the rebuild is held.
bool Rebuilds::may_end(Child& child) {
  if (!child.life.is_up()) return true;
  const bool may = servers_.may_end(child);
  if (!may && !child.debugger.is_attached()) return false;
  for (const RebuildCaller& caller : rebuilder_.hold(may ? "" : child.debugger.name())) {
    desk_.answer_tool_text(caller.request, "[mcp-sitter] " + held_text(), true);
  }
  return may;
}

/// Starts the new child, once no other server is left beside the child that serves.
std::optional<RebuildReport> Rebuilds::start_new_child() {
  Generations& generations = servers_.generations();
  const bool has_process = servers_.traits().has_process;
  // Every child that is on its way was started before this rebuild.
  bool is_one_left = false;
  for (Child& child : generations) {
    if (child.serves()) continue;
    // The calls of a tool go on, and its next description does not wait for them.
    if (child.is_retiring() && !has_process) continue;
    // A retiring child may finish, and an awaited child may come up. There are never three servers.
    if (!child.is_retiring() && !is_awaited(child) && may_end(child)) {
      child.life.take_down(EndReason::replaced, {}, servers_.ladder(), now_, out_);
    }
    is_one_left = true;
  }
  if (is_one_left || servers_.killer().is_killing()) return std::nullopt;
  // Requests also wait while a server is started anew behind its child.
  const bool is_wanted =
      desk_.opening().is_open() || (desk_.needs_server() && !generations.is_served());
  if (!is_wanted) return report_of(Server::not_wanted);
  Child* const serving = generations.serving();
  if (serving != nullptr && !may_end(*serving)) return std::nullopt;
  if (serving != nullptr && servers_.traits().has_address) return make_way(*serving);
  if (servers_.has_left_process()) {
    const std::string& cause = rebuilder_.rebuild().cause;
    servers_.take_back_process(cause);
    servers_.take_down_all(EndReason::replaced, cause);
    return std::nullopt;
  }
  servers_.start(cause());
  rebuilder_.on_started(generations.last());
  return std::nullopt;
}

/// Two servers cannot listen at one address, so the child that serves ends first.
std::optional<RebuildReport> Rebuilds::make_way(Child& serving) {
  if (serving.life.pid() == 0) return report_of(Server::not_ours);
  rebuilder_.expect_quiet(now_);
  const bool is_busy = desk_.requests().in_flight_count() > 0;
  if (is_busy && !is_due(rebuilder_.quiet_deadline(), now_)) return std::nullopt;
  rebuilder_.on_way_made();
  serving.life.take_down(EndReason::replaced, rebuilder_.rebuild().cause, servers_.ladder(), now_,
                         out_);
  return std::nullopt;
}

std::optional<RebuildReport> Rebuilds::on_build_over() {
  const Rebuilder::Next next = rebuilder_.on_build_over(ending_.is_stopping(), desk_.turn());
  if (rebuilder_.last_result()->outcome == BuildResult::Outcome::succeeded) watch_.on_built();
  if (next == Rebuilder::Next::goes_on) return std::nullopt;
  if (servers_.is_unbuilt()) {
    servers_.history().on_unbuilt(
        "it is not built yet, and " + build_clause(*rebuilder_.build()->result()), now_.wall);
  }
  if (next == Rebuilder::Next::has_failed) return report_of(server_without_rebuild());
  begin_next(rebuilder_.take());
  return std::nullopt;
}

RebuildReport Rebuilds::on_looked_at_new_child() {
  return servers_.serves_foreign() ? report_of(Server::not_ours) : RebuildReport();
}

RebuildReport Rebuilds::on_new_child_over(const ChildEnd& end,
                                          const std::string& stderr_tail) const {
  RebuildReport report = report_of(server_without_rebuild());
  report.start_failure = end;
  report.stderr_tail = stderr_tail;
  return report;
}

/// What a rebuild leaves that brings no new server.
Server Rebuilds::server_without_rebuild() const {
  const Generations& generations = servers_.generations();
  if (generations.is_served()) return Server::kept;
  return generations.is_one_coming() ? Server::starting : Server::down;
}

void Rebuilds::begin_next(PendingRebuild before) {
  const Killer& killer = servers_.killer();
  const auto& last_end = servers_.history().last_end();
  // The child that served may have ended while it was being replaced.
  if (!servers_.generations().has_any() && !killer.is_killing() && !killer.is_wanted_down() &&
      last_end) {
    servers_.restart_later(*last_end);
  }
  if (!ending_.is_none()) {
    tell_given_up(before.leave_next_to_client(), "the client has ended the session");
  }
  if (before.next && !ending_.is_stopping()) rebuilder_.follow(before, desk_.turn());
}

// ---- who still wants it

void Rebuilds::forget(const ClientRequest& request) {
  if (rebuilder_.leave(request.handle())) abandon();
}

bool Rebuilds::is_awaited_by_client() const {
  return is_on() && (desk_.needs_server() || rebuilder_.rebuild().clients_call());
}

void Rebuilds::leave_unwanted_build() {
  if (rebuilder_.waits_for(State::build) && !is_awaited_by_client() &&
      rebuilder_.leave_requests()) {
    abandon();
  }
}

void Rebuilds::give_up(std::string_view killer) {
  if (!is_on()) return;
  tell_given_up(rebuilder_.leave_to_client(), fmt::format("{} was called", killer));
  if (rebuilder_.is_unwanted()) abandon();
}

void Rebuilds::tell_given_up(const std::vector<RebuildCaller>& callers, std::string_view why) {
  for (const RebuildCaller& caller : callers) {
    desk_.answer_tool_text(caller.request,
                           fmt::format("[mcp-sitter] The reload was given up, because {}.", why),
                           true);
  }
}

void Rebuilds::abandon() {
  if (rebuilder_.cancel_build(desk_.turn())) return;
  Child* const child = servers_.generations().find(rebuilder_.rebuild().gen);
  // If no child serves, the new child is the only child.
  if (child != nullptr && child->role == Child::Role::coming &&
      servers_.generations().is_served()) {
    child->life.take_down(EndReason::replaced, {}, servers_.ladder(), now_, out_);
  }
  begin_next(rebuilder_.take());
}

// ---- what those who wait are told

bool Rebuilds::delays_requests() const {
  return is_on() && !ending_.is_stopping() &&
         (rebuilder_.holds_requests() || !servers_.generations().takes_requests());
}

std::optional<Instant> Rebuilds::patience_end() const {
  const auto since = delays_requests() ? desk_.requests().waits_since() : std::nullopt;
  if (!since) return std::nullopt;
  return std::max(*since, rebuilder_.rebuild().begun) + limits::kBuildPatience;
}

void Rebuilds::on_timeout() {
  for (const RebuildCaller& caller : rebuilder_.on_timeout(desk_.turn())) {
    desk_.answer_tool_text(
        caller.request,
        fmt::format("[mcp-sitter] this call gives up after {} (timeout_seconds), but {} and goes "
                    "on, since others wait for it too{}.",
                    duration_text(caller.timeout), progress_words(),
                    caller.is_client ? "; call again to wait longer" + hint()
                                     : "; mcp-sitter ctl status shows it"),
        true);
  }
}

void Rebuilds::on_answer_due() {
  for (const RebuildCaller& caller : rebuilder_.on_answer_due(now_)) {
    std::string what = "the new server is still on its way";
    const Child* const coming = servers_.generations().find(rebuilder_.rebuild().gen);
    if (coming != nullptr && !servers_.stopped_clause(*coming).empty()) {
      what += "; " + servers_.stopped_clause(*coming);
    } else if (rebuilder_.is_building()) {
      const auto age = duration_cast<std::chrono::seconds>(rebuilder_.build()->age(now_));
      const std::string line = one_line(rebuilder_.newest_line());
      what = fmt::format("still building ({}s{}{})", age.count(), line.empty() ? "" : ", ", line);
    }
    const bool is_kill = !caller.kill_report.empty();
    desk_.answer_tool_text(caller.request,
                           fmt::format("[mcp-sitter] {}; it goes on{}.{}{}", what,
                                       is_kill ? hint()
                                               : fmt::format(": call {} again to wait",
                                                             desk_.names().name(Builtin::rebuild)),
                                       is_kill ? "\n" : "", caller.kill_report),
                           false);
  }
}

void Rebuilds::on_build_line(const fact::ChildErrorLine& fact) {
  rebuilder_.on_line(fact);
  tell_build_progress();
}

void Rebuilds::tell_build_progress() {
  const auto progress = rebuilder_.take_progress(now_);
  if (!progress) return;
  for (const RebuildCaller& caller : rebuilder_.rebuild().callers) {
    const ClientRequest* const request = desk_.requests().find(caller.request);
    const std::string_view token = request == nullptr ? "" : request->progress_token();
    if (token.empty()) continue;
    desk_.answers().output().on_progress(token, now_);
    desk_.to_client(Outgoing::own(notification_line(
        method_name(Method::progress),
        fmt::format(R"json({{"progressToken":{},"progress":{},"message":{}}})json", token,
                    progress->count, json_string(progress->line)))));
  }
}

std::string Rebuilds::progress_words() const {
  if (rebuilder_.is_held()) {
    return fmt::format("the reload waits until the debugger is detached: {}",
                       rebuilder_.rebuild().held_by);
  }
  const Child* const coming = servers_.generations().find(rebuilder_.rebuild().gen);
  const std::string stopped = coming == nullptr ? "" : servers_.stopped_clause(*coming);
  return progress_clause(cause(), rebuilder_.is_building()
                                      ? std::optional(rebuilder_.build()->age(now_))
                                      : std::nullopt) +
         (stopped.empty() ? "" : "; " + stopped);
}

std::string Rebuilds::hint() const {
  const BuiltinNames& names = desk_.names();
  std::vector<std::string> hints;
  const std::string shows = rebuilder_.is_building()
                                ? names.first_name({Builtin::build_log, Builtin::status})
                                : names.name(Builtin::status);
  if (!shows.empty()) hints.push_back(shows + " shows it");
  if (names.offers(Builtin::kill) && !rebuilder_.rebuild().clients_call()) {
    hints.push_back(names.name(Builtin::kill) + " ends it");
  }
  return hints.empty() ? "" : fmt::format("; {}", fmt::join(hints, ", "));
}

std::string Rebuilds::held_text() const {
  const PendingRebuild& rebuild = rebuilder_.rebuild();
  const std::string kill = desk_.names().name(Builtin::kill);
  return fmt::format(
      "A debugger is attached to the server: {}. So the server is not reloaded{} until "
      "the debugger is detached{}.",
      rebuild.held_by, rebuild.cause.empty() ? "" : fmt::format(" ({})", one_line(rebuild.cause)),
      kill.empty() ? "" : fmt::format("; {} ends the server all the same", kill));
}

std::string Rebuilds::first_build_clause() const {
  return fmt::format("it is being built for the first time, and the build has been running for {}",
                     duration_text(rebuilder_.build()->age(now_)));
}

StderrRing::Answer Rebuilds::build_log(const StderrRing::Query& query) const {
  const Build* const build = rebuilder_.build();
  if (build == nullptr) return {"(nothing has been built yet)", false};
  return build->log_text(query);
}

RebuildStatus Rebuilds::status() const {
  RebuildStatus status;
  if (is_on()) status.rebuild = progress_words();
  if (!config_.build_command.empty()) {
    status.build = {config_.build_command, rebuilder_.is_building(), rebuilder_.last_result()};
  }
  if (watch_.is_on()) {
    status.watch = {config_.watch_patterns, config_.watches_binary,
                    config_.debounce,       watch_.folder_count(),
                    watch_.problem(),       watch_.unmatched(),
                    watch_.last_trigger(),  watch_.own()};
  }
  return status;
}

}  // namespace sitter
