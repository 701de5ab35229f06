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

/// As much as a pipe of Linux holds that was made larger.
constexpr DWORD kPipeSize = 256 * limits::kKiB;

/// Lets a child inherit the handle.
void make_inheritable(HANDLE handle) {
  SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
}

/// Not in every version of the headers (UpdateProcThreadAttribute).
constexpr DWORD_PTR kJobList = 0x0002000D;

/// What a child inherits, and the job that it is in.
class Attributes {
 public:
  Attributes(std::vector<HANDLE> inherited, HANDLE job)
      : inherited_(std::move(inherited)), job_(job) {
    // The list may hold no handle twice (UpdateProcThreadAttribute).
    std::sort(inherited_.begin(), inherited_.end());
    inherited_.erase(std::unique(inherited_.begin(), inherited_.end()), inherited_.end());
    SIZE_T size = 0;
    InitializeProcThreadAttributeList(nullptr, kCount, 0, &size);
    memory_ = std::make_unique<std::byte[]>(size);
    InitializeProcThreadAttributeList(list(), kCount, 0, &size);
    UpdateProcThreadAttribute(list(), 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, inherited_.data(),
                              inherited_.size() * sizeof(HANDLE), nullptr, nullptr);
    UpdateProcThreadAttribute(list(), 0, kJobList, &job_, sizeof job_, nullptr, nullptr);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { DeleteProcThreadAttributeList(list()); }

  LPPROC_THREAD_ATTRIBUTE_LIST list() {
    return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(memory_.get());
  }

 private:
  static constexpr DWORD kCount = 2;

  std::vector<HANDLE> inherited_;
  HANDLE job_;
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

StartFailure failure_now(const std::string& program) {
  const DWORD error = GetLastError();
  return {error, fmt::format("{}: {}", program, error_text(error))};
}

}  // namespace

std::optional<ChildPipe> open_child_pipe(ChildPipeKind kind) {
  static std::atomic<unsigned> count = 0;
  const bool is_input = kind == ChildPipeKind::input;
  const DWORD overlapped = kind == ChildPipeKind::fast_output ? 0 : FILE_FLAG_OVERLAPPED;
  // An anonymous pipe has no end for overlapped operations (CreatePipe). Our end of an input can be
  // read too, which shows when the child has closed its end.
  const std::wstring name = wide(fmt::format(R"(\\.\pipe\mcp-sitter-child-{}-{}-{:x})",
                                             GetCurrentProcessId(), ++count, GetTickCount64()));
  ChildPipe pipe;
  pipe.ours = Handle(
      CreateNamedPipeW(name.c_str(),
                       (is_input ? PIPE_ACCESS_DUPLEX : PIPE_ACCESS_INBOUND) | overlapped |
                           FILE_FLAG_FIRST_PIPE_INSTANCE,
                       PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS,
                       1, is_input ? kPipeSize : 0, is_input ? 0 : kPipeSize, 0, nullptr));
  if (!pipe.ours.is_open()) return std::nullopt;
  // A child may look at the settings of its pipe, and change them (CreateNamedPipe).
  const DWORD access =
      is_input ? GENERIC_READ | FILE_WRITE_ATTRIBUTES : GENERIC_WRITE | FILE_READ_ATTRIBUTES;
  pipe.theirs = Handle(CreateFileW(name.c_str(), access, 0, nullptr, OPEN_EXISTING, 0, nullptr));
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

std::variant<StartedChild, StartFailure> start_child(const ChildStart& start) {
  std::wstring program = system_path(start.program);
  std::optional<std::string> line = command_line_of(start.words);
  if (is_batch_file(start.program)) {
    std::vector<std::string> words = start.words;
    // cmd.exe takes a slash for the beginning of a switch.
    words.front() = utf8(program);
    line = batch_command_line(words);
    if (!line) {
      return StartFailure{ERROR_SUCCESS,
                          start.program + ": a batch file cannot get a line end in a word"};
    }
    program = command_interpreter();
  }
  std::wstring wide_line = wide(*line);
  // A working directory has no form without a limit (SetCurrentDirectory).
  std::wstring cwd = wide(start.cwd);
  std::replace(cwd.begin(), cwd.end(), L'/', L'\\');
  std::wstring block;
  if (start.environment) block = block_of(*start.environment);

  StartedChild child;
  child.job = Handle(CreateJobObjectW(nullptr, nullptr));
  if (!child.job.is_open()) return failure_now(start.program);
  set_ends_with_job(child.job.get(), start.ends_with_job);

  for (const HANDLE stream : {start.input, start.output, start.error}) make_inheritable(stream);
  Attributes attributes({start.input, start.output, start.error}, child.job.get());
  STARTUPINFOEXW info{};
  info.StartupInfo.cb = sizeof info;
  info.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  info.StartupInfo.hStdInput = start.input;
  info.StartupInfo.hStdOutput = start.output;
  info.StartupInfo.hStdError = start.error;
  info.lpAttributeList = attributes.list();

  PROCESS_INFORMATION made{};
  DWORD flags = CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP | CREATE_UNICODE_ENVIRONMENT |
                EXTENDED_STARTUPINFO_PRESENT;
  if (start.is_suspended) flags |= CREATE_SUSPENDED;
  if (!CreateProcessW(program.c_str(), wide_line.data(), nullptr, nullptr, TRUE, flags,
                      start.environment ? block.data() : nullptr,
                      cwd.empty() ? nullptr : cwd.c_str(), &info.StartupInfo, &made)) {
    return failure_now(start.program);
  }
  CloseHandle(made.hThread);
  child.process = Handle(made.hProcess);
  child.pid = static_cast<long>(made.dwProcessId);
  return child;
}

void set_ends_with_job(HANDLE job, bool ends) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  if (ends) limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
  SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
}

}  // namespace sitter::windows
