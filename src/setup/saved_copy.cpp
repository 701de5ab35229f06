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
  new_ = path_ + ".new-server";
  absent_ = path_ + ".no-file";
}

bool SavedCopy::is_there() const { return text().has_value() || is_of_new_server(); }

bool SavedCopy::is_of_new_server() const {
  return read_settings(new_).has_value() || read_settings(absent_).has_value();
}

std::string SavedCopy::path() const { return is_of_new_server() ? new_ : path_; }

std::optional<std::string> SavedCopy::text() const {
  auto text = read_settings(path_);
  return text ? text : read_settings(new_);
}

void SavedCopy::keep(const std::optional<std::string>& text, bool is_of_new_server) const {
  const std::string& kept = !text ? absent_ : is_of_new_server ? new_ : path_;
  write_copy(kept, file_, text.value_or(""));
  for (const std::string& other : {path_, new_, absent_}) {
    if (other != kept) remove_file(other);
  }
}

void SavedCopy::remove() const {
  for (const std::string& file : {path_, new_, absent_}) remove_file(file);
}

}  // namespace sitter::setup
