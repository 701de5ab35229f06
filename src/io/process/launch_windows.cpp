#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/process/command_line_windows.hpp"
#include "io/process/launch.hpp"
#include "io/process/launch_system.hpp"
#include "io/process/unit_job_windows.hpp"
#include "io/process/unit_mark.hpp"
#include "io/system/windows.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

using windows::Handle;

/// As much as a pipe of Linux holds when it was made larger.
constexpr DWORD kPipeSize = 256 * limits::kKiB;

/// UpdateProcThreadAttribute; not in every version of the headers.
constexpr DWORD_PTR kJobList = 0x0002000D;

struct Pipe {
  Handle ours;
  Handle childs;
};

/// A pipe whose end on our side never makes us wait. The system gives such an end only to pipes
/// with a name (CreatePipe).
std::optional<Pipe> open_pipe(DWORD our_access, DWORD childs_access) {
  static int count = 0;
  const std::wstring name = windows::wide(
      fmt::format(R"(\\.\pipe\mcp-sitter-child-{}-{})", GetCurrentProcessId(), ++count));
  Pipe pipe;
  pipe.ours = Handle(CreateNamedPipeW(
      name.c_str(), our_access | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
      PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1, kPipeSize,
      kPipeSize, 0, nullptr));
  if (!pipe.ours.is_open()) return std::nullopt;
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  pipe.childs =
      Handle(CreateFileW(name.c_str(), childs_access, 0, &inherited, OPEN_EXISTING, 0, nullptr));
  if (!pipe.childs.is_open()) return std::nullopt;
  return pipe;
}

/// What the child gets besides its command line: no handle but its three pipes, and its job from
/// its first moment on.
class Attributes {
 public:
  Attributes(std::vector<HANDLE> handles, HANDLE job) : handles_(std::move(handles)), job_(job) {
    SIZE_T size = 0;
    InitializeProcThreadAttributeList(nullptr, kCount, 0, &size);
    bytes_.resize(size);
    is_good_ =
        InitializeProcThreadAttributeList(get(), kCount, 0, &size) &&
        set(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles_.data(), handles_.size() * sizeof(HANDLE)) &&
        set(kJobList, &job_, sizeof job_);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { DeleteProcThreadAttributeList(get()); }

  bool is_good() const { return is_good_; }
  LPPROC_THREAD_ATTRIBUTE_LIST get() {
    return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(bytes_.data());
  }

 private:
  static constexpr DWORD kCount = 2;

  bool set(DWORD_PTR attribute, void* value, SIZE_T size) {
    return UpdateProcThreadAttribute(get(), 0, attribute, value, size, nullptr, nullptr) != 0;
  }

  std::vector<HANDLE> handles_;
  HANDLE job_;
  std::vector<char> bytes_;
  bool is_good_ = false;
};

/// The block of a child's environment, in the order that the system asks for (CreateProcess).
std::wstring environment_block(std::vector<std::string> entries) {
  const auto key = [](const std::string& entry) {
    return variable_key(std::string_view(entry).substr(0, name_size(entry)));
  };
  std::sort(entries.begin(), entries.end(),
            [&](const std::string& a, const std::string& b) { return key(a) < key(b); });
  std::wstring block;
  for (const std::string& entry : entries) (block += windows::wide(entry)) += L'\0';
  return block += L'\0';
}

std::string system_shell() {
  wchar_t folder[MAX_PATH];
  const UINT size = GetSystemDirectoryW(folder, MAX_PATH);
  return windows::utf8({folder, size}) + "\\cmd.exe";
}

LaunchFailure diagnose(DWORD error, const LaunchPlan& plan) {
  const std::string start = "can't start " + plan.program + ": ";
  switch (error) {
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
      return {start + windows::error_text(error)};
  }
}

UnitJob::Kind kind_of(const LaunchPlan& plan, Generation gen) {
  if (plan.outlives_bridge) return UnitJob::Kind::daemon;
  return is_errand(gen) ? UnitJob::Kind::errand : UnitJob::Kind::server;
}

LaunchFailure refused(const char* what) {
  return {fmt::format("{} for the child: {}", what, windows::error_text(GetLastError()))};
}

}  // namespace

std::variant<Launched, LaunchFailure> launch(const PlannedLaunch& planned, Generation gen,
                                             Keeper*) {
  if (const auto* failure = std::get_if<LaunchFailure>(&planned)) return *failure;
  const auto& plan = std::get<LaunchPlan>(planned);

  std::string program = plan.program;
  std::optional<std::wstring> line;
  if (is_batch_file(plan.program)) {
    program = system_shell();
    line = batch_command_line(program, plan.program,
                              {plan.arguments.begin() + 1, plan.arguments.end()});
    if (!line) {
      return LaunchFailure{"can't start " + plan.program +
                           ": a batch file can't be given an argument with a line end"};
    }
  } else {
    line = command_line(plan.arguments);
  }

  auto input = open_pipe(PIPE_ACCESS_OUTBOUND, GENERIC_READ);
  auto output = open_pipe(PIPE_ACCESS_INBOUND, GENERIC_WRITE);
  auto error = open_pipe(PIPE_ACCESS_INBOUND, GENERIC_WRITE);
  if (!input || !output || !error) return refused("no pipe could be made");
  const auto job = make_job(kind_of(plan, gen));
  if (!job) return refused("no job could be made");

  std::vector<HANDLE> handles{input->childs.get(), error->childs.get()};
  if (!plan.merges_outputs) handles.push_back(output->childs.get());
  Attributes attributes(handles, job->job.get());
  if (!attributes.is_good()) return refused("nothing could be prepared");

  STARTUPINFOEXW startup{};
  startup.StartupInfo.cb = sizeof startup;
  startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  startup.StartupInfo.hStdInput = input->childs.get();
  startup.StartupInfo.hStdOutput = plan.merges_outputs ? error->childs.get() : output->childs.get();
  startup.StartupInfo.hStdError = error->childs.get();
  startup.lpAttributeList = attributes.get();

  std::vector<std::string> environment = plan.environment;
  // The mark says that the process must not outlive the bridge.
  if (!plan.outlives_bridge) environment.push_back(unit_variable(this_process(), gen));
  std::wstring block = environment_block(std::move(environment));
  DWORD flags = CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT | CREATE_NO_WINDOW |
                CREATE_NEW_PROCESS_GROUP;
  if (plan.starts_stopped) flags |= CREATE_SUSPENDED;

  PROCESS_INFORMATION started{};
  if (!CreateProcessW(windows::system_path(program).c_str(), line->data(), nullptr, nullptr, TRUE,
                      flags, block.data(), windows::system_path(plan.cwd).c_str(),
                      &startup.StartupInfo, &started)) {
    return diagnose(GetLastError(), plan);
  }
  CloseHandle(started.hThread);
  job->leader = Handle(started.hProcess);
  job->pid = static_cast<long>(started.dwProcessId);
  if (const auto record = find_process(job->pid)) job->start = record->start;
  watch_leader(job);
  return Launched{job->pid, windows::descriptor_of(std::move(input->ours)),
                  windows::descriptor_of(std::move(output->ours)),
                  windows::descriptor_of(std::move(error->ours))};
}

}  // namespace sitter
