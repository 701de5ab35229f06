#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/text.hpp"
#include "help/commands.hpp"
#include "help/help.hpp"
#include "io/cli_backend.hpp"
#include "io/control/control_folder.hpp"
#include "io/driver.hpp"
#include "io/files/era_cache.hpp"
#include "io/http_backend.hpp"
#include "io/process/keeper.hpp"
#include "io/stdio_backend.hpp"
#include "io/stream/error_output.hpp"
#include "io/stream/log.hpp"
#include "io/system/platform.hpp"
#include "io/system/startup.hpp"
#include "options/http_options.hpp"
#include "options/options.hpp"
#include "terminal/terminal.hpp"

namespace {

constexpr char kNoClient[] =
    "mcp-sitter: stdin is a terminal, so there is no MCP client. mcp-sitter waits for messages\n"
    "here until %s.\n"
    "  mcp-sitter setup            registers the server with a client\n"
    "  mcp-sitter doctor COMMAND   tries the server out\n";

/// A mistyped command of mcp-sitter must not wait for a client.
std::optional<sitter::Refusal> wrong_first_word(const sitter::Options& options) {
  if (options.has_dashes || options.daemon || options.cli) return std::nullopt;
  const auto meant = sitter::meant_command(options.command.command);
  if (!meant) return std::nullopt;
  // Only the program must be there.
  sitter::LaunchRequest command = options.command;
  command.arguments.clear();
  const auto planned = sitter::plan_launch(command);
  const auto* const failure = std::get_if<sitter::LaunchFailure>(&planned);
  if (failure == nullptr || !failure->is_missing) return std::nullopt;
  return sitter::Refusal{"mcp-sitter: " + *meant + "\n", 2};
}

std::unique_ptr<sitter::Backend> make_backend(sitter::Options& options,
                                              const sitter::Backend::Parts& parts) {
  if (options.daemon) {
    return std::make_unique<sitter::HttpBackend>(parts, *std::move(options.daemon));
  }
  if (options.cli) return std::make_unique<sitter::CliBackend>(parts, *std::move(options.cli));
  return std::make_unique<sitter::StdioBackend>(parts);
}

int run(int argc, char** argv) {
  sitter::hold_signals();
  sitter::open_standard_streams();
  sitter::platform::give_back_freed_memory();
  const std::vector<std::string> words = sitter::program_words(argc, argv);
  if (sitter::has_done_errand(words)) return 0;
  sitter::hide_header_values(argv + 1);
  if (const sitter::Command* const command = sitter::find_command(words)) {
    sitter::unblock_signals();
    return command->run({words.begin() + 1, words.end()});
  }
  auto parsed = sitter::parse_options(words);
  if (const auto* const refusal = std::get_if<sitter::Refusal>(&parsed)) {
    std::fputs(refusal->text.c_str(), refusal->exit_code == 0 ? stdout : stderr);
    return refusal->exit_code;
  }
  if (std::holds_alternative<sitter::HelpAsked>(parsed)) {
    std::fputs(sitter::help_text().c_str(), stdout);
    return 0;
  }
  auto& options = std::get<sitter::Options>(parsed);
  if (const auto refusal = wrong_first_word(options)) {
    std::fputs(refusal->text.c_str(), stderr);
    return refusal->exit_code;
  }
  if (sitter::is_terminal(stdin)) std::fprintf(stderr, kNoClient, sitter::kEndOfInputKeys);

  // A child or a client may be gone, and the log file may reach its limit.
  sitter::survive_failed_writes();
  // The keeper is a copy of this process, so it must be forked before there are threads and open
  // files.
  std::optional<sitter::Keeper> keeper =
      sitter::Keeper::start(options.control.is_on ? sitter::control_socket() : "");
  sitter::platform::become_subreaper();

  sitter::ErrorOutput error_output;
  std::string error;
  const auto log = sitter::Log::open(options.log, error_output, error);
  if (!log) {
    std::fprintf(stderr, "mcp-sitter: the log file %s can't be opened: %s\n",
                 sitter::one_line(options.log.file).c_str(), error.c_str());
    return 2;
  }
  if (!keeper) {
    log->write(sitter::order::Log::Level::warn, std::string(sitter::kNoKeeper));
  }
  options.bridge.seed = sitter::random_seed();
  if (!options.daemon && !options.cli) {
    options.bridge.is_of_earlier_era = sitter::is_of_earlier_era(options.command);
  }

  sitter::Driver driver({std::move(options.bridge), std::move(options.command),
                         std::move(options.build),
                         [&](const auto& parts) { return make_backend(options, parts); },
                         std::move(options.control), keeper, *log, error_output});
  // From here on, the driver has its signal handlers.
  sitter::unblock_signals();
  return driver.run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mcp-sitter: fatal error: %s\n", error.what());
    return 1;
  }
}
