#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "options/cli_options.hpp"
#include "options/http_options.hpp"
#include "sitter/bridge_config.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace sitter {

/// What every client and every revision of the protocol takes as the name of a tool.
inline constexpr std::size_t kNameMax = 64;
inline constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

/// The options as the parser writes them. Each initial value is the default of its option.
struct RawOptions {
  std::string cwd;
  std::vector<std::string> environment;
  std::string env_file;
  double startup_timeout = in_seconds(BridgeConfig().startup_timeout);
  bool debug_wait = false;
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
  bool no_rename_aside = false;
  bool watch_binary = false;
  bool allow_wide_kill = false;
  int debounce = static_cast<int>(BridgeConfig().debounce.count());
  double fresh_wait = in_seconds(BridgeConfig().fresh_wait);
  std::vector<std::string> replay_call;
  std::string name;
  bool no_ctl = false;
  std::string restart = "lazy";
  int max_restarts = BridgeConfig().restarts_max;
  RawHttp http;
  RawCli cli;
  bool own_daemon = false;
  double wait_for_server = in_seconds(BridgeConfig().wait_for_server);
  bool where = false;
};

/// A check of the parser: what is wrong with a value, empty if nothing is.
using Check = std::function<std::string(const std::string&)>;

/// Refuses an empty value, which may come from an unset variable in a script.
Check not_empty(std::string complaint = "is empty");
Check one_of(std::vector<std::string> words);
Check whole_number(int min, int max);

/// What the parser says, in words for a person.
std::string complaint_of(const CLI::ParseError& error);

/// The group of the options that every program has.
inline constexpr char kOtherGroup[] = "Other";

/// Tells the parser each option with its group, what it means and which values it takes. `raw` must
/// outlive `app`.
void declare_options(CLI::App& app, RawOptions& raw);

/// An option, as help, man page and completion show it.
struct OptionRow {
  /// With their dashes; a short name stands first.
  std::vector<std::string> names;
  /// What the value is called, or its words with a bar between them. Empty if there is no value.
  std::string value;
  /// What the option means, on one line.
  std::string about;
  std::string group;
};

/// The options of a parser, in the order of their declaration. Help and version come last.
std::vector<OptionRow> option_rows(const CLI::App& app);

/// All options of the bridge, each group together.
std::vector<OptionRow> option_table();

/// That there is no such option, and which option was probably meant.
std::string unknown_option(const CLI::App& app, const std::string& name);

/// An option of a command line, as in `--cwd /tmp` or `--cwd=/tmp`.
struct GivenOption {
  std::string name;
  /// The option itself, and its value if that is a word of its own.
  std::vector<std::string> words;
};

/// The options before the command, or what is wrong with one of them. The parser can leave the
/// remaining words alone by itself, but would then take an unknown option for the command.
std::variant<std::vector<GivenOption>, std::string> split_options(
    const CLI::App& app, const std::vector<std::string>& words);

}  // namespace sitter
