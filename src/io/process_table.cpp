#include "sitter/io/process_table.hpp"

namespace sitter {
namespace {

constexpr std::size_t kCommandMax = 200;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string command_of(long pid) {
  std::string command;
  for (const std::string& word : arguments_of(pid)) {
    if (!command.empty()) command += ' ';
    command += word;
    if (command.size() > kCommandMax) break;
  }
  for (char& c : command) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = ' ';
  }
  if (command.size() <= kCommandMax) return command;
  std::size_t end = kCommandMax - 3;
  while (end > 0 && is_continuation(command[end])) --end;
  return command.substr(0, end) + "...";
}

}  // namespace sitter
