#include "io/process/process_memory_windows.hpp"

#include <algorithm>
#include <cstddef>

namespace sitter {
namespace {

constexpr std::size_t kEnvironmentMax = 4 * 1024 * 1024;

}  // namespace

windows::Handle open_process(long pid, DWORD access) {
  windows::Handle process(OpenProcess(access, FALSE, static_cast<DWORD>(pid)));
  // OpenProcess ignores the two lowest bits of the number.
  if (process.is_open() && GetProcessId(process.get()) != static_cast<DWORD>(pid)) return {};
  return process;
}

std::optional<PROCESS_BASIC_INFORMATION> basic_facts_of(const windows::Handle& process) {
  PROCESS_BASIC_INFORMATION facts{};
  if (!process.is_open() || NtQueryInformationProcess(process.get(), ProcessBasicInformation,
                                                      &facts, sizeof facts, nullptr) != 0) {
    return std::nullopt;
  }
  return facts;
}

/// The beginning of RTL_USER_PROCESS_PARAMETERS. winternl.h shows ImagePathName and CommandLine;
/// the members before and after them have been in these places since Windows XP (phnt: ntrtl.h).
struct ProcessMemory::Parameters {
  std::byte flags[16];
  PVOID console[2];
  HANDLE standard_streams[3];
  UNICODE_STRING current_directory;
  HANDLE current_directory_handle;
  UNICODE_STRING dll_path;
  UNICODE_STRING image;
  UNICODE_STRING command_line;
  PVOID environment;
};

ProcessMemory::ProcessMemory(long pid)
    : process_(open_process(pid, PROCESS_QUERY_INFORMATION | PROCESS_VM_READ)) {}

std::wstring ProcessMemory::command_line() const { return text(parameters().command_line); }

std::wstring ProcessMemory::working_directory() const {
  return text(parameters().current_directory);
}

std::wstring ProcessMemory::environment() const {
  const auto* const from = static_cast<const char*>(parameters().environment);
  MEMORY_BASIC_INFORMATION pages{};
  if (from == nullptr || VirtualQueryEx(process_.get(), from, &pages, sizeof pages) == 0) return {};
  // To the end of its pages.
  const auto* const end = static_cast<char*>(pages.BaseAddress) + pages.RegionSize;
  const std::size_t size = std::min(static_cast<std::size_t>(end - from), kEnvironmentMax);
  std::wstring all(size / sizeof(wchar_t), L'\0');
  return read(from, all.data(), all.size() * sizeof(wchar_t)) ? all : std::wstring();
}

std::wstring ProcessMemory::program() const {
  const auto peb = block();
  if (!peb) return {};
  // phnt: ntpebteb.h, ImageBaseAddress.
  void* const base = peb->Reserved3[1];
  std::wstring path(windows::kPathMax, L'\0');
  path.resize(GetMappedFileNameW(process_.get(), base, path.data(), windows::kPathMax));
  return path;
}

bool ProcessMemory::read(const void* from, void* to, std::size_t size) const {
  SIZE_T count = 0;
  return process_.is_open() && from != nullptr &&
         ReadProcessMemory(process_.get(), from, to, size, &count) && count == size;
}

std::wstring ProcessMemory::text(const UNICODE_STRING& at) const {
  std::wstring text(at.Length / sizeof(wchar_t), L'\0');
  return read(at.Buffer, text.data(), text.size() * sizeof(wchar_t)) ? text : std::wstring();
}

/// The process environment block.
std::optional<PEB> ProcessMemory::block() const {
  const auto facts = basic_facts_of(process_);
  PEB block{};
  if (!facts || !read(facts->PebBaseAddress, &block, sizeof block)) return std::nullopt;
  return block;
}

ProcessMemory::Parameters ProcessMemory::parameters() const {
  static_assert(offsetof(Parameters, command_line) ==
                offsetof(RTL_USER_PROCESS_PARAMETERS, CommandLine));
  const auto peb = block();
  Parameters parameters{};
  if (!peb || !read(peb->ProcessParameters, &parameters, sizeof parameters)) return {};
  return parameters;
}

}  // namespace sitter
