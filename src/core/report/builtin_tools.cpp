#include "core/report/builtin_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/child/stderr_ring.hpp"
#include "core/rebuild/rebuild.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// How much of the stderr, or of the build's output, the instructions quote if the bridge answers
/// an opening without a server. Instructions are part of every prompt, so they stay short.
constexpr std::size_t kOpeningQuoteMax = limits::kKiB;

struct Text {
  std::string_view description;
  /// Raw JSON.
  std::string properties;
  bool changes_things;
  /// Whether a second call changes nothing more.
  bool is_idempotent = true;
  /// Raw members that follow the properties in the schema.
  std::string_view more = {};
};

/// What sitter_kill does, where another tool is the first choice after an edit.
constexpr std::string_view kKillBesideRebuild =
    "Stops the server under development; the next request starts it.";

/// What sitter_kill does to a daemon that is not started here.
constexpr std::string_view kKillOfForeign =
    "Ends the session with the server under development, not the server, which was started "
    "elsewhere. The next request opens another session.";

/// What sitter_kill does to a tool that runs anew for each call.
constexpr std::string_view kKillOfTool =
    "Ends all running calls of the tool under development. The next call reads its description "
    "again.";

const Text& text_of(Builtin builtin) {
  static const Text kStatus = {
      "Whether the server under development runs, why it ended, how its tools changed.", "{}",
      false};
  static const Text kKill = {
      "Stops the server under development: after an edit, or to unlock its binary. The next "
      "request "
      "starts it.",
      R"json({"scope":{"enum":["auto","child","same-executable"],"description":)json"
      R"json("auto also stops other processes of the server's file; same-executable also those of )json"
      R"json(a shared interpreter, if the user allows it"}})json",
      true};
  static const Text kBinaryInfo = {
      "The server's file: path, size, build time, version, whether the running server is older.",
      "{}", false};
  static const Text kChildStderr = {
      "The server's newest stderr lines, also from before restarts. [stdout] marks stray stdout.",
      fmt::format(R"json({{"lines":{{"type":"integer","default":{}}},"since_spawn":)json"
                  R"json({{"type":"boolean"}},"grep":{{"type":"string","description":"RE2"}},)json"
                  R"json("generation":{{"type":"integer"}}}})json",
                  StderrRing::Query().lines),
      false};
  static const Text kRebuild = {
      "Builds the server and replaces the running one. Returns the build's errors and which tools "
      "changed.",
      fmt::format(
          R"json({{"mode":{{"enum":["swap","kill-first"],"description":)json"
          R"json("swap (default): the old server serves until the new one is ready; )json"
          R"json(kill-first: for a locked binary or a held port"}},)json"
          R"json("timeout_seconds":{{"type":"integer","default":{},"description":"for the build"}}}})json",
          limits::kBuildSecondsDefault),
      true};
  static const Text kBuildLog = {
      "The output of the running or last build.",
      fmt::format(R"json({{"lines":{{"type":"integer","default":{}}},)json"
                  R"json("grep":{{"type":"string","description":"RE2"}}}})json",
                  StderrRing::Query().lines),
      false};
  static const Text kCall = {
      "Calls a tool of the server that is not in your list because it was added later.",
      R"json({"tool":{"type":"string"},"arguments":{"type":"object"}})json", true, false,
      R"json(,"required":["tool"])json"};
  switch (builtin) {
    case Builtin::status:
      return kStatus;
    case Builtin::kill:
      return kKill;
    case Builtin::binary_info:
      return kBinaryInfo;
    case Builtin::child_stderr:
      return kChildStderr;
    case Builtin::rebuild:
      return kRebuild;
    case Builtin::build_log:
      return kBuildLog;
    case Builtin::call:
      return kCall;
  }
  assert(false);
  return kStatus;
}

}  // namespace

std::string_view plain_name(Builtin builtin) {
  switch (builtin) {
    case Builtin::status:
      return "sitter_status";
    case Builtin::kill:
      return "sitter_kill";
    case Builtin::binary_info:
      return "sitter_binary_info";
    case Builtin::child_stderr:
      return "sitter_child_stderr";
    case Builtin::rebuild:
      return "sitter_rebuild";
    case Builtin::build_log:
      return "sitter_build_log";
    case Builtin::call:
      return "sitter_call";
  }
  assert(false);
  return {};
}

bool is_for_builds(Builtin builtin) {
  return builtin == Builtin::rebuild || builtin == Builtin::build_log;
}

std::string definition(Builtin builtin, std::string_view name, std::string_view rebuild,
                       ServerKind kind) {
  const Text& text = text_of(builtin);
  std::string description(text.description);
  std::string_view properties = text.properties;
  if (builtin == Builtin::kill && kind == ServerKind::elsewhere) {
    description = kKillOfForeign;
  } else if (builtin == Builtin::kill && kind == ServerKind::tool) {
    description = kKillOfTool;
    // A run belongs to its call, so nothing else is found by its file.
    properties = "{}";
  } else if (builtin == Builtin::kill && !rebuild.empty()) {
    description = fmt::format("{} After an edit, call {} instead.", kKillBesideRebuild, rebuild);
  }
  return fmt::format(
      R"json({{"name":{},"description":{},"inputSchema":{{"type":"object","properties":{}{}}},)json"
      R"json("annotations":{{"readOnlyHint":{},"destructiveHint":{},)json"
      R"json("idempotentHint":{},"openWorldHint":false}}}})json",
      json_string(name), json_string(description), properties, text.more, !text.changes_things,
      text.changes_things, text.is_idempotent);
}

BuiltinNames::BuiltinNames(bool has_build, std::map<Builtin, std::string> chosen,
                           std::set<Builtin> allowed, ServerKind kind)
    : chosen_(std::move(chosen)), allowed_(std::move(allowed)), kind_(kind) {
  for (const Builtin builtin : kBuiltins) {
    if (builtin != Builtin::call && (has_build || !is_for_builds(builtin))) offer(builtin);
  }
}

void BuiltinNames::offer(Builtin builtin) {
  if (offers(builtin) || !allowed_.contains(builtin)) return;
  const auto other = chosen_.find(builtin);
  const std::string wanted(other == chosen_.end() ? plain_name(builtin) : other->second);
  offered_.push_back({builtin, wanted, wanted});
}

bool BuiltinNames::offers(Builtin builtin) const {
  return std::any_of(offered_.begin(), offered_.end(),
                     [&](const Offered& offered) { return offered.builtin == builtin; });
}

void BuiltinNames::make_way_for(std::span<const std::string> child_names) {
  for (Offered& offered : offered_) {
    offered.name = offered.wanted;
    while (std::find(child_names.begin(), child_names.end(), offered.name) != child_names.end()) {
      offered.name.insert(0, "outer_");
    }
  }
}

std::string BuiltinNames::name(Builtin builtin) const {
  const auto found = std::find_if(offered_.begin(), offered_.end(), [&](const Offered& offered) {
    return offered.builtin == builtin;
  });
  return found == offered_.end() ? "" : found->name;
}

std::string BuiltinNames::first_name(std::initializer_list<Builtin> builtins) const {
  for (const Builtin builtin : builtins) {
    if (offers(builtin)) return name(builtin);
  }
  return {};
}

std::optional<Builtin> BuiltinNames::find(std::string_view name) const {
  for (const Offered& offered : offered_) {
    if (offered.name == name) return offered.builtin;
  }
  return std::nullopt;
}

std::vector<std::string> BuiltinNames::definitions() const {
  std::vector<std::string> definitions;
  for (const Offered& offered : offered_) {
    definitions.push_back(definition(offered.builtin, offered.name, name(Builtin::rebuild), kind_));
  }
  return definitions;
}

std::string BuiltinNames::instructions() const {
  std::string text = "This server is under development behind mcp-sitter.";
  const auto add = [&](Builtin builtin, std::string_view before, std::string_view behind) {
    if (offers(builtin)) text += fmt::format(" {}{}{}.", before, name(builtin), behind);
  };
  add(Builtin::rebuild, "After an edit, call ", "; it builds and restarts the server");
  if (kind_ == ServerKind::elsewhere) {
    text += " After an edit, restart the server where it was started; calls wait for it.";
  } else if (kind_ == ServerKind::tool) {
    text += " Each call runs the tool anew, so an edit counts from the next call on.";
    add(Builtin::kill, "", " ends the calls that are running");
  } else if (offers(Builtin::rebuild)) {
    add(Builtin::kill, "", " stops the server; the next call starts it again");
  } else {
    add(Builtin::kill, "After an edit, call ", "; the next call starts the new code");
  }
  add(Builtin::status, "", " shows its state");
  add(Builtin::child_stderr, "", " shows its stderr");
  add(Builtin::binary_info, "", " shows its file");
  text += " Text in a result that begins with [mcp-sitter] reports restarts and crashes.";
  add(Builtin::call, "", " calls a tool that is not in your list");
  return text;
}

std::string BuiltinNames::instructions_without_server(std::string_view command,
                                                      std::string_view why,
                                                      std::string_view stderr_tail,
                                                      std::string_view build_output) const {
  std::string last_words = " ";
  if (!stderr_tail.empty()) {
    last_words =
        fmt::format("\nIts last words on stderr{}:\n{}\n", tool_hint(name(Builtin::child_stderr)),
                    shortened(stderr_tail, kOpeningQuoteMax));
  } else if (!build_output.empty()) {
    last_words = fmt::format("\nOutput of the build{}:\n{}\n", tool_hint(name(Builtin::build_log)),
                             shortened(build_output, kOpeningQuoteMax));
  }
  return fmt::format(
      "The MCP server behind mcp-sitter ({}) is not available: {}.{}Its tools are missing until it "
      "is available. Fix the cause, and then {}. {}",
      brief(command, 200), why, last_words, start_clause(), instructions());
}

/// What starts a server of which the client knows no tool.
std::string BuiltinNames::start_clause() const {
  if (offers(Builtin::rebuild)) {
    return fmt::format("call {}: it builds and starts the server", name(Builtin::rebuild));
  }
  const std::string shows =
      first_name({Builtin::status, Builtin::child_stderr, Builtin::binary_info});
  if (!shows.empty() && kind_ == ServerKind::elsewhere) {
    return fmt::format("call {}: it tries again to open the session", shows);
  }
  if (!shows.empty()) {
    return fmt::format("call {}: it starts the server if the server's files have changed", shows);
  }
  if (offers(Builtin::call)) {
    return fmt::format("call {}: it starts the server", name(Builtin::call));
  }
  return "ask the user to start the server (mcp-sitter ctl reload)";
}

std::string BuiltinNames::instructions_while_starting(std::string_view command,
                                                      std::string_view why) const {
  const std::string status = name(Builtin::status);
  return fmt::format(
      "The MCP server behind mcp-sitter ({}) is not ready: {}. Wait{}: the server's tools appear "
      "by themselves when it is ready. {}",
      brief(command, 200), why, status.empty() ? "" : fmt::format(", and then call {}", status),
      instructions());
}

}  // namespace sitter
