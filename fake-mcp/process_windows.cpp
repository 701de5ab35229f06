#include <windows.h>
// windows.h comes before all other headers of the system.
#include <fcntl.h>
#include <io.h>
#include <tlhelp32.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <set>
#include <utility>

#include "process.hpp"

/// Of the C runtime; no header declares it (__wgetmainargs).
extern "C" int __cdecl __wgetmainargs(int*, wchar_t***, wchar_t***, int, int*);

namespace sitter::fake {
namespace {

/// The first argument of a grandchild. The event behind it is set when the grandchild is ready.
constexpr std::string_view kGrandchild = "--as-grandchild";

/// The exit code of a process that ends by what a signal stands for elsewhere. abort() of the
/// current C runtime ends the process by a fast failure.
constexpr struct {
  std::string_view name;
  int number;
  DWORD code;
} kSignals[] = {{"ABRT", SIGABRT, static_cast<DWORD>(STATUS_STACK_BUFFER_OVERRUN)},
                {"FPE", SIGFPE, static_cast<DWORD>(STATUS_INTEGER_DIVIDE_BY_ZERO)},
                {"ILL", SIGILL, static_cast<DWORD>(STATUS_ILLEGAL_INSTRUCTION)},
                {"INT", SIGINT, static_cast<DWORD>(STATUS_CONTROL_C_EXIT)},
                {"SEGV", SIGSEGV, static_cast<DWORD>(STATUS_ACCESS_VIOLATION)}};

std::wstring wide(std::string_view text) {
  const int size = static_cast<int>(text.size());
  std::wstring units(
      static_cast<std::size_t>(MultiByteToWideChar(CP_UTF8, 0, text.data(), size, nullptr, 0)), 0);
  MultiByteToWideChar(CP_UTF8, 0, text.data(), size, units.data(), static_cast<int>(units.size()));
  return units;
}

std::string utf8(std::wstring_view units) {
  const int size = static_cast<int>(units.size());
  std::string text(static_cast<std::size_t>(WideCharToMultiByte(CP_UTF8, 0, units.data(), size,
                                                                nullptr, 0, nullptr, nullptr)),
                   0);
  WideCharToMultiByte(CP_UTF8, 0, units.data(), size, text.data(), static_cast<int>(text.size()),
                      nullptr, nullptr);
  return text;
}

std::wstring own_file() {
  std::wstring file(32'768, 0);
  file.resize(GetModuleFileNameW(nullptr, file.data(), static_cast<DWORD>(file.size())));
  return file;
}

/// The standard handles, as those that a new process inherits. Each is named once.
std::vector<HANDLE> inherited(std::initializer_list<HANDLE> handles) {
  std::set<HANDLE> all;
  for (HANDLE handle : handles) {
    const bool is_open = handle != nullptr && handle != INVALID_HANDLE_VALUE &&
                         SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    if (is_open) all.insert(handle);
  }
  return {all.begin(), all.end()};
}

/// Starts a process that inherits the standard handles and one more. Sockets and files stay here.
bool start(std::wstring command, DWORD flags, HANDLE ready, PROCESS_INFORMATION& process) {
  STARTUPINFOEXW startup{};
  startup.StartupInfo.cb = sizeof startup;
  startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  startup.StartupInfo.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
  startup.StartupInfo.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
  startup.StartupInfo.hStdError = GetStdHandle(STD_ERROR_HANDLE);
  std::vector<HANDLE> handles =
      inherited({startup.StartupInfo.hStdInput, startup.StartupInfo.hStdOutput,
                 startup.StartupInfo.hStdError, ready});
  SIZE_T size = 0;
  InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
  std::vector<char> list(size);
  startup.lpAttributeList = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(list.data());
  InitializeProcThreadAttributeList(startup.lpAttributeList, 1, 0, &size);
  UpdateProcThreadAttribute(startup.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST,
                            handles.data(), handles.size() * sizeof(HANDLE), nullptr, nullptr);
  const BOOL started = CreateProcessW(own_file().c_str(), command.data(), nullptr, nullptr, TRUE,
                                      flags | EXTENDED_STARTUPINFO_PRESENT, nullptr, nullptr,
                                      &startup.StartupInfo, &process);
  DeleteProcThreadAttributeList(startup.lpAttributeList);
  return started != FALSE;
}

HANDLE life_timer = nullptr;

}  // namespace

void prepare_process() {
  for (const int descriptor : {kStdin, kStdout, kStderr}) _setmode(descriptor, _O_BINARY);
  // A crash shows no window.
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
}

// A quote that is doubled within quotes does not end them for the C runtime, as it does for
// CommandLineToArgvW.
std::vector<std::string> arguments(int, char**) {
  int count = 0;
  int no_new_mode = 0;
  wchar_t** wide_words = nullptr;
  wchar_t** environment = nullptr;
  __wgetmainargs(&count, &wide_words, &environment, 0, &no_new_mode);
  std::vector<std::string> words;
  for (int at = 0; at < count; ++at) words.push_back(utf8(wide_words[at]));
  return words;
}

std::optional<std::string> variable(const std::string& name) {
  const std::wstring wide_name = wide(name);
  std::wstring value(32'768, 0);
  SetLastError(ERROR_SUCCESS);
  value.resize(
      GetEnvironmentVariableW(wide_name.c_str(), value.data(), static_cast<DWORD>(value.size())));
  if (value.empty() && GetLastError() == ERROR_ENVVAR_NOT_FOUND) return std::nullopt;
  return utf8(value);
}

std::int64_t process_id() { return GetCurrentProcessId(); }

std::int64_t parent_id() {
  PROCESSENTRY32W entry{};
  entry.dwSize = sizeof entry;
  HANDLE const all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
  bool is_there = Process32FirstW(all, &entry);
  while (is_there && entry.th32ProcessID != GetCurrentProcessId()) {
    is_there = Process32NextW(all, &entry);
  }
  CloseHandle(all);
  return is_there ? entry.th32ParentProcessID : 0;
}

void exit_now(int code) {
  TerminateProcess(GetCurrentProcess(), static_cast<UINT>(code));
  std::abort();
}

void wait_for_ever() {
  while (true) Sleep(INFINITE);
}

bool write_all(int descriptor, std::string_view bytes) {
  HANDLE const handle = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
  while (!bytes.empty()) {
    DWORD written = 0;
    const auto most = static_cast<DWORD>(std::min(bytes.size(), std::size_t{1} << 30));
    if (!WriteFile(handle, bytes.data(), most, &written, nullptr)) return false;
    // A pipe that does not wait takes nothing if it is full.
    if (written == 0) Sleep(1);
    bytes.remove_prefix(written);
  }
  return true;
}

int open_to_append(const std::string& file) {
  // With this right alone, each write goes to the end of the file ("File Access Rights Constants").
  HANDLE const handle = CreateFileW(wide(file).c_str(), FILE_APPEND_DATA,
                                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                    OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return -1;
  return _open_osfhandle(reinterpret_cast<std::intptr_t>(handle), _O_APPEND);
}

void close_descriptor(int descriptor) { _close(descriptor); }

std::optional<int> signal_by_name(std::string_view name) {
  int number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (const auto& signal : kSignals) {
    if (signal.name == name || signal.number == number) return signal.number;
  }
  return std::nullopt;
}

void die_of(int signal) {
  for (const auto& known : kSignals) {
    if (known.number == signal) exit_now(static_cast<int>(known.code));
  }
}

void ignore_end_signals() {
  SetConsoleCtrlHandler([](DWORD) -> BOOL { return TRUE; }, TRUE);
}

void limit_life(std::chrono::seconds limit) {
  do_not_limit_life();
  using std::chrono::milliseconds;
  CreateTimerQueueTimer(
      &life_timer, nullptr, [](void*, BOOLEAN) { exit_now(kLifeOver); }, nullptr,
      static_cast<DWORD>(milliseconds(limit).count()), 0, WT_EXECUTEONLYONCE);
}

void do_not_limit_life() {
  if (life_timer != nullptr)
    DeleteTimerQueueTimer(nullptr, std::exchange(life_timer, nullptr), nullptr);
}

std::int64_t start_grandchild(const Grandchild& wanted) {
  HANDLE const ready = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  const std::wstring command = L"fake-mcp " + wide(kGrandchild) + L' ' +
                               std::to_wstring(reinterpret_cast<std::uintptr_t>(ready)) + L' ' +
                               std::to_wstring(wanted.life.count()) +
                               (wanted.ignores_term ? L" ignore" : L" end");
  const DWORD session = wanted.own_session ? DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP : 0;
  PROCESS_INFORMATION process{};
  // A daemon also leaves the job of its parent if the job allows that.
  const bool started =
      (wanted.own_session && start(command, session | CREATE_BREAKAWAY_FROM_JOB, ready, process)) ||
      start(command, session, ready, process);
  if (started) {
    HANDLE const either[] = {ready, process.hProcess};
    WaitForMultipleObjects(2, either, FALSE, INFINITE);
    CloseHandle(process.hThread);
    CloseHandle(process.hProcess);
  }
  CloseHandle(ready);
  return started ? static_cast<std::int64_t>(process.dwProcessId) : -1;
}

void sleep_if_grandchild(const std::vector<std::string>& arguments) {
  if (arguments.size() != 5 || arguments[1] != kGrandchild) return;
  if (arguments[4] == "ignore") ignore_end_signals();
  limit_life(std::chrono::seconds(std::strtoll(arguments[3].c_str(), nullptr, 10)));
  HANDLE const ready = reinterpret_cast<HANDLE>(std::strtoull(arguments[2].c_str(), nullptr, 10));
  SetEvent(ready);
  CloseHandle(ready);
  wait_for_ever();
}

}  // namespace sitter::fake
