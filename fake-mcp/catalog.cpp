#include "catalog.hpp"

#include <algorithm>
#include <cstdlib>

#include "json.hpp"
#include "process.hpp"
#include "tools.hpp"

namespace sitter::fake {
namespace {

const std::vector<std::string> kResources = {
    R"json({"uri":"fake://one","name":"one","mimeType":"text/plain"})json",
    R"json({"uri":"fake://two","name":"two","mimeType":"text/plain"})json"};

const std::vector<std::string> kPrompts = {
    R"json({"name":"greet","description":"Greets somebody.","arguments":[{"name":"who","required":true}]})json",
    R"json({"name":"bye"})json"};

constexpr std::string_view kCursor = "page-";

std::vector<std::string> list_in(const std::string& file) {
  std::vector<std::string> list;
  const std::optional<std::string> text = read_file(file);
  const bool usable = text && each_item(*text, '[', [&](std::string_view, std::string_view item) {
                        // In the file a definition may span several lines, but on the wire it must
                        // not.
                        std::string& kept = list.emplace_back(item);
                        std::replace(kept.begin(), kept.end(), '\n', ' ');
                        std::replace(kept.begin(), kept.end(), '\r', ' ');
                      });
  if (!usable) {
    say("fake-mcp: " + file + " is not a JSON array that can be read");
    std::exit(1);
  }
  return list;
}

}  // namespace

Catalog::Catalog(const Options& options)
    : options_(options),
      tools_(options.tools_file ? list_in(*options.tools_file) : builtin_tools(options)),
      resources_(options.resources_file ? list_in(*options.resources_file) : kResources),
      prompts_(options.prompts_file ? list_in(*options.prompts_file) : kPrompts) {}

std::optional<std::string> Catalog::tools_page(std::string_view cursor) const {
  std::size_t page = 0;
  if (!cursor.empty()) {
    const std::string name = text_of(cursor);
    if (!name.starts_with(kCursor)) return std::nullopt;
    page = static_cast<std::size_t>(std::atoll(name.c_str() + kCursor.size()));
    if (page == 0 || page >= options_.pages) return std::nullopt;
  }
  const auto edge = [&](std::size_t number) {
    return tools_.begin() + static_cast<std::ptrdiff_t>(tools_.size() * number / options_.pages);
  };
  const std::string tools = array_of({edge(page), edge(page + 1)});
  if (page + 1 == options_.pages) return object_of({{"tools", tools}});
  const std::string next = json_quoted(std::string(kCursor) + std::to_string(page + 1));
  return object_of({{"tools", tools}, {"nextCursor", next}});
}

std::string Catalog::resources() const { return array_of(resources_); }
std::string Catalog::prompts() const { return array_of(prompts_); }

std::string_view Catalog::tool(std::string_view name) const {
  const auto found = std::find_if(tools_.begin(), tools_.end(), [&](const std::string& tool) {
    return text_of(member(tool, "name")) == name;
  });
  return found == tools_.end() ? std::string_view() : std::string_view(*found);
}

void Catalog::change_tools() {
  if (options_.tools_file) {
    tools_ = list_in(*options_.tools_file);
    return;
  }
  tools_.push_back(object_of({{"name", json_quoted("added_" + std::to_string(++added_count_))},
                              {"inputSchema", R"({"type":"object"})"}}));
}

}  // namespace sitter::fake
