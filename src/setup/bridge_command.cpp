#include "setup/bridge_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "core/base/text.hpp"
#include "io/system/command_line.hpp"
#include "options/options.hpp"
#include "setup/client_program.hpp"
#include "setup/guess.hpp"
#include "setup/server_file.hpp"

namespace sitter::setup {
namespace {

/// Whether `file` is this program, or the script of the npm package that runs this program.
bool leads_to(const std::filesystem::path& file, const std::string& program) {
  std::error_code error;
  if (std::filesystem::equivalent(file, program, error)) return true;
  const std::filesystem::path script = std::filesystem::canonical(file, error);
  if (error || script.filename() != "mcp-sitter.mjs") return false;
  // The package with the program is in the package of the script, or beside it.
  const std::string package = script.parent_path().parent_path().generic_string();
  return program.starts_with(package + "-") || program.starts_with(package + "/");
}

/// Where the client starts the server, as far as it is known.
std::string directory_of(const std::string& cwd, const std::string& project) {
  if (cwd.empty()) return project;
  static constexpr std::string_view kFolder = "${workspaceFolder}";
  if (cwd.starts_with(kFolder)) return project + cwd.substr(kFolder.size());
  return (std::filesystem::path(project) / cwd).generic_string();
}

/// The options that the request gives itself.
Words given_options(const Request& request) {
  Words words;
  if (!request.build.empty()) words = {"--build", request.build};
  for (const std::string& pattern : request.watch) words = joined(words, {"--watch", pattern});
  return words;
}

/// The options of mcp-sitter, without the server's words.
BridgeWords own_options(const Request& request, const Words& server, const std::string& cwd,
                        const Place& place, const Surroundings& here) {
  const bool guesses_build = request.build.empty() && !request.no_build;
  const bool guesses_watch = request.watch.empty() && !request.no_watch;
  if (!guesses_build && !guesses_watch) return {given_options(request), {}};
  const bool runs_elsewhere = !place.is_in_project && cwd.empty();
  const Guess guess = setup::guess(server, directory_of(cwd, here.project), runs_elsewhere,
                                   {.is_dry_run = request.is_dry_run});
  Words guessed;
  if (guesses_build && !guess.build.empty()) {
    guessed = {"--build", guess.build};
    if (!guess.build_cwd.empty()) guessed.insert(guessed.end(), {"--build-cwd", guess.build_cwd});
  }
  for (const std::string& pattern : guesses_watch ? guess.watch : Words()) {
    guessed.insert(guessed.end(), {"--watch", pattern});
  }
  std::string told;
  if (!guessed.empty()) {
    told = fmt::format("guessed from {}: {}\n", one_line(guess.from), one_line(typed(guessed)));
    if (!guess.problem.empty()) told += fmt::format("note: {}\n", one_line(guess.problem));
  } else if (guesses_build && guesses_watch) {
    told = fmt::format(
        "guessed neither --build nor --watch: {}; mcp-sitter help reloading says what they do\n",
        one_line(guess.problem));
  }
  return {joined(guessed, given_options(request)), told};
}

}  // namespace

Words own_command(const std::string& program) {
  if (program.find("/_npx/") != program.npos) {
    const Words words = {"npx", "-y", "mcp-sitter-native"};
    // A client may be unable to run a batch file itself.
    return is_batch_file(program_in_path("npx")) ? joined({"cmd", "/c"}, words) : words;
  }
  const std::string found = program_in_path("mcp-sitter");
  if (!found.empty() && leads_to(found, program)) return {"mcp-sitter"};
  return {program};
}

BridgeWords words_for(const Request& request, const Words& server, const std::string& cwd,
                      const Place& place, const Surroundings& here) {
  BridgeWords words = own_options(request, server, cwd, place, here);
  words.words = joined(joined(std::move(words.words), {"--"}), server);
  check_words(words.words, entry_name(request, place));
  return words;
}

Words words_again(const Request& request, const Place& place, const Words& wrapped) {
  Words removed;
  if (request.no_build || !request.build.empty()) removed = {"--build", "--build-cwd"};
  if (request.no_watch || !request.watch.empty()) removed.emplace_back("--watch");
  Words words = with_options(wrapped, removed, given_options(request));
  // The variables of headers and addresses are in the entry, not here.
  const bool has_variable = std::find(words.begin(), words.end(), "--http-env") != words.end();
  check_words(
      arguments_of(with_options(words, {"--header-env", "--http-env"},
                                has_variable ? Words{"--http", "http://127.0.0.1/"} : Words())),
      entry_name(request, place));
  return words;
}

BridgeWords words_for_new(const Request& request, const Place& place, const Surroundings& here) {
  if (is_wrapped(request.command)) {
    if (program_name(request.command.front()) != "mcp-sitter") {
      throw Failure{"after --, write mcp-sitter instead of the program that starts it", 2};
    }
    if (!request.build.empty() || !request.watch.empty()) {
      throw Failure{"put --build and --watch after mcp-sitter, where its other options are", 2};
    }
    const Words words(request.command.begin() + 1, request.command.end());
    check_words(words, entry_name(request, place));
    return {words, {}};
  }
  // The client may start the server in any folder.
  const Words cwd = place.is_in_project ? Words() : Words{"--cwd", here.project};
  BridgeWords options =
      own_options(request, request.command, place.is_in_project ? "" : here.project, place, here);
  options.words = joined(joined(joined(cwd, options.words), {"--"}), request.command);
  check_words(options.words, entry_name(request, place));
  return options;
}

std::string entry_name(const Request& request, const Place& place) {
  return fmt::format("'{}' in {}", one_line(request.name), place.file);
}

void check_words(const Words& words, const std::string& entry) {
  const auto parsed = parse_options(words);
  if (const auto* const refusal = std::get_if<Refusal>(&parsed)) {
    throw Failure{
        fmt::format("{}: mcp-sitter would not start with it: {}", entry, sentence_of(*refusal)), 2};
  }
}

std::string warning_about(const Words& behind) {
  auto parsed = parse_options(behind);
  const auto* const options = std::get_if<Options>(&parsed);
  if (options == nullptr || options->daemon) return {};
  const PlannedLaunch planned = plan_launch(options->command);
  if (const auto* const failure = std::get_if<LaunchFailure>(&planned)) {
    return fmt::format("warning: {}\n", one_line(failure->reason));
  }
  const std::string& program = std::get<LaunchPlan>(planned).program;
  std::error_code error;
  if (std::filesystem::exists(program, error)) return {};
  return fmt::format("warning: there is no {} yet\n", one_line(program));
}

std::string typed(const Words& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += typed_word(word);
  }
  return readable(text);
}

}  // namespace sitter::setup
