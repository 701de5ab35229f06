#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/text.hpp"
#include "help/commands.hpp"
#include "help/help.hpp"
#include "io/system/environment.hpp"
#include "io/system/error_text.hpp"
#include "io/system/platform.hpp"
#include "options/raw_options.hpp"
#include "setup/actions.hpp"
#include "terminal/terminal.hpp"

namespace sitter {
namespace {

using setup::Failure;
using Words = setup::Words;

constexpr std::string_view kUsage =
    R"(  mcp-sitter setup                                    shows clients and servers
  mcp-sitter setup CLIENT --wrap NAME [options]       puts mcp-sitter in front
  mcp-sitter setup CLIENT NAME [options] -- COMMAND   registers a new server
  mcp-sitter setup CLIENT NAME -- --http URL          registers a daemon
  mcp-sitter setup CLIENT NAME -- --cli TOOL          registers a command-line tool
  mcp-sitter setup CLIENT --undo NAME                 restores what was there
)";

/// The words of the command line, as they were written.
struct Raw {
  std::string client;
  std::string name;
  std::string wrapped;
  std::string undone;
  setup::Request request;
};

void declare(CLI::App& app, Raw& raw) {
  app.name("mcp-sitter setup");
  app.set_help_flag("-h,--help", "print this and exit");
  app.add_option("client", raw.client)->check(not_empty());
  app.add_option("name", raw.name)->check(not_empty());
  app.add_option("--wrap", raw.wrapped, "put mcp-sitter in front of this server")
      ->type_name("NAME")
      ->check(not_empty());
  app.add_option("--undo", raw.undone, "take mcp-sitter away from this server")
      ->type_name("NAME")
      ->check(not_empty());
  app.add_option("--scope", raw.request.scope, "one of the client's scopes, as in --scope user")
      ->type_name("SCOPE")
      ->check(not_empty());
  app.add_option("--build", raw.request.build,
                 "shell command that builds the server, instead of the guessed one")
      ->type_name("COMMAND")
      ->check(not_empty());
  app.add_flag("--no-build", raw.request.no_build, "guess no build command");
  app.add_option("--watch", raw.request.watch,
                 "files that reload the server, instead of the guessed ones; may be repeated")
      ->type_name("PATTERN")
      ->allow_extra_args(false)
      ->check(not_empty());
  app.add_flag("--no-watch", raw.request.no_watch, "guess no files to watch");
  app.add_flag("--always-load", raw.request.always_load,
               "Claude Code: keep the server's tools in the model's context");
  app.add_flag("--dry-run", raw.request.is_dry_run, "print the change, and write nothing");
}

/// What is wrong with the words beside each other; empty if nothing is.
std::string wrong_combination(const Raw& raw, bool has_command) {
  const bool is_new = !raw.name.empty();
  const int count = int{is_new} + int{!raw.wrapped.empty()} + int{!raw.undone.empty()};
  if (count > 0 && raw.client.empty()) {
    return "the client is missing, as in mcp-sitter setup claude --wrap notes";
  }
  if (count > 1) return "--wrap, --undo and a new NAME exclude each other: give one of them";
  if (is_new && !has_command) {
    return fmt::format("the command of '{}' is missing: put it after --", raw.name);
  }
  if (!is_new && has_command) {
    return "only a new server has a command: give its NAME before --";
  }
  if (!raw.request.build.empty() && raw.request.no_build) {
    return "--build and --no-build exclude each other: give one of them";
  }
  if (!raw.request.watch.empty() && raw.request.no_watch) {
    return "--watch and --no-watch exclude each other: give one of them";
  }
  const bool has_options = !raw.request.build.empty() || !raw.request.watch.empty() ||
                           raw.request.no_build || raw.request.no_watch || raw.request.always_load;
  if (has_options && !is_new && raw.wrapped.empty()) {
    return "--build, --no-build, --watch, --no-watch and --always-load are for --wrap and for a "
           "new server";
  }
  if (count == 0 && (raw.request.is_dry_run || !raw.request.scope.empty())) {
    return "--wrap, --undo or a new NAME is missing";
  }
  return {};
}

/// The option without its value.
std::string name_of(const std::string& word) { return word.substr(0, word.find('=')); }

/// Whether this is an option of mcp-sitter itself.
bool is_bridge_option(const std::string& word) {
  CLI::App app;
  RawOptions raw;
  declare_options(app, raw);
  return word.starts_with("--") && app.get_option_no_throw(name_of(word)) != nullptr;
}

/// A line about each word of the command that is an option of `setup` alone. Empty if there is
/// none.
std::string misplaced(const CLI::App& app, const Words& command) {
  std::string text;
  for (const std::string& word : command) {
    const std::string name = name_of(word);
    const bool is_ours = name.size() > 2 && name.starts_with("--") && !is_bridge_option(name) &&
                         app.get_option_no_throw(name) != nullptr;
    if (!is_ours) continue;
    text +=
        fmt::format("note: {} comes after --, so it belongs to the command, not to setup\n", name);
  }
  return text;
}

/// What is wrong with the words before --, as a sentence without the program's name.
std::string wrong_own_words(const CLI::App& app, const Words& words, const CLI::ParseError& error) {
  const auto end = std::find(words.begin(), words.end(), "--");
  const auto word = std::find_if(words.begin(), end, [&](const std::string& each) {
    return app.get_option_no_throw(name_of(each)) == nullptr && is_bridge_option(each);
  });
  if (word == end) return wrong_words(app, words, error);
  return fmt::format(
      "{0} is an option of mcp-sitter itself: put it after --, as in mcp-sitter setup CLIENT NAME "
      "-- {0} ...",
      name_of(*word));
}

/// Throws Failure for words that no settings file can hold, and for names that look like options.
void check_texts(const Raw& raw, const std::string& project) {
  const std::string& name = raw.request.name;
  if (name.starts_with('-') || readable(name) != name || one_line(name) != name) {
    throw Failure{fmt::format("'{}' is not a name for a server: use letters, digits, - and _",
                              one_line(name)),
                  kUsageError};
  }
  Words words = raw.request.command;
  words.insert(words.end(), raw.request.watch.begin(), raw.request.watch.end());
  words.insert(words.end(), {raw.request.name, raw.request.build, project});
  for (const std::string& word : words) {
    if (setup::Json(word).dump(-1, ' ', false, setup::Json::error_handler_t::ignore) !=
        setup::Json(word).dump(-1, ' ', false, setup::Json::error_handler_t::replace)) {
      throw Failure{fmt::format("'{}' is not UTF-8, which settings cannot hold; rename the file",
                                one_line(word)),
                    kUsageError};
    }
  }
}

std::string run(Raw raw) {
  std::error_code error;
  const std::string project = std::filesystem::current_path(error).generic_string();
  if (error) {
    throw Failure{fmt::format("the working directory cannot be found: {}; go to another one",
                              error_text(error))};
  }
  const setup::Surroundings here{project, environment_variable, platform::own_program()};
  if (raw.client.empty()) return setup::listing(setup::clients(), here);
  raw.request.client = &setup::client_named(raw.client);
  if (raw.request.always_load && raw.request.client->spelling.always_load.empty()) {
    throw Failure{fmt::format("--always-load is for Claude Code: {} has no such setting",
                              raw.request.client->title),
                  kUsageError};
  }
  raw.request.name = raw.name + raw.wrapped + raw.undone;
  check_texts(raw, project);
  if (!raw.wrapped.empty()) return setup::wrap(raw.request, here);
  if (!raw.undone.empty()) return setup::undo(raw.request, here);
  if (!raw.name.empty()) return setup::add(raw.request, here);
  return setup::listing({*raw.request.client}, here);
}

}  // namespace

int run_setup(const std::vector<std::string>& words) {
  Raw raw;
  CLI::App app("Puts mcp-sitter in front of servers in the settings of MCP clients.");
  declare(app, raw);
  const auto end = std::find(words.begin(), words.end(), "--");
  if (end != words.end()) raw.request.command.assign(end + 1, words.end());
  try {
    // The parser expects its words in reverse order.
    Words own(words.begin(), end);
    std::reverse(own.begin(), own.end());
    app.parse(std::move(own));
    const bool has_command = !raw.request.command.empty() && !raw.request.command.front().empty();
    const Words command = raw.request.command;
    // These words are options of mcp-sitter, and no program is called so.
    if (has_command && command.front().starts_with('-')) {
      raw.request.command.insert(raw.request.command.begin(), "mcp-sitter");
    }
    if (const std::string wrong = wrong_combination(raw, has_command); !wrong.empty()) {
      throw Failure{wrong + "; see mcp-sitter setup --help", kUsageError};
    }
    const bool is_printed = print_all(run(std::move(raw)));
    fmt::print(stderr, "{}", misplaced(app, command));
    return is_printed ? 0 : kFailed;
  } catch (const CLI::CallForHelp&) {
    return print_all(command_help(app, kUsage, "Clients: " + setup::client_names())) ? 0 : kFailed;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "mcp-sitter setup: {}; see mcp-sitter setup --help\n",
               wrong_own_words(app, words, error));
    return kUsageError;
  } catch (const Failure& failure) {
    fmt::print(stderr, "mcp-sitter setup: {}\n", one_line(failure.what));
    return failure.exit_code;
  }
}

}  // namespace sitter
