#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/scripted_client.hpp"

namespace sitter::testing {

/// A program that serves nothing, run to its end with a closed input.
struct ShortRun {
  /// The program under test with these words.
  explicit ShortRun(std::vector<std::string> words)
      : ShortRun(Program::Start{with_program(words)}) {}

  explicit ShortRun(const Program::Start& start) {
    Program program(start);
    if (!start.input) program.close_input();
    for (const std::string& line : program.read_all()) output += line + "\n";
    exit_code = program.wait();
    error = program.error_text();
  }

  /// The words behind the path of the program under test.
  static std::vector<std::string> with_program(std::vector<std::string> words) {
    words.insert(words.begin(), sitter_program());
    return words;
  }

  int exit_code = -1;
  std::string output, error;
};

}  // namespace sitter::testing
