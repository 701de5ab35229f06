#include "setup/saved_copy.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "setup/replace_file.hpp"

namespace sitter::setup {
namespace {

/// File systems allow 255 bytes, and the longest ending of ours needs some of them.
constexpr std::size_t kNameMax = 230;

std::string encoded(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || c == '.') {
      name += c;
    } else {
      name += fmt::format("%{:02X}", byte);
    }
  }
  return name;
}

/// A number that stands for a text (64-bit FNV-1a).
std::uint64_t digest(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

}  // namespace

SavedCopy::SavedCopy(const Place& place, const std::string& name) : file_(place.file) {
  const std::filesystem::path file(place.file);
  std::string ending = encoded(name);
  // One file may hold an entry of this name for each project.
  if (!place.project.empty()) ending += "-in-" + encoded(place.project);
  std::string copy = file.filename().native() + ".before-mcp-sitter-" + ending;
  if (copy.size() > kNameMax) {
    copy = copy.substr(0, kNameMax - 20) + fmt::format("-{:016x}", digest(copy));
  }
  path_ = (file.parent_path() / copy).native();
  absent_ = path_ + ".no-file";
}

bool SavedCopy::is_there() const {
  return read_settings(path_).has_value() || read_settings(absent_).has_value();
}

std::optional<std::string> SavedCopy::text() const { return read_settings(path_); }

void SavedCopy::keep(const std::optional<std::string>& text) const {
  remove();
  write_copy(text ? path_ : absent_, file_, text.value_or(""));
}

void SavedCopy::remove() const {
  remove_file(path_);
  remove_file(absent_);
}

}  // namespace sitter::setup
