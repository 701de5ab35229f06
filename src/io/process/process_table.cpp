#include "io/process/process_table.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace sitter {

std::vector<std::string> arguments_behind_name(long pid) {
  std::vector<std::string> words = arguments_of(pid);
  if (!words.empty()) words.erase(words.begin());
  return words;
}

std::string command_of(long pid) {
  constexpr std::size_t kCommandMax = 200;
  std::string command;
  for (const std::string& word : arguments_of(pid)) {
    if (!command.empty()) command += ' ';
    command += word;
    if (command.size() > kCommandMax) break;
  }
  command = one_line(command);
  std::replace(command.begin(), command.end(), '\t', ' ');
  if (command.size() <= kCommandMax) return command;
  return command.substr(0, cut_between_characters(command, kCommandMax - 3)) + "...";
}

}  // namespace sitter
