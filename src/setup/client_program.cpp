#include "setup/client_program.hpp"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "core/base/text.hpp"
#include "io/process/launch_plan.hpp"
#include "setup/program_run.hpp"

namespace sitter::setup {
namespace {

/// Of the words of a program, this much is shown.
constexpr std::size_t kShownMax = 500;

/// A client that registers a server needs a second or two.
constexpr std::chrono::seconds kWait{30};

}  // namespace

std::string program_in_path(const std::string& name) {
  LaunchRequest request;
  request.command = name;
  const PlannedLaunch planned = plan_launch(request);
  const auto* const plan = std::get_if<LaunchPlan>(&planned);
  return plan == nullptr ? std::string() : plan->program;
}

void run_program(const Words& words) {
  const ProgramRun run = run_in(".", words, ProgramRun::Kind::client, kWait);
  if (run.is_failed) {
    throw Failure{fmt::format("{}: {}", words.front(), brief(run.output, kShownMax))};
  }
}

std::string output_of(const Words& words, const std::string& folder,
                      std::chrono::milliseconds time) {
  Words found = words;
  found.front() = program_in_path(words.front());
  if (found.front().empty()) throw Failure{fmt::format("there is no {} in PATH", words.front())};
  ProgramRun run = run_in(folder, found, ProgramRun::Kind::tool, time);
  if (run.is_late) throw Failure{fmt::format("{} takes too long", words.front())};
  if (run.is_too_long) throw Failure{fmt::format("{} says too much", words.front())};
  if (run.is_failed) throw Failure{fmt::format("{} fails here", words.front())};
  return std::move(run.output);
}

}  // namespace sitter::setup
