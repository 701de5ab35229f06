#include "core/tell/builtin_tools.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/wire/json_view.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

using nlohmann::json;

/// The bound for an argument's name in a complaint.
constexpr std::size_t kNameBytesMax = 64;

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

const Text& text_of(Builtin builtin) {
  static const Text kStatus = {
      "State of the MCP server under development: whether it runs, its pid, how often it was "
      "started, why it last ended, how its tools changed, requests in flight.",
      "{}", false};
  static const Text kKill = {
      "Stops the MCP server under development with all its descendants, so that it can be rebuilt "
      "and its binary is unlocked. The next request starts it again.",
      R"json({"scope":{"type":"string","enum":["auto","child","same-executable"],"default":"auto",)json"
      R"json("description":"auto: also stops other processes that run the server's own file; child: stops no other process. )json"
      R"json(same-executable: if that file is an interpreter or shell, also stops unrelated processes that run it; )json"
      R"json(refused unless the user has allowed it."}})json",
      true};
  static const Text kBinaryInfo = {
      "The file of the MCP server under development: path, size, time of build, version, and "
      "whether the running server is older than the file.",
      "{}", false};
  static const Text kChildStderr = {
      "The newest lines that the MCP server under development wrote to stderr, also before its "
      "last restarts. Lines on its stdout that were not MCP messages are marked [stdout].",
      fmt::format(R"json({{"lines":{{"type":"integer","minimum":1,"maximum":{},"default":{},)json",
                  limits::kShownLinesMax, StderrRing::Query().lines) +
          R"json("description":"How many of the newest matching lines."},)json"
          R"json("since_spawn":{"type":"boolean","default":false,)json"
          R"json("description":"Only lines since the last start."},)json"
          R"json("grep":{"type":"string","description":"Only lines that match this pattern (RE2 syntax)."},)json"
          R"json("generation":{"type":"integer","minimum":1,)json"
          R"json("description":"Only lines of the server with this spawn number."}})json",
      false};
  static const Text kRebuild = {
      "Builds the MCP server under development and replaces the running server with the new one, "
      "in one call. Returns what the build wrote, whether it succeeded, and which tools changed.",
      fmt::format(
          R"json({{"mode":{{"type":"string","enum":["swap","kill-first"],"default":"swap",)json"
          R"json("description":"swap: the running server serves until the new one is ready, and goes on if that fails. )json"
          R"json(kill-first: the running server is stopped before the build, for a locked binary or a held port."}},)json"
          R"json("timeout_seconds":{{"type":"integer","minimum":1,"maximum":{},"default":{},)json"
          R"json("description":"How long to wait for the build, which is stopped when nobody waits any more."}}}})json",
          limits::kBuildSecondsMax, limits::kBuildSecondsDefault),
      true};
  static const Text kBuildLog = {
      "The output of the last build of the MCP server under development, or of the build that is "
      "running.",
      fmt::format(
          R"json({{"lines":{{"type":"integer","minimum":1,"maximum":{},"default":{},)json"
          R"json("description":"How many of the last matching lines."}},)json"
          R"json("grep":{{"type":"string","description":"Only lines that match this pattern (RE2 syntax)."}}}})json",
          limits::kBuildLogShownMax, StderrRing::Query().lines),
      false};
  static const Text kCall = {
      "Calls a tool of the MCP server under development that you cannot see, because it was added "
      "after the tools were listed. Returns what that tool returns. Call the tools "
      "that you can see directly.",
      R"json({"tool":{"type":"string","description":"The name of the tool."},)json"
      R"json("arguments":{"type":"object","description":"The arguments of the tool."}})json",
      true, false, R"json("required":["tool"],)json"};
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

bool is_for_builds(Builtin builtin) {
  return builtin == Builtin::rebuild || builtin == Builtin::build_log;
}

/// Reads the members one after the other and keeps the first complaint.
class Arguments {
 public:
  explicit Arguments(std::string_view raw) {
    if (raw.empty()) return;
    if (raw.size() > limits::kArgumentsBytesMax) {
      complain(fmt::format("arguments are larger than {} bytes", limits::kArgumentsBytesMax));
      return;
    }
    members_ = json::parse(raw.begin(), raw.end(), nullptr, false);
    if (members_.is_null()) return;
    if (!members_.is_object()) complain("arguments must be a valid JSON object");
  }

  void allow_only(std::initializer_list<std::string_view> names) {
    if (!members_.is_object()) return;
    for (const auto& [name, value] : members_.items()) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      complain(fmt::format("unknown argument {}; known: {}", brief(name, kNameBytesMax),
                           names.size() == 0 ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    }
  }

  template <typename Value>
  void read_whole(std::string_view name, std::int64_t min, std::int64_t max, Value& value) {
    const json* member = find(name);
    if (!member) return;
    const auto number = whole(*member);
    if (number && *number >= min && *number <= max) {
      value = static_cast<Value>(*number);
    } else {
      complain(fmt::format("{} must be a whole number from {} to {}", name, min, max));
    }
  }

  void read_bool(std::string_view name, bool& value) {
    const json* member = find(name);
    if (!member) return;
    if (member->is_boolean()) {
      value = member->get<bool>();
    } else if (*member == "true" || *member == "false") {
      value = *member == "true";
    } else {
      complain(fmt::format("{} must be true or false", name));
    }
  }

  void read_string(std::string_view name, std::string& value) {
    const json* member = find(name);
    if (!member) return;
    if (member->is_string()) {
      value = member->get<std::string>();
    } else {
      complain(fmt::format("{} must be a string", name));
    }
  }

  void complain(std::string sentence) {
    if (error_.empty()) error_ = std::move(sentence);
  }

  const std::string& error() const { return error_; }

 private:
  /// Null counts as left out, because some clients send every argument that the schema names.
  const json* find(std::string_view name) const {
    if (!members_.is_object()) return nullptr;
    const auto found = members_.find(name);
    return found == members_.end() || found->is_null() ? nullptr : &*found;
  }

  static std::optional<std::int64_t> whole(const json& value) {
    if (value.is_number_unsigned()) {
      const auto number = value.get<std::uint64_t>();
      if (number > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
      return static_cast<std::int64_t>(number);
    }
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number_float()) {
      constexpr double kExactMax = 9007199254740992.0;
      const double number = value.get<double>();
      if (std::trunc(number) != number || std::abs(number) > kExactMax) return std::nullopt;
      return static_cast<std::int64_t>(number);
    }
    if (!value.is_string()) return std::nullopt;
    const json inner = json::parse(value.get<std::string>(), nullptr, false);
    return inner.is_number() ? whole(inner) : std::nullopt;
  }

  json members_;
  std::string error_;
};

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

std::string definition(Builtin builtin, std::string_view name) {
  const Text& text = text_of(builtin);
  return fmt::format(
      R"json({{"name":{},"description":{},"inputSchema":{{"type":"object","properties":{},{})json"
      R"json("additionalProperties":false}},"annotations":{{"readOnlyHint":{},"destructiveHint":{},)json"
      R"json("idempotentHint":{},"openWorldHint":false}}}})json",
      json_string(name), json_string(text.description), text.properties, text.more,
      !text.changes_things, text.changes_things, text.is_idempotent);
}

BuiltinNames::BuiltinNames(bool has_build, std::map<Builtin, std::string> chosen)
    : chosen_(std::move(chosen)) {
  for (const Builtin builtin : kBuiltins) {
    if (builtin != Builtin::call && (has_build || !is_for_builds(builtin))) offer(builtin);
  }
}

void BuiltinNames::offer(Builtin builtin) {
  if (offers(builtin)) return;
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
  return found == offered_.end() ? std::string(plain_name(builtin)) : found->name;
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
    definitions.push_back(definition(offered.builtin, offered.name));
  }
  return definitions;
}

std::string BuiltinNames::instructions() const {
  return fmt::format(
      "This server is under development and runs behind mcp-sitter. {}{} stops it for a rebuild; "
      "the next call starts it again. {}, {} and {} show its state, its stderr and its file. Text "
      "in a result that begins with [mcp-sitter] reports restarts and crashes.{}",
      offers(Builtin::rebuild) ? name(Builtin::rebuild) + " builds and restarts it. " : "",
      name(Builtin::kill), name(Builtin::status), name(Builtin::child_stderr),
      name(Builtin::binary_info),
      offers(Builtin::call)
          ? fmt::format(" {} calls a tool that is not in your list.", name(Builtin::call))
          : "");
}

std::string BuiltinNames::instructions_without_server(std::string_view command,
                                                      std::string_view why,
                                                      std::string_view stderr_tail) const {
  const std::string last_words =
      stderr_tail.empty() ? " "
                          : fmt::format("\nIts last words on stderr:\n{}\n",
                                        shortened(stderr_tail, limits::kOpeningStderrMax));
  return fmt::format(
      "The MCP server behind mcp-sitter ({}) is not available: {}.{}Its tools are missing until it "
      "is available. Read the reason with {} and {}, fix the cause, and then call {}: this call "
      "starts the server if the server's files have changed, and any other request starts it in "
      "any case. {}",
      brief(command, 200), why, last_words, name(Builtin::status), name(Builtin::child_stderr),
      name(Builtin::status), instructions());
}

std::variant<KillArguments, ArgumentError> parse_kill_arguments(std::string_view raw) {
  Arguments arguments(raw);
  arguments.allow_only({"scope"});
  std::string scope = "auto";
  arguments.read_string("scope", scope);
  KillArguments kill;
  if (scope == "child") {
    kill.scope = KillScope::child;
  } else if (scope == "same-executable") {
    kill.scope = KillScope::same_executable;
  } else if (scope != "auto") {
    arguments.complain("scope must be auto, child or same-executable");
  }
  if (!arguments.error().empty()) return arguments.error();
  return kill;
}

std::variant<StderrRing::Query, ArgumentError> parse_stderr_arguments(std::string_view raw) {
  Arguments arguments(raw);
  arguments.allow_only({"lines", "since_spawn", "grep", "generation"});
  StderrRing::Query query;
  arguments.read_whole("lines", 1, limits::kShownLinesMax, query.lines);
  arguments.read_bool("since_spawn", query.since_spawn);
  arguments.read_string("grep", query.grep);
  Generation gen = kNoGeneration;
  arguments.read_whole("generation", 1, std::numeric_limits<Generation>::max(), gen);
  if (gen != kNoGeneration) query.generation = gen;
  if (!arguments.error().empty()) return arguments.error();
  return query;
}

std::variant<RebuildArguments, ArgumentError> parse_rebuild_arguments(std::string_view raw) {
  Arguments arguments(raw);
  arguments.allow_only({"mode", "timeout_seconds"});
  std::string mode = "swap";
  arguments.read_string("mode", mode);
  RebuildArguments rebuild;
  if (mode == "kill-first") {
    rebuild.mode = RebuildMode::kill_first;
  } else if (mode != "swap") {
    arguments.complain("mode must be swap or kill-first");
  }
  int seconds = limits::kBuildSecondsDefault;
  arguments.read_whole("timeout_seconds", 1, limits::kBuildSecondsMax, seconds);
  rebuild.timeout = std::chrono::seconds(seconds);
  if (!arguments.error().empty()) return arguments.error();
  return rebuild;
}

std::variant<StderrRing::Query, ArgumentError> parse_build_log_arguments(std::string_view raw) {
  Arguments arguments(raw);
  arguments.allow_only({"lines", "grep"});
  StderrRing::Query query;
  arguments.read_whole("lines", 1, limits::kBuildLogShownMax, query.lines);
  arguments.read_string("grep", query.grep);
  if (!arguments.error().empty()) return arguments.error();
  return query;
}

std::variant<CallArguments, ArgumentError> parse_call_arguments(std::string_view raw) {
  // The arguments are kept as they were written, because they go on to the server. They may be as
  // large as the server allows.
  std::string_view inner = member(raw, "arguments");
  std::string outer(raw);
  if (!inner.empty()) {
    outer.replace(static_cast<std::size_t>(inner.data() - raw.data()), inner.size(), "{}");
  }
  Arguments arguments(outer);
  arguments.allow_only({"tool", "arguments"});
  CallArguments call;
  arguments.read_string("tool", call.tool);
  if (call.tool.empty()) arguments.complain("tool must be the name of a tool of the server");
  const std::string decoded = string_value(inner);
  // Some models put the object into a string.
  if (is_object(decoded)) inner = decoded;
  const bool is_left_out = inner.empty() || inner == "null";
  if (!is_left_out && !json::accept(inner)) arguments.complain("arguments is not valid JSON");
  if (!is_left_out && !is_object(inner)) arguments.complain("arguments must be an object");
  if (!arguments.error().empty()) return arguments.error();
  if (!is_left_out) call.arguments = inner;
  return call;
}

std::variant<NoArguments, ArgumentError> parse_no_arguments(std::string_view raw) {
  Arguments arguments(raw);
  arguments.allow_only({});
  if (!arguments.error().empty()) return arguments.error();
  return NoArguments{};
}

std::string complaint_about(const CallArguments& call, const Catalog& tools) {
  const std::string tool = brief(call.tool, 100);
  for (const std::string_view item : tools.items()) {
    const auto [name, schema] = members<2>(item, {"name", "inputSchema"});
    if (string_value(name) != call.tool) continue;
    for (const std::string_view required : json_elements(member(schema, "required"))) {
      if (!member(call.arguments, string_value(required)).empty()) continue;
      return fmt::format("{} needs the argument {}, which is missing. Its schema: {}", tool,
                         brief(required, 100), brief(schema, limits::kShownSchemaMax));
    }
    return {};
  }
  return fmt::format(
      "the server has no tool {}. It has: {}", tool,
      brief(fmt::format("{}", fmt::join(tools.names(), ", ")), limits::kShownSchemaMax));
}

}  // namespace sitter
