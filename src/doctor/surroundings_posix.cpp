#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "doctor/surroundings.hpp"

extern char** environ;  // NOLINT: the system's name

namespace sitter {
namespace {

/// What the official SDK passes on (HOME, LOGNAME, SHELL, TERM, USER), and what a session of a
/// desktop sets.
constexpr std::array<std::string_view, 7> kPassedOn = {"HOME", "USER", "LOGNAME", "SHELL",
                                                       "LANG", "TERM", "TMPDIR"};

constexpr const char* kShortPath = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

}  // namespace

std::vector<std::string> own_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return entries;
}

std::vector<std::string> short_environment() {
  std::vector<std::string> entries = own_environment();
  std::erase_if(entries, [](const std::string& entry) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    return std::find(kPassedOn.begin(), kPassedOn.end(), name) == kPassedOn.end();
  });
  entries.emplace_back(kShortPath);
  return entries;
}

}  // namespace sitter
