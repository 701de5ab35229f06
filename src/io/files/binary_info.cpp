#include "io/files/binary_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <variant>
#include <vector>

#include "core/base/paths.hpp"
#include "io/process/image_sweep.hpp"
#include "io/process/launch_plan.hpp"
#include "io/process/process_table.hpp"
#include "io/process/runners.hpp"
#include "io/system/file_facts.hpp"
#include "io/system/path_style.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

// npx -> sh -> node is a chain of three; a chain of more processes than this bound is not a
// wrapper.
constexpr int kDepthMax = 16;

struct Target {
  std::string path;
  /// Empty if the path itself is a program.
  std::string interpreter;
  /// Of the process that runs the program, if it was found behind a wrapper.
  std::vector<std::string> arguments = {};
  ImageIdentity image = {};
};

// A script may itself be a runner, as npx is a script of node. Such a script is not the file under
// development.
std::optional<Target> interpreted(const std::string& interpreter,
                                  const std::vector<std::string>& arguments,
                                  const std::string& cwd) {
  auto script = script_of(arguments, cwd);
  if (!script) script = missing_script(interpreter, arguments, cwd);
  if (!script || runner_kind(*script) != Runner::none) return std::nullopt;
  return Target{*script, interpreter};
}

/// Searches downwards from the child, past shells and runners, for the first process that has the
/// child's standard input and that is, or runs, a program of its own. Behind a script of a shell,
/// further scripts of shells and tools of the system are passed too: they lead to the server.
class TargetSearch {
 public:
  enum class From { command, script };
  explicit TargetSearch(long child, From from = From::command)
      : is_behind_script_(from == From::script),
        input_(input_of(child)),
        processes_(all_processes()) {
    // Of several such processes, the oldest is the server, and later ones are its helpers.
    std::sort(processes_.begin(), processes_.end(),
              [](const ProcessRecord& a, const ProcessRecord& b) { return a.start < b.start; });
  }

  std::optional<Target> below(long pid, int depth = 0) const {
    if (!input_ || depth > kDepthMax) return std::nullopt;
    ImageIdentity running = image_of(pid);
    const std::string image = running.path;
    Runner kind = runner_kind(image);
    if (image.empty() || kind == Runner::remote) return std::nullopt;
    if (kind == Runner::none) {
      if (is_behind_script_ && belongs_to_the_system(image)) return std::nullopt;
      return Target{image, {}, arguments_behind_name(pid), std::move(running)};
    }
    if (kind == Runner::interpreter && !(is_behind_script_ && is_shell(image))) {
      auto target = interpreted(image, arguments_behind_name(pid), working_directory_of(pid));
      if (target) return target;
    }
    for (const ProcessRecord& process : processes_) {
      if (process.parent != pid || process.zombie || input_of(process.pid) != input_) continue;
      if (auto target = below(process.pid, depth + 1)) return target;
    }
    return std::nullopt;
  }

 private:
  const bool is_behind_script_;
  std::optional<OpenFileIdentity> input_;
  std::vector<ProcessRecord> processes_;
};

// For `#!/usr/bin/env -S python3 -u`, this is python3.
std::string interpreter_in(const std::string& script, const LaunchPlan& plan) {
  std::vector<std::string> words = shebang_words(first_line_of(script));
  if (words.empty()) return {};
  if (fs::path(words.front()).filename() != "env") return words.front();
  auto name = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) {
    return word.front() != '-' && word.find('=') == std::string::npos;
  });
  if (name == words.end()) return words.front();
  std::string found = find_in_path(plan, *name);
  return found.empty() ? *name : found;
}

std::optional<Target> find_target(const LaunchRequest& request, const LaunchPlan& plan, long pid) {
  Runner kind = runner_kind(plan.program);
  if (kind == Runner::none) return Target{plan.program, interpreter_in(plan.program, plan)};
  if (kind == Runner::remote) return std::nullopt;
  std::optional<Target> target;
  if (kind == Runner::interpreter) target = interpreted(plan.program, request.arguments, plan.cwd);
  // The arguments of a wrapper may belong to the program behind it, so the running process is the
  // better source.
  if (!target && pid != 0) target = TargetSearch(pid).below(pid);
  if (!target) target = interpreted(plan.program, request.arguments, plan.cwd);
  return target;
}

std::optional<BinaryInfo::File> file_at(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const FileFacts facts = facts_of(path).value_or(FileFacts());
  return BinaryInfo::File{path, facts.size, wall_time(facts.written), facts.inode};
}

BinaryInfo describe(const Target& target) {
  BinaryInfo info;
  info.path = target.path;
  info.arguments = target.arguments;
  if (const auto facts = facts_of(target.path)) {
    info.exists = true;
    info.size = facts->size;
    info.mtime = wall_time(facts->written);
    info.device = facts->device;
    info.inode = facts->inode;
  }
  info.interpreter = file_at(target.interpreter);
  return info;
}

void find_behind(BinaryInfo& script, long pid) {
  const auto behind = TargetSearch(pid, TargetSearch::From::script).below(pid);
  if (!behind) return;
  script.behind = file_at(behind->path);
  script.is_behind_interpreted = !behind->interpreter.empty();
  script.is_behind_replaced =
      behind->image.is_known() && !behind->image.is_same_file(image_at(behind->path));
}

std::string look_of(const fs::path& file) {
  const std::string path = file.generic_string();
  const auto facts = facts_of(path);
  if (!facts) return fmt::format("{} -\n", path);
  return fmt::format("{} {} {} {}:{}\n", path, facts->written.time_since_epoch().count(),
                     facts->size, facts->device, facts->inode);
}

}  // namespace

std::optional<WallTime> modified_at(const std::string& path) {
  const auto facts = facts_of(path);
  return facts ? std::optional(wall_time(facts->written)) : std::nullopt;
}

BinaryInfo inspect(const LaunchRequest& request, const PlannedLaunch& planned, long pid) {
  std::optional<Target> target;
  if (const auto* plan = std::get_if<LaunchPlan>(&planned)) {
    target = find_target(request, *plan, pid);
  } else if (pid != 0) {
    target = TargetSearch(pid).below(pid);
  } else if (root_of(request.command, kPathStyle)) {
    // The path of the file is known, even if something else prevents the start.
    target = Target{request.command, {}};
  }
  if (target) {
    BinaryInfo info = describe(*target);
    if (pid != 0 && is_shell(target->interpreter)) find_behind(info, pid);
    return info;
  }
  BinaryInfo unknown;
  unknown.path = request.command;
  return unknown;
}

BinaryInfo inspect(const LaunchRequest& request, long pid) {
  return inspect(request, plan_launch(request), pid);
}

std::string command_files(const LaunchRequest& request, const PlannedLaunch& planned) {
  const fs::path cwd = request.cwd.empty() ? "." : request.cwd;
  std::string looks;
  if (const auto* const plan = std::get_if<LaunchPlan>(&planned)) {
    looks += look_of(plan->program);
  } else {
    looks += std::get<LaunchFailure>(planned).reason + "\n";
  }
  for (const std::string& argument : request.arguments) {
    if (!argument.starts_with('-')) looks += look_of(cwd / argument);
  }
  if (!request.env_file.empty()) looks += look_of(request.env_file);
  return looks;
}

}  // namespace sitter
