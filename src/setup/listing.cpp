#include "setup/listing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/http/url.hpp"
#include "setup/changes.hpp"
#include "setup/failure.hpp"
#include "setup/own_command.hpp"
#include "setup/replace_file.hpp"
#include "terminal/text_table.hpp"

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
  const std::string text = server.words.empty() ? shown_address(server.url)
                                                : fmt::format("{}", fmt::join(server.words, " "));
  return text.empty() ? "-" : brief(text, kCommandShownMax);
}

/// Adds a row for each server of the place. False if there is no such file.
bool add_rows(const Client& client, const Place& place, std::vector<Row>& rows) {
  const std::string name(client.name);
  try {
    const auto text = read_settings(place.file);
    if (!text) return false;
    const auto document = Document::read(client.notation, *text, place.file);
    const Json* const servers = find(document->values(), place.servers);
    if (servers == nullptr || !servers->is_object()) return true;
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

}  // namespace

std::string listing(const std::vector<Client>& clients, const std::string& project,
                    const Variable& variable) {
  std::vector<Row> rows = {{"CLIENT", "SCOPE", "SERVER", "STATE", "COMMAND"}};
  for (const Client& client : clients) {
    const std::size_t before = rows.size();
    bool is_found = !program_in_path(program_of(client)).empty();
    for (const Place& place : places(client, project, variable)) {
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
    return "no client is found: there is neither a settings file nor a program\n";
  }
  return table(rows);
}

}  // namespace sitter::setup
