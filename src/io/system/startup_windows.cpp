#include <fcntl.h>
#include <io.h>

#include <cstdio>
#include <cstdlib>

#include "io/system/startup.hpp"
#include "io/system/windows.hpp"

// These come after windows.h.
#include <ntsecapi.h>

/// Of the C runtime; no header declares it (__wgetmainargs).
extern "C" int __cdecl __wgetmainargs(int*, wchar_t***, wchar_t***, int, int*);

namespace sitter {
namespace {

UINT code_page_before = 0;

/// Text of this program is UTF-8, and a console expects the code page of the country. The setting
/// belongs to the console, so it is undone at the end.
void speak_utf8() {
  code_page_before = GetConsoleOutputCP();
  if (code_page_before == 0 || code_page_before == CP_UTF8) return;
  if (SetConsoleOutputCP(CP_UTF8)) std::atexit([] { SetConsoleOutputCP(code_page_before); });
}

/// The stream has no handle if the parent process has none, or has closed it.
bool is_closed(int descriptor) { return _get_osfhandle(descriptor) < 0; }

}  // namespace

// There are no signals.
void hold_signals() {}
void unblock_signals() {}
void survive_failed_writes() {}

// `argv` is in the ANSI code page, and the C runtime may have put the names of files in the place
// of patterns. A batch file doubles the quotes of an argument, which CommandLineToArgvW takes for
// its end.
std::vector<std::string> program_words(int, char**) {
  int count = 0;
  int no_new_mode = 0;
  wchar_t** words = nullptr;
  wchar_t** environment = nullptr;
  __wgetmainargs(&count, &words, &environment, 0, &no_new_mode);
  std::vector<std::string> result;
  for (int i = 1; i < count; ++i) result.push_back(windows::utf8(words[i]));
  return result;
}

void open_standard_streams() {
  for (std::FILE* const stream : {stdin, stdout, stderr}) {
    // A closed stream has no descriptor at all (_fileno).
    if (_fileno(stream) < 0 || is_closed(_fileno(stream))) {
      std::freopen("NUL", stream == stdin ? "rb" : "wb", stream);
    }
    _setmode(_fileno(stream), _O_BINARY);
  }
  for (const DWORD stream : {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE}) {
    DWORD mode = 0;
    if (!GetConsoleMode(GetStdHandle(stream), &mode)) continue;
    speak_utf8();
    return;
  }
}

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  return RtlGenRandom(&seed, sizeof seed) ? seed : 0;
}

// Only memory limits the handles of a process.
std::size_t raise_descriptor_limit(std::size_t wanted) { return wanted; }

}  // namespace sitter
