#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "core/base/text.hpp"
#include "io/process/env_file.hpp"
#include "io/process/launch_plan.hpp"
#include "io/process/runners.hpp"
#include "io/system/file_descriptor.hpp"

extern char** environ;  // NOLINT: the system's name

namespace sitter {
namespace {

constexpr std::size_t kPathBytesMax = 500;

namespace fs = std::filesystem;

constexpr std::size_t kEnvFileMax = 1 << 20;

// The path that execvp searches if PATH is not set.
constexpr std::string_view kDefaultPath = "/bin:/usr/bin";

std::string error_text(int error) { return std::strerror(error); }

bool is_directory(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

bool is_executable_file(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

// Makes a path absolute and removes detours. Only removes `..` where no link can change its
// meaning.
std::string tidy(const fs::path& base, const fs::path& path) {
  fs::path whole = base / path;
  bool climbs = false;
  for (const fs::path& part : whole) climbs = climbs || part == "..";
  if (!climbs) return whole.lexically_normal().string();
  std::error_code error;
  fs::path parent = fs::canonical(whole.parent_path(), error);
  return error ? whole.string() : (parent / whole.filename()).string();
}

std::variant<std::string, LaunchFailure> child_directory(const std::string& cwd,
                                                         const std::string& option) {
  std::error_code error;
  fs::path ours = fs::current_path(error);
  if (error && (cwd.empty() || cwd.front() != '/')) {
    return LaunchFailure{"the bridge's working directory is gone (" + error.message() +
                         "); name one with " + option};
  }
  if (cwd.empty()) return ours.string();
  std::string path = tidy(ours, cwd);
  if (path.size() > 1 && path.back() == '/') path.pop_back();
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) {
    return LaunchFailure{"the working directory " + path + " (" + option + ") can't be used: " +
                         (errno == ENOENT ? "it does not exist" : error_text(errno))};
  }
  if (!S_ISDIR(facts.st_mode)) {
    return LaunchFailure{"the working directory " + path + " (" + option + ") is not a directory"};
  }
  if (access(path.c_str(), X_OK) != 0) {
    return LaunchFailure{"the working directory " + path + " (" + option +
                         ") can't be entered: " + error_text(errno)};
  }
  return path;
}

std::variant<std::vector<std::string>, LaunchFailure> read_env_file(const std::string& path) {
  std::string problem;
  const std::optional<std::string> text = read_whole_file(path, kEnvFileMax, problem);
  if (!text) {
    return LaunchFailure{"the env file " + path + " (--env-file) can't be read: " + problem};
  }
  auto entries = parse_env_file(*text);
  if (auto* error = std::get_if<EnvFileError>(&entries)) {
    return LaunchFailure{"the env file " + path + " (--env-file) is wrong in " + error->what};
  }
  return std::get<std::vector<std::string>>(std::move(entries));
}

/// An environment in which a later entry replaces an earlier entry of the same name.
class Environment {
 public:
  void set(const std::string& entry) {
    auto [place, is_new] = places_.try_emplace(entry.substr(0, entry.find('=')), entries_.size());
    if (is_new) {
      entries_.push_back(entry);
    } else {
      entries_[place->second] = entry;
    }
  }

  std::vector<std::string> take() { return std::move(entries_); }

 private:
  std::vector<std::string> entries_;
  std::unordered_map<std::string, std::size_t> places_;
};

std::optional<std::string_view> variable(const std::vector<std::string>& environment,
                                         std::string_view name) {
  for (std::string_view entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

struct Search {
  std::string found;
  /// A file that was found but cannot be executed, for the message.
  std::string skipped;
};

Search search_path(const LaunchPlan& plan, const std::string& name) {
  Search search;
  std::string_view path = variable(plan.environment, "PATH").value_or(kDefaultPath);
  while (!path.empty()) {
    std::size_t end = std::min(path.find(':'), path.size());
    std::string_view directory = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (directory.empty()) continue;
    std::string hit = tidy(plan.cwd, fs::path(directory) / name);
    if (is_executable_file(hit)) {
      search.found = hit;
      return search;
    }
    if (search.skipped.empty() && exists(hit)) search.skipped = hit;
  }
  return search;
}

std::string not_found(const LaunchPlan& plan, const std::string& name, const std::string& skipped) {
  if (!skipped.empty()) {
    return "'" + name + "' was found only as " + skipped + ", which " +
           (is_directory(skipped) ? "is a directory" : "is not executable (try chmod +x)");
  }
  // A long PATH must not push the advice out of the message.
  const auto path = variable(plan.environment, "PATH");
  std::string reason = "no such file: '" + name + "' was not found in PATH (" +
                       shortened(path.value_or("not set"), kPathBytesMax) + ")";
  if (exists(tidy(plan.cwd, name))) {
    return reason + "; there is one in " + plan.cwd + ": write ./" + name + " to run it";
  }
  return reason + "; install it, or give its absolute path";
}

}  // namespace

std::vector<std::string> own_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return entries;
}

LaunchRequest build_request(std::string command_line, std::string cwd) {
  return {.command = "/bin/sh",
          .arguments = {"-c", std::move(command_line)},
          .cwd = std::move(cwd),
          .environment = {},
          .env_file = {},
          .role = LaunchRequest::Role::build,
          .cwd_source = "--build-cwd"};
}

PlannedLaunch plan_launch(const LaunchRequest& request) {
  const bool is_build = request.role == LaunchRequest::Role::build;
  LaunchPlan plan;
  auto directory = child_directory(request.cwd, request.cwd_source);
  if (auto* failure = std::get_if<LaunchFailure>(&directory)) return std::move(*failure);
  plan.cwd = std::get<std::string>(std::move(directory));

  Environment environment;
  for (const std::string& entry : own_environment()) environment.set(entry);
  if (!request.env_file.empty()) {
    auto entries = read_env_file(request.env_file);
    if (auto* failure = std::get_if<LaunchFailure>(&entries)) return std::move(*failure);
    for (const auto& entry : std::get<std::vector<std::string>>(entries)) environment.set(entry);
  }
  for (const auto& entry : request.environment) environment.set(entry);
  plan.merges_outputs = is_build;
  plan.outlives_bridge = request.outlives_bridge;
  plan.starts_stopped = request.starts_stopped;
  plan.environment = environment.take();

  if (request.command.empty()) return LaunchFailure{"the command is empty"};
  plan.arguments = request.arguments;
  plan.arguments.insert(plan.arguments.begin(), request.command);
  if (request.command.find('/') != std::string::npos) {
    plan.program = tidy(plan.cwd, request.command);
  } else {
    Search search = search_path(plan, request.command);
    if (search.found.empty()) {
      return LaunchFailure{.reason = not_found(plan, request.command, search.skipped),
                           .is_missing = search.skipped.empty()};
    }
    plan.program = search.found;
  }
  const auto missing =
      request.is_built ? missing_script(plan.program, request.arguments, plan.cwd) : std::nullopt;
  if (missing) return LaunchFailure{.reason = "no such file: " + *missing, .is_missing = true};
  return plan;
}

std::string find_in_path(const LaunchPlan& plan, const std::string& name) {
  return search_path(plan, name).found;
}

std::string first_line_of(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  char buffer[256];
  ssize_t count = file.is_open() ? read(file.number(), buffer, sizeof buffer) : 0;
  std::string_view head(buffer, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return std::string(head.substr(0, head.find('\n')));
}

std::vector<std::string> shebang_words(std::string_view first_line) {
  constexpr std::string_view kMark = "#!";
  constexpr std::string_view kBlank = " \t";
  std::vector<std::string> words;
  if (!first_line.starts_with(kMark)) return words;
  first_line.remove_prefix(kMark.size());
  while (true) {
    first_line.remove_prefix(std::min(first_line.find_first_not_of(kBlank), first_line.size()));
    if (first_line.empty()) return words;
    std::size_t end = std::min(first_line.find_first_of(kBlank), first_line.size());
    words.emplace_back(first_line.substr(0, end));
    first_line.remove_prefix(end);
  }
}

}  // namespace sitter
