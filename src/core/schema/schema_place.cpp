#include "core/schema/schema_place.hpp"

#include <fmt/format.h>

#include "core/base/text.hpp"

namespace sitter {
namespace {

/// How much of a key a text shows, in bytes.
constexpr std::size_t kKeyShownMax = 100;

}  // namespace

std::vector<JsonSchema::Step> SchemaPlace::path() const {
  if (parent == nullptr) return {};
  std::vector<JsonSchema::Step> path = parent->path();
  if (key == nullptr) {
    path.emplace_back(index);
  } else {
    path.emplace_back(*key);
  }
  return path;
}

std::string path_text(const std::vector<JsonSchema::Step>& path) {
  std::string text;
  for (const JsonSchema::Step& step : path) {
    if (const auto* const key = std::get_if<std::string>(&step)) {
      text += (text.empty() ? "" : ".") + brief(*key, kKeyShownMax);
    } else {
      text += fmt::format("[{}]", std::get<std::size_t>(step));
    }
  }
  return text;
}

}  // namespace sitter
