#include "setup/clients.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "core/base/text.hpp"
#include "io/system/file_descriptor.hpp"
#include "options/suggestion.hpp"
#include "setup/settings_file.hpp"

namespace sitter::setup {
namespace {

/// The file `.git` of a worktree or submodule holds one line.
constexpr std::size_t kGitFileMax = 8192;

/// The nearest folder above that holds a repository, or the folder itself. The worktrees of a
/// repository belong to its main folder, as Claude Code sees it.
std::string repository_of(const std::string& folder) {
  for (std::filesystem::path at = folder;; at = at.parent_path()) {
    std::error_code error;
    const std::filesystem::path git = at / ".git";
    if (std::filesystem::is_regular_file(git, error)) {
      std::string problem;
      const std::string link =
          read_whole_file(git.generic_string(), kGitFileMax, problem).value_or("");
      constexpr std::string_view kKey = "gitdir: ";
      const std::size_t end = link.find("/.git/worktrees/");
      if (link.starts_with(kKey) && end != link.npos) {
        // The link may be relative (git-worktree(1)).
        const std::filesystem::path main(link.substr(kKey.size(), end - kKey.size()));
        return (at / main).lexically_normal().generic_string();
      }
    }
    if (std::filesystem::exists(git, error)) return at.generic_string();
    if (at == at.parent_path()) return folder;
  }
}

// What stands for a folder of the user, which each system has elsewhere.
constexpr std::string_view kHomeFolder = "{home}";
constexpr std::string_view kSettingsFolder = "{settings}";

UserFolder base_of(const Client::File& file, const UserFolders& folders) {
  if (file.variable == kHomeFolder) return folders.home;
  return file.variable == kSettingsFolder ? folders.settings : UserFolder{file.variable};
}

std::optional<std::string> file_of(const Client::Row& row, const Surroundings& here) {
  for (const Client::File& file : row.files) {
    if (file.variable.empty()) return here.project + "/" + file.rest;
    const std::string base = path_of(base_of(file, here.folders), here.environment);
    if (!base.empty()) return base + file.rest;
  }
  return std::nullopt;
}

/// The places of this scope, or all of them without a scope.
std::vector<Place> places_in(const Client& client, const std::string& scope,
                             const Surroundings& here) {
  std::vector<Place> all = places(client, here);
  if (all.empty()) {
    throw Failure{fmt::format("{} is not set, so no settings can be found; set it",
                              here.folders.home.variable)};
  }
  if (scope.empty()) return all;
  std::vector<std::string> scopes;
  for (const Place& place : all) {
    if (scopes.empty() || scopes.back() != place.scope) scopes.push_back(place.scope);
  }
  std::erase_if(all, [&](const Place& place) { return place.scope != scope; });
  if (all.empty()) {
    throw Failure{fmt::format("--scope: {} has no scope {}, only {}", client.title,
                              shown_value(scope), fmt::join(scopes, ", ")),
                  2};
  }
  return all;
}

const std::string kClineFile = "cline_mcp_settings.json";

}  // namespace

const std::vector<Client>& clients() {
  static const std::string code = "/Code/User";
  static const std::vector<Client::File> claude = {{"CLAUDE_CONFIG_DIR", "/.claude.json"},
                                                   {kHomeFolder, "/.claude.json"}};
  static const std::vector<Client> all = {
      {"claude",
       "Claude Code",
       Notation::json,
       {.stdio_type = "stdio", .always_load = "alwaysLoad"},
       {{"local", claude, {"projects", "{root}", "mcpServers"}, true},
        // Earlier versions take the folder itself, although it is inside of a repository.
        {"local", claude, {"projects", "{here}", "mcpServers"}, true},
        {"project", {{"", ".mcp.json"}}, {"mcpServers"}, true},
        {"user", claude, {"mcpServers"}}},
       "restart Claude Code, or reconnect the server with /mcp"},
      {"codex",
       "Codex",
       Notation::toml,
       {.headers = "http_headers"},
       {{"user",
         {{"CODEX_HOME", "/config.toml"}, {kHomeFolder, "/.codex/config.toml"}},
         {"mcp_servers"}},
        {"project", {{"", ".codex/config.toml"}}, {"mcp_servers"}, true}},
       "restart Codex"},
      {"gemini",
       "Gemini CLI",
       Notation::json,
       {},
       {{"project", {{"", ".gemini/settings.json"}}, {"mcpServers"}, true},
        {"user", {{kHomeFolder, "/.gemini/settings.json"}}, {"mcpServers"}}},
       "restart Gemini CLI"},
      {"cursor",
       "Cursor",
       Notation::json,
       {.stdio_type = "stdio"},
       {{"project", {{"", ".cursor/mcp.json"}}, {"mcpServers"}, true},
        {"user", {{kHomeFolder, "/.cursor/mcp.json"}}, {"mcpServers"}}},
       "switch the server off and on in the settings of Cursor"},
      {"vscode",
       "VS Code",
       Notation::json,
       {.stdio_type = "stdio"},
       {{"project", {{"", ".vscode/mcp.json"}}, {"servers"}, true},
        {"user", {{kSettingsFolder, code + "/mcp.json"}}, {"servers"}}},
       "restart the server with the command 'MCP: List Servers' of VS Code"},
      {"opencode",
       "opencode",
       Notation::json,
       {.environment = "environment", .stdio_type = "local", .command_is_list = true},
       {{"user",
         {{"XDG_CONFIG_HOME", "/opencode/opencode.jsonc"},
          {kHomeFolder, "/.config/opencode/opencode.jsonc"}},
         {"mcp"}},
        {"user",
         {{"XDG_CONFIG_HOME", "/opencode/opencode.json"},
          {kHomeFolder, "/.config/opencode/opencode.json"}},
         {"mcp"}},
        {"project", {{"", "opencode.json"}}, {"mcp"}, true},
        {"project", {{"", "opencode.jsonc"}}, {"mcp"}, true}},
       "restart opencode"},
      {"qwen",
       "Qwen Code",
       Notation::json,
       {.plain_url_is_sse = true},
       {{"user", {{kHomeFolder, "/.qwen/settings.json"}}, {"mcpServers"}},
        {"project", {{"", ".qwen/settings.json"}}, {"mcpServers"}, true}},
       "restart Qwen Code"},
      {"cline",
       "Cline",
       Notation::json,
       {.stdio_type = "stdio", .plain_url_is_sse = true, .nested = "transport"},
       {{"cli",
         {{"CLINE_MCP_SETTINGS_PATH", ""},
          {"CLINE_DATA_DIR", "/settings/" + kClineFile},
          {"CLINE_DIR", "/data/settings/" + kClineFile},
          {kHomeFolder, "/.cline/data/settings/" + kClineFile}},
         {"mcpServers"}},
        {"vscode",
         {{kSettingsFolder, code + "/globalStorage/saoudrizwan.claude-dev/settings/" + kClineFile}},
         {"mcpServers"}}},
       "restart Cline, or restart the server in its list of MCP servers"},
  };
  return all;
}

std::string client_names() {
  std::string names;
  for (const Client& client : clients()) {
    names += (names.empty() ? "" : ", ") + std::string(client.name);
  }
  return names;
}

const Client& client_named(const std::string& name) {
  for (const Client& client : clients()) {
    if (client.name == name) return client;
  }
  throw Failure{fmt::format("there is no client {}, only {}", shown_value(name), client_names()),
                2};
}

std::vector<Place> places(const Client& client, const Surroundings& here) {
  std::vector<Place> places;
  for (const Client::Row& row : client.rows) {
    const auto file = file_of(row, here);
    if (!file) continue;
    Place place{std::string(row.scope), *file, {}, row.is_in_project};
    for (const std::string_view member : row.servers) {
      const bool is_root = member == "{root}";
      if (is_root || member == "{here}") {
        place.project = is_root ? repository_of(here.project) : here.project;
        place.servers.push_back(place.project);
      } else {
        place.servers.emplace_back(member);
      }
    }
    const bool is_known = std::any_of(places.begin(), places.end(), [&](const Place& other) {
      return other.file == place.file && other.servers == place.servers;
    });
    if (!is_known) places.push_back(std::move(place));
  }
  return places;
}

std::optional<Json> servers_at(const Client& client, const Place& place) {
  const auto text = read_settings(place.file);
  if (!text) return std::nullopt;
  const auto document = Document::read(client.notation, *text, place.file);
  const Json* const servers = find(document->values(), place.servers);
  return servers != nullptr && servers->is_object() ? *servers : Json::object();
}

Place place_of(const Client& client, const std::string& scope, const std::string& name,
               const Surroundings& here) {
  std::vector<Place> fitting;
  std::set<std::string> names;
  std::optional<Failure> broken;
  for (const Place& place : places_in(client, scope, here)) {
    try {
      const Json servers = servers_at(client, place).value_or(Json::object());
      for (const auto& [key, entry] : servers.items()) names.insert(one_line(key));
      if (servers.contains(name)) fitting.push_back(place);
    } catch (const Failure& failure) {
      // Another file may hold the server.
      if (!broken) broken = failure;
    }
  }
  if (fitting.empty() && broken) throw *broken;
  if (fitting.empty()) {
    throw Failure{fmt::format("{} has no server {} here{}", client.title, shown_value(name),
                              names.empty() ? "; register one with mcp-sitter setup " +
                                                  std::string(client.name) + " NAME -- COMMAND"
                                            : fmt::format(", only {}", fmt::join(names, ", ")))};
  }
  if (fitting.size() == 1) return fitting.front();
  std::vector<std::string> found;
  bool have_one_scope = true;
  for (const Place& place : fitting) {
    have_one_scope &= place.scope == fitting.front().scope;
    found.push_back(fmt::format("{} ({})", place.scope, place.file));
  }
  throw Failure{
      fmt::format("{} is in {}: {}", shown_value(name), fmt::join(found, " and in "),
                  have_one_scope ? "remove one of them first" : "choose one of them with --scope")};
}

Place place_for_new(const Client& client, const std::string& scope, const Surroundings& here) {
  const std::vector<Place> places = places_in(client, scope, here);
  for (const Place& place : places) {
    // The same scope may have a file with another ending.
    if (place.scope == places.front().scope && read_settings(place.file)) return place;
  }
  return places.front();
}

}  // namespace sitter::setup
