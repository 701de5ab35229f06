#include "options/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/base/text.hpp"
#include "core/tool_server/cli_server.hpp"
#include "io/process/end_words.hpp"
#include "io/process/runners.hpp"
#include "io/system/environment.hpp"
#include "io/system/platform.hpp"
#include "options/http_options.hpp"
#include "options/raw_options.hpp"
#include "options/suggestion.hpp"
#include "sitter/version.hpp"

namespace sitter {
namespace {

constexpr int kUsageError = 2;

constexpr std::string_view kToolPrefix = "sitter_";

/// A sentence of the parser, which may hold a wrong value, is shown up to this length.
constexpr std::size_t kSentenceShownMax = 500;

constexpr std::string_view kBefore = "mcp-sitter: ";
constexpr std::string_view kBehind = "; see mcp-sitter --help\n";

Refusal usage_error(std::string_view what) {
  return {fmt::format("{}{}{}", kBefore, one_line(what), kBehind), kUsageError};
}

Log::Options log_options(const RawOptions& raw) {
  static const std::map<std::string, order::Log::Level> levels = {
      {"trace", order::Log::Level::debug}, {"debug", order::Log::Level::debug},
      {"info", order::Log::Level::info},   {"warn", order::Log::Level::warn},
      {"error", order::Log::Level::error}, {"off", order::Log::Level::error}};
  return {levels.at(raw.log_level), raw.log_level == "off", raw.log_level == "trace", raw.log_file};
}

/// The built-in tool with this name, with or without the prefix.
std::optional<Builtin> builtin_named(std::string_view name) {
  const auto known = std::find_if(kBuiltins.begin(), kBuiltins.end(), [&](Builtin builtin) {
    return plain_name(builtin) == name ||
           plain_name(builtin) == fmt::format("{}{}", kToolPrefix, name);
  });
  return known == kBuiltins.end() ? std::nullopt : std::optional(*known);
}

/// The built-in tools that are to be offered, or a mistake in their choice.
std::variant<std::set<Builtin>, Refusal> tools(const RawOptions& raw) {
  std::set<Builtin> tools(kBuiltins.begin(), kBuiltins.end());
  if (raw.tools.empty()) return tools;
  tools.clear();
  for (const std::string& name : raw.tools) {
    const auto builtin = builtin_named(name);
    if (!builtin)
      return usage_error(fmt::format("--tools: there is no tool {}", shown_value(name)));
    if (is_for_builds(*builtin) && raw.build.empty()) {
      return usage_error(fmt::format("--tools: {} needs --build: add it, or leave the tool out",
                                     plain_name(*builtin)));
    }
    if (*builtin == Builtin::call && raw.call_tool == "off") {
      return usage_error(
          fmt::format("--tools: {} is not offered with --call-tool off: leave out one of them",
                      plain_name(*builtin)));
    }
    tools.insert(*builtin);
  }
  return tools;
}

/// The chosen names of built-in tools, or a mistake in them.
std::variant<std::map<Builtin, std::string>, Refusal> tool_names(const RawOptions& raw) {
  std::map<Builtin, std::string> chosen;
  for (const std::string& pair : raw.tool_names) {
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos) {
      return usage_error(fmt::format("--tool-name: {} is not TOOL=NAME, as in rebuild=recompile",
                                     shown_value(pair)));
    }
    const std::string tool = pair.substr(0, equals);
    const std::string name = pair.substr(equals + 1);
    const auto known = builtin_named(tool);
    if (!known) {
      return usage_error(fmt::format("--tool-name: there is no tool {}", shown_value(tool)));
    }
    // Every revision of the protocol allows these names.
    const bool is_good = !name.empty() && name.size() <= kNameMax &&
                         name.find_first_not_of(kNameCharacters) == name.npos;
    if (!is_good) {
      return usage_error(fmt::format(
          "--tool-name: {} is not a valid name for a tool: 1 to {} letters, digits, _, - or .",
          shown_value(name), kNameMax));
    }
    chosen[*known] = name;
  }
  std::set<std::string> names;
  for (const Builtin builtin : kBuiltins) {
    const auto other = chosen.find(builtin);
    const std::string name(other == chosen.end() ? plain_name(builtin) : other->second);
    if (!names.insert(name).second) {
      return usage_error(fmt::format("--tool-name: two tools would be called '{}'", name));
    }
  }
  return chosen;
}

/// Removes the full stop that the parser writes.
std::string sentence(const std::string& text) {
  std::string line = brief(text, kSentenceShownMax);
  while (!line.empty() && (line.back() == ' ' || line.back() == '.')) line.pop_back();
  return line;
}

/// The options that were given.
struct Given {
  bool has(std::string_view name) const { return names.contains(name); }

  std::set<std::string, std::less<>> names;
  /// The number of words that they and their values take.
  std::size_t words = 0;
};

Refusal path_of_program() {
  const std::string path = platform::own_program();
  if (!path.empty()) return {path + "\n", 0};
  return {fmt::format("{}the system does not tell the path of this program\n", kBefore), 1};
}

/// Reads the options at the beginning of the words into `raw`.
std::variant<Given, Refusal, HelpAsked> read_options(const std::vector<std::string>& words,
                                                     RawOptions& raw) {
  Given given;
  // A start without options need not wait until all of them are declared.
  const bool has_options =
      !words.empty() && words.front() != "--" && words.front().starts_with('-');
  if (!has_options) return given;
  CLI::App app;
  declare_options(app, raw);
  const auto split = split_options(app, words);
  if (const auto* const wrong = std::get_if<std::string>(&split)) return usage_error(*wrong);
  for (const auto& option : std::get<std::vector<GivenOption>>(split)) {
    given.words += option.words.size();
  }

  // The parser expects its words in reverse order.
  std::vector<std::string> ours(words.begin(),
                                words.begin() + static_cast<std::ptrdiff_t>(given.words));
  std::reverse(ours.begin(), ours.end());
  try {
    app.parse(std::move(ours));
  } catch (const CLI::CallForHelp&) {
    return HelpAsked{};
  } catch (const CLI::CallForVersion&) {
    return Refusal{fmt::format("mcp-sitter {}\n", kVersion), 0};
  } catch (const CLI::ParseError& error) {
    return usage_error(sentence(complaint_of(error)));
  }
  if (raw.where) return path_of_program();
  for (const CLI::Option* const option : app.get_options()) {
    if (option->count() > 0) given.names.insert(option->get_name());
  }
  if (given.has("--http") && given.has("--http-env")) {
    return usage_error("--http and --http-env name two servers: leave out one of them");
  }
  // From here on, they say the same.
  if (given.has("--http-env")) given.names.emplace("--http");
  return given;
}

/// What is wrong with the options beside each other; empty if nothing is.
std::string wrong_combination(const Given& given, const std::vector<std::string>& command) {
  const bool has_command = !command.empty() && !command.front().empty();
  if (given.has("--http")) {
    if (given.has("--cli")) return "--http and --cli name two servers: leave out one of them";
    if (has_command) return {};
    for (const char* const name : {"--build", "--watch", "--watch-binary", "--own-daemon", "--cwd",
                                   "--env", "--env-file", "--debug-wait"}) {
      if (!given.has(name)) continue;
      return fmt::format("{} needs a command that starts the daemon: put it after --", name);
    }
    return {};
  }
  if (given.has("--cli")) {
    if (has_command) {
      return "--cli names the tool itself, and no command may follow; an argument that each call "
             "needs is put after the tool, as in --cli 'python3 notes.py'";
    }
    if (given.has("--debug-wait")) return "--debug-wait is for a server, and --cli names a tool";
    if (given.has("--schema-args") && given.has("--schema-file")) {
      return "--schema-args and --schema-file name two descriptions: leave out one of them";
    }
  } else {
    for (const char* const name :
         {"--schema-args", "--schema-file", "--max-calls", "--call-timeout"}) {
      if (given.has(name)) {
        return fmt::format("{} is for a command-line tool: name it, as in --cli ./notes", name);
      }
    }
  }
  for (const char* const name : {"--header", "--header-env", "--wait-for-server", "--cacert",
                                 "--keep-session", "--own-daemon"}) {
    if (given.has(name)) {
      return fmt::format(
          "{} is for a daemon: name its address, as in --http "
          "http://127.0.0.1:3000/mcp",
          name);
    }
  }
  if (has_command || given.has("--cli")) return {};
  return "no command is given: name the server to run, as in mcp-sitter -- ./my-server";
}

}  // namespace

std::string sentence_of(const Refusal& refusal) {
  std::string_view what = refusal.text;
  if (what.starts_with(kBefore)) what.remove_prefix(kBefore.size());
  if (what.ends_with(kBehind)) what.remove_suffix(kBehind.size());
  return std::string(what);
}

std::variant<Options, Refusal, HelpAsked> parse_options(const std::vector<std::string>& words) {
  RawOptions raw;
  const auto read = read_options(words, raw);
  // The time until somebody attaches a debugger has no limit.
  if (raw.debug_wait) raw.startup_timeout = 0;
  if (const auto* const refusal = std::get_if<Refusal>(&read)) return *refusal;
  if (std::holds_alternative<HelpAsked>(read)) return HelpAsked{};
  const Given& given = std::get<Given>(read);
  for (std::string* const path : {&raw.cwd, &raw.build_cwd, &raw.env_file, &raw.log_file,
                                  &raw.http.cacert, &raw.cli.tool, &raw.cli.schema_file}) {
    *path = own_form(*path);
  }

  std::vector<std::string> command(words.begin() + static_cast<std::ptrdiff_t>(given.words),
                                   words.end());
  const bool has_dashes = !command.empty() && command.front() == "--";
  if (has_dashes) command.erase(command.begin());
  if (!command.empty()) command.front() = own_form(command.front());
  if (const std::string wrong = wrong_combination(given, command); !wrong.empty()) {
    return usage_error(wrong);
  }

  const auto excludes = [](const std::string& pattern) { return pattern.starts_with('!'); };
  if (!raw.watch.empty() && std::all_of(raw.watch.begin(), raw.watch.end(), excludes)) {
    return usage_error(fmt::format(
        "--watch: {} only excludes files: put a --watch that names some before it, as in --watch .",
        shown_value(raw.watch.front())));
  }

  auto names = tool_names(raw);
  if (auto* const refusal = std::get_if<Refusal>(&names)) return *refusal;

  auto offered = tools(raw);
  if (auto* const refusal = std::get_if<Refusal>(&offered)) return *refusal;

  Options options;
  options.log = log_options(raw);
  options.has_dashes = has_dashes;
  options.bridge.tools = std::get<std::set<Builtin>>(std::move(offered));
  options.build = build_request(raw.build, raw.build_cwd.empty() ? raw.cwd : raw.build_cwd);
  options.build.puts_files_aside = !raw.no_rename_aside;
  options.bridge.build_command = raw.build;
  options.bridge.tool_names = std::get<std::map<Builtin, std::string>>(std::move(names));
  options.control.name = raw.name;
  options.control.is_on = !raw.no_ctl;
  options.bridge.replayed_tools = raw.replay_call;
  options.bridge.watch_patterns = raw.watch;
  options.bridge.watches_binary = raw.watch_binary;
  options.bridge.debounce = Milliseconds(raw.debounce);
  options.bridge.fresh_wait = milliseconds(raw.fresh_wait);
  using Restarts = BridgeConfig::Restarts;
  options.bridge.restarts = raw.restart == "eager"      ? Restarts::eager
                            : raw.restart == "on-crash" ? Restarts::on_crash
                                                        : Restarts::lazy;
  options.bridge.restarts_max = raw.max_restarts;
  using CallTool = BridgeConfig::CallTool;
  options.bridge.call_tool = raw.call_tool == "on"    ? CallTool::on
                             : raw.call_tool == "off" ? CallTool::off
                                                      : CallTool::automatic;
  if (raw.on_busy == "interrupt") options.bridge.on_busy_wait = Milliseconds::zero();
  if (given.has("--http")) {
    auto http = http_options(raw.http, environment_variable);
    if (const auto* const wrong = std::get_if<std::string>(&http)) return usage_error(*wrong);
    options.daemon = std::get<HttpBackend::Options>(std::move(http));
    const HttpLink::Options& link = options.daemon->link;
    options.bridge.secret_headers = secret_headers(link.headers, link.url.target);
    options.log.secrets = Secrets(options.bridge.secret_headers);
    options.bridge.url = options.daemon->link.url.shown();
    options.bridge.wait_for_server = milliseconds(raw.wait_for_server);
    options.daemon->link.wait_for_server = options.bridge.wait_for_server;
    options.daemon->link.may_start = !command.empty();
    if (command.empty()) options.bridge.kind = ServerKind::elsewhere;
    options.daemon->link.ends_daemon = raw.own_daemon;
    options.daemon->link.startup_timeout = milliseconds(raw.startup_timeout);
    options.command.outlives_bridge = !raw.own_daemon;
    if (!raw.no_ctl) options.command.daemon_url = options.daemon->link.url.shown();
    // Texts name the server by its address.
    options.bridge.command = options.bridge.url;
    if (!command.empty()) options.bridge.daemon_command = command.front();
  } else if (given.has("--cli")) {
    auto cli = cli_options(raw.cli, raw.cwd, options.command);
    if (const auto* const wrong = std::get_if<std::string>(&cli)) return usage_error(*wrong);
    options.cli = std::get<CliBackend::Options>(std::move(cli));
    options.bridge.kind = ServerKind::tool;
    options.bridge.command = options.command.command;
    if (raw.watch.empty()) {
      options.bridge.watches_binary = true;
      if (!raw.cli.schema_file.empty())
        options.bridge.watch_patterns = {pattern_of_file(raw.cli.schema_file)};
    }
    // Runs that are on go on when the description is read again.
    if (raw.on_busy != "interrupt") {
      options.bridge.on_busy_wait = options.cli->server.call_timeout + limits::kRunGrace;
    }
  } else {
    options.bridge.command = command.front();
    if (options.bridge.command.starts_with("http://") ||
        options.bridge.command.starts_with("https://")) {
      return usage_error("the command is a URL: a daemon is given with --http URL");
    }
  }
  if (!command.empty()) {
    options.command.command = command.front();
    options.command.arguments.assign(command.begin() + 1, command.end());
  }
  options.command.cwd = raw.cwd;
  options.command.is_built = !raw.build.empty();
  options.bridge.needs_no_build =
      runs_source(options.command.command, options.command.arguments, raw.cwd);
  options.bridge.built_endings =
      built_endings(options.command.command, options.command.arguments, raw.cwd);
  options.command.starts_stopped = raw.debug_wait;
  options.bridge.starts_stopped = raw.debug_wait;
  options.command.environment = raw.environment;
  options.command.env_file = raw.env_file;
  options.bridge.arguments = options.command.arguments;
  options.bridge.working_directory = raw.cwd;
  options.bridge.startup_timeout = milliseconds(raw.startup_timeout);
  options.bridge.answer_within = milliseconds(raw.answer_within);
  options.bridge.kill_grace = Milliseconds(raw.kill_grace);
  options.bridge.end_words = end_words();
  options.bridge.allows_wide_kill = raw.allow_wide_kill;
  options.bridge.stderr_lines = static_cast<std::size_t>(raw.stderr_lines);
  options.bridge.writes_notices = !raw.no_notice;
  options.bridge.lints = !raw.no_lint;
  options.bridge.sitter_version = kVersion;
  return options;
}

}  // namespace sitter
