#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "io/process/launch.hpp"
#include "io/process/unit_job_windows.hpp"
#include "io/process/unit_mark.hpp"
#include "io/system/child_windows.hpp"

namespace sitter {
namespace {

LaunchFailure diagnose(const windows::StartFailure& failure, const LaunchPlan& plan) {
  const std::string start = "can't start " + plan.program + ": ";
  switch (failure.code) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
      return {.reason = start + "no such file; build it, or correct the command",
              .is_missing = true};
    case ERROR_DIRECTORY:
      return {"the working directory " + plan.cwd + " is gone; make it again, or name another"};
    case ERROR_BAD_EXE_FORMAT:
    case ERROR_EXE_MACHINE_TYPE_MISMATCH: {
      const auto words = shebang_words(first_line_of(plan.program));
      return {start + (words.empty() ? "it is no program for this machine; if it is a script, name "
                                       "its interpreter in the command"
                                     : "Windows does not read the first line of a script; name its "
                                       "interpreter in the command (" +
                                           words.back() + ")")};
    }
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
      return {
          .reason = start + "it is being written at this moment; try again when the build is done",
          .is_file_busy = true};
    case ERROR_FILENAME_EXCED_RANGE:
      return {start + "its arguments are too long"};
    default:
      return {"can't start " + failure.reason};
  }
}

}  // namespace

std::variant<Launched, LaunchFailure> launch(const PlannedLaunch& planned, Generation gen,
                                             Keeper*) {
  if (const auto* failure = std::get_if<LaunchFailure>(&planned)) return *failure;
  const auto& plan = std::get<LaunchPlan>(planned);
  auto input = windows::open_child_pipe(windows::ChildPipeKind::input);
  auto output = windows::open_child_pipe(windows::ChildPipeKind::fast_output);
  auto error = windows::open_child_pipe(windows::ChildPipeKind::output);
  if (!input || !output || !error) {
    return LaunchFailure{"no pipe could be made for the child: " +
                         windows::error_text(GetLastError())};
  }
  windows::ChildStart start;
  start.program = plan.program;
  start.words = plan.arguments;
  start.cwd = plan.cwd;
  start.environment = plan.environment;
  // The mark says that the process must not outlive the bridge.
  if (!plan.outlives_bridge) start.environment->push_back(unit_variable(this_process(), gen));
  start.input = input->theirs.get();
  start.output = plan.merges_outputs ? error->theirs.get() : output->theirs.get();
  start.error = error->theirs.get();
  start.ends_with_job = !plan.outlives_bridge;
  start.is_suspended = plan.starts_stopped;
  auto started = windows::start_child(start);
  if (const auto* failure = std::get_if<windows::StartFailure>(&started)) {
    return diagnose(*failure, plan);
  }
  const auto job = std::make_shared<UnitJob>(std::get<windows::StartedChild>(std::move(started)),
                                             is_errand(gen));
  watch_leader(job);
  return Launched{job->pid, windows::descriptor_of(std::move(input->ours)),
                  windows::descriptor_of(std::move(output->ours)),
                  windows::descriptor_of(std::move(error->ours))};
}

}  // namespace sitter
