#include "io/process/launch_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "core/base/text.hpp"
#include "io/process/env_file.hpp"
#include "io/process/launch_system.hpp"
#include "io/process/runners.hpp"
#include "io/system/error_text.hpp"
#include "io/system/file_descriptor.hpp"

namespace sitter {
namespace {

constexpr std::size_t kPathBytesMax = 500;

namespace fs = std::filesystem;

constexpr std::size_t kEnvFileMax = 1 << 20;

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Makes a path absolute and removes detours. Only removes `..` where no link can change its
// meaning.
std::string tidy(const fs::path& base, const fs::path& path) {
  fs::path whole = base / path;
  bool climbs = false;
  for (const fs::path& part : whole) climbs = climbs || part == "..";
  if (!climbs) return whole.lexically_normal().generic_string();
  std::error_code error;
  fs::path parent = fs::canonical(whole.parent_path(), error);
  return error ? whole.generic_string() : (parent / whole.filename()).generic_string();
}

std::variant<std::string, LaunchFailure> child_directory(const std::string& cwd,
                                                         const std::string& option) {
  std::error_code error;
  fs::path ours = fs::current_path(error);
  if (error && !fs::path(cwd).is_absolute()) {
    return LaunchFailure{"the bridge's working directory is gone (" + error_text(error) +
                         "); name one with " + option};
  }
  if (cwd.empty()) return ours.generic_string();
  std::string path = tidy(ours, cwd);
  if (path.ends_with('/') && fs::path(path).has_relative_path()) path.pop_back();
  const fs::file_type type = fs::status(path, error).type();
  if (type == fs::file_type::not_found || type == fs::file_type::none) {
    return LaunchFailure{
        "the working directory " + path + " (" + option + ") can't be used: " +
        (type == fs::file_type::not_found ? "it does not exist" : error_text(error))};
  }
  if (type != fs::file_type::directory) {
    return LaunchFailure{"the working directory " + path + " (" + option + ") is not a directory"};
  }
  if (const std::string problem = entering_problem(path); !problem.empty()) {
    return LaunchFailure{"the working directory " + path + " (" + option +
                         ") can't be entered: " + problem};
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
    auto [place, is_new] =
        places_.try_emplace(variable_key(entry.substr(0, name_size(entry))), entries_.size());
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
  const std::string key = variable_key(name);
  for (std::string_view entry : environment) {
    const std::size_t size = name_size(entry);
    if (size < entry.size() && variable_key(entry.substr(0, size)) == key) {
      return entry.substr(size + 1);
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
  const auto endings = program_endings(variable(plan.environment, "PATHEXT").value_or(""));
  while (!path.empty()) {
    std::size_t end = std::min(path.find(kPathSeparator), path.size());
    std::string_view directory = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (directory.empty()) continue;
    const std::string hit = tidy(plan.cwd, fs::path(directory) / name);
    if (auto program = program_at(hit, endings); !program.empty()) {
      search.found = std::move(program);
      return search;
    }
    if (search.skipped.empty() && exists(hit)) search.skipped = hit;
  }
  return search;
}

std::string not_found(const LaunchPlan& plan, const std::string& name, const std::string& skipped) {
  if (!skipped.empty()) {
    std::error_code error;
    return "'" + name + "' was found only as " + skipped + ", which " +
           (fs::is_directory(skipped, error) ? "is a directory" : kNotExecutable);
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

LaunchRequest build_request(std::string command_line, std::string cwd) {
  std::vector<std::string> words = shell_words(std::move(command_line));
  LaunchRequest request;
  request.command = std::move(words.front());
  request.arguments.assign(words.begin() + 1, words.end());
  request.cwd = std::move(cwd);
  request.role = LaunchRequest::Role::build;
  request.cwd_source = "--build-cwd";
  return request;
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
  if (names_folder(request.command)) {
    plan.program = tidy(plan.cwd, request.command);
    const auto endings = program_endings(variable(plan.environment, "PATHEXT").value_or(""));
    // What is missing or cannot be executed is found out when it is started.
    if (auto found = program_at(plan.program, endings); !found.empty()) {
      plan.program = std::move(found);
    }
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
  constexpr std::size_t kHeadMax = 256;
  const std::string head = read_head(path, kHeadMax);
  return head.substr(0, head.find('\n'));
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
