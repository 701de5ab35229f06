#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "io/control/local_socket.hpp"
#include "io/system/windows.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

constexpr std::size_t kNameMax = 256;

NoConnection reason_of(DWORD error) {
  if (error == ERROR_PIPE_BUSY) return NoConnection::is_busy;
  return error == ERROR_FILE_NOT_FOUND ? NoConnection::nobody_listens : NoConnection::fails;
}

/// Milliseconds until then, as WaitForSingleObject takes them.
DWORD time_until(std::optional<Instant> by) {
  if (!by) return INFINITE;
  const auto rest = std::chrono::ceil<Milliseconds>(*by - Instant::clock::now());
  return static_cast<DWORD>(std::clamp<std::int64_t>(rest.count(), 0, INFINITE - 1));
}

/// Waits for an operation that `begin` starts, and cancels it if it has not ended by then. Returns
/// how many bytes were moved.
template <class Begin>
DWORD moved(HANDLE pipe, std::optional<Instant> by, Begin begin) {
  const windows::Handle done(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  OVERLAPPED operation{};
  operation.hEvent = done.get();
  if (!begin(operation) && GetLastError() != ERROR_IO_PENDING) return 0;
  if (WaitForSingleObject(done.get(), time_until(by)) != WAIT_OBJECT_0) {
    CancelIoEx(pipe, &operation);
  }
  // It may have ended before it was cancelled.
  DWORD count = 0;
  return GetOverlappedResult(pipe, &operation, &count, TRUE) ? count : 0;
}

}  // namespace

FileDescriptor connect_to_socket(const std::string& path, NoConnection* why) {
  std::string problem;
  const auto name = read_whole_file(path, kNameMax, problem);
  if (!name || name->empty()) return {};
  // A server that is not ours must not act in our name.
  windows::Handle pipe(CreateFileW(
      windows::wide(*name).c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, OPEN_EXISTING,
      FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, nullptr));
  if (!pipe.is_open() && why != nullptr) *why = reason_of(GetLastError());
  return windows::descriptor_of(std::move(pipe));
}

bool read_some(const FileDescriptor& connection, std::string& text, std::optional<Instant> by) {
  std::array<char, 16 * limits::kKiB> bytes;
  const HANDLE pipe = windows::handle_of(connection);
  const DWORD count = moved(pipe, by, [&](OVERLAPPED& operation) {
    return ReadFile(pipe, bytes.data(), static_cast<DWORD>(bytes.size()), nullptr, &operation);
  });
  text.append(bytes.data(), count);
  return count > 0;
}

bool write_all(const FileDescriptor& connection, std::string_view text, std::optional<Instant> by) {
  const HANDLE pipe = windows::handle_of(connection);
  while (!text.empty()) {
    const DWORD count = moved(pipe, by, [&](OVERLAPPED& operation) {
      return WriteFile(pipe, text.data(), static_cast<DWORD>(text.size()), nullptr, &operation);
    });
    if (count == 0) return false;
    text.remove_prefix(count);
  }
  return true;
}

}  // namespace sitter
