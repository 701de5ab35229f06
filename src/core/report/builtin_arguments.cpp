#include "core/report/builtin_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/wire/json_view.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

/// How many lines of a build's output one call may ask for.
constexpr int kBuildLogShownMax = 20'000;

/// How much the answer to a wrong sitter_call shows of the schema of a tool, or of the names of all
/// tools: as much as a notice may have.
constexpr std::size_t kShownSchemaMax = 4 * limits::kKiB;

using nlohmann::json;

/// The bound for an argument's name in a complaint.
constexpr std::size_t kArgumentNameMax = 64;

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
    if (is_left_out(members_)) members_ = nullptr;
    if (members_.is_null()) return;
    if (!members_.is_object()) complain("arguments must be a valid JSON object");
  }

  void allow_only(std::initializer_list<std::string_view> names) {
    if (!members_.is_object()) return;
    for (const auto& [name, value] : members_.items()) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      complain(fmt::format("unknown argument {}; known: {}", brief(name, kArgumentNameMax),
                           fmt::join(names, ", ")));
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
  /// Some clients send every argument that the schema names.
  static bool is_left_out(const json& value) { return value.is_null() || value == ""; }

  const json* find(std::string_view name) const {
    if (!members_.is_object()) return nullptr;
    const auto found = members_.find(name);
    return found == members_.end() || is_left_out(*found) ? nullptr : &*found;
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

std::variant<KillArguments, ArgumentError> parse_kill_arguments(std::string_view raw) {
  Arguments arguments(raw);
  arguments.allow_only({"scope", "restart"});
  std::string scope = "auto";
  arguments.read_string("scope", scope);
  KillArguments kill;
  arguments.read_bool("restart", kill.restart);
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
  arguments.read_whole("lines", 1, kBuildLogShownMax, query.lines);
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
  const bool has_inner = is_there(inner) && inner != "\"\"";
  if (has_inner && !json::accept(inner)) arguments.complain("arguments is not valid JSON");
  if (has_inner && !is_object(inner)) arguments.complain("arguments must be an object");
  if (!arguments.error().empty()) return arguments.error();
  if (has_inner) call.arguments = inner;
  return call;
}

std::variant<NoArguments, ArgumentError> parse_no_arguments(std::string_view raw) {
  const Arguments arguments(raw);
  if (!arguments.error().empty()) return arguments.error();
  return NoArguments{};
}

std::string complaint_about(const CallArguments& call, const Catalog& tools) {
  const std::string tool = brief(call.tool, 100);
  const std::string_view item = tools.find(call.tool);
  if (item.empty()) {
    const std::string names = fmt::format("{}", fmt::join(tools.names(), ", "));
    return fmt::format("the server has no tool {}. It has{}", tool,
                       names.empty() ? " no tools" : ": " + brief(names, kShownSchemaMax));
  }
  const std::string_view schema = member(item, "inputSchema");
  for (const std::string_view required : json_elements(member(schema, "required"))) {
    if (!member(call.arguments, string_value(required)).empty()) continue;
    return fmt::format("{} needs the argument {}, which is missing. Its schema: {}", tool,
                       brief(required, 100), brief(schema, kShownSchemaMax));
  }
  return {};
}

}  // namespace sitter
