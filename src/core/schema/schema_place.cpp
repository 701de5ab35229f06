#include "core/schema/schema_place.hpp"

#include <fmt/format.h>

#include "core/base/text.hpp"

namespace sitter {
namespace {

/// How much of a key a text shows, in bytes.
constexpr std::size_t kKeyShownMax = 100;

}  // namespace

JsonSchema::Path SchemaPlace::path() const {
  if (parent == nullptr) return {};
  JsonSchema::Path path = parent->path();
  if (key == nullptr) {
    path.emplace_back(index);
  } else {
    path.emplace_back(*key);
  }
  return path;
}

std::string path_text(const JsonSchema::Path& path) {
  std::string text;
  for (const auto& step : path) {
    if (const auto* const key = std::get_if<std::string>(&step)) {
      text += (text.empty() ? "" : ".") + brief(*key, kKeyShownMax);
    } else {
      text += fmt::format("[{}]", std::get<std::size_t>(step));
    }
  }
  return text;
}

}  // namespace sitter
