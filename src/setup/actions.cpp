#include "setup/actions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "core/base/shell_word.hpp"
#include "core/base/text.hpp"
#include "core/http/url.hpp"
#include "setup/bridge_command.hpp"
#include "setup/changes.hpp"
#include "setup/client_program.hpp"
#include "setup/settings_file.hpp"
#include "terminal/format.hpp"

namespace sitter::setup {
namespace {

/// A command line is shown up to this length.
constexpr std::size_t kCommandShownMax = 60;

using Row = std::vector<std::string>;

std::string state_of(const Server& server) {
  if (is_wrapped(server.words)) return "wrapped";
  return server.kind == Server::Kind::other ? "cannot be wrapped" : "not wrapped";
}

/// Without a user, a password and a query, which may be secret.
std::string shown_address(const std::string& text) {
  std::string error;
  const auto url = parse_url(text, error);
  return url ? url->shown() : "a URL that mcp-sitter does not take: " + error;
}

std::string command_of(const Server& server) {
  if (server.words.empty() && server.url.empty()) return "-";
  const std::string text = server.words.empty()
                               ? shown_address(server.url)
                               : fmt::format("{}", fmt::join(without_secrets(server.words), " "));
  return text.empty() ? "-" : brief(text, kCommandShownMax);
}

/// Adds a row for each server of the place. False if there is no such file.
bool add_rows(const Client& client, const Place& place, std::vector<Row>& rows) {
  const std::string name(client.name);
  try {
    const auto servers = servers_at(client, place);
    if (!servers) return false;
    for (const auto& [key, entry] : servers->items()) {
      const Server server = read_server(entry, client.spelling);
      rows.push_back({name, place.scope, one_line(key), state_of(server), command_of(server)});
    }
  } catch (const Failure& failure) {
    rows.push_back({name, place.scope, "-", "-", failure.what});
  }
  return true;
}

/// The program of a client in PATH.
std::string program_of(const Client& client) {
  return client.name == "vscode" ? "code" : std::string(client.name);
}

/// A client may write its file at any moment. It does so once, not again and again.
constexpr int kAttemptsMax = 5;

/// An entry, and what to say about it before and behind the place where it was written.
struct Planned {
  Json entry;
  std::string before = {};
  std::string behind = {};
  /// The entry ran mcp-sitter before, and the copy of the file from before that stays.
  bool was_wrapped = false;
};

/// The entry with what the request says about it, besides the words.
Json asked_of(const Request& request, const Json& entry) {
  return request.always_load ? with_tools_loaded(entry, request.client->spelling) : entry;
}

/// A line that names the variables that hold what may be secret; empty if there are none.
std::string variable_note(const Json& entry, const Spelling& spelling) {
  const Words words = read_server(entry, spelling).words;
  const auto end = std::find(words.begin(), words.end(), "--");
  Words variables;
  for (auto word = words.begin(); word != end && std::next(word) != end; ++word) {
    if (*word != "--http-env" && *word != "--header-env") continue;
    const std::string& value = *std::next(word);
    const std::string variable = value.substr(value.find('=') + 1);
    // The user may have named a variable of his own.
    if (entry.dump().find(fmt::format("\"{}\":", variable)) == std::string::npos) continue;
    variables.push_back(variable);
  }
  if (variables.empty()) return {};
  return fmt::format(
      "note: others can read arguments, so the entry has what may be secret in {}: {}\n",
      variables.size() == 1 ? "a variable" : "variables", fmt::join(variables, ", "));
}

Planned wrapped_entry(const Request& request, const Surroundings& here, const Place& place,
                      const Json& entry) {
  const Spelling& spelling = request.client->spelling;
  const Server server = read_server(entry, spelling);
  if (is_wrapped(server.words)) {
    const Json changed =
        asked_of(request, with_words(entry, spelling, words_again(request, place, server.words)));
    const bool asks_nothing = request.build.empty() && request.watch.empty() && !request.no_build &&
                              !request.no_watch && !request.always_load;
    if (!asks_nothing) return {changed, {}, {}, true};
    throw Failure{
        fmt::format("'{}' in {} is wrapped already; --build and --watch change its options, and "
                    "mcp-sitter setup {} --undo {} takes mcp-sitter away",
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
      checked.insert(checked.end(), {"--header", name + "=" + value});
    }
    check_words(checked, entry_name(request, place));
    const Json changed = asked_of(request, over_stdio(entry, spelling, own));
    return {changed, variable_note(changed, spelling)};
  }
  const BridgeWords behind = words_for(request, without_cmd(server.words), server.cwd, place, here);
  return {asked_of(request, with_words(entry, spelling, joined(own, behind.words))),
          behind.guessed};
}

/// Says what to do after a change.
std::string steps(const Request& request, const Place& place, const Json& entry,
                  const SavedCopy& copy) {
  std::string text = fmt::format("next: {}\nundo: mcp-sitter setup {} --undo {} --scope {}\n",
                                 request.client->next_step, request.client->name,
                                 shell_word(request.name), place.scope);
  const std::string_view member = request.client->spelling.always_load;
  if (!member.empty() && !entry.contains(member)) {
    text += fmt::format(
        "{} may keep the tools from the model until it searches; with --always-load, it does not\n",
        request.client->title);
  }
  if (copy.text()) text += fmt::format("copy of the file from before: {}\n", copy.path());
  return text;
}

std::string wrote(const Request& request, const Place& place, const Json& entry) {
  const Server server = read_server(entry, request.client->spelling);
  return fmt::format("wrote the entry '{}' (scope {}) in {}:\n  {}\n", one_line(request.name),
                     place.scope, place.file, typed(without_secrets(server.words)));
}

constexpr const char* kDryRun = "nothing was written (--dry-run)\n";

/// Registers the server with the command of Claude Code. Only new servers are registered in this
/// way: the client has no command that changes an entry, and `remove` with `add-json` would lose
/// members that the command does not know.
bool registered_by_claude(const Request& request, const Place& place, const Json& entry) {
  const std::string claude = program_in_path("claude");
  if (request.client->name != "claude" || claude.empty()) return false;
  // Others can read the arguments of that command.
  if (!variable_note(entry, request.client->spelling).empty()) return false;
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

/// Tries again while the client writes the file at the same moment. `once` returns what to print,
/// or nothing if the file was changed before its own change.
template <class Once>
std::string attempted(const Request& request, const Place& place, Once once) {
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const EntryText at{*request.client, place, request.name, read_settings(place.file)};
    if (auto told = once(at)) return *std::move(told);
  }
  throw Failure{fmt::format("{} changes all the time; end the client and try again", place.file)};
}

/// Writes the entry that `plan` makes from the text, and keeps a copy of the text.
template <class Plan>
std::string put(const Request& request, const Place& place, bool is_new, Plan plan) {
  const SettingsLock lock(place.file);
  const SavedCopy copy(place, request.name);
  return attempted(request, place, [&](const EntryText& at) -> std::optional<std::string> {
    const Planned planned = plan(at);
    if (at.entry() && says_the_same(planned.entry, *at.entry())) {
      return fmt::format("nothing to change: '{}' in {} is so already\n", one_line(request.name),
                         place.file);
    }
    const std::string text = with_entry(at, planned.entry);
    if (request.is_dry_run) return planned.before + shown_change(at, text) + kDryRun;
    const auto forget = [&] {
      if (!planned.was_wrapped) copy.remove();
    };
    if (!planned.was_wrapped) copy.keep(at.text, is_new);
    try {
      const bool is_written = (is_new && registered_by_claude(request, place, planned.entry)) ||
                              replace_file(place.file, at.text, text);
      if (!is_written) {
        forget();
        return std::nullopt;
      }
    } catch (const Failure&) {
      forget();
      throw;
    }
    return planned.before + wrote(request, place, planned.entry) + planned.behind +
           steps(request, place, planned.entry, copy);
  });
}

}  // namespace

std::string listing(const std::vector<Client>& clients, const Surroundings& here) {
  std::vector<Row> rows = {{"CLIENT", "SCOPE", "SERVER", "STATE", "COMMAND"}};
  for (const Client& client : clients) {
    const std::size_t before = rows.size();
    bool is_found = !program_in_path(program_of(client)).empty();
    for (const Place& place : places(client, here)) {
      is_found |= add_rows(client, place, rows);
    }
    if (is_found && rows.size() == before) {
      rows.push_back({std::string(client.name), "-", "-", "no servers", "-"});
    }
  }
  if (rows.size() == 1 && clients.size() == 1) {
    return fmt::format(
        "{0} has neither a settings file nor a program here; mcp-sitter setup {0} "
        "NAME -- COMMAND writes the file\n",
        clients.front().name);
  }
  if (rows.size() == 1) {
    return fmt::format(
        "no client was found: there is neither a settings file nor a program of {}; mcp-sitter "
        "setup CLIENT NAME -- COMMAND writes the file of the client that you name\n",
        client_names());
  }
  return table(rows);
}

std::string wrap(const Request& request, const Surroundings& here) {
  const Place place = place_of(*request.client, request.scope, request.name, here);
  return put(request, place, false, [&](const EntryText& at) {
    return wrapped_entry(request, here, place, at.entry().value_or(Json()));
  });
}

std::string add(const Request& request, const Surroundings& here) {
  const Client& client = *request.client;
  const Place place = place_for_new(client, request.scope, here);
  const BridgeWords behind = words_for_new(request, place, here);
  const Json entry =
      asked_of(request, entry_of(joined(own_command(here.program), behind.words), client.spelling));
  return put(request, place, true, [&](const EntryText& at) -> Planned {
    if (at.entry()) {
      throw Failure{
          fmt::format("'{}' is in {} already; mcp-sitter setup {} --wrap {} puts "
                      "mcp-sitter in front of it",
                      request.name, place.file, client.name, request.name)};
    }
    const std::string note = variable_note(entry, client.spelling);
    // A secret address does not belong into other arguments either.
    return {entry, behind.guessed + warning_about(behind.words) + note,
            note.empty() ? fmt::format("try it: mcp-sitter doctor {}\n",
                                       typed(without_secrets(behind.words)))
                         : ""};
  });
}

std::string undo(const Request& request, const Surroundings& here) {
  const Place place = place_of(*request.client, request.scope, request.name, here);
  const SettingsLock lock(place.file);
  const SavedCopy copy(place, request.name);
  return attempted(request, place, [&](const EntryText& at) -> std::optional<std::string> {
    const Undone after = undone(at, copy);
    if (request.is_dry_run) return shown_change(at, after.text) + kDryRun;
    if (!after.text) {
      if (read_settings(place.file) != at.text) return std::nullopt;
      remove_file(place.file);
    } else if (!replace_file(place.file, at.text, *after.text)) {
      return std::nullopt;
    }
    copy.remove();
    const bool is_gone = after.text && !at.in(after.text).entry();
    const std::string what = !after.text      ? "removed {}, which was not there before\n"
                             : is_gone        ? "removed '{1}' from {0}\n"
                             : after.is_exact ? "{} is as it was before, byte for byte\n"
                                              : "took mcp-sitter away from '{1}' in {0}\n";
    return fmt::format(fmt::runtime(what), place.file, one_line(request.name)) +
           fmt::format("next: {}\n", at.client.next_step);
  });
}

}  // namespace sitter::setup
