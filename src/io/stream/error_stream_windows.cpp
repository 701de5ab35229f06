#include <algorithm>
#include <thread>
#include <utility>

#include "io/stream/error_stream.hpp"
#include "io/system/windows.hpp"
#include "sitter/bytes.hpp"

namespace sitter {

bool write_to_stderr(std::string_view bytes) {
  // A console takes no more at once (WriteConsole).
  constexpr std::size_t kWriteMax = 32 * limits::kKiB;
  while (!bytes.empty()) {
    DWORD count = 0;
    const auto size = static_cast<DWORD>(std::min(bytes.size(), kWriteMax));
    if (!WriteFile(GetStdHandle(STD_ERROR_HANDLE), bytes.data(), size, &count, nullptr)) {
      return false;
    }
    bytes.remove_prefix(count);
  }
  return true;
}

void start_thread(std::function<void()> run) { std::thread(std::move(run)).detach(); }

}  // namespace sitter
