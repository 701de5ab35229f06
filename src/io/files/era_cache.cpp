#include "io/files/era_cache.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/paths.hpp"
#include "core/base/text.hpp"
#include "io/system/file_descriptor.hpp"
#include "io/system/path_style.hpp"
#include "io/system/private_file.hpp"
#include "io/system/user_folders.hpp"

namespace sitter {
namespace {

/// Longer than any file that was written here.
constexpr std::size_t kFileMax = 64 * 1024;

constexpr std::string_view kFolder = "/mcp-sitter";
constexpr std::string_view kFile = "/mcp-sitter/eras";

constexpr std::string_view kEarlier = "earlier";
/// The probe has failed, and no session was opened yet.
constexpr std::string_view kUnsure = "unsure";
/// It has answered a probe, and may fail another only for a passing reason.
constexpr std::string_view kNewer = "newer";

/// Variables that say where a terminal is, and change from one login to the next.
constexpr std::array<std::string_view, 19> kPlaces = {"_",
                                                      "SHLVL",
                                                      "PWD",
                                                      "OLDPWD",
                                                      "COLUMNS",
                                                      "LINES",
                                                      "WINDOWID",
                                                      "TERM_SESSION_ID",
                                                      "GPG_TTY",
                                                      "SSH_TTY",
                                                      "SSH_CLIENT",
                                                      "SSH_CONNECTION",
                                                      "SSH_AUTH_SOCK",
                                                      "TMUX",
                                                      "TMUX_PANE",
                                                      "XDG_SESSION_ID",
                                                      "INVOCATION_ID",
                                                      "VSCODE_IPC_HOOK_CLI",
                                                      "WSL_INTEROP"};

/// The hash of a command, and what is known of it.
using Entry = std::pair<std::string, std::string>;

/// The folder of the cache; empty if the environment names none.
std::string cache_folder() {
  const char* const named = environment_variable("XDG_CACHE_HOME");
  const std::string folder = named == nullptr ? "" : std::filesystem::path(named).generic_string();
  if (root_of(folder, kPathStyle)) return folder;
  const std::string usual = path_of(kUserFolders.cache);
  return root_of(usual, kPathStyle) ? usual : "";
}

std::vector<Entry> read_entries(const std::string& path) {
  std::string problem;
  const std::string text = read_whole_file(path, kFileMax, problem).value_or("");
  std::vector<Entry> entries;
  for (const std::string_view line : text_lines(text)) {
    const std::size_t space = line.find(' ');
    if (space != line.npos) entries.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return entries;
}

void write_entries(const std::string& cache, const std::vector<Entry>& entries) {
  std::error_code ignored;  // the file cannot be opened then
  std::filesystem::create_directories(cache, ignored);
  make_private_folder(cache + std::string(kFolder));
  std::string text;
  for (const auto& [key, era] : entries) text += fmt::format("{} {}\n", key, era);
  write_private_file(cache + std::string(kFile), text);
}

/// What is known after the sign; nothing if nothing is to be kept.
std::optional<std::string_view> after(const std::optional<std::string_view>& known,
                                      order::RememberEra::Sign sign) {
  using Sign = order::RememberEra::Sign;
  switch (sign) {
    case Sign::knows_no_probe:
      return kEarlier;
    case Sign::fails_probe:
      return known.value_or(kUnsure);
    case Sign::opens:
      return known == kUnsure ? kEarlier : known;
    case Sign::answers_probe:
      return kNewer;
    case Sign::opens_nothing:
      break;
  }
  return std::nullopt;
}

std::string key_now(const LaunchRequest& request) {
  const PlannedLaunch planned = plan_launch(request);
  return era_key(planned, inspect(request, planned, 0));
}

}  // namespace

std::string era_key(const PlannedLaunch& planned, const BinaryInfo& binary) {
  const auto* const plan = std::get_if<LaunchPlan>(&planned);
  if (plan == nullptr || !binary.exists) return {};
  std::vector<std::string> environment;
  for (const std::string& entry : plan->environment) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    if (std::find(kPlaces.begin(), kPlaces.end(), name) == kPlaces.end()) {
      environment.push_back(entry);
    }
  }
  std::sort(environment.begin(), environment.end());
  const std::string_view end("\0", 1);
  const std::string known =
      fmt::format("{0}{7}{1}{7}{7}{2}{7}{7}{3}{7}{4} {5} {6}", plan->cwd,
                  fmt::join(plan->arguments, end), fmt::join(environment, end), binary.path,
                  binary.mtime.time_since_epoch().count(), binary.size, binary.inode, end);
  return fmt::format("{:016x}", std::hash<std::string>()(known));
}

bool is_of_earlier_era(const LaunchRequest& request) {
  const std::vector<Entry> entries = read_entries(cache_folder().append(kFile));
  if (entries.empty()) return false;
  const Entry wanted{key_now(request), kEarlier};
  return std::find(entries.begin(), entries.end(), wanted) != entries.end();
}

void note_era(const std::string& key, order::RememberEra::Sign sign) {
  const std::string cache = cache_folder();
  if (cache.empty() || key.empty()) return;
  std::vector<Entry> entries = read_entries(cache + std::string(kFile));
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.first == key; });
  std::optional<std::string_view> known;
  if (found != entries.end()) known = found->second;
  const auto next = after(known, sign);
  if (next == known) return;
  const std::string era(next.value_or(""));
  if (found != entries.end()) entries.erase(found);
  if (!era.empty()) entries.emplace_back(key, era);
  if (entries.size() > kErasMax) entries.erase(entries.begin());
  write_entries(cache, entries);
}

void forget_era(const LaunchRequest& request) {
  note_era(key_now(request), order::RememberEra::Sign::opens_nothing);
}

}  // namespace sitter
