#include "setup/actions.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <variant>

#include "core/base/text.hpp"
#include "options/options.hpp"
#include "setup/changes.hpp"
#include "setup/client_program.hpp"
#include "setup/failure.hpp"
#include "setup/found_place.hpp"
#include "setup/guess.hpp"
#include "setup/own_command.hpp"
#include "setup/replace_file.hpp"
#include "setup/saved_copy.hpp"
#include "setup/shown_diff.hpp"

namespace sitter::setup {
namespace {

/// A client may write its file at any moment. It does so once, not again and again.
constexpr int kAttemptsMax = 5;

/// The words as a person would type them.
std::string shown(const Words& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    const bool is_plain = shell_word(word) == word;
    const bool fits_quotes = word.find_first_of("\"$`\\!\n") == word.npos;
    text += is_plain || !fits_quotes ? shell_word(word) : '"' + word + '"';
  }
  return readable(text);
}

/// The options for mcp-sitter, and a line that says where they come from.
struct OwnOptions {
  Words words;
  std::string guessed;
};

/// Where the client starts the server, as far as it is known.
std::string directory_of(const std::string& cwd, const std::string& project) {
  if (cwd.empty()) return project;
  static constexpr std::string_view kFolder = "${workspaceFolder}";
  if (cwd.starts_with(kFolder)) return project + cwd.substr(kFolder.size());
  return (std::filesystem::path(project) / cwd).native();
}

OwnOptions own_options(const Request& request, const Words& server, const std::string& cwd,
                       const Place& place, const Surroundings& here) {
  const bool runs_elsewhere = !place.is_in_project && cwd.empty();
  Guess guess = setup::guess(server, directory_of(cwd, here.project), runs_elsewhere);
  Words guessed;
  OwnOptions options;
  if (!request.build.empty()) {
    options.words = {"--build", request.build};
  } else if (!request.no_build && !guess.build.empty()) {
    guessed = {"--build", guess.build};
    if (!guess.build_cwd.empty()) guessed.insert(guessed.end(), {"--build-cwd", guess.build_cwd});
  }
  const bool guesses_watch = request.watch.empty() && !request.no_watch;
  for (const std::string& pattern : guesses_watch ? guess.watch : Words()) {
    guessed.insert(guessed.end(), {"--watch", pattern});
  }
  options.words.insert(options.words.end(), guessed.begin(), guessed.end());
  for (const std::string& pattern : request.watch) {
    options.words.insert(options.words.end(), {"--watch", pattern});
  }
  if (!guessed.empty()) {
    options.guessed = fmt::format("guessed from {}: {}\n", guess.from, shown(guessed));
  }
  return options;
}

/// Throws Failure if mcp-sitter would not start with these words.
void check(const Words& words) {
  const auto parsed = parse_options(words);
  if (const auto* const refusal = std::get_if<Refusal>(&parsed)) {
    throw Failure{fmt::format("mcp-sitter would not start: {}", sentence_of(*refusal)), 2};
  }
}

Words joined(Words front, const Words& behind) {
  front.insert(front.end(), behind.begin(), behind.end());
  return front;
}

/// The words of mcp-sitter for a new server, with the server's own. The command may be a whole
/// command line of mcp-sitter, for what the options of `setup` do not say (--cli, --http, --env).
OwnOptions new_options(const Request& request, const Place& place, const Surroundings& here) {
  if (is_wrapped(request.command)) {
    if (std::filesystem::path(request.command.front()).filename() != "mcp-sitter") {
      throw Failure{"behind -- write mcp-sitter instead of the program that starts it", 2};
    }
    if (!request.build.empty() || !request.watch.empty()) {
      throw Failure{"put --build and --watch behind mcp-sitter, where its other options are", 2};
    }
    return {Words(request.command.begin() + 1, request.command.end()), {}};
  }
  // The client may start the server in any folder.
  const Words cwd = place.is_in_project ? Words() : Words{"--cwd", here.project};
  OwnOptions options =
      own_options(request, request.command, place.is_in_project ? "" : here.project, place, here);
  options.words = joined(joined(joined(cwd, options.words), {"--"}), request.command);
  if (options.guessed.empty() && request.build.empty() && request.watch.empty()) {
    options.guessed =
        "guessed neither --build nor --watch: mcp-sitter help reloading says what "
        "they do\n";
  }
  return options;
}

/// A warning if the server cannot be started now; empty if it can.
std::string warning(const Words& behind) {
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

/// The wrapped entry, and a line about what was guessed.
struct Wrapped {
  Json entry;
  std::string guessed;
};

Wrapped wrapped_entry(const Request& request, const Surroundings& here, const Place& place,
                      const Json& entry) {
  const Spelling& spelling = request.client->spelling;
  const Server server = read_server(entry, spelling);
  if (is_wrapped(server.words)) {
    throw Failure{
        fmt::format("'{}' in {} is wrapped already; mcp-sitter setup {} --undo {} takes "
                    "mcp-sitter away",
                    request.name, place.file, request.client->name, request.name)};
  }
  if (server.kind == Server::Kind::other) {
    throw Failure{
        fmt::format("'{}' in {} cannot be wrapped: {}", request.name, place.file, server.problem)};
  }
  const Words own = own_command(here.program);
  if (server.kind == Server::Kind::http) {
    if (!request.build.empty() || !request.watch.empty()) {
      throw Failure{fmt::format("--build and --watch need a command that starts the server, and "
                                "'{}' is only a URL; leave them out",
                                request.name),
                    2};
    }
    Words checked = {"--http", server.url};
    for (const auto& [name, value] : server.headers) {
      checked.insert(checked.end(), {"--header", name + "=x"});
    }
    check(checked);
    return {over_stdio(entry, spelling, joined(own, {"--http", server.url}), {}), ""};
  }
  OwnOptions options = own_options(request, server.words, server.cwd, place, here);
  const Words behind = joined(joined(options.words, {"--"}), server.words);
  check(behind);
  return {with_words(entry, spelling, joined(own, behind)), std::move(options.guessed)};
}

/// A change of a text.
struct Change {
  /// Nothing: the file is removed.
  std::optional<std::string> text;
  /// What to print about it.
  std::string told;
};

std::string diff(const EntryText& at, const std::optional<std::string>& after) {
  const auto masked = [&](const std::optional<std::string>& text) {
    const EntryText changed{at.client, at.place, at.name, text};
    return without_secrets(*changed.document(), at.path());
  };
  return readable(unified_diff(at.place.file, masked(at.text), masked(after)));
}

std::string undo_command(const Request& request, const Place& place) {
  return fmt::format("mcp-sitter setup {} --undo {} --scope {}", request.client->name,
                     shell_word(request.name), place.scope);
}

/// Says what to do after a change.
std::string steps(const Request& request, const Place& place, const SavedCopy& copy) {
  std::string text =
      fmt::format("next: {}\nundo: {}\n", request.client->next_step, undo_command(request, place));
  if (copy.text()) text += fmt::format("copy of the file from before: {}\n", copy.path());
  return text;
}

std::string wrote(const Request& request, const Place& place, const Json& entry) {
  const Server server = read_server(entry, request.client->spelling);
  return fmt::format("wrote the entry '{}' (scope {}) in {}:\n  {}\n", one_line(request.name),
                     place.scope, place.file, shown(server.words));
}

constexpr const char* kDryRun = "nothing was written (--dry-run)\n";

[[noreturn]] void refuse_busy(const Place& place) {
  throw Failure{fmt::format("{} changes all the time; end the client and try again", place.file)};
}

/// Registers the server with the command of Claude Code. Only new servers are registered in this
/// way: the client has no command that changes an entry, and `remove` with `add-json` would lose
/// members that the command does not know.
bool registered_by_claude(const Request& request, const Place& place, const Json& entry) {
  const std::string claude = program_in_path("claude");
  if (request.client->name != "claude" || claude.empty()) return false;
  run_program({claude, "mcp", "add-json", request.name, entry.dump(), "-s", place.scope});
  const EntryText after{*request.client, place, request.name, read_settings(place.file)};
  const auto written = after.entry();
  if (!written || read_server(*written, request.client->spelling).words !=
                      read_server(entry, request.client->spelling).words) {
    throw Failure{
        fmt::format("claude mcp add-json has not written the entry '{}' to {}; look with "
                    "claude mcp get {}",
                    request.name, place.file, request.name)};
  }
  return true;
}

}  // namespace

std::string wrap(const Request& request, const Surroundings& here) {
  const Client& client = *request.client;
  const Place place =
      place_of(client, places_in(client, request.scope, here.project, here.variable), request.name);
  const SettingsLock lock(place.file);
  const SavedCopy copy(place, request.name);
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const EntryText at{client, place, request.name, read_settings(place.file)};
    const Wrapped wrapped = wrapped_entry(request, here, place, at.entry().value_or(Json()));
    const std::string text = with_entry(at, wrapped.entry);
    if (request.is_dry_run) return wrapped.guessed + diff(at, text) + kDryRun;
    copy.keep(at.text, false);
    try {
      if (!replace_file(place.file, at.text, text)) continue;
    } catch (const Failure&) {
      copy.remove();
      throw;
    }
    return wrapped.guessed + wrote(request, place, wrapped.entry) + steps(request, place, copy);
  }
  copy.remove();
  refuse_busy(place);
}

std::string add(const Request& request, const Surroundings& here) {
  const Client& client = *request.client;
  const Place place = place_for_new(places_in(client, request.scope, here.project, here.variable));
  const SettingsLock lock(place.file);
  const SavedCopy copy(place, request.name);
  const OwnOptions options = new_options(request, place, here);
  const Words& behind = options.words;
  check(behind);
  const Json entry = entry_of(joined(own_command(here.program), behind), client.spelling);
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const EntryText at{client, place, request.name, read_settings(place.file)};
    if (at.entry()) {
      throw Failure{
          fmt::format("'{}' is in {} already; mcp-sitter setup {} --wrap {} puts "
                      "mcp-sitter in front of it",
                      request.name, place.file, client.name, request.name)};
    }
    const std::string text = with_entry(at, entry);
    if (request.is_dry_run) return options.guessed + warning(behind) + diff(at, text) + kDryRun;
    copy.keep(at.text, true);
    try {
      if (!registered_by_claude(request, place, entry) &&
          !replace_file(place.file, at.text, text)) {
        continue;
      }
    } catch (const Failure&) {
      copy.remove();
      throw;
    }
    return options.guessed + warning(behind) + wrote(request, place, entry) +
           fmt::format("try it: mcp-sitter doctor {}\n", shown(behind)) +
           steps(request, place, copy);
  }
  copy.remove();
  refuse_busy(place);
}

std::string undo(const Request& request, const Surroundings& here) {
  const Client& client = *request.client;
  const Place place =
      place_of(client, places_in(client, request.scope, here.project, here.variable), request.name);
  const SettingsLock lock(place.file);
  const SavedCopy copy(place, request.name);
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const EntryText at{client, place, request.name, read_settings(place.file)};
    const Undone after = undone(at, copy);
    if (request.is_dry_run) return diff(at, after.text) + kDryRun;
    if (!after.text) {
      if (read_settings(place.file) != at.text) continue;
      remove_file(place.file);
    } else if (!replace_file(place.file, at.text, *after.text)) {
      continue;
    }
    copy.remove();
    const bool is_gone = after.text && !EntryText{client, place, request.name, after.text}.entry();
    const std::string what = !after.text      ? "removed {}, which was not there before\n"
                             : is_gone        ? "removed '{1}' from {0}\n"
                             : after.is_exact ? "{} is as it was before, byte for byte\n"
                                              : "took mcp-sitter away from '{1}' in {0}\n";
    return fmt::format(fmt::runtime(what), place.file, one_line(request.name)) +
           fmt::format("next: {}\n", client.next_step);
  }
  refuse_busy(place);
}

}  // namespace sitter::setup
