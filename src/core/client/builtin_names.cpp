#include "core/client/builtin_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/last_words.hpp"
#include "core/base/text.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// How much of the stderr, or of the build's output, the instructions quote if the bridge answers
/// an opening without a server. Instructions are part of every prompt, so they stay short.
constexpr std::size_t kOpeningQuoteMax = limits::kKiB;
constexpr std::size_t kOpeningLinesMax = 8;

}  // namespace

std::string BuiltinTool::definition(std::string_view offered_name, std::string_view after_edit,
                                    const ServerTraits& traits) const {
  std::string words(description);
  std::string_view taken = properties;
  if (!traits.starts_here && !of_foreign.empty()) {
    words = of_foreign;
  } else if (!traits.has_process && !of_tool.empty()) {
    words = of_tool;
    taken = {};
  } else {
    words += after_edit;
  }
  return fmt::format(
      R"json({{"name":{},"description":{},"inputSchema":{{"type":"object","properties":{{{}}}{}}},)json"
      R"json("annotations":{{"readOnlyHint":{},"destructiveHint":{},)json"
      R"json("idempotentHint":{},"openWorldHint":false}}}})json",
      json_string(offered_name), json_string(words), taken,
      required.empty() ? "" : fmt::format(R"json(,"required":[{}])json", required), !changes_things,
      changes_things, is_idempotent);
}

BuiltinNames::BuiltinNames(std::vector<BuiltinTool> tools, const BridgeConfig& config)
    : tools_(std::move(tools)),
      chosen_(config.tool_names),
      allowed_(config.tools),
      traits_(ServerTraits::of(config)),
      has_build_(!config.build_command.empty()),
      // Without --watch, a tool's own file and its description are watched.
      watches_sources_(!config.watch_patterns.empty() &&
                       (traits_.has_process || !config.watches_binary)),
      watches_binary_(config.watches_binary),
      needs_no_build_(config.needs_no_build) {
  for (const BuiltinTool& tool : tools_) {
    if (tool.offered == BuiltinTool::Offered::always ||
        (tool.offered == BuiltinTool::Offered::with_build && has_build_)) {
      offer(tool.builtin);
    }
  }
}

void BuiltinNames::offer(Builtin builtin) {
  if (offers(builtin) || !allowed_.contains(builtin)) return;
  const auto tool = std::find_if(tools_.begin(), tools_.end(),
                                 [&](const BuiltinTool& one) { return one.builtin == builtin; });
  const auto other = chosen_.find(builtin);
  const std::string wanted(other == chosen_.end() ? tool->name : other->second);
  offered_.push_back({&*tool, wanted, wanted});
}

bool BuiltinNames::offers(Builtin builtin) const { return !name(builtin).empty(); }

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
    return offered.tool->builtin == builtin;
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
    if (offered.name == name) return offered.tool->builtin;
  }
  return std::nullopt;
}

std::vector<std::string> BuiltinNames::definitions() const {
  std::vector<std::string> definitions;
  for (const Offered& offered : offered_) {
    const bool is_kill = offered.tool->builtin == Builtin::kill;
    definitions.push_back(
        offered.tool->definition(offered.name, is_kill ? kill_sentence() : "", traits_));
  }
  return definitions;
}

BuiltinNames::Edits BuiltinNames::edits() const {
  if (!traits_.starts_here) return Edits::restarted_elsewhere;
  // What builds the server by hand writes its file, which is watched too.
  const bool is_built_by_hand = !has_build_ && !needs_no_build_ && watches_binary_;
  if (watches_sources_ && (traits_.has_process || has_build_) && !is_built_by_hand) {
    return Edits::saved;
  }
  if (offers(Builtin::rebuild)) return Edits::rebuilt;
  if (!traits_.has_process) return Edits::in_next_call;
  if (watches_binary_) return Edits::built;
  return needs_no_build_ ? Edits::restarted : Edits::killed_and_built;
}

/// What the model does after an edit of the server.
std::string BuiltinNames::edit_sentences() const {
  const std::string kill = name(Builtin::kill);
  const std::string rebuild = name(Builtin::rebuild);
  switch (edits()) {
    case Edits::restarted_elsewhere:
      return fmt::format(" After an edit, {}; calls wait for it.", kRestartElsewhere);
    case Edits::in_next_call:
      return " Each call runs the tool anew, so an edit counts from the next call on.";
    case Edits::saved:
      if (!has_build_ && !needs_no_build_) {
        return " A change of a watched file restarts the server, but builds nothing: after an "
               "edit, build, and then restart it.";
      }
      return fmt::format(
          " A save {}restarts the server, and calls wait for the new code.{}",
          has_build_ ? "builds and " : "",
          rebuild.empty() ? "" : fmt::format(" {} builds at once and shows the errors.", rebuild));
    case Edits::built:
      if (needs_no_build_) {
        return " A save of the server's own file restarts it, and calls wait for the new code.";
      }
      return " After an edit, build: a new file of the server restarts it, and calls wait for it.";
    case Edits::rebuilt:
      return fmt::format(" After an edit, call {}; it builds and restarts the server.", rebuild);
    case Edits::restarted:
      if (kill.empty()) break;
      return fmt::format(
          R"( After an edit, call {} {{"restart": true}}; it starts the new code and says which )"
          "tools changed.",
          kill);
    case Edits::killed_and_built:
      if (kill.empty()) break;
      return fmt::format(
          " After an edit, call {} and build; the next call starts the new code, and so does "
          R"({} {{"restart": true}}, which says which tools changed.)",
          kill, kill);
  }
  return {};
}

/// What the description of sitter_kill says about an edit.
std::string BuiltinNames::kill_sentence() const {
  switch (edits()) {
    case Edits::saved:
      if (!has_build_ && !needs_no_build_) return " Restart it after a build.";
      [[fallthrough]];
    case Edits::built:
      return " Not needed after an edit: a change restarts the server.";
    case Edits::rebuilt:
      return fmt::format(" After an edit, call {} instead.", name(Builtin::rebuild));
    case Edits::restarted:
      return " After an edit, restart it.";
    case Edits::killed_and_built:
      return " Call it after an edit, or to unlock the binary.";
    case Edits::restarted_elsewhere:
    case Edits::in_next_call:
      break;
  }
  return {};
}

std::string BuiltinNames::old_code_hint() const {
  if (edits() == Edits::restarted_elsewhere) return kRestartElsewhere;
  if (edits() == Edits::in_next_call) return {};
  std::string tool = first_name({Builtin::rebuild, Builtin::kill});
  if (!tool.empty() && !offers(Builtin::rebuild)) tool += R"( {"restart": true})";
  return restart_clause(tool) + ", then call again";
}

std::string BuiltinNames::build_hint() const {
  if (offers(Builtin::rebuild)) return name(Builtin::rebuild) + " builds it";
  if (watches_binary_) return "build it, then call again";
  return "build it, " + old_code_hint();
}

std::string BuiltinNames::instructions() const {
  std::string text = "This server is under development behind mcp-sitter." + edit_sentences();
  const auto add = [&](Builtin builtin, std::string_view does) {
    if (offers(builtin)) text += fmt::format(" {}{}.", name(builtin), does);
  };
  if (!traits_.has_process) {
    add(Builtin::kill, " ends the calls that are running");
  } else if (edits() == Edits::saved || edits() == Edits::built) {
    add(Builtin::kill, " stops the server; no save starts it, the next call does");
  } else if (edits() == Edits::rebuilt) {
    add(Builtin::kill, " stops the server; the next call starts it again");
  }
  add(Builtin::status, " shows its state");
  add(Builtin::child_stderr, " shows its stderr");
  add(Builtin::binary_info, " shows its file");
  text += " Text in a result that begins with [mcp-sitter] reports restarts and crashes.";
  add(Builtin::call, " calls a tool that is not in your list");
  return text;
}

std::string BuiltinNames::instructions_without_server(std::string_view command,
                                                      std::string_view why,
                                                      std::string_view stderr_tail,
                                                      std::string_view build_output) const {
  std::string quote = " ";
  if (const auto lines = last_words(stderr_tail, kOpeningLinesMax); !lines.empty()) {
    quote =
        fmt::format("\nIts last words on stderr{}:\n{}\n", tool_hint(name(Builtin::child_stderr)),
                    shortened(fmt::format("{}", fmt::join(lines, "\n")), kOpeningQuoteMax));
  } else if (!build_output.empty()) {
    quote = fmt::format("\nOutput of the build{}:\n{}\n", tool_hint(name(Builtin::build_log)),
                        shortened(build_output, kOpeningQuoteMax));
  }
  return fmt::format(
      "The MCP server behind mcp-sitter ({}) is not available: {}.{}Its tools are missing until it "
      "is available. Fix the cause, and then {}. {}",
      brief(command, 200), why, quote, start_clause(), instructions());
}

/// What starts a server of which the client knows no tool.
std::string BuiltinNames::start_clause() const {
  if (offers(Builtin::rebuild)) {
    return fmt::format("call {}: it builds and starts the server", name(Builtin::rebuild));
  }
  const std::string shows =
      first_name({Builtin::status, Builtin::child_stderr, Builtin::binary_info});
  if (!shows.empty() && !traits_.starts_here) {
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
