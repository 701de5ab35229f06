#include "setup/found_place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/base/text.hpp"
#include "setup/document.hpp"
#include "setup/failure.hpp"
#include "setup/replace_file.hpp"

namespace sitter::setup {
namespace {

constexpr std::size_t kNameShownMax = 100;

}  // namespace

std::vector<Place> places_in(const Client& client, const std::string& scope,
                             const std::string& project, const Variable& variable) {
  std::vector<Place> all = places(client, project, variable);
  if (all.empty()) throw Failure{"HOME is not set, so no settings can be found; set it"};
  if (scope.empty()) return all;
  std::vector<std::string> scopes;
  for (const Place& place : all) {
    if (scopes.empty() || scopes.back() != place.scope) scopes.push_back(place.scope);
  }
  std::erase_if(all, [&](const Place& place) { return place.scope != scope; });
  if (all.empty()) {
    throw Failure{fmt::format("--scope: {} has no scope '{}', only {}", client.title,
                              brief(scope, kNameShownMax), fmt::join(scopes, ", ")),
                  2};
  }
  return all;
}

Place place_of(const Client& client, const std::vector<Place>& places, const std::string& name) {
  std::vector<Place> fitting;
  std::set<std::string> names;
  std::optional<Failure> broken;
  for (const Place& place : places) {
    try {
      const auto text = read_settings(place.file);
      if (!text) continue;
      const auto document = Document::read(client.notation, *text, place.file);
      const Json* const servers = find(document->values(), place.servers);
      if (servers == nullptr || !servers->is_object()) continue;
      for (const auto& [key, entry] : servers->items()) names.insert(one_line(key));
      if (servers->contains(name)) fitting.push_back(place);
    } catch (const Failure& failure) {
      // Another file may hold the server.
      if (!broken) broken = failure;
    }
  }
  if (fitting.empty() && broken) throw *broken;
  if (fitting.empty()) {
    throw Failure{fmt::format("{} has no server '{}' here{}", client.title,
                              brief(name, kNameShownMax),
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
      fmt::format("'{}' is in {}: {}", brief(name, kNameShownMax), fmt::join(found, " and in "),
                  have_one_scope ? "remove one of them first" : "choose one of them with --scope")};
}

Place place_for_new(const std::vector<Place>& places) {
  for (const Place& place : places) {
    // The same scope may have a file with another ending.
    if (place.scope == places.front().scope && read_settings(place.file)) return place;
  }
  return places.front();
}

}  // namespace sitter::setup
