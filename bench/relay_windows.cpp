// The yardstick of the benchmarks on Windows:
//
//     relay -- PROGRAM ARGUMENT...  copies bytes between its stdin and stdout and those of a
//     program,
//                                   whose path is given without its `.exe`, with two blocking
//                                   threads

#include <windows.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "relay: %s\n", what);
  std::exit(1);
}

void copy(HANDLE from, HANDLE to) {
  std::array<char, 64 * 1024> buffer;
  DWORD count = 0;
  while (ReadFile(from, buffer.data(), buffer.size(), &count, nullptr) && count > 0) {
    for (DWORD at = 0, written = 0; at < count; at += written) {
      if (!WriteFile(to, buffer.data() + at, count - at, &written, nullptr)) return;
    }
  }
  CloseHandle(to);
}

/// One end of a pipe is for the command, which inherits it.
void open_pipe(HANDLE& read, HANDLE& write, HANDLE& inherited) {
  if (!CreatePipe(&read, &write, nullptr, 256 * 1024)) die("no pipe");
  SetHandleInformation(inherited, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
}

}  // namespace

int main() {
  const std::wstring line = GetCommandLineW();
  const std::size_t at = line.find(L" -- ");
  if (at == line.npos) die("needs -- and a command");
  std::wstring command = line.substr(at + 4);
  command.insert(std::min(command.find(L' '), command.size()), L".exe");
  HANDLE input = nullptr;
  HANDLE to_input = nullptr;
  HANDLE output = nullptr;
  HANDLE from_output = nullptr;
  open_pipe(input, to_input, input);
  open_pipe(from_output, output, output);
  STARTUPINFOW info{};
  info.cb = sizeof info;
  info.dwFlags = STARTF_USESTDHANDLES;
  info.hStdInput = input;
  info.hStdOutput = output;
  info.hStdError = GetStdHandle(STD_ERROR_HANDLE);
  PROCESS_INFORMATION made{};
  if (!CreateProcessW(nullptr, command.data(), nullptr, nullptr, TRUE, CREATE_NO_WINDOW, nullptr,
                      nullptr, &info, &made)) {
    die("no process");
  }
  CloseHandle(input);
  CloseHandle(output);
  std::thread(copy, GetStdHandle(STD_INPUT_HANDLE), to_input).detach();
  copy(from_output, GetStdHandle(STD_OUTPUT_HANDLE));
  DWORD code = 1;
  WaitForSingleObject(made.hProcess, INFINITE);
  GetExitCodeProcess(made.hProcess, &code);
  // The other thread may still wait for input.
  ExitProcess(code);
}
