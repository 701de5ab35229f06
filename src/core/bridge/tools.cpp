#include "core/bridge/tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "core/base/text.hpp"
#include "core/report/kill.hpp"
#include "core/wire/json_view.hpp"

namespace sitter {

using Offered = BuiltinTool::Offered;
using Purpose = Look::Purpose;

/// One built-in tool.
struct Tools::Row {
  BuiltinTool tool;
  /// Answers a call. Null for the tool that `passed_call` serves.
  void (Tools::*run)(ClientRequest& request, std::string_view arguments) = nullptr;
};

/// All built-in tools, in the order in which they are offered. There is a row for each `Builtin`.
const std::vector<Tools::Row>& Tools::rows() {
  static const std::vector<Row> kRows = {
      {{.builtin = Builtin::status,
        .name = "sitter_status",
        .description = "Whether the MCP server runs, why it crashed or restarted, how a reload or "
                       "rebuild changed its tools."},
       &Tools::show_status},
      {{.builtin = Builtin::kill,
        .name = "sitter_kill",
        .description = "Stops the server under development; the next request starts it.",
        .of_foreign = "Ends the session with the server under development, not the server, which "
                      "was started elsewhere. The next request opens another session.",
        .of_tool = "Ends all running calls of the tool under development. The next call reads its "
                   "description again.",
        .properties =
            R"json("scope":{"enum":["auto","child","same-executable"],"description":)json"
            R"json("auto also stops leftovers of the same command; same-executable all that run )json"
            R"json(its file"},"restart":{"type":"boolean","description":"start it at once; )json"
            R"json(returns which tools changed"})json",
        .changes_things = true},
       &Tools::kill},
      {{.builtin = Builtin::binary_info,
        .name = "sitter_binary_info",
        .description =
            "The server's file: path, size, build time, version, whether the running code is "
            "stale."},
       &Tools::show_binary},
      {{.builtin = Builtin::child_stderr,
        .name = "sitter_child_stderr",
        .description = "The server log (stderr), also from before a crash or restart. [stdout] "
                       "marks stray stdout.",
        .properties = fmt::format(
            R"json("lines":{{"type":"integer","default":{}}},"since_spawn":)json"
            R"json({{"type":"boolean"}},"grep":{{"type":"string","description":"RE2"}},)json"
            R"json("generation":{{"type":"integer"}})json",
            StderrRing::Query().lines)},
       &Tools::show_stderr},
      {{.builtin = Builtin::rebuild,
        .offered = Offered::with_build,
        .name = "sitter_rebuild",
        .description = "Builds the server and reloads it. Returns the build's errors and which "
                       "tools changed.",
        .properties = fmt::format(
            R"json("mode":{{"enum":["swap","kill-first"],"description":)json"
            R"json("swap (default): the old server serves until the new one is ready; )json"
            R"json(kill-first: for a locked binary or a held port"}},)json"
            R"json("timeout_seconds":{{"type":"integer","default":{},"description":)json"
            R"json("for the build"}})json",
            limits::kBuildSecondsDefault),
        .changes_things = true},
       &Tools::rebuild},
      {{.builtin = Builtin::build_log,
        .offered = Offered::with_build,
        .name = "sitter_build_log",
        .description = "The output of the running or last build.",
        .properties = fmt::format(R"json("lines":{{"type":"integer","default":{}}},)json"
                                  R"json("grep":{{"type":"string","description":"RE2"}})json",
                                  StderrRing::Query().lines)},
       &Tools::show_build_log},
      {{.builtin = Builtin::call,
        .offered = Offered::on_demand,
        .name = "sitter_call",
        .description =
            "Calls a tool of the server that is not in your list because it was added later.",
        .properties = R"json("tool":{"type":"string"},"arguments":{"type":"object"})json",
        .required = R"json("tool")json",
        .changes_things = true,
        .is_idempotent = false}},
  };
  return kRows;
}

std::string_view plain_name(Builtin builtin) { return Tools::definition(builtin).name; }

bool is_for_builds(Builtin builtin) {
  return Tools::definition(builtin).offered == Offered::with_build;
}

const Tools::Row& Tools::row_of(Builtin builtin) {
  return *std::find_if(rows().begin(), rows().end(),
                       [&](const Row& row) { return row.tool.builtin == builtin; });
}

const BuiltinTool& Tools::definition(Builtin builtin) { return row_of(builtin).tool; }

BuiltinNames Tools::names(const BridgeConfig& config) {
  std::vector<BuiltinTool> tools;
  for (const Row& row : rows()) tools.push_back(row.tool);
  BuiltinNames names(std::move(tools), config);
  if (config.call_tool == BridgeConfig::CallTool::on) names.offer(Builtin::call);
  return names;
}

Tools::Tools(const BridgeConfig& config, const Ending& ending, const Now& now, Orders& out,
             Desk& desk, Servers& servers, Rebuilds& rebuilds, News& news)
    : config_(config),
      ending_(ending),
      now_(now),
      begun_(now),
      out_(out),
      desk_(desk),
      servers_(servers),
      rebuilds_(rebuilds),
      news_(news) {}

void Tools::on_call(ClientRequest& request, Builtin builtin, const Message& message) {
  desk_.requests().mark_ours(request);
  if (message.params.has_task) {
    desk_.answer_error(request, ErrorCode::method_not_found,
                       fmt::format("{} can't be run as a task", desk_.names().name(builtin)));
    return;
  }
  run(request, builtin, member(message.params_raw, "arguments"));
}

void Tools::run(ClientRequest& request, Builtin builtin, std::string_view arguments) {
  (this->*row_of(builtin).run)(request, arguments);
}

// ---- the tools

/// The arguments if they are valid. Otherwise the request is answered, and the result is null.
template <class Parsed>
auto Tools::valid(ClientRequest& request, const Parsed& parsed) {
  if (const auto* const error = std::get_if<ArgumentError>(&parsed)) {
    desk_.answer_tool_text(request, *error, true);
  }
  return std::get_if<0>(&parsed);
}

void Tools::show_status(ClientRequest& request, std::string_view arguments) {
  look(request, arguments, Purpose::status);
}

void Tools::show_binary(ClientRequest& request, std::string_view arguments) {
  look(request, arguments, Purpose::binary_info);
}

void Tools::look(ClientRequest& request, std::string_view arguments, Purpose purpose) {
  const auto parsed = parse_no_arguments(arguments);
  if (valid(request, parsed) == nullptr) return;
  // A mended server is started first, so that the status says so.
  servers_.start_if_mended(news_.has_tools());
  servers_.inspect(purpose, request.handle());
}

void Tools::kill(ClientRequest& request, std::string_view arguments) {
  const auto parsed = parse_kill_arguments(arguments);
  const KillArguments* const wanted = valid(request, parsed);
  if (wanted == nullptr) return;
  // `ctl kill PID` means the server of that mcp-sitter.
  if (request.is_control() && servers_.generations().is_empty() &&
      wanted->scope == KillScope::automatic) {
    return begin_kill(request, {KillScope::child, wanted->restart});
  }
  if (wanted->scope == KillScope::same_executable && !config_.allows_wide_kill) {
    // First the bridge finds out which foreign processes this kill would end.
    request.more().restarts = wanted->restart;
    servers_.inspect(Purpose::kill_check, request.handle());
  } else {
    begin_kill(request, *wanted);
  }
}

void Tools::show_stderr(ClientRequest& request, std::string_view arguments) {
  const auto parsed = parse_stderr_arguments(arguments);
  const StderrRing::Query* const query = valid(request, parsed);
  if (query == nullptr) return;
  const auto [text, is_error] = servers_.ring().text(*query);
  const bool is_client = !request.is_control();
  desk_.answer_tool_text(request, text, is_error);
  if (is_client) servers_.start_if_mended(news_.has_tools());
}

void Tools::rebuild(ClientRequest& request, std::string_view arguments) {
  const auto parsed = parse_rebuild_arguments(arguments);
  if (const RebuildArguments* const wanted = valid(request, parsed)) {
    rebuilds_.call(request, *wanted);
  }
}

void Tools::reload(ClientRequest& request, std::string_view arguments) {
  const auto parsed = parse_rebuild_arguments(arguments);
  const RebuildArguments* const wanted = valid(request, parsed);
  if (wanted == nullptr) return;
  if (ending_.is_none()) {
    rebuilds_.reload({"ctl reload", *wanted}, &request);
  } else {
    desk_.answer_error(request, ErrorCode::internal_error, "mcp-sitter is ending");
  }
}

void Tools::show_build_log(ClientRequest& request, std::string_view arguments) {
  const auto parsed = parse_build_log_arguments(arguments);
  if (const StderrRing::Query* const query = valid(request, parsed)) {
    const StderrRing::Answer shown = rebuilds_.build_log(*query);
    desk_.answer_tool_text(request, shown.text, shown.is_error);
  }
}

// ---- a call that is passed on

std::optional<OwnedLine> Tools::passed_call(ClientRequest& request, const Message& message,
                                            Line line) {
  const auto [name, arguments] = members<2>(message.params_raw, {"name", "arguments"});
  const auto parsed = parse_call_arguments(arguments);
  const auto* const call = std::get_if<CallArguments>(&parsed);
  const std::string wrong = call == nullptr ? std::get<ArgumentError>(parsed) : wrong_call(*call);
  if (!wrong.empty()) {
    desk_.requests().mark_ours(request);
    desk_.answer_failure(request, ErrorCode::invalid_params, wrong);
    return std::nullopt;
  }
  request.tool = call->tool;
  request.more().is_passed_call = true;
  Edits edits(line);
  edits.replace(name, json_string(call->tool));
  edits.replace(arguments, call->arguments);
  return OwnedLine(edits.apply());
}

bool Tools::refuse_waiting_call(ClientRequest& request, const Message& message) {
  if (!request.extra || !request.extra->is_passed_call) return false;
  const std::string wrong =
      wrong_call({request.tool, std::string(member(message.params_raw, "arguments"))});
  if (!wrong.empty()) desk_.answer_failure(request, ErrorCode::invalid_params, wrong);
  return !wrong.empty();
}

/// What is wrong with the call, as far as the last list of the tools shows; empty if nothing is
/// wrong.
std::string Tools::wrong_call(const CallArguments& call) {
  if (desk_.names().find(call.tool)) {
    return fmt::format("{} is a tool of mcp-sitter: call it directly", brief(call.tool, 100));
  }
  // Without a complete list of a child that serves, only the server itself knows its tools.
  const Child* const child = servers_.generations().serving();
  if (child == nullptr || child->lists != Child::Lists::with_tools) return {};
  return complaint_about(call, news_.catalogs().tools());
}

// ---- what waits for a look or for the end of the children

void Tools::on(const fact::BinaryInspected& fact) {
  const Look& look = fact.look;
  ClientRequest* const request = look.request ? desk_.requests().find(*look.request) : nullptr;
  switch (look.purpose) {
    case Purpose::status_for_log:
      out_.log(order::Log::Level::warn, status_text(status(true)));
      break;
    case Purpose::kill:
      if (servers_.killer().has_foreign()) {
        const auto& last = servers_.history().last_end();
        const bool was_ours = last && !last->is_foreign && servers_.traits().has_process;
        servers_.killer().add_note(was_ours && !fact.listening
                                       ? not_running_words()
                                       : foreign_kill_words(config_.url, fact.listening));
      }
      finish_kill();
      break;
    case Purpose::kill_check:
      if (request == nullptr) break;
      if (fact.shared) {
        desk_.answer_tool_text(*request, refusal_text(*fact.shared), true);
      } else if (!ending_.is_stopping()) {
        // The child has its own executable, so the sweep ends no other program.
        begin_kill(*request, {KillScope::same_file, request->extra->restarts});
      }
      break;
    case Purpose::status:
      if (request == nullptr) break;
      desk_.answer_tool_text(*request, status_text(status(request->is_control())), false);
      break;
    case Purpose::binary_info:
      if (request == nullptr) break;
      desk_.answer_tool_text(*request, binary_text(news_.binary(), now_.wall), false);
      break;
    case Purpose::notice:
    case Purpose::remember:
    case Purpose::rebuild:
      break;
  }
}

void Tools::kill_for(ClientRequest& request, std::int64_t sitter) {
  begin_kill(request, {KillScope::child},
             fmt::format("sitter_kill of another mcp-sitter (pid {})", sitter));
}

std::string Tools::not_running_words() const {
  const History& history = servers_.history();
  const auto& last = history.last_end();
  return last ? sitter::not_running_words(*last, now_.wall - *history.last_end_at())
              : sitter::not_running_words();
}

void Tools::begin_kill(ClientRequest& request, const KillArguments& wanted, std::string cause) {
  Generations& generations = servers_.generations();
  Killer& killer = servers_.killer();
  servers_.starts().cancel_restart();
  const bool had_left_process = servers_.has_left_process();
  servers_.take_back_process(desk_.names().name(Builtin::kill));
  // Only a running child shows which file is behind a wrapper.
  if (!killer.is_killing() && !generations.is_empty()) servers_.inspect(Purpose::remember);
  const bool finds_nothing = !killer.is_killing() && generations.is_empty() && !had_left_process;
  killer.begin({request.handle(), wanted.restart}, wanted.scope);
  if (finds_nothing && servers_.is_foreign(nullptr)) {
    killer.on_foreign();
  } else if (finds_nothing) {
    killer.add_note(not_running_words());
  }
  for (const Child& child : generations) {
    servers_.look_at_process(child);
    if (servers_.is_foreign(&child) && !had_left_process) killer.on_foreign();
  }
  ChildEnd end = servers_.end_for(EndReason::killed_by_sitter);
  end.why = !cause.empty()         ? std::move(cause)
            : request.is_control() ? "ctl kill"
                                   : desk_.names().name(Builtin::kill);
  // A build is about to follow, so no waiting request may start the server again.
  const Child* const shown = generations.shown();
  news_.answer_waiting(end, shown == nullptr ? "" : servers_.ring().last_words(shown->gen()));
  servers_.take_down_all(EndReason::killed_by_sitter, end.why);
  // The rebuild is given up after the children are taken down. Otherwise its new child would count
  // as replaced.
  rebuilds_.give_up(end.why);
}

void Tools::finish_kill() {
  auto path = news_.binary().path;
  if (!path && !config_.url.empty()) path = config_.url;
  const auto done = servers_.killer().finish(std::move(path));
  if (!done) return;
  const std::string text = kill_text(done->report);
  for (const Killer::Caller& caller : done->callers) {
    const ClientRequest* const request = desk_.requests().find(caller.request);
    if (caller.restarts && request != nullptr && ending_.is_none()) {
      rebuilds_.restart(*request, text);
    } else {
      desk_.answer_tool_text(caller.request, text, false);
    }
  }
}

// ---- the status

StatusFacts Tools::status(bool is_for_person) const {
  StatusFacts facts;
  static_cast<ClientStatus&>(facts) = desk_.status();
  static_cast<ServerStatus&>(facts) = servers_.status(is_for_person);
  static_cast<RebuildStatus&>(facts) = rebuilds_.status();
  static_cast<NewsStatus&>(facts) = news_.status();
  facts.child_command = config_.daemon_command.empty() ? config_.command : config_.daemon_command;
  facts.child_args = config_.arguments;
  if (!config_.working_directory.empty()) facts.working_directory = config_.working_directory;
  facts.sitter_uptime = std::chrono::duration_cast<Milliseconds>(now_.steady - begun_.steady);
  facts.sitter_version = config_.sitter_version;
  facts.stderr_tool =
      is_for_person ? "mcp-sitter ctl stderr" : desk_.names().name(Builtin::child_stderr);
  return facts;
}

}  // namespace sitter
