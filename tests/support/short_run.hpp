#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/scripted_client.hpp"

namespace sitter::testing {

/// A run of the program that serves nothing.
struct ShortRun {
  explicit ShortRun(std::vector<std::string> words) : ShortRun(Program::Start{std::move(words)}) {}

  /// The words of the program stand in place of the command.
  explicit ShortRun(Program::Start start) {
    start.command.insert(start.command.begin(), sitter_program());
    Program program(start);
    if (!start.input) program.close_input();
    output = program.read_all();
    exit_code = program.wait();
    error = lines_of(program.error_text());
  }

  /// All lines of stdout.
  std::string text() const {
    std::string text;
    for (const std::string& line : output) text += line + "\n";
    return text;
  }

  int exit_code = -1;
  std::vector<std::string> output;
  std::vector<std::string> error;
};

}  // namespace sitter::testing
