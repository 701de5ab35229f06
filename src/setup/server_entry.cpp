#include "setup/server_entry.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>
#include <variant>

#include "core/base/ascii.hpp"
#include "core/base/shell_word.hpp"
#include "options/raw_options.hpp"
#include "probe/json_words.hpp"
#include "setup/server_file.hpp"

namespace sitter::setup {
namespace {

constexpr std::string_view kPackage = "mcp-sitter-native";

/// The members that say how a server over HTTP is reached.
constexpr std::array<std::string_view, 4> kUrlMembers = {"url", "httpUrl", "headers",
                                                         "http_headers"};

/// The members of Codex and others that no option of mcp-sitter stands for.
constexpr std::array<std::string_view, 4> kUnknownSecrets = {
    "bearer_token_env_var", "env_http_headers", "headersHelper", "authProviderType"};

/// The part of an entry that holds the command.
const Json& holder(const Json& entry, const Spelling& spelling) {
  const auto found = entry.find(spelling.nested);
  return found != entry.end() && found->is_object() ? *found : entry;
}

Json& holder(Json& entry, const Spelling& spelling) {
  return const_cast<Json&>(holder(std::as_const(entry), spelling));
}

/// Adds the strings of a list, or a string.
void add_words(const Json& value, Words& words) {
  if (value.is_string()) words.push_back(value.get<std::string>());
  if (!value.is_array()) return;
  for (const Json& word : value) words.push_back(word.get<std::string>());
}

/// What a member must be that mcp-sitter reads or changes; a missing one and null are fine.
enum class MemberKind { string, strings, object };

bool is_of(MemberKind kind, const Json& value) {
  const auto is_string = [](const Json& each) { return each.is_string(); };
  if (value.is_null()) return true;
  if (kind == MemberKind::string) return value.is_string();
  if (kind == MemberKind::object) return value.is_object();
  return value.is_array() && std::all_of(value.begin(), value.end(), is_string);
}

/// Which member is of another kind, as a clause; empty if none is.
std::string wrong_member(const Json& entry, const Spelling& spelling) {
  struct Rule {
    std::string_view member;
    MemberKind kind = MemberKind::string;
  };
  const Json& part = holder(entry, spelling);
  const Rule rules[] = {
      {spelling.nested, MemberKind::object},
      {"command", spelling.command_is_list ? MemberKind::strings : MemberKind::string},
      {"args", MemberKind::strings},
      {"cwd"},
      {"type"},
      {"url"},
      {"httpUrl"},
      {spelling.headers, MemberKind::object},
      {spelling.environment, MemberKind::object}};
  for (const auto& [name, kind] : rules) {
    const auto found = part.find(name);
    if (name.empty() || found == part.end() || is_of(kind, *found)) continue;
    return fmt::format("its member {} must be {}", name,
                       kind == MemberKind::string    ? "a string"
                       : kind == MemberKind::strings ? "a list of strings"
                                                     : "an object");
  }
  return {};
}

bool is_package(const std::string& word) {
  return word == kPackage || word.starts_with(std::string(kPackage) + "@");
}

/// How many words at the beginning are `cmd /c`. None if a whole command line follows, which only
/// cmd.exe can read.
std::size_t words_of_cmd(const Words& words) {
  const bool is_cmd = words.size() > 2 && ascii_lower(program_name(words[0])) == "cmd" &&
                      ascii_lower(words[1]) == "/c";
  const bool is_line = is_cmd && words.size() == 3 && words[2].find(' ') != std::string::npos;
  return is_cmd && !is_line ? 2 : 0;
}

/// How many words run mcp-sitter before its options begin; 0 if they do not run it.
std::size_t own_words(const Words& words) {
  std::size_t first = words_of_cmd(words);
  if (first < words.size() && program_name(words[first]) == "env") {
    ++first;
    while (first < words.size() && words[first].find('=') != std::string::npos) ++first;
  }
  if (first == words.size()) return 0;
  const std::string program = program_name(words[first]);
  if (program == "mcp-sitter") return first + 1;
  std::size_t at = first + 1;
  if (at < words.size() && (program == "node" || program == "bun") &&
      program_name(words[at]) == "mcp-sitter.mjs") {
    return at + 1;
  }
  if (program == "pnpm" || program == "yarn") {
    if (at == words.size() || words[at] != "dlx") return 0;
    ++at;
  } else if (program != "npx" && program != "bunx") {
    return 0;
  }
  while (at < words.size() && words[at].starts_with('-')) ++at;
  return at < words.size() && is_package(words[at]) ? at + 1 : 0;
}

/// The words of an entry that runs mcp-sitter.
struct Split {
  Words program;
  /// Nothing if an option is unknown. Then `rest` begins behind the program.
  std::optional<std::vector<GivenOption>> options;
  Words rest;
};

Split split_words_of(const Words& wrapped) {
  auto begin = wrapped.begin() + as_offset(own_words(wrapped));
  Split split{{wrapped.begin(), begin}, std::nullopt, {}};
  CLI::App app;
  RawOptions raw;
  declare_options(app, raw);
  auto options = split_options(app, {begin, wrapped.end()});
  if (auto* const given = std::get_if<std::vector<GivenOption>>(&options)) {
    for (const GivenOption& option : *given) begin += as_offset(option.words.size());
    split.options = std::move(*given);
  }
  split.rest.assign(begin, wrapped.end());
  return split;
}

/// The name of the variable for the value of a header.
std::string variable_for(const std::string& header) {
  std::string name = "MCP_SITTER_HEADER_";
  for (const char c : header) {
    const auto byte = static_cast<unsigned char>(c);
    name += std::isalnum(byte) ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return name;
}

/// Adds a variable, and returns its name, which no other one has.
std::string add_variable(Json& environment, std::string name, const std::string& value) {
  while (environment.contains(name)) name += '_';
  environment[name] = value;
  return name;
}

/// The words that name an address; a variable holds it if its query may be secret, since others can
/// read arguments.
Words address_words(const std::string& url, Json& environment) {
  if (url.find_first_of("?#") == url.npos) return {"--http", url};
  return {"--http-env", add_variable(environment, "MCP_SITTER_URL", url)};
}

/// The words that name a header; a variable holds its value.
Words header_words(const std::string& name, const std::string& value, Json& environment) {
  // No variable may be empty.
  if (value.empty()) return {"--header", name + "="};
  return {"--header-env", name + "=" + add_variable(environment, variable_for(name), value)};
}

/// Puts a member behind another one, or replaces it in its place.
void put_behind(Json& object, std::string_view key, Json value, std::string_view neighbour) {
  if (object.contains(key)) {
    object[std::string(key)] = std::move(value);
    return;
  }
  Json changed = Json::object();
  for (const auto& [name, member] : object.items()) {
    changed[name] = member;
    if (name == neighbour) changed[std::string(key)] = value;
  }
  if (!changed.contains(key)) changed[std::string(key)] = std::move(value);
  object = std::move(changed);
}

void set_words(Json& object, const Spelling& spelling, const Words& words) {
  if (spelling.command_is_list) {
    object["command"] = words;
    return;
  }
  object["command"] = words.front();
  const Words arguments(words.begin() + 1, words.end());
  if (!arguments.empty() || object.contains("args")) {
    put_behind(object, "args", arguments, "command");
  }
}

/// Makes one object say what another one says in these members.
void take(Json& object, const Json& from, const std::vector<std::string_view>& keys) {
  for (const std::string_view key : keys) {
    const auto found = from.find(key);
    if (found == from.end()) {
      object.erase(std::string(key));
    } else {
      put_behind(object, key, *found, key == "args" ? "command" : "");
    }
  }
}

/// The members that mcp-sitter changes.
std::vector<std::string_view> changed_members(const Server& original, const Spelling& spelling) {
  std::vector<std::string_view> keys = {"command", "args"};
  if (!spelling.always_load.empty()) keys.push_back(spelling.always_load);
  if (original.kind != Server::Kind::http) return keys;
  keys.insert(keys.end(), {"type", spelling.environment});
  keys.insert(keys.end(), kUrlMembers.begin(), kUrlMembers.end());
  return keys;
}

/// The original entry with the words of the wrapped one.
std::optional<Json> wrapped_words(const Json& original, const Json& wrapped,
                                  const Spelling& spelling) {
  const Server server = read_server(original, spelling);
  const Words words = read_server(wrapped, spelling).words;
  if (server.kind == Server::Kind::stdio) {
    if (words_behind(words) != without_cmd(server.words)) return std::nullopt;
    return with_words(original, spelling, words);
  }
  if (server.kind != Server::Kind::http) return std::nullopt;
  const auto own = as_offset(own_words(words));
  Json again = over_stdio(original, spelling, {words.begin(), words.begin() + own});
  const auto address = [&](const Json& entry) {
    const Words all = read_server(entry, spelling).words;
    const Json& part = holder(entry, spelling);
    const auto environment = part.find(spelling.environment);
    Words said(all.begin() + own, all.begin() + std::min(own + 2, std::ssize(all)));
    if (environment != part.end() && !said.empty()) {
      said.push_back(text_in(*environment, said.back()));
    }
    return said;
  };
  if (address(again) != address(wrapped)) return std::nullopt;
  return again;
}

}  // namespace

Words joined(Words front, const Words& behind) {
  front.insert(front.end(), behind.begin(), behind.end());
  return front;
}

std::string typed_word(const std::string& word) {
  const bool is_plain = shell_word(word) == word;
  const bool fits_quotes = word.find_first_of("\"$`\\!\n") == word.npos;
  return is_plain || !fits_quotes ? shell_word(word) : '"' + word + '"';
}

Server read_server(const Json& entry, const Spelling& spelling) {
  Server server;
  if (!entry.is_object()) {
    server.problem = "it is not an object";
    return server;
  }
  server.problem = wrong_member(entry, spelling);
  if (!server.problem.empty()) return server;
  const Json& part = holder(entry, spelling);
  server.cwd = text_in(part, "cwd");
  const std::string type = text_in(part, "type");
  server.url = text_in(part, part.contains("httpUrl") ? "httpUrl" : "url");
  if (server.url.empty()) {
    add_words(member(part, "command"), server.words);
    if (server.words.empty() || server.words.front().empty()) {
      server.words.clear();
      server.problem = "it has neither a command nor a URL";
      return server;
    }
    add_words(member(part, "args"), server.words);
    server.kind = Server::Kind::stdio;
    return server;
  }
  const bool is_plain = type.empty() && !part.contains("httpUrl");
  if (type == "sse" || (is_plain && spelling.plain_url_is_sse)) {
    server.problem =
        "it uses the transport HTTP+SSE of 2024-11-05, which mcp-sitter does not speak; if the "
        "server also speaks Streamable HTTP, register that URL as type http first";
    return server;
  }
  for (const std::string_view key : kUnknownSecrets) {
    if (!part.contains(key)) continue;
    server.problem = fmt::format(
        "mcp-sitter cannot take over its member {}; put the whole value of the header into a "
        "variable, and register mcp-sitter --http URL --header-env NAME=VARIABLE by hand",
        key);
    return server;
  }
  const Json headers = member(part, spelling.headers);
  for (const auto& [name, value] : headers.items()) {
    if (!value.is_string()) {
      server.problem = fmt::format("its header {} is not a string", name);
      return server;
    }
    server.headers.emplace_back(name, value.get<std::string>());
  }
  server.kind = Server::Kind::http;
  return server;
}

bool is_secret_word(std::string_view word, std::string_view before) {
  if (before == "--header" || word.starts_with("--header=")) return true;
  const std::size_t begin = word.find("://");
  return begin != word.npos && word.find_first_of("@?#", begin) != word.npos;
}

Words without_secrets(Words words) {
  std::string before;
  for (std::string& word : words) {
    const bool is_secret = is_secret_word(word, before);
    before = is_secret ? "***" : word;
    word = before;
  }
  return words;
}

bool is_wrapped(const Words& words) { return own_words(words) > 0; }

Words arguments_of(const Words& wrapped) {
  return {wrapped.begin() + as_offset(own_words(wrapped)), wrapped.end()};
}

Words without_cmd(const Words& words) {
  return {words.begin() + as_offset(words_of_cmd(words)), words.end()};
}

Words words_behind(const Words& wrapped) {
  const Split split = split_words_of(wrapped);
  if (!split.options) return {};
  for (const GivenOption& option : *split.options) {
    if (option.name.starts_with("--http") || option.name == "--cli") return {};
  }
  const bool has_dashes = !split.rest.empty() && split.rest.front() == "--";
  return {split.rest.begin() + int{has_dashes}, split.rest.end()};
}

Words with_options(const Words& wrapped, const Words& removed, const Words& added) {
  const Split split = split_words_of(wrapped);
  Words words = split.program;
  // The same options again change nothing if they come where they were.
  auto place = as_offset(words.size());
  bool is_placed = false;
  for (const GivenOption& option : split.options.value_or(std::vector<GivenOption>())) {
    if (std::find(removed.begin(), removed.end(), option.name) == removed.end()) {
      words = joined(std::move(words), option.words);
    } else if (!std::exchange(is_placed, true)) {
      place = as_offset(words.size());
    }
  }
  words.insert(words.begin() + place, added.begin(), added.end());
  return joined(std::move(words), split.rest);
}

Json entry_of(Words words, const Spelling& spelling) {
  Json environment = Json::object();
  Words kept;
  for (const GivenOption& option :
       split_words_of(words).options.value_or(std::vector<GivenOption>())) {
    const std::string& word = option.words.back();
    const bool is_joined = option.words.size() == 1;
    const std::string value = is_joined ? word.substr(word.find('=') + 1) : word;
    if (option.name == "--http") kept = joined(std::move(kept), address_words(value, environment));
    const std::size_t equals = value.find('=');
    if (option.name == "--header" && equals != value.npos) {
      kept = joined(std::move(kept),
                    header_words(value.substr(0, equals), value.substr(equals + 1), environment));
    }
  }
  if (!kept.empty()) words = with_options(words, {"--http", "--header"}, kept);
  Json part = Json::object();
  if (!spelling.stdio_type.empty()) part["type"] = spelling.stdio_type;
  set_words(part, spelling, words);
  if (!environment.empty()) part[std::string(spelling.environment)] = std::move(environment);
  if (spelling.nested.empty()) return part;
  Json entry = Json::object();
  entry[std::string(spelling.nested)] = std::move(part);
  return entry;
}

Json with_words(const Json& entry, const Spelling& spelling, const Words& words) {
  Json changed = entry;
  set_words(holder(changed, spelling), spelling, words);
  return changed;
}

Json with_tools_loaded(const Json& entry, const Spelling& spelling) {
  Json changed = entry;
  holder(changed, spelling)[std::string(spelling.always_load)] = true;
  return changed;
}

Json over_stdio(const Json& entry, const Spelling& spelling, Words words) {
  const Server server = read_server(entry, spelling);
  Json changed = entry;
  Json& part = holder(changed, spelling);
  for (const std::string_view key : kUrlMembers) part.erase(std::string(key));
  if (spelling.stdio_type.empty()) {
    part.erase("type");
  } else if (part.contains("type")) {
    part["type"] = spelling.stdio_type;
  }
  const auto found = part.find(spelling.environment);
  Json environment = found == part.end() ? Json::object() : *found;
  words = joined(std::move(words), address_words(server.url, environment));
  for (const auto& [name, value] : server.headers) {
    words = joined(std::move(words), header_words(name, value, environment));
  }
  set_words(part, spelling, words);
  if (!environment.empty()) part[std::string(spelling.environment)] = std::move(environment);
  return changed;
}

std::optional<Json> wrapped_again(const Json& original, const Json& wrapped,
                                  const Spelling& spelling) {
  auto again = wrapped_words(original, wrapped, spelling);
  if (again && !spelling.always_load.empty()) {
    take(holder(*again, spelling), holder(wrapped, spelling), {spelling.always_load});
  }
  return again;
}

Json restored(const Json& original, const Json& wrapped, const Spelling& spelling) {
  Json changed = wrapped;
  take(holder(changed, spelling), holder(original, spelling),
       changed_members(read_server(original, spelling), spelling));
  return changed;
}

}  // namespace sitter::setup
