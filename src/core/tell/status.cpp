#include "core/tell/status.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/tell/tool_json.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

using Json = ToolJson;

Json utc_or_null(const std::optional<WallTime>& time) {
  return time ? Json(utc_text(*time)) : Json();
}

Json whole_seconds(const std::optional<Milliseconds>& duration) {
  if (!duration) return Json();
  return std::chrono::floor<std::chrono::seconds>(*duration).count();
}

/// Parses a raw text from the child. Returns the text itself if it can't be parsed or is nested too
/// deeply.
Json document(const std::optional<std::string>& raw) {
  if (!raw) return Json();
  if (is_nested_deeper(*raw, limits::kNestingMax)) return *raw;
  Json parsed = Json::parse(*raw, nullptr, false);
  return parsed.is_discarded() ? Json(*raw) : parsed;
}

Json failure_json(const std::optional<StatusFacts::Failure>& failure) {
  if (!failure) return Json();
  Json json;
  json["what"] = failure->what;
  json["exitCode"] = or_null(failure->exit_code);
  json["signal"] = failure->signal.empty() ? Json() : Json(failure->signal);
  json["stderrTail"] = failure->stderr_tail;
  return json;
}

Json life_json(const History::Life& life) {
  Json json;
  json["number"] = life.gen;
  json["pid"] = life.pid == 0 ? Json() : Json(life.pid);
  json["started"] = utc_text(life.started);
  json["lifetimeSeconds"] = whole_seconds(life.lifetime);
  json["exit"] = life.end && has_exited(*life.end) ? Json(status_words(life.end->status)) : Json();
  json["reason"] = life.end ? Json(reason_words(life.end->reason)) : Json();
  return json;
}

Json diff_json(const std::optional<CatalogDiff>& diff) {
  if (!diff) return Json();
  Json json;
  json["added"] = diff->added;
  json["removed"] = diff->removed;
  Json changed = Json::object();
  for (const CatalogDiff::Change& change : diff->changed) changed[change.name] = change.details;
  json["changed"] = std::move(changed);
  json["signatures"] = diff->signatures;
  return json;
}

Json pollution_json(const std::optional<History::Noise>& pollution) {
  if (!pollution) return Json();
  Json json;
  json["generation"] = pollution->gen;
  json["lines"] = pollution->line_count;
  json["first"] = pollution->first_line;
  return json;
}

Json build_json(const std::optional<StatusFacts::BuildFacts>& build) {
  if (!build) return Json();
  Json json;
  json["command"] = build->command;
  json["running"] = build->is_running;
  const std::optional<BuildResult>& last = build->last;
  json["lastResult"] = last ? Json(outcome_words(last->outcome)) : Json();
  const bool has_exited = last && last->outcome != BuildResult::Outcome::not_started;
  json["exitCode"] = has_exited ? Json(last->status.code) : Json();
  json["durationMs"] = last ? Json(last->duration.count()) : Json();
  json["endedUtc"] = last ? Json(utc_text(last->ended)) : Json();
  return json;
}

Json watch_json(const std::optional<StatusFacts::WatchFacts>& watch) {
  if (!watch) return Json();
  Json json;
  json["patterns"] = watch->patterns;
  json["binary"] = watch->watches_binary;
  json["debounceMs"] = watch->debounce.count();
  json["folders"] = watch->folder_count;
  json["problem"] = watch->problem.empty() ? Json() : Json(watch->problem);
  Json last;
  if (watch->last) {
    last["utc"] = utc_text(watch->last->when);
    last["files"] = watch->last->files;
    last["count"] = watch->last->count;
  }
  json["lastTrigger"] = std::move(last);
  json["writtenByReloads"] = watch->own;
  return json;
}

Json restart_json(const StatusFacts::RestartFacts& restart) {
  using When = RestartPolicy::When;
  Json json;
  json["policy"] = restart.policy == When::lazy       ? "lazy"
                   : restart.policy == When::on_crash ? "on-crash"
                                                      : "eager";
  json["inARow"] = restart.in_a_row;
  json["max"] = restart.max;
  return json;
}

/// The members that mcp-sitter 0.2.0 has, in its order.
Json known_status(const StatusFacts& facts) {
  Json json;
  json["childCommand"] = facts.child_command;
  json["childArgs"] = facts.child_args;
  json["workingDirectory"] = or_null(facts.working_directory);
  json["binaryPath"] = or_null(facts.binary_path);
  json["binaryVersion"] = or_null(facts.binary_version);
  json["childState"] = facts.child_state;
  json["childAlive"] = facts.child_alive;
  json["childReady"] = facts.child_ready;
  json["childPid"] = or_null(facts.child_pid);
  json["childToolCount"] = facts.child_tool_count;
  json["spawnCount"] = facts.spawn_count;
  json["killCount"] = facts.kill_count;
  json["lastKillUtc"] = utc_or_null(facts.last_kill);
  json["lastKillReason"] = or_null(facts.last_kill_reason);
  json["lastStartupMs"] = facts.last_startup ? Json(facts.last_startup->count()) : Json();
  json["childUptimeSeconds"] = whole_seconds(facts.child_uptime);
  json["previousExitCode"] = or_null(facts.previous_exit_code);
  json["previousLifetimeSeconds"] = whole_seconds(facts.previous_lifetime);
  constexpr std::size_t kAllNames = std::numeric_limits<std::size_t>::max();
  json["lastToolsDiff"] = facts.tools_diff && !facts.tools_diff->empty()
                              ? Json(summary(CatalogKind::tools, *facts.tools_diff, kAllNames))
                              : Json();
  json["sitterUptimeSeconds"] = whole_seconds(facts.sitter_uptime);
  return json;
}

}  // namespace

std::string status_text(const StatusFacts& facts) {
  Json json = known_status(facts);
  json["sitterVersion"] = facts.sitter_version;
  json["protocolEra"] = or_null(facts.protocol_era);
  json["protocolVersion"] = or_null(facts.protocol_version);
  json["serverInfo"] = document(facts.server_info);
  json["binaryStale"] = or_null(facts.binary_stale);
  json["requestsInFlight"] = facts.requests_in_flight;
  json["requestsWaiting"] = facts.requests_waiting;
  json["lastFailure"] = failure_json(facts.last_failure);
  Json history = Json::array();
  for (const History::Life& life : facts.history) history.push_back(life_json(life));
  json["history"] = std::move(history);
  json["toolsDiff"] = diff_json(facts.tools_diff);
  json["stdoutPollution"] = pollution_json(facts.stdout_pollution);
  json["childProtocolVersion"] = or_null(facts.child_protocol_version);
  json["build"] = build_json(facts.build);
  json["watch"] = watch_json(facts.watch);
  json["restart"] = restart_json(facts.restart);
  return indented(json);
}

std::string kill_reason_words(const ChildEnd& end) {
  if (end.reason == EndReason::killed_by_sitter) return killer_words(end);
  if (end.reason == EndReason::replaced) return "replaced";
  switch (end.reason) {
    case EndReason::not_executed:
    case EndReason::opening_timed_out:
    case EndReason::said_nothing:
    case EndReason::opening_refused:
    case EndReason::closed_stdout:
    case EndReason::closed_stdin:
    case EndReason::wrote_rubbish:
    case EndReason::given_up:
      return std::string(reason_words(end.reason));
    default:
      break;
  }
  if (end.status.code == 0) return "external (exit 0)";
  return fmt::format("external/crash (exit {})", end.status.code);
}

std::string binary_text(const BinaryFacts& facts, WallTime now) {
  Json json;
  json["path"] = or_null(facts.path);
  json["exists"] = facts.exists;
  json["sizeBytes"] = or_null(facts.size);
  json["mtime"] = utc_or_null(facts.modified);
  json["mtimeHuman"] = facts.modified
                           ? Json(age_text(std::chrono::floor<Milliseconds>(now - *facts.modified)))
                           : Json();
  if (facts.version) {
    json["fileVersion"] = facts.version->file_version;
    json["productVersion"] = facts.version->product_version;
    json["productName"] = facts.version->product_name;
    json["fileDescription"] = facts.version->file_description;
    json["companyName"] = facts.version->company_name;
    json["copyright"] = facts.version->copyright;
    json["isDebug"] = facts.version->is_debug;
  }
  if (facts.interpreter) {
    Json interpreter;
    interpreter["path"] = facts.interpreter->path;
    interpreter["sizeBytes"] = or_null(facts.interpreter->size);
    interpreter["mtime"] = utc_or_null(facts.interpreter->modified);
    json["interpreter"] = std::move(interpreter);
  }
  json["buildId"] = or_null(facts.build_id);
  Json loaded;
  if (facts.loaded) {
    loaded["mtime"] = utc_or_null(facts.loaded->modified);
    loaded["sizeBytes"] = or_null(facts.loaded->size);
    loaded["since"] = utc_text(facts.loaded->since);
  }
  json["loaded"] = std::move(loaded);
  json["stale"] = or_null(facts.stale);
  return indented(json);
}

}  // namespace sitter
