#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "core/base/text.hpp"
#include "http_options.hpp"
#include "sitter/version.hpp"

namespace sitter {
namespace {

constexpr int kUsageError = 2;

/// A longer time is probably a mistake in the unit. Where 0 is allowed, it means for ever.
constexpr double kSecondsMax = 24 * 60 * 60;
constexpr int kKillGraceMax = 60 * 1000;

/// Longer than any user waits after a save.
constexpr int kDebounceMax = 60 * 1000;

/// The lines also have a bound in bytes, so a higher number would never be reached.
constexpr int kStderrLinesMax = 1000000;

/// At 30 s each, more restarts would take days.
constexpr int kMaxRestartsMax = 10000;

double in_seconds(Milliseconds duration) { return std::chrono::duration<double>(duration).count(); }

constexpr std::string_view kToolPrefix = "sitter_";
constexpr std::size_t kToolNameMax = 64;
constexpr std::string_view kToolNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

/// A wrong value is shown up to this length, and a sentence of the parser, which may hold such a
/// value, up to the second.
constexpr std::size_t kValueShownMax = 100;
constexpr std::size_t kSentenceShownMax = 500;

/// A wrong value as an error shows it.
std::string shown_value(std::string_view value) {
  return fmt::format("'{}'", brief(value, kValueShownMax));
}

/// The parser writes into these members. Each initial value is the default of its option.
struct Raw {
  std::string cwd;
  std::vector<std::string> environment;
  std::string env_file;
  double startup_timeout = in_seconds(BridgeConfig().startup_timeout);
  double answer_within = in_seconds(BridgeConfig().answer_within);
  int kill_grace = static_cast<int>(BridgeConfig().kill_grace.count());
  int stderr_lines = static_cast<int>(BridgeConfig().stderr_lines);
  std::string log_level = "warn";
  std::string log_file;
  bool no_notice = false;
  bool no_lint = false;
  std::string build;
  std::string build_cwd;
  std::string on_busy = "wait";
  std::vector<std::string> tools;
  std::vector<std::string> tool_names;
  std::string call_tool = "auto";
  std::vector<std::string> watch;
  bool watch_binary = false;
  bool allow_wide_kill = false;
  int debounce = static_cast<int>(BridgeConfig().debounce.count());
  std::vector<std::string> replay_call;
  std::string name;
  bool no_ctl = false;
  std::string restart = "lazy";
  int max_restarts = BridgeConfig().restarts_max;
  RawHttp http;
  bool own_daemon = false;
  double wait_for_server = in_seconds(BridgeConfig().wait_for_server);
};

/// The parser's own usage line would not show that a command follows the options. A command of a
/// daemon starts the daemon if nothing listens.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: mcp-sitter [options] [--] <command> [args...]\n"
           "       mcp-sitter --http URL [options] [-- <command> [args...]]\n";
  }
};

void declare(CLI::App& app, Raw& raw) {
  app.description(
      "Stands between an MCP client and the MCP server that you are developing, so that the server "
      "can be\n"
      "killed, rebuilt and started again while the client stays connected.");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "print this and exit");
  app.set_version_flag("--version", std::string(kVersion), "print the version and exit");
  const auto value = [](CLI::Option* option, const char* name) {
    return option->type_name(name)->allow_extra_args(false);
  };
  value(app.add_option("--cwd", raw.cwd, "working directory of the server"), "DIR");
  value(app.add_option("--env", raw.environment,
                       "add a variable to the server's environment; may be repeated"),
        "NAME=VALUE")
      ->check([](const std::string& text) {
        return text.find('=') == text.npos || text.front() == '='
                   ? shown_value(text) + " is not NAME=VALUE"
                   : std::string();
      });
  value(app.add_option("--env-file", raw.env_file,
                       "file of NAME=VALUE lines for the server, read anew at every start"),
        "FILE");
  const auto whole_number = [](int min, int max) {
    return [min, max](const std::string& text) {
      int number = 0;
      const char* const end = text.data() + text.size();
      const auto read = std::from_chars(text.data(), end, number);
      const bool is_good =
          read.ec == std::errc() && read.ptr == end && number >= min && number <= max;
      return is_good ? std::string()
                     : fmt::format("{} is not a whole number from {} to {}", shown_value(text), min,
                                   max);
    };
  };
  // NaN passes a range check.
  const auto is_a_number = [](const std::string& text) {
    return std::isnan(std::strtod(text.c_str(), nullptr)) ? shown_value(text) + " is not a number"
                                                          : std::string();
  };
  value(app.add_option("--startup-timeout", raw.startup_timeout,
                       fmt::format("a server that has not opened by then, or said nothing after "
                                   "a restart, is taken down; 0 = never (default {:g})",
                                   raw.startup_timeout)),
        "SECONDS")
      ->check(CLI::Range(0.0, kSecondsMax))
      ->check(is_a_number);
  value(app.add_option(
            "--answer-within", raw.answer_within,
            fmt::format("how long the client's initialize may wait for a slow server before\n"
                        "mcp-sitter answers it itself (default {:g})",
                        raw.answer_within)),
        "SECONDS")
      ->check(CLI::Range(0.0, kSecondsMax))
      ->check(is_a_number);
  value(app.add_option("--kill-grace", raw.kill_grace,
                       fmt::format("time between closing stdin, SIGTERM and SIGKILL (default {})",
                                   raw.kill_grace)),
        "MILLISECONDS")
      ->check(whole_number(0, kKillGraceMax));
  value(app.add_option("--stderr-lines", raw.stderr_lines,
                       fmt::format("lines of the server's stderr that are kept (default {})",
                                   raw.stderr_lines)),
        "N")
      ->check(whole_number(1, kStderrLinesMax));
  value(app.add_option(
            "--log-level", raw.log_level,
            fmt::format("trace, debug, info, warn, error or off (default {})", raw.log_level)),
        "LEVEL")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  value(app.add_option("--log-file", raw.log_file,
                       "write the log there instead of to stderr; rotates at 10 MiB, 3 files"),
        "FILE");
  app.add_flag("--no-notice", raw.no_notice, "never write a notice into a tool result");
  app.add_flag("--no-lint", raw.no_lint,
               "do not tell the model what clients would refuse of the server");
  value(app.add_option("--build", raw.build,
                       "shell command that builds the server; adds the tools sitter_rebuild\n"
                       "and sitter_build_log"),
        "COMMAND")
      ->check([](const std::string& text) {
        return text.empty() ? std::string("an empty command builds nothing") : std::string();
      });
  value(app.add_option("--build-cwd", raw.build_cwd, "where --build runs (default --cwd)"), "DIR")
      ->needs("--build");
  value(app.add_option("--on-busy", raw.on_busy,
                       "whether a server that is replaced may finish the requests that it has,\n"
                       "for at most 10 s: wait or interrupt (default wait)"),
        "HOW")
      ->check(CLI::IsMember({"wait", "interrupt"}));
  value(app.add_option("--watch", raw.watch,
                       "reload when files in this folder change, or files that match this\n"
                       "gitignore pattern; a leading '!' excludes files; may be repeated"),
        "PATTERN")
      ->check([](const std::string& text) {
        return text.empty() || text == "!" ? std::string("an empty pattern matches nothing")
                                           : std::string();
      });
  app.add_flag("--watch-binary", raw.watch_binary, "reload when the server's own file changes");
  value(
      app.add_option(
          "--debounce", raw.debounce,
          fmt::format("how long the watched files must stay unchanged before a reload (default {})",
                      raw.debounce)),
      "MILLISECONDS")
      ->check(whole_number(0, kDebounceMax));
  value(app.add_option("--restart", raw.restart,
                       "whether a server that has ended comes back without a request:\n"
                       "lazy, on-crash or eager (default lazy)"),
        "WHEN")
      ->check(CLI::IsMember({"lazy", "on-crash", "eager"}));
  value(app.add_option("--max-restarts", raw.max_restarts,
                       fmt::format("such restarts in a row, without a minute of running between "
                                   "(default {})",
                                   raw.max_restarts)),
        "N")
      ->check(whole_number(1, kMaxRestartsMax));
  value(app.add_option("--replay-call", raw.replay_call,
                       "make the last successful call of this tool again after each restart,\n"
                       "before anything else; may be repeated"),
        "TOOL")
      ->check([](const std::string& text) {
        return text.empty() ? std::string("the name of the tool is empty") : std::string();
      });
  value(app.add_option("--http", raw.http.url,
                       "the server is a daemon that speaks Streamable HTTP at this address; a\n"
                       "command starts it if nothing listens there"),
        "URL");
  value(app.add_option("--header", raw.http.headers,
                       "send this header with each request to the daemon; may be repeated"),
        "NAME=VALUE");
  value(app.add_option("--header-env", raw.http.header_variables,
                       "the same, with the value of an environment variable, for secrets"),
        "NAME=VARIABLE");
  value(app.add_option("--wait-for-server", raw.wait_for_server,
                       fmt::format("how long a request waits for a daemon that cannot be reached "
                                   "(default {:g})",
                                   raw.wait_for_server)),
        "SECONDS")
      ->check(CLI::Range(0.0, kSecondsMax))
      ->check(is_a_number);
  value(app.add_option("--cacert", raw.http.cacert,
                       "trust the certificates that this file signs, and no others"),
        "FILE");
  app.add_flag("--own-daemon", raw.own_daemon,
               "end a daemon that was started here with the session; otherwise it goes\n"
               "on, because other clients may use it");
  app.add_flag("--keep-session", raw.http.keeps_session, "never end the daemon's session");
  value(app.add_option("--name", raw.name, "name of this mcp-sitter for mcp-sitter ctl"), "NAME")
      ->check([](const std::string& text) {
        const bool is_good = !text.empty() && text.size() <= kToolNameMax &&
                             !text.starts_with('-') &&
                             text.find_first_not_of(kToolNameCharacters) == text.npos &&
                             text.find_first_not_of("0123456789") != text.npos;
        return is_good
                   ? std::string()
                   : fmt::format(
                         "{} is not a valid name: 1 to {} letters, digits, _, - or ., "
                         "not - as the first character, and not only digits, which would be a pid",
                         shown_value(text), kToolNameMax);
      });
  app.add_flag("--allow-wide-kill", raw.allow_wide_kill,
               "let sitter_kill {scope: same-executable} end every process of the user that\n"
               "runs the same interpreter (node, python, sh) or system tool");
  app.add_flag("--no-ctl", raw.no_ctl, "open no socket for mcp-sitter ctl");
  value(app.add_option("--call-tool", raw.call_tool,
                       "offer sitter_call, which calls tools that the client does not know of:\n"
                       "auto (to clients that list the tools only once), on or off (default auto)"),
        "HOW")
      ->check(CLI::IsMember({"auto", "on", "off"}));
  value(app.add_option("--tools", raw.tools,
                       "offer only these tools of mcp-sitter, as in status,kill,child_stderr\n"
                       "(default all)"),
        "TOOL,...")
      ->delimiter(',');
  value(app.add_option("--tool-name", raw.tool_names,
                       "offer a tool of mcp-sitter under another name, as in rebuild=recompile;\n"
                       "may be repeated"),
        "TOOL=NAME");
  app.footer(
      "mcp-sitter ctl shows and controls running mcp-sitters, see mcp-sitter ctl --help.\n"
      "Protocol revisions: 2024-10-07, 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, "
      "2026-07-28.\n"
      "Tools that the model gets besides the server's own: sitter_status, sitter_kill,\n"
      "sitter_binary_info, sitter_child_stderr; with --build sitter_rebuild, sitter_build_log;\n"
      "and sitter_call.");
}

Refusal usage_error(std::string_view what) {
  return {fmt::format("mcp-sitter: {}; see mcp-sitter --help\n", one_line(what)), kUsageError};
}

/// Returns how many words from the beginning are options and their values, or what is wrong with
/// one of them. The parser can leave the remaining words alone by itself, but would then take an
/// unknown option for the command.
std::variant<std::size_t, Refusal> count_options(const CLI::App& app,
                                                 const std::vector<std::string>& words) {
  std::size_t at = 0;
  while (at < words.size()) {
    const std::string& word = words[at];
    if (word == "--" || word.size() < 2 || word.front() != '-') break;
    const std::string name = word.substr(0, word.find('='));
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option == nullptr) {
      return usage_error(fmt::format("unknown option {}", brief(name, kValueShownMax)));
    }
    const bool takes_value = option->get_items_expected_max() > 0;
    const bool has_value = name.size() < word.size();
    if (has_value && !takes_value) return usage_error(fmt::format("{} takes no value", name));
    ++at;
    if (!takes_value || has_value) continue;
    if (at == words.size()) return usage_error(fmt::format("{} needs a value", name));
    ++at;
  }
  return at;
}

Milliseconds milliseconds(double seconds) {
  return Milliseconds(static_cast<std::int64_t>(std::llround(seconds * 1000)));
}

Log::Options log_options(const Raw& raw) {
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
std::variant<std::set<Builtin>, Refusal> tools(const Raw& raw) {
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
std::variant<std::map<Builtin, std::string>, Refusal> tool_names(const Raw& raw) {
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
    const bool is_good = !name.empty() && name.size() <= kToolNameMax &&
                         name.find_first_not_of(kToolNameCharacters) == name.npos;
    if (!is_good) {
      return usage_error(fmt::format(
          "--tool-name: {} is not a valid name for a tool: 1 to {} letters, digits, _, - or .",
          shown_value(name), kToolNameMax));
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

/// What is wrong with the options beside each other; empty if nothing is.
std::string wrong_combination(const CLI::App& app, const std::vector<std::string>& command) {
  const bool has_command = !command.empty() && !command.front().empty();
  if (app.count("--http") > 0) {
    if (has_command) return {};
    for (const char* const name :
         {"--build", "--watch", "--watch-binary", "--own-daemon", "--cwd", "--env", "--env-file"}) {
      if (app.count(name) == 0) continue;
      return fmt::format("{} needs a command that starts the daemon: put it behind --", name);
    }
    return {};
  }
  for (const char* const name : {"--header", "--header-env", "--wait-for-server", "--cacert",
                                 "--keep-session", "--own-daemon"}) {
    if (app.count(name) > 0) {
      return fmt::format(
          "{} is for a daemon: name its address, as in --http "
          "http://127.0.0.1:3000/mcp",
          name);
    }
  }
  if (has_command) return {};
  return "no command is given: name the server to run, as in mcp-sitter -- ./my-server";
}

/// Removes the full stop that the parser writes.
std::string sentence(const char* text) {
  std::string line = brief(text, kSentenceShownMax);
  while (!line.empty() && (line.back() == ' ' || line.back() == '.')) line.pop_back();
  return line;
}

}  // namespace

std::variant<Options, Refusal> parse_options(const std::vector<std::string>& words) {
  CLI::App app;
  Raw raw;
  declare(app, raw);
  const auto counted = count_options(app, words);
  if (const auto* const refusal = std::get_if<Refusal>(&counted)) return *refusal;
  const std::size_t count = std::get<std::size_t>(counted);

  // The parser expects its words in reverse order.
  std::vector<std::string> ours(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  std::reverse(ours.begin(), ours.end());
  try {
    app.parse(std::move(ours));
  } catch (const CLI::CallForHelp&) {
    return Refusal{app.help(), 0};
  } catch (const CLI::CallForVersion&) {
    return Refusal{fmt::format("mcp-sitter {}\n", kVersion), 0};
  } catch (const CLI::ParseError& error) {
    return usage_error(sentence(error.what()));
  }

  std::vector<std::string> command(words.begin() + static_cast<std::ptrdiff_t>(count), words.end());
  if (!command.empty() && command.front() == "--") command.erase(command.begin());
  if (const std::string wrong = wrong_combination(app, command); !wrong.empty()) {
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
  options.bridge.tools = std::get<std::set<Builtin>>(std::move(offered));
  options.build = build_request(raw.build, raw.build_cwd.empty() ? raw.cwd : raw.build_cwd);
  options.bridge.build_command = raw.build;
  options.bridge.tool_names = std::get<std::map<Builtin, std::string>>(std::move(names));
  options.control.name = raw.name;
  options.control.is_on = !raw.no_ctl;
  options.bridge.replayed_tools = raw.replay_call;
  options.bridge.watch_patterns = raw.watch;
  options.bridge.watches_binary = raw.watch_binary;
  options.bridge.debounce = Milliseconds(raw.debounce);
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
  if (app.count("--http") > 0) {
    auto http = http_options(raw.http, [](const char* name) { return std::getenv(name); });
    if (const auto* const wrong = std::get_if<std::string>(&http)) return usage_error(*wrong);
    options.daemon = std::get<Daemon::Options>(std::move(http));
    options.bridge.url = options.daemon->link.url.shown();
    options.bridge.wait_for_server = milliseconds(raw.wait_for_server);
    options.bridge.may_start = !command.empty();
    options.daemon->link.may_start = options.bridge.may_start;
    options.daemon->link.ends_daemon = raw.own_daemon;
    options.daemon->link.startup_timeout = milliseconds(raw.startup_timeout);
    options.command.outlives_bridge = !raw.own_daemon;
    // Texts name the server by its command.
    options.bridge.command = options.bridge.url;
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
  options.command.environment = raw.environment;
  options.command.env_file = raw.env_file;
  options.bridge.arguments = options.command.arguments;
  options.bridge.working_directory = raw.cwd;
  options.bridge.startup_timeout = milliseconds(raw.startup_timeout);
  options.bridge.answer_within = milliseconds(raw.answer_within);
  options.bridge.kill_grace = Milliseconds(raw.kill_grace);
  options.bridge.allows_wide_kill = raw.allow_wide_kill;
  options.bridge.stderr_lines = static_cast<std::size_t>(raw.stderr_lines);
  options.bridge.writes_notices = !raw.no_notice;
  options.bridge.lints = !raw.no_lint;
  options.bridge.sitter_version = kVersion;
  options.log = log_options(raw);
  return options;
}

}  // namespace sitter
