#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>
#include <variant>

#include "io/files/command_files.hpp"

namespace sitter {
namespace {

std::string look_of(const std::filesystem::path& file) {
  std::error_code error;
  const auto modified = std::filesystem::last_write_time(file, error);
  struct stat found {};
  if (error || stat(file.c_str(), &found) != 0) return fmt::format("{} -\n", file.native());
  return fmt::format("{} {} {} {}:{}\n", file.native(), modified.time_since_epoch().count(),
                     found.st_size, found.st_dev, found.st_ino);
}

}  // namespace

std::string command_files(const LaunchRequest& request, const PlannedLaunch& planned) {
  const std::filesystem::path cwd = request.cwd.empty() ? "." : request.cwd;
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
