#include "io/system/child_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "io/system/command_line.hpp"
#include "sitter/bytes.hpp"

namespace sitter::windows {
namespace {

constexpr DWORD kPipeSize = 64 * limits::kKiB;

/// Lets a child inherit the handle.
void make_inheritable(HANDLE handle) {
  SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
}

/// Restricts what a child inherits to these handles.
class InheritedHandles {
 public:
  explicit InheritedHandles(std::vector<HANDLE> handles) : handles_(std::move(handles)) {
    // The list may hold no handle twice (UpdateProcThreadAttribute).
    std::sort(handles_.begin(), handles_.end());
    handles_.erase(std::unique(handles_.begin(), handles_.end()), handles_.end());
    SIZE_T size = 0;
    InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
    memory_ = std::make_unique<std::byte[]>(size);
    InitializeProcThreadAttributeList(list(), 1, 0, &size);
    UpdateProcThreadAttribute(list(), 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles_.data(),
                              handles_.size() * sizeof(HANDLE), nullptr, nullptr);
  }
  InheritedHandles(const InheritedHandles&) = delete;
  InheritedHandles& operator=(const InheritedHandles&) = delete;
  ~InheritedHandles() { DeleteProcThreadAttributeList(list()); }

  LPPROC_THREAD_ATTRIBUTE_LIST list() {
    return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(memory_.get());
  }

 private:
  std::vector<HANDLE> handles_;
  std::unique_ptr<std::byte[]> memory_;
};

/// The entries one after another, each with a NUL at its end, and one more NUL. They are sorted by
/// their names without regard to case ("Changing Environment Variables").
std::wstring block_of(const std::vector<std::string>& entries) {
  std::vector<std::wstring> sorted;
  for (const std::string& entry : entries) sorted.push_back(wide(entry));
  std::sort(sorted.begin(), sorted.end(), [](const std::wstring& a, const std::wstring& b) {
    return CompareStringOrdinal(a.c_str(), static_cast<int>(a.find(L'=')), b.c_str(),
                                static_cast<int>(b.find(L'=')), TRUE) == CSTR_LESS_THAN;
  });
  std::wstring block;
  for (const std::wstring& entry : sorted) block.append(entry).push_back(L'\0');
  // An empty block has two.
  if (block.empty()) block.push_back(L'\0');
  block.push_back(L'\0');
  return block;
}

Handle make_job(bool ends_with_it) {
  Handle job(CreateJobObjectW(nullptr, nullptr));
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_BREAKAWAY_OK;
  if (ends_with_it) limits.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
  SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits);
  return job;
}

std::string reason_now(const std::string& program) {
  return fmt::format("{}: {}", program, error_text(GetLastError()));
}

}  // namespace

std::optional<ChildPipe> open_child_pipe(ChildPipeKind kind) {
  static std::atomic<unsigned> count = 0;
  const bool is_input = kind == ChildPipeKind::input;
  // An anonymous pipe has no end for overlapped operations (CreatePipe).
  const std::wstring name = wide(fmt::format(R"(\\.\pipe\mcp-sitter-child-{}-{}-{:x})",
                                             GetCurrentProcessId(), ++count, GetTickCount64()));
  ChildPipe pipe;
  pipe.ours = Handle(
      CreateNamedPipeW(name.c_str(),
                       (is_input ? PIPE_ACCESS_OUTBOUND : PIPE_ACCESS_INBOUND) |
                           FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
                       PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS,
                       1, kPipeSize, kPipeSize, 0, nullptr));
  if (!pipe.ours.is_open()) return std::nullopt;
  pipe.theirs = Handle(CreateFileW(name.c_str(), is_input ? GENERIC_READ : GENERIC_WRITE, 0,
                                   nullptr, OPEN_EXISTING, 0, nullptr));
  if (!pipe.theirs.is_open()) return std::nullopt;
  return pipe;
}

PipeEnd::PipeEnd(Handle pipe)
    : pipe_(std::move(pipe)), done_(CreateEventW(nullptr, TRUE, FALSE, nullptr)) {}

template <class Call>
void PipeEnd::begin(Call call) {
  operation_ = {};
  operation_.hEvent = done_.get();
  // The event is set in every case but that of an error.
  is_busy_ = call() != 0 || GetLastError() == ERROR_IO_PENDING;
  if (!is_busy_) pipe_.close();
}

void PipeEnd::begin_read() {
  if (is_busy_ || !is_open()) return;
  begin([this] {
    return ReadFile(pipe_.get(), bytes_.data(), static_cast<DWORD>(bytes_.size()), nullptr,
                    &operation_);
  });
}

void PipeEnd::begin_write(std::string_view text) {
  if (is_busy_ || !is_open()) return;
  const std::size_t size = std::min(text.size(), bytes_.size());
  std::copy_n(text.data(), size, bytes_.data());
  begin([this, size] {
    return WriteFile(pipe_.get(), bytes_.data(), static_cast<DWORD>(size), nullptr, &operation_);
  });
}

std::string_view PipeEnd::moved() {
  DWORD count = 0;
  if (!is_busy_) return {};
  if (!GetOverlappedResult(pipe_.get(), &operation_, &count, FALSE)) {
    if (GetLastError() == ERROR_IO_INCOMPLETE) return {};
    pipe_.close();
  }
  is_busy_ = false;
  return {bytes_.data(), count};
}

void PipeEnd::read_on(std::string& text) {
  begin_read();
  for (std::string_view piece = moved(); !piece.empty(); piece = moved()) {
    text += piece;
    begin_read();
  }
}

void PipeEnd::close() {
  if (std::exchange(is_busy_, false)) {
    DWORD count = 0;
    CancelIoEx(pipe_.get(), &operation_);
    // Only then has the system let go of the bytes.
    GetOverlappedResult(pipe_.get(), &operation_, &count, TRUE);
  }
  pipe_.close();
}

Handle open_nothing() {
  return Handle(CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE,
                            FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING, 0,
                            nullptr));
}

std::variant<StartedChild, std::string> start_child(const ChildStart& start) {
  std::wstring program = system_path(start.program);
  std::optional<std::string> line = command_line_of(start.words);
  if (is_batch_file(start.program)) {
    std::vector<std::string> words = start.words;
    // cmd.exe takes a slash for the beginning of a switch.
    words.front() = utf8(program);
    line = batch_command_line(words);
    if (!line) return start.program + ": a batch file cannot get a line end in a word";
    program = system_path(variable("SystemRoot") + "/System32/cmd.exe");
  }
  std::wstring wide_line = wide(*line);
  const std::wstring cwd = system_path(start.cwd);
  std::wstring block;
  if (start.environment) block = block_of(*start.environment);

  for (const HANDLE stream : {start.input, start.output, start.error}) make_inheritable(stream);
  InheritedHandles inherited({start.input, start.output, start.error});
  STARTUPINFOEXW info{};
  info.StartupInfo.cb = sizeof info;
  info.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  info.StartupInfo.hStdInput = start.input;
  info.StartupInfo.hStdOutput = start.output;
  info.StartupInfo.hStdError = start.error;
  info.lpAttributeList = inherited.list();

  StartedChild child;
  child.job = make_job(start.ends_with_job);
  PROCESS_INFORMATION made{};
  // It is suspended until it is in the job, so that no descendant is outside.
  const DWORD flags = CREATE_SUSPENDED | CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT |
                      EXTENDED_STARTUPINFO_PRESENT;
  if (!CreateProcessW(program.c_str(), wide_line.data(), nullptr, nullptr, TRUE, flags,
                      start.environment ? block.data() : nullptr,
                      cwd.empty() ? nullptr : cwd.c_str(), &info.StartupInfo, &made)) {
    return reason_now(start.program);
  }
  child.process = Handle(made.hProcess);
  const Handle thread(made.hThread);
  child.pid = static_cast<long>(made.dwProcessId);
  if (!AssignProcessToJobObject(child.job.get(), child.process.get())) {
    const std::string reason = reason_now(start.program);
    TerminateProcess(child.process.get(), 1);
    return reason;
  }
  ResumeThread(thread.get());
  return child;
}

}  // namespace sitter::windows
