#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "io/process/process_memory_windows.hpp"
#include "io/process/process_table.hpp"
#include "io/system/command_line.hpp"
#include "io/system/user_only_windows.hpp"
#include "io/system/windows.hpp"
// This header needs windows.h before it.
#include <tlhelp32.h>

namespace sitter {
namespace {

using windows::Handle;

constexpr DWORD kAllSharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
/// What a console program that is asked to end by Ctrl+C ends with: STATUS_CONTROL_C_EXIT.
constexpr UINT kAskedExitCode = 0xC000013A;
/// What `taskkill /F` and the Task Manager end a process with.
constexpr UINT kKilledExitCode = 1;

std::uint64_t number_of(const FILETIME& time) {
  return std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime;
}

// ---- Processes -------------------------------------------------------------------------------

/// What each process of the user allows, and most of the others.
Handle open_briefly(long pid) {
  Handle process = open_process(pid, PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE);
  return process.is_open() ? std::move(process)
                           : open_process(pid, PROCESS_QUERY_LIMITED_INFORMATION);
}

struct Times {
  /// 0 if they are not known.
  std::uint64_t start = 0;
  /// In units of 100 ns.
  std::uint64_t used = 0;
};

Times times_of(const Handle& process) {
  FILETIME start, exit, kernel, user;
  if (!process.is_open() || !GetProcessTimes(process.get(), &start, &exit, &kernel, &user)) {
    return {};
  }
  return {number_of(start), number_of(kernel) + number_of(user)};
}

/// The object of a process that has ended stays for as long as somebody has a handle of it.
bool has_ended(const Handle& process) {
  return process.is_open() && WaitForSingleObject(process.get(), 0) == WAIT_OBJECT_0;
}

/// A process and the one that has started it, whose number may be that of a later process by now.
struct Listed {
  long pid = 0;
  long parent = 0;
};

std::vector<Listed> listed_processes() {
  std::vector<Listed> processes;
  const Handle list(CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
  PROCESSENTRY32W entry{};
  entry.dwSize = sizeof entry;
  for (BOOL more = list.is_open() && Process32FirstW(list.get(), &entry); more;
       more = Process32NextW(list.get(), &entry)) {
    const Listed process{static_cast<long>(entry.th32ProcessID),
                         static_cast<long>(entry.th32ParentProcessID)};
    // The first entry stands for the idle time of the processors.
    if (process.pid != 0) processes.push_back(process);
  }
  return processes;
}

ProcessRecord record_of(const Listed& listed, const Handle& process) {
  return {.pid = listed.pid,
          .parent = listed.parent,
          .user = process.is_open() && windows::is_of_own_user(process.get()) ? 1 : 0,
          .start = times_of(process).start,
          .zombie = has_ended(process)};
}

/// Whether the process that has the number of a parent now is that parent. The system keeps the
/// number of a parent that has ended, and gives it to another process, which is younger than the
/// child.
bool is_parent(const Times& parent, const ProcessRecord& child) {
  return child.start == 0 || parent.start <= child.start;
}

bool has_its_parent(const ProcessRecord& child) {
  const Handle parent = open_briefly(child.parent);
  // Of a process that may not be opened, the start is not known.
  if (!parent.is_open()) return GetLastError() == ERROR_ACCESS_DENIED;
  return is_parent(times_of(parent), child);
}

void forget_false_parents(std::vector<ProcessRecord>& processes) {
  std::unordered_map<long, Times> times;
  for (const ProcessRecord& process : processes) times[process.pid] = {.start = process.start};
  for (ProcessRecord& process : processes) {
    const auto parent = times.find(process.parent);
    const bool is_true =
        parent == times.end() ? has_its_parent(process) : is_parent(parent->second, process);
    if (!is_true) process.parent = 0;
  }
}

std::vector<ProcessRecord> records_of(const std::vector<Listed>& listed) {
  std::vector<ProcessRecord> processes;
  for (const Listed& one : listed) processes.push_back(record_of(one, open_briefly(one.pid)));
  forget_false_parents(processes);
  return processes;
}

// ---- Files -----------------------------------------------------------------------------------

std::string with_upper_drive(std::string path) {
  if (path.size() > 1 && path[1] == ':' && path[0] >= 'a' && path[0] <= 'z') {
    path[0] = static_cast<char>(path[0] - 'a' + 'A');
  }
  return path;
}

/// For its facts only, which the system gives even if the file may not be read.
Handle open_for_facts(const std::wstring& path) {
  return Handle(CreateFileW(path.c_str(), FILE_READ_ATTRIBUTES, kAllSharing, nullptr, OPEN_EXISTING,
                            FILE_FLAG_BACKUP_SEMANTICS, nullptr));
}

/// The number of the file on its volume. ReFS uses all 128 bits, and NTFS the lower 64.
std::uint64_t number_of(const FILE_ID_128& id) {
  std::uint64_t low = 0, high = 0;
  static_assert(sizeof id.Identifier == sizeof low + sizeof high);
  std::memcpy(&low, id.Identifier, sizeof low);
  std::memcpy(&high, id.Identifier + sizeof low, sizeof high);
  constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;  // 2^64 / the golden ratio
  return low ^ high * kSpread;
}

ImageIdentity identity_of(const Handle& file) {
  ImageIdentity image;
  FILE_ID_INFO id{};
  BY_HANDLE_FILE_INFORMATION facts{};
  if (!file.is_open()) return image;
  if (GetFileInformationByHandleEx(file.get(), FileIdInfo, &id, sizeof id)) {
    image.device = id.VolumeSerialNumber;
    image.inode = number_of(id.FileId);
  } else if (GetFileInformationByHandle(file.get(), &facts)) {
    // FAT and some servers have only this.
    image.device = facts.dwVolumeSerialNumber;
    image.inode = std::uint64_t{facts.nFileIndexHigh} << 32 | facts.nFileIndexLow;
  }
  // A new file may get the time of a file of the same name that was deleted less than 15 s before
  // ("file system tunneling"), but not its number.
  FILE_BASIC_INFO times{};
  if (GetFileInformationByHandleEx(file.get(), FileBasicInfo, &times, sizeof times)) {
    const FILETIME born{times.CreationTime.LowPart,
                        static_cast<DWORD>(times.CreationTime.HighPart)};
    image.born =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, windows::nanoseconds_of(born)));
  }
  return image;
}

/// The path that the program of a process had at its start (QueryFullProcessImageName).
std::string image_path_of(const Handle& process) {
  std::wstring path(windows::kPathMax, L'\0');
  DWORD size = windows::kPathMax;
  if (!process.is_open() || !QueryFullProcessImageNameW(process.get(), 0, path.data(), &size)) {
    return {};
  }
  return with_upper_drive(windows::generic_path({path.data(), size}));
}

Handle open_image_of(long pid) {
  const std::wstring path = ProcessMemory(pid).program();
  return path.empty() ? Handle() : open_for_facts(LR"(\\?\GLOBALROOT)" + path);
}

bool is_same_path(const std::string& a, const std::string& b) {
  const std::wstring first = windows::wide(a), second = windows::wide(b);
  return CompareStringOrdinal(first.c_str(), static_cast<int>(first.size()), second.c_str(),
                              static_cast<int>(second.size()), TRUE) == CSTR_EQUAL;
}

// ---- Threads ---------------------------------------------------------------------------------

/// What NtQuerySystemInformation(SystemProcessInformation) tells of all processes. It is a chain of
/// SYSTEM_PROCESS_INFORMATION, each followed by its threads.
std::vector<std::byte> state_of_the_system() {
  constexpr NTSTATUS kTooSmall = static_cast<NTSTATUS>(0xC0000004);
  std::vector<std::byte> facts(512 * 1024);
  // Processes may start between two calls, but not again and again.
  for (int tries = 0; tries < 5; ++tries) {
    ULONG size = 0;
    const NTSTATUS status = NtQuerySystemInformation(SystemProcessInformation, facts.data(),
                                                     static_cast<ULONG>(facts.size()), &size);
    if (status == 0) return facts;
    if (status != kTooSmall) break;
    facts.resize(std::max<std::size_t>(2 * facts.size(), size));
  }
  return {};
}

// phnt: ntkeapi.h, KTHREAD_STATE and KWAIT_REASON.
constexpr ULONG kWaiting = 5;
constexpr ULONG kSuspended = 5;

/// The letter of `ProcessActivity` for the threads of a process. 0 if it is not found.
char state_of(long pid) {
  // Microsoft documents these two structures, and that the second follows the first.
  static_assert(sizeof(SYSTEM_PROCESS_INFORMATION) == 0x100);
  static_assert(sizeof(SYSTEM_THREAD_INFORMATION) == 0x50);
  const std::vector<std::byte> all = state_of_the_system();
  for (std::size_t at = 0; at + sizeof(SYSTEM_PROCESS_INFORMATION) <= all.size();) {
    const auto* const process =
        reinterpret_cast<const SYSTEM_PROCESS_INFORMATION*>(all.data() + at);
    if (reinterpret_cast<std::intptr_t>(process->UniqueProcessId) == pid) {
      const auto* const threads = reinterpret_cast<const SYSTEM_THREAD_INFORMATION*>(process + 1);
      bool waits = true, is_suspended = true;
      for (const auto& thread : std::span(threads, process->NumberOfThreads)) {
        waits = waits && thread.ThreadState == kWaiting;
        is_suspended = is_suspended && waits && thread.WaitReason == kSuspended;
      }
      return !waits ? 'R' : is_suspended ? 'T' : 'S';
    }
    if (process->NextEntryOffset == 0) break;
    at += process->NextEntryOffset;
  }
  return 0;
}

}  // namespace

bool lists_processes() { return true; }

std::vector<ProcessRecord> all_processes() { return records_of(listed_processes()); }

std::vector<ProcessRecord> families_of(std::vector<long> pids) {
  const std::vector<Listed> listed = listed_processes();
  std::unordered_set<long> family(pids.begin(), pids.end());
  // The children of these processes, of their children, and so on.
  for (std::size_t size = 0; size != family.size();) {
    size = family.size();
    for (const Listed& one : listed) {
      if (family.contains(one.parent)) family.insert(one.pid);
    }
  }
  std::vector<Listed> members;
  std::copy_if(listed.begin(), listed.end(), std::back_inserter(members),
               [&](const Listed& one) { return family.contains(one.pid); });
  return records_of(members);
}

bool is_number_in_use(long number) {
  return open_briefly(number).is_open() || GetLastError() == ERROR_ACCESS_DENIED;
}

std::optional<ProcessRecord> find_process(long pid) {
  const Handle process = open_briefly(pid);
  const auto facts = basic_facts_of(process);
  if (!facts) {
    // The list names even the processes that may not be opened.
    for (const Listed& one : listed_processes()) {
      if (one.pid == pid) return record_of(one, process);
    }
    return std::nullopt;
  }
  ProcessRecord record =
      record_of({pid, static_cast<long>(facts->InheritedFromUniqueProcessId)}, process);
  if (!has_its_parent(record)) record.parent = 0;
  return record;
}

std::vector<std::string> arguments_of(long pid) {
  return words_of(windows::utf8(ProcessMemory(pid).command_line()));
}

long tracer_of(long pid) {
  const Handle process = open_process(pid, PROCESS_QUERY_INFORMATION);
  BOOL is_traced = FALSE;
  if (!process.is_open() || !CheckRemoteDebuggerPresent(process.get(), &is_traced)) return 0;
  return is_traced ? kUnknownTracer : 0;
}

ProcessActivity activity_of(long pid) {
  const Handle process = open_briefly(pid);
  if (!process.is_open() || has_ended(process)) return {};
  constexpr std::uint64_t kTicksOfMillisecond = 10'000;
  return {.state = state_of(pid),
          .waits_in = {},
          .used = Milliseconds(times_of(process).used / kTicksOfMillisecond)};
}

std::vector<std::string> environment_entries(long pid, const std::string& begin) {
  const std::wstring all = ProcessMemory(pid).environment();
  const std::wstring wanted = windows::wide(begin);
  std::vector<std::string> entries;
  std::wstring_view rest = all;
  // An empty entry stands at the end.
  while (!rest.empty() && rest.front() != L'\0') {
    const std::wstring_view entry = rest.substr(0, rest.find(L'\0'));
    if (entry.starts_with(wanted)) entries.push_back(windows::utf8(entry));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
  }
  return entries;
}

std::optional<std::uint64_t> lock_limit_of(long) { return std::nullopt; }

std::string working_directory_of(long pid) {
  std::string path =
      with_upper_drive(windows::generic_path(ProcessMemory(pid).working_directory()));
  // The system puts a slash at the end of each.
  if (path.ends_with('/') && !path.ends_with(":/")) path.pop_back();
  return path;
}

ImageIdentity image_of(long pid) {
  const Handle process = open_briefly(pid);
  if (!process.is_open() || has_ended(process)) return {};
  const std::string path = image_path_of(process);
  ImageIdentity image = identity_of(open_image_of(pid));
  if (!image.is_known()) image = identity_at(path);
  image.path = path;
  return image;
}

bool runs_image(long pid, const ImageIdentity& image) {
  const Handle process = open_briefly(pid);
  if (!process.is_open() || has_ended(process)) return false;
  // The path alone shows an older file, which has another name by now.
  const std::string path = image_path_of(process);
  if (!path.empty() && is_same_path(path, image.path)) return true;
  return image_of(pid).is_same_file(image);
}

ImageIdentity identity_at(const std::string& path) {
  return path.empty() ? ImageIdentity() : identity_of(open_for_facts(windows::system_path(path)));
}

ImageIdentity image_at(const std::string& path) {
  if (path.empty()) return {};
  const Handle file = open_for_facts(windows::system_path(path));
  ImageIdentity image = identity_of(file);
  std::wstring real(windows::kPathMax, L'\0');
  const DWORD size = !file.is_open()
                         ? 0
                         : GetFinalPathNameByHandleW(file.get(), real.data(), windows::kPathMax, 0);
  if (size > 0 && size < windows::kPathMax) {
    image.path = with_upper_drive(windows::generic_path({real.data(), size}));
  }
  return image;
}

// The system does not tell which pipe the handle of another process leads to.
std::optional<OpenFileIdentity> input_of(long) { return std::nullopt; }

// A process without a console cannot be asked to end, so both signals end it at once.
Delivery send_signal(const ProcessRecord& process, UnitSignal signal) {
  const Handle handle = open_process(
      process.pid, PROCESS_TERMINATE | PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE);
  if (!handle.is_open()) {
    const auto now = find_process(process.pid);
    return now && now->start == process.start && !now->zombie ? Delivery::not_permitted
                                                              : Delivery::gone;
  }
  // The handle keeps the number from being given to another process.
  if (times_of(handle).start != process.start || has_ended(handle)) return Delivery::gone;
  const UINT code = signal == UnitSignal::kill ? kKilledExitCode : kAskedExitCode;
  if (TerminateProcess(handle.get(), code)) return Delivery::delivered;
  // The call is also refused if the process is just ending.
  return has_ended(handle) || GetLastError() != ERROR_ACCESS_DENIED ? Delivery::gone
                                                                    : Delivery::not_permitted;
}

}  // namespace sitter
