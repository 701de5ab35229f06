#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "core/base/text.hpp"
#include "demo/interruption.hpp"
#include "demo/play.hpp"
#include "demo/screen.hpp"
#include "demo/story.hpp"
#include "help/commands.hpp"
#include "help/help.hpp"
#include "terminal/terminal.hpp"

namespace sitter {
namespace {

/// Longer lines are hard to read.
constexpr std::size_t kColumnsMax = 100;

/// What the words choose. Without a choice, it depends on stdout.
struct Choice {
  std::optional<bool> is_fast;
  std::optional<bool> has_color;
};

void write(std::string_view text) {
  if (!print_all(text)) throw std::runtime_error(fmt::format("stdout: {}", std::strerror(errno)));
}

int play(const Choice& choice) {
  const std::optional<std::size_t> columns = terminal_columns();
  const bool has_pauses = !choice.is_fast.value_or(!columns);
  try {
    Interruption interruption;
    Screen screen({.has_color = choice.has_color.value_or(wants_color()),
                   .columns = std::min(columns.value_or(0), kColumnsMax),
                   .write = write,
                   .wait = [&](std::chrono::milliseconds time) {
                     if (has_pauses) interruption.wait(time);
                   }});
    Play(story(), screen, interruption).run();
    return 0;
  } catch (const Interruption::Interrupted& interrupted) {
    return 128 + interrupted.signal;
  } catch (const std::exception& error) {
    fmt::print(stderr, "mcp-sitter demo: {}\n", one_line(error.what()));
    return kFailed;
  }
}

}  // namespace

int run_demo(const std::vector<std::string>& words) {
  CLI::App app(
      "Shows on the terminal what mcp-sitter is for, with a real server in a temporary folder.");
  app.set_help_flag("-h,--help", "print this and exit");
  const auto flag = [&app](const char* name, const char* about) {
    return app.add_flag(name)->description(about);
  };
  const CLI::Option* const fast =
      flag("--fast", "make no pauses (default if stdout is not a terminal)");
  CLI::Option* const no_fast = flag("--no-fast", "make pauses");
  const CLI::Option* const color =
      flag("--color", "use colours (default if stdout is a terminal and NO_COLOR is not set)");
  CLI::Option* const no_color = flag("--no-color", "use no colours");
  no_fast->excludes("--fast");
  no_color->excludes("--color");
  try {
    // The parser expects its words in reverse order.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", command_help(app, "  mcp-sitter demo [options]\n"));
    return 0;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "mcp-sitter demo: {}; see mcp-sitter demo --help\n",
               wrong_words(app, words, error));
    return kUsageError;
  }
  Choice choice;
  if (*fast || *no_fast) choice.is_fast = bool(*fast);
  if (*color || *no_color) choice.has_color = bool(*color);
  return play(choice);
}

}  // namespace sitter
