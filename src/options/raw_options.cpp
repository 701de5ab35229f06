#include "options/raw_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <utility>

#include "core/base/home_sign.hpp"
#include "core/base/text.hpp"
#include "io/process/end_words.hpp"
#include "options/suggestion.hpp"
#include "sitter/limits.hpp"
#include "sitter/version.hpp"

namespace sitter {
namespace {

/// A longer time is probably a mistake in the unit. Where 0 is allowed, it means for ever.
constexpr double kSecondsMax = 24 * 60 * 60;
constexpr int kKillGraceMax = 60 * 1000;

/// Longer than any user waits after a save.
constexpr int kDebounceMax = 60 * 1000;

/// The lines also have a bound in bytes, so a higher number would never be reached.
constexpr int kStderrLinesMax = 1000000;

/// At 30 s each, more restarts would take days.
constexpr int kMaxRestartsMax = 10000;

/// Each run takes three pipes, and a system allows a few thousand open files.
constexpr int kCallsMax = 256;

CLI::Option* value(CLI::Option* option, const char* name) {
  return option->type_name(name)->allow_extra_args(false);
}

/// The name of the value shows the words, with a bar between them.
CLI::Option* choice(CLI::Option* option, const std::vector<std::string>& words) {
  return value(option, fmt::format("{}", fmt::join(words, "|")).c_str())->check(one_of(words));
}

CLI::Option* seconds(CLI::Option* option, double min, double max) {
  return value(option, "SECONDS")->check([min, max](const std::string& text) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const bool is_number = !text.empty() && end == text.c_str() + text.size();
    // NaN is neither less nor more than anything.
    return is_number && number >= min && number <= max
               ? std::string()
               : fmt::format("{} is not a number from {} to {}", shown_value(text), min, max);
  });
}

std::string wrong_name(const std::string& text) {
  const bool is_good = !text.empty() && text.size() <= kNameMax && !text.starts_with('-') &&
                       text.find_first_not_of(kNameCharacters) == text.npos &&
                       text.find_first_not_of("0123456789") != text.npos;
  return is_good ? std::string()
                 : fmt::format(
                       "{} is not a valid name: 1 to {} letters, digits, _, - or ., "
                       "not - as the first character, and not only digits, which would be a pid",
                       shown_value(text), kNameMax);
}

std::string unexpanded(const std::string& path) {
  return has_home_sign(path) ? "no shell has expanded the ~ in " + shown_value(path) +
                                   ": write the path of the home directory in its place"
                             : std::string();
}

void declare_server(CLI::App& app, RawOptions& raw) {
  value(app.add_option("--cwd", raw.cwd, "working directory of the server"), "DIR")
      ->check(unexpanded);
  value(app.add_option("--env", raw.environment,
                       "add a variable to the server's environment; may be repeated"),
        "NAME=VALUE")
      ->check([](const std::string& text) {
        return text.find('=') == text.npos || text.front() == '='
                   ? shown_value(text) + " is not NAME=VALUE"
                   : std::string();
      });
  value(app.add_option("--env-file", raw.env_file,
                       "add the variables of a file of NAME=VALUE lines, read anew at every start"),
        "FILE")
      ->check(unexpanded);
  value(app.add_option("--name", raw.name, "name of this mcp-sitter in mcp-sitter ctl"), "NAME")
      ->check(wrong_name);
  app.add_flag("--no-ctl", raw.no_ctl, "open no socket for mcp-sitter ctl");
}

void declare_daemon(CLI::App& app, RawOptions& raw) {
  value(app.add_option("--http", raw.http.url,
                       "the server is a daemon that speaks Streamable HTTP at this address; a "
                       "command starts it if nothing listens there"),
        "URL");
  value(app.add_option("--http-env", raw.http.url_variable,
                       "the same, with the value of an environment variable, for an address with a "
                       "secret in it"),
        "VARIABLE");
  value(app.add_option("--header", raw.http.headers,
                       "send this header with each request; may be repeated"),
        "NAME=VALUE");
  value(app.add_option("--header-env", raw.http.header_variables,
                       "the same, with the value of an environment variable, for secrets"),
        "NAME=VARIABLE");
  seconds(app.add_option("--wait-for-server", raw.wait_for_server,
                         fmt::format("how long a request waits for a daemon that cannot be reached "
                                     "(default {:g})",
                                     raw.wait_for_server)),
          0, kSecondsMax);
  value(app.add_option("--cacert", raw.http.cacert,
                       "trust the certificates that this file signs, and no others"),
        "FILE");
  app.add_flag("--own-daemon", raw.own_daemon,
               "at the end of the session, end the daemon that mcp-sitter has started");
  app.add_flag("--keep-session", raw.http.keeps_session, "never end the daemon's session");
}

void declare_tool(CLI::App& app, RawOptions& raw) {
  value(app.add_option("--cli", raw.cli.tool,
                       "the server is a command-line tool that describes its commands; each call "
                       "runs one of them"),
        "TOOL");
  value(app.add_option("--schema-args", raw.cli.schema_arguments,
                       fmt::format("the arguments with which the tool writes its description "
                                   "(default {})",
                                   raw.cli.schema_arguments)),
        "WORDS");
  value(app.add_option("--schema-file", raw.cli.schema_file,
                       "read the description of the tool from this file"),
        "FILE")
      ->check(not_empty("'' names no file"));
  value(app.add_option("--max-calls", raw.cli.calls_max,
                       fmt::format("how many commands of the tool may run at once (default {})",
                                   raw.cli.calls_max)),
        "N")
      ->check(whole_number(1, kCallsMax));
  seconds(app.add_option("--call-timeout", raw.cli.call_timeout,
                         fmt::format("how long a command of the tool may run (default {:g})",
                                     raw.cli.call_timeout)),
          0.001, in_seconds(limits::kCallTimeoutMax));
}

void declare_reload(CLI::App& app, RawOptions& raw) {
  value(app.add_option("--build", raw.build,
                       "shell command that builds the server; adds the tools sitter_rebuild and "
                       "sitter_build_log"),
        "COMMAND")
      ->check(not_empty("an empty command builds nothing"));
  value(app.add_option("--build-cwd", raw.build_cwd, "where --build runs (default --cwd)"), "DIR")
      ->check(unexpanded)
      ->needs("--build");
  app.add_flag("--no-rename-aside", raw.no_rename_aside,
               "Windows: do not rename the server's files for the time of a build, which can't "
               "write a program that runs");
  value(app.add_option("--watch", raw.watch,
                       "reload when files in this folder change, or files that match this "
                       "gitignore pattern; a leading ! excludes files; may be repeated"),
        "PATTERN")
      ->check([](const std::string& text) {
        return text.empty() || text == "!" ? std::string("an empty pattern matches nothing")
                                           : unexpanded(text);
      });
  app.add_flag("--watch-binary", raw.watch_binary, "reload when the server's own file changes");
  value(app.add_option(
            "--debounce", raw.debounce,
            fmt::format("how long watched files must stay unchanged before a reload (default {})",
                        raw.debounce)),
        "MILLISECONDS")
      ->check(whole_number(0, kDebounceMax));
  seconds(app.add_option("--fresh-wait", raw.fresh_wait,
                         fmt::format("how long calls wait for the code that was saved in watched "
                                     "files (default {:g}; 0 = not at all)",
                                     raw.fresh_wait)),
          0, kSecondsMax);
  choice(app.add_option("--on-busy", raw.on_busy,
                        "whether a server that is replaced may finish its requests, for 10 s at "
                        "most (default wait)"),
         {"wait", "interrupt"});
  value(app.add_option("--replay-call", raw.replay_call,
                       "repeat the last successful call of this tool at each new server, before "
                       "anything else; may be repeated"),
        "TOOL")
      ->check(not_empty("the name of the tool is empty"));
  choice(app.add_option("--restart", raw.restart,
                        "whether a server that has ended comes back without a request (default "
                        "lazy)"),
         {"lazy", "on-crash", "eager"});
  value(app.add_option("--max-restarts", raw.max_restarts,
                       fmt::format("how many such restarts may follow each other without a minute "
                                   "of running in between (default {})",
                                   raw.max_restarts)),
        "N")
      ->check(whole_number(1, kMaxRestartsMax));
}

void declare_told(CLI::App& app, RawOptions& raw) {
  value(app.add_option("--tools", raw.tools,
                       "offer only these tools of mcp-sitter, as in status,kill (default all)"),
        "TOOL,...")
      ->delimiter(',');
  value(app.add_option("--tool-name", raw.tool_names,
                       "offer a tool of mcp-sitter under another name, as in rebuild=recompile; "
                       "may be repeated"),
        "TOOL=NAME");
  choice(app.add_option("--call-tool", raw.call_tool,
                        "offer sitter_call, which calls tools that the client does not know of; "
                        "auto: to clients that list the tools only once (default auto)"),
         {"auto", "on", "off"});
  app.add_flag("--no-notice", raw.no_notice, "never write a notice into a tool result");
  app.add_flag("--no-lint", raw.no_lint,
               "neither name nor mend what clients would refuse of lists and results");
}

void declare_limits(CLI::App& app, RawOptions& raw) {
  seconds(app.add_option("--startup-timeout", raw.startup_timeout,
                         fmt::format("how long a server may take to open before it is ended; 0 "
                                     "for no limit (default {:g})",
                                     raw.startup_timeout)),
          0, kSecondsMax);
  app.add_flag("--debug-wait", raw.debug_wait,
               "start the server stopped, so that a debugger can attach before it runs, and "
               "without a limit for its start");
  seconds(app.add_option(
              "--answer-within", raw.answer_within,
              fmt::format("how long the client's initialize may wait for a slow server before "
                          "mcp-sitter answers it itself (default {:g})",
                          raw.answer_within)),
          0, kSecondsMax);
  value(app.add_option("--kill-grace", raw.kill_grace,
                       fmt::format("time from closing stdin to {0}, and from {0} to {1} "
                                   "(default {2})",
                                   end_words().request, end_words().kill, raw.kill_grace)),
        "MILLISECONDS")
      ->check(whole_number(0, kKillGraceMax));
  app.add_flag("--allow-wide-kill", raw.allow_wide_kill,
               "let sitter_kill with scope same-executable end every process of the user that "
               "runs the same interpreter (node, python, sh) or system tool");
  value(app.add_option("--stderr-lines", raw.stderr_lines,
                       fmt::format("lines of the server's stderr that are kept (default {})",
                                   raw.stderr_lines)),
        "N")
      ->check(whole_number(1, kStderrLinesMax));
}

void declare_logs(CLI::App& app, RawOptions& raw) {
  choice(app.add_option("--log-level", raw.log_level,
                        fmt::format("what is logged (default {})", raw.log_level)),
         {"trace", "debug", "info", "warn", "error", "off"});
  value(app.add_option("--log-file", raw.log_file,
                       "write the log there instead of to stderr; it rotates at 10 MiB, 3 files"),
        "FILE");
}

}  // namespace

Check not_empty(std::string complaint) {
  return [complaint = std::move(complaint)](const std::string& text) {
    return text.empty() ? complaint : std::string();
  };
}

void declare_options(CLI::App& app, RawOptions& raw) {
  using Declare = void (*)(CLI::App&, RawOptions&);
  const std::pair<const char*, Declare> groups[] = {
      {"Server", declare_server},
      {"Daemon over HTTP", declare_daemon},
      {"Command-line tool", declare_tool},
      {"Reload", declare_reload},
      {"What the model reads", declare_told},
      {"Limits", declare_limits},
      {"Logs", declare_logs},
  };
  for (const auto& [name, declare] : groups) {
    app.option_defaults()->group(name);
    declare(app, raw);
  }
  app.option_defaults()->group(kOtherGroup);
  app.add_flag("--where", raw.where, "print the path of the program that runs and exit");
  app.set_help_flag("-h,--help", "print this and exit");
  app.set_version_flag("-V,--version", std::string(kVersion), "print the version and exit");
}

std::vector<OptionRow> option_rows(const CLI::App& app) {
  // The parser puts the flags for help and version first.
  std::vector<OptionRow> rows, others;
  for (const CLI::Option* const option : app.get_options()) {
    OptionRow row;
    for (const std::string& name : option->get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) row.names.push_back("--" + name);
    if (option->get_items_expected_max() > 0) {
      // The parser appends what it checks, behind a colon.
      const std::string type = option->get_type_name();
      row.value = type.substr(0, type.find(':'));
    }
    row.about = option->get_description();
    row.group = option->get_group();
    const bool is_help = option == app.get_help_ptr() || option == app.get_version_ptr();
    (is_help ? others : rows).push_back(std::move(row));
  }
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

std::vector<OptionRow> option_table() {
  CLI::App app;
  RawOptions raw;
  declare_options(app, raw);
  return option_rows(app);
}

std::string unknown_option(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    if (!option->get_positional()) names.push_back(option->get_name());
  }
  return fmt::format("unknown option {}{}", brief(name, kWordShownMax),
                     suggestion_text(name, names));
}

Check one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& text) {
    return std::find(words.begin(), words.end(), text) != words.end()
               ? std::string()
               : fmt::format("{} is not one of {}", shown_value(text), fmt::join(words, ", "));
  };
}

Check whole_number(int min, int max) {
  return [min, max](const std::string& text) {
    int number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    const bool is_good =
        read.ec == std::errc() && read.ptr == end && number >= min && number <= max;
    return is_good
               ? std::string()
               : fmt::format("{} is not a whole number from {} to {}", shown_value(text), min, max);
  };
}

std::string complaint_of(const CLI::ParseError& error) {
  const std::string what = error.what();
  if (error.get_name() != "ArgumentMismatch") return what;
  const std::string name = what.substr(0, what.find(": "));
  return name + (what.ends_with("missing") ? " needs a value"
                                           : " is given more than once; leave out all but one");
}

std::variant<std::vector<GivenOption>, std::string> split_options(
    const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<GivenOption> given;
  std::size_t at = 0;
  while (at < words.size()) {
    const std::string& word = words[at];
    if (word == "--" || word.size() < 2 || word.front() != '-') break;
    const std::string name = word.substr(0, word.find('='));
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option == nullptr) return unknown_option(app, name);
    const bool takes_value = option->get_items_expected_max() > 0;
    const bool has_value = name.size() < word.size();
    if (has_value && !takes_value) return fmt::format("{} takes no value", name);
    given.push_back({name, {word}});
    ++at;
    if (!takes_value || has_value) continue;
    if (at == words.size()) return fmt::format("{} needs a value", name);
    given.back().words.push_back(words[at++]);
  }
  return given;
}

}  // namespace sitter
