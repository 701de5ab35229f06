#include "core/report/status.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/report/restart_notice.hpp"
#include "core/report/tool_json.hpp"

namespace sitter {
namespace {

using Json = ToolJson;

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

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
  json["core"] = failure->core.empty() ? Json() : Json(failure->core);
  json["stack"] = failure->stack.empty() ? Json() : Json(failure->stack);
  json["ageSeconds"] = whole_seconds(failure->age);
  return json;
}

Json life_json(const History::Life& life) {
  Json json;
  json["number"] = life.gen;
  json["pid"] = life.pid == 0 ? Json() : Json(life.pid);
  json["started"] = utc_text(life.started);
  json["lifetimeSeconds"] = whole_seconds(life.lifetime);
  json["exit"] = life.end && has_exited(*life.end) ? Json(status_words(life.end->status)) : Json();
  json["reason"] = life.end ? Json(reason_words(*life.end)) : Json();
  return json;
}

Json diff_json(const std::optional<CatalogDiff>& diff) {
  if (!diff || diff->empty()) return Json();
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
  if (pollution->is_echo) json["isEcho"] = true;
  return json;
}

Json absence_json(const std::optional<StatusFacts::Absent>& absence) {
  if (!absence) return Json();
  Json json;
  json["why"] = absence->why;
  json["sinceUtc"] = utc_text(absence->since);
  json["seconds"] = whole_seconds(absence->age);
  json["nextTryMs"] = absence->again_in ? Json(absence->again_in->count()) : Json();
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
  json["exitCode"] = has_exited ? Json(exit_code_of(last->status)) : Json();
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
  if (!watch->unmatched.empty()) json["unmatched"] = watch->unmatched;
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
  if (restart.policy == When::lazy) return Json();
  Json json;
  json["policy"] = restart.policy == When::on_crash ? "on-crash" : "eager";
  json["inARow"] = restart.in_a_row;
  json["max"] = restart.max;
  return json;
}

/// The words for the server in each of its states.
struct StateWords {
  std::string_view ready = "server runs";
  std::string_view start = "spawn";
  std::string_view starting = "server has been starting";
  std::string_view ending = "server is being taken down";
  std::string_view before =
      "server has not been started yet; the first request that needs it "
      "starts it";
  std::string_view down = "No server is running";
  std::string_view next = "starts it";
};

StateWords words_of(const StatusFacts& facts) {
  StateWords words;
  if (facts.is_tool) {
    words = {"tool is ready",
             "description",
             "tool has been describing itself",
             "calls of the tool are being ended",
             "tool has not described itself yet; the first request reads its description",
             "No description of the tool is in use",
             "reads it"};
  } else if (facts.was_foreign) {
    words.down = "No session is open";
    words.next = "opens it";
  }
  return words;
}

/// The state of the server in one sentence, with what to do.
std::string state_sentence(const StatusFacts& facts) {
  const StateWords words = words_of(facts);
  std::string text;
  if (facts.child_ready && !facts.absence) {
    text = fmt::format("The {} ({} #{}, {})", words.ready, words.start, facts.spawn_count,
                       counted(static_cast<std::size_t>(facts.child_tool_count), "tool"));
    if (facts.binary_stale.value_or(false)) text += ", but its file has changed since its start";
  } else if (facts.absence) {
    text = fmt::format(
        "The server has not been reachable for {}: {}; requests wait for it, and {}",
        duration_text(facts.absence->age), facts.absence->why,
        facts.absence->again_in
            ? fmt::format("it is tried again in {}", duration_text(*facts.absence->again_in))
            : "it is being tried now");
  } else if (facts.starting) {
    text =
        fmt::format("The {} for {} ({} #{}; reason: {}): wait, and its tools appear by themselves",
                    words.starting, duration_text(facts.starting->age), words.start,
                    facts.starting->gen, facts.starting->cause);
  } else if (facts.child_state == "killing") {
    text = fmt::format("The {}", words.ending);
  } else if (facts.last_end.empty()) {
    text = fmt::format("The {}", words.before);
  } else {
    text = fmt::format("{}; {}, {}; the next request {}", words.down, age_text(*facts.last_end_age),
                       facts.last_end, words.next);
  }
  if (!facts.stopped.empty()) text += "; " + facts.stopped;
  if (!facts.debugger.empty()) text += "; a debugger is attached to it: " + facts.debugger;
  if (!facts.rebuild.empty()) text += "; " + facts.rebuild;
  if (!facts.given_up.empty()) {
    text += "; " + given_up_clause(facts.given_up, facts.activity, facts.stderr_tool);
  }
  return one_line(text) + ".";
}

/// The members that mcp-sitter 0.2.0 has, in its order, behind the summary.
Json known_status(const StatusFacts& facts) {
  Json json;
  json["summary"] = state_sentence(facts);
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

/// The same without members that are null, however deep they stand.
Json without_nulls(Json json) {
  if (!json.is_structured()) return json;
  for (auto it = json.begin(); it != json.end();) {
    if (json.is_object() && it->is_null()) {
      it = json.erase(it);
    } else {
      *it = without_nulls(std::move(*it));
      ++it;
    }
  }
  return json;
}

}  // namespace

std::string given_up_clause(const std::vector<ClientStatus::GivenUp>& calls,
                            std::string_view activity, std::string_view stderr_tool) {
  const std::size_t more = calls.size() - 1;
  return fmt::format("{} was given up by the client {} and still runs{}, as far as is known{}{}",
                     brief(calls.back().tool, 64), age_text(calls.back().age),
                     more == 0 ? "" : fmt::format(", like {} before it", more),
                     activity.empty() ? "" : fmt::format(": {}", activity),
                     tool_hint(stderr_tool, "shows what it wrote"));
}

std::string status_text(const StatusFacts& facts) {
  Json json = known_status(facts);
  const auto add = [&](const char* name, Json value) {
    const bool is_zero = value.is_number() && value == 0;
    if (!value.empty() && !is_zero) json[name] = without_nulls(std::move(value));
  };
  add("sitterVersion", facts.sitter_version);
  add("childToolBytes", facts.child_tool_bytes);
  add("protocolEra", or_null(facts.protocol_era));
  add("protocolVersion", or_null(facts.protocol_version));
  if (facts.server_info) json["serverInfo"] = document(facts.server_info);
  add("binaryStale", or_null(facts.binary_stale));
  add("absence", absence_json(facts.absence));
  add("requestsInFlight", facts.requests_in_flight);
  add("requestsWaiting", facts.requests_waiting);
  add("lastFailure", failure_json(facts.last_failure));
  Json history = Json::array();
  for (const History::Life& life : facts.history) history.push_back(life_json(life));
  add("history", std::move(history));
  add("toolsDiff", diff_json(facts.tools_diff));
  add("stdoutPollution", pollution_json(facts.stdout_pollution));
  add("childProtocolVersion", or_null(facts.child_protocol_version));
  add("build", build_json(facts.build));
  add("watch", watch_json(facts.watch));
  add("restart", restart_json(facts.restart));
  add("lint", facts.lint);
  return indented(json);
}

namespace {

void add_version(Json& json, const BinaryFacts::Version& version) {
  const std::pair<const char*, const std::string&> texts[] = {
      {"fileVersion", version.file_version}, {"productVersion", version.product_version},
      {"productName", version.product_name}, {"fileDescription", version.description},
      {"companyName", version.company},      {"copyright", version.copyright}};
  for (const auto& [name, text] : texts) {
    if (!text.empty()) json[name] = text;
  }
  json["isDebug"] = version.is_debug;
}

}  // namespace

std::string binary_text(const BinaryFacts& facts, WallTime now) {
  Json json;
  json["path"] = or_null(facts.path);
  json["exists"] = facts.exists;
  json["sizeBytes"] = or_null(facts.size);
  json["mtime"] = utc_or_null(facts.modified);
  json["mtimeHuman"] = Json();
  if (facts.modified) {
    const auto age = known_age(*facts.modified, now);
    json["mtimeHuman"] = age ? age_text(*age) : std::string(kUnknownAge);
  }
  if (facts.interpreter) {
    Json interpreter;
    interpreter["path"] = facts.interpreter->path;
    interpreter["sizeBytes"] = or_null(facts.interpreter->size);
    interpreter["mtime"] = utc_or_null(facts.interpreter->modified);
    json["interpreter"] = std::move(interpreter);
  }
  json["buildId"] = or_null(facts.build_id);
  if (facts.version) add_version(json, *facts.version);
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
