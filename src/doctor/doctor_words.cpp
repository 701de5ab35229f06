#include "doctor/doctor_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "help/help.hpp"

namespace sitter {
namespace {

constexpr std::string_view kJson = "--json";
constexpr std::string_view kNoEnvironment = "--no-environment";

constexpr std::array<std::string_view, 4> kTools = {"status", "kill", "child_stderr",
                                                    "binary_info"};

/// The options of a bridge that concern the server itself.
constexpr std::array<std::string_view, 18> kKept = {"--cwd",          "--env",
                                                    "--env-file",     "--startup-timeout",
                                                    "--kill-grace",   "--stderr-lines",
                                                    "--http",         "--header",
                                                    "--header-env",   "--wait-for-server",
                                                    "--cacert",       "--own-daemon",
                                                    "--keep-session", "--cli",
                                                    "--schema-args",  "--schema-file",
                                                    "--call-timeout", "--http-env"};

/// A daemon that is away is not waited for as long as in a session, in which it may come back.
constexpr std::string_view kWaitForServer = "2";

bool is_kept(const GivenOption& option) {
  return std::find(kKept.begin(), kKept.end(), option.name) != kKept.end();
}

void declare(CLI::App& app, DoctorWords& words) {
  app.add_flag(std::string(kJson), words.as_json, "print one JSON object for scripts");
  app.add_flag_callback(
      std::string(kNoEnvironment), [&words] { words.checks_environment = false; },
      "do not start the server with the short environment that clients give");
}

constexpr std::string_view kUsage =
    R"(  mcp-sitter doctor [options] [--] COMMAND [ARGUMENTS...]
  mcp-sitter doctor [options] --http URL [-- COMMAND [ARGUMENTS...]]
  mcp-sitter doctor [options] --cli TOOL
)";

constexpr std::string_view kEnd =
    "All options of mcp-sitter may be given too, so that a registered command can be examined as "
    "it "
    "is. Those about the server count (--cwd, --env, --http, --cli and the like). Those about "
    "builds, "
    "reloads and logs do not: the --build command is not run. Exit code: 0 without problems, 1 "
    "with a "
    "problem, 2 for a mistake in the options.";

std::string help() {
  CLI::App app(
      "Starts an MCP server as a client would, and says what a client would stumble over. Nothing "
      "that was started is left running. Tools of the server are called only if they are marked "
      "with readOnlyHint and need no arguments.");
  app.set_help_flag("-h,--help", "print this and exit");
  DoctorWords words;
  declare(app, words);
  return command_help(app, kUsage, kEnd);
}

Refusal usage_error(std::string_view what) {
  return {fmt::format("mcp-sitter doctor: {}; see mcp-sitter doctor --help\n", what), 2};
}

}  // namespace

std::variant<DoctorWords, Refusal> read_doctor_words(const std::vector<std::string>& words) {
  DoctorWords result;
  CLI::App app;
  RawOptions raw;
  declare_options(app, raw);
  declare(app, result);
  auto split = split_options(app, words);
  if (const auto* const wrong = std::get_if<std::string>(&split)) return usage_error(*wrong);

  std::vector<std::string> own;
  std::vector<std::string> of_bridge;
  std::size_t count = 0;
  for (GivenOption& option : std::get<std::vector<GivenOption>>(split)) {
    count += option.words.size();
    if (option.name == "-h" || option.name == "--help") return Refusal{help(), 0};
    const bool is_own = option.name == kJson || option.name == kNoEnvironment;
    std::vector<std::string>& place = is_own ? own : of_bridge;
    place.insert(place.end(), option.words.begin(), option.words.end());
    if (is_kept(option)) result.kept.push_back(std::move(option));
  }
  app.parse(std::move(own));
  const auto command = words.begin() + static_cast<std::ptrdiff_t>(count);
  of_bridge.insert(of_bridge.end(), command, words.end());
  auto options = parse_options(of_bridge);
  if (const auto* const refusal = std::get_if<Refusal>(&options))
    return refusal->exit_code == 0 ? *refusal : usage_error(sentence_of(*refusal));
  result.options = std::get<Options>(std::move(options));
  result.command.assign(command, words.end());
  if (!result.command.empty() && result.command.front() == "--") {
    result.command.erase(result.command.begin());
  }
  return result;
}

std::vector<std::string> bridge_words(const DoctorWords& words,
                                      std::optional<Milliseconds> startup_timeout) {
  std::vector<std::string> bridge = {"--no-ctl",    "--no-notice", "--log-level",     "off",
                                     "--call-tool", "off",         "--answer-within", "86400"};
  const auto add = [&](std::string_view option, std::string value) {
    bridge.emplace_back(option);
    bridge.push_back(std::move(value));
  };
  add("--tools", fmt::format("{}", fmt::join(kTools, ",")));
  for (const std::string_view tool : kTools) {
    add("--tool-name", fmt::format("{}={}", tool, doctor_tool(tool)));
  }
  const auto is_given = [&](std::string_view name) {
    return std::any_of(words.kept.begin(), words.kept.end(),
                       [&](const GivenOption& option) { return option.name == name; });
  };
  // All that a server writes in an examination fits.
  if (!is_given("--stderr-lines")) add("--stderr-lines", "100000");
  for (const GivenOption& option : words.kept) {
    if (startup_timeout && option.name == "--startup-timeout") continue;
    bridge.insert(bridge.end(), option.words.begin(), option.words.end());
  }
  if (startup_timeout) {
    add("--startup-timeout", fmt::format("{}", in_seconds(*startup_timeout)));
  }
  if (is_given("--http") || is_given("--http-env")) {
    if (!is_given("--wait-for-server")) add("--wait-for-server", std::string(kWaitForServer));
    // A daemon that was started for the examination has no other clients.
    if (!words.command.empty() && !is_given("--own-daemon")) bridge.emplace_back("--own-daemon");
  }
  bridge.emplace_back("--");
  bridge.insert(bridge.end(), words.command.begin(), words.command.end());
  return bridge;
}

std::string doctor_tool(std::string_view tool) { return fmt::format("mcp-sitter.doctor.{}", tool); }

}  // namespace sitter
