#include "io/system/ctrl_break_windows.hpp"

#include <cstdlib>
#include <string>

#include "io/system/child_windows.hpp"
#include "io/system/platform.hpp"
#include "io/system/startup.hpp"

namespace sitter {
namespace {

constexpr char kSendBreak[] = "--send-break";

DWORD number_in(const std::string& word) {
  return static_cast<DWORD>(std::strtoul(word.c_str(), nullptr, 10));
}

}  // namespace

// A child has a console of its own, without a window (CREATE_NO_WINDOW), and only a process of that
// console can send it an event (GenerateConsoleCtrlEvent). A process can enter a console only if it
// has none (AttachConsole), and the bridge may have that of the user. So another process does it.
void windows::send_break(const std::vector<long>& group) {
  const Handle nothing = open_nothing();
  ChildStart start{.program = platform::own_program(), .words = {"mcp-sitter", kSendBreak}};
  for (const long pid : group) start.words.push_back(std::to_string(pid));
  start.input = start.output = start.error = nothing.get();
  start.ends_with_job = false;
  start_child(start);
}

bool has_done_errand(const std::vector<std::string>& words) {
  if (words.size() < 2 || words.front() != kSendBreak) return false;
  FreeConsole();
  // The leader may have ended, but the group keeps its number.
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (!AttachConsole(number_in(words[at]))) continue;
    GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, number_in(words[1]));
    break;
  }
  return true;
}

}  // namespace sitter
