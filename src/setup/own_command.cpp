#include "setup/own_command.hpp"

#include <filesystem>
#include <system_error>
#include <variant>

#include "io/process/launch_plan.hpp"

namespace sitter::setup {
namespace {

/// Whether `file` is this program, or the script of the npm package that runs this program.
bool leads_to(const std::filesystem::path& file, const std::string& program) {
  std::error_code error;
  if (std::filesystem::equivalent(file, program, error)) return true;
  const std::filesystem::path script = std::filesystem::canonical(file, error);
  if (error || script.filename() != "mcp-sitter.mjs") return false;
  // The package with the program is in the package of the script, or beside it.
  const std::string package = script.parent_path().parent_path().native();
  return program.starts_with(package + "-") || program.starts_with(package + "/");
}

}  // namespace

std::string program_in_path(const std::string& name) {
  LaunchRequest request;
  request.command = name;
  const PlannedLaunch planned = plan_launch(request);
  const auto* const plan = std::get_if<LaunchPlan>(&planned);
  return plan == nullptr ? std::string() : plan->program;
}

Words own_command(const std::string& program) {
  if (program.find("/_npx/") != program.npos) return {"npx", "-y", "mcp-sitter-native"};
  const std::string found = program_in_path("mcp-sitter");
  if (!found.empty() && leads_to(found, program)) return {"mcp-sitter"};
  return {program};
}

}  // namespace sitter::setup
