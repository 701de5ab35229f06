#include <cstdio>
#include <cstdlib>

#include "io/system/windows.hpp"
#include "terminal/terminal.hpp"

// This comes after windows.h.
#include <io.h>

namespace sitter {
namespace {

/// Null if the stream is closed.
HANDLE handle_of(std::FILE* stream) {
  const int descriptor = _fileno(stream);
  const auto handle = reinterpret_cast<HANDLE>(descriptor < 0 ? -1 : _get_osfhandle(descriptor));
  return handle == INVALID_HANDLE_VALUE ? nullptr : handle;
}

}  // namespace

const char* const kEndOfInputKeys = "Ctrl-Z and Enter";

// `_isatty` says yes to NUL and to each serial port.
bool is_terminal(std::FILE* stream) {
  DWORD mode = 0;
  return GetConsoleMode(handle_of(stream), &mode) != 0;
}

std::optional<std::size_t> terminal_columns() {
  if (!is_terminal(stdout)) return std::nullopt;
  CONSOLE_SCREEN_BUFFER_INFO info{};
  const bool is_known = GetConsoleScreenBufferInfo(handle_of(stdout), &info) != 0;
  // The buffer may be wider than the window.
  const int columns = info.srWindow.Right - info.srWindow.Left + 1;
  return is_known && columns > 0 ? static_cast<std::size_t>(columns) : 80;
}

// Consoles before Windows 10 refuse this (SetConsoleMode), and newer ones want to be asked. The
// mode belongs to the console, so it is put back at the end.
bool enable_color() {
  constexpr DWORD kColor = ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING;
  static DWORD before = 0;
  const HANDLE console = handle_of(stdout);
  if (!GetConsoleMode(console, &before)) return false;
  if ((before & kColor) == kColor) return true;
  if (!SetConsoleMode(console, before | kColor)) return false;
  std::atexit([] { SetConsoleMode(handle_of(stdout), before); });
  return true;
}

}  // namespace sitter
