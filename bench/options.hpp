#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

namespace sitter::bench {

/// The path of a program that was built beside the benchmark.
std::string built(const std::string& program);

/// The options that the benchmarks of built programs share.
struct CommonOptions {
  std::string sitter = built("mcp-sitter");
  std::string fake_mcp = built("fake-mcp");
  int rounds = 20;
  int core;
  /// The letters of all figures, until `--only` names some of them.
  std::string only;
  std::size_t calls;

  CommonOptions(std::string figures, std::size_t calls_in_block);

  bool has(char figure) const { return only.find(figure) != only.npos; }

  /// `about_figures`: "a round trip, b memory". The options must outlive the app.
  void add_to(CLI::App& app, const std::string& about_figures);
  /// Moves the benchmark to its core, and says what is measured.
  void begin() const;
};

}  // namespace sitter::bench
