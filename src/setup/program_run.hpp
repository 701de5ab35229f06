#pragma once

#include <chrono>
#include <string>

#include "setup/server_entry.hpp"

namespace sitter::setup {

/// A program that was run without input, and that has ended or was killed.
struct ProgramRun {
  enum class Kind {
    client,  ///< its stderr counts, and what it has started may stay
    tool,    ///< what it has started is killed at its end
  };

  bool is_failed = false;
  bool is_late = false;
  bool is_too_long = false;
  std::string output;
};

/// `cargo metadata` writes some MiB about the largest workspaces.
inline constexpr std::size_t kProgramOutputMax = std::size_t{32} << 20;

/// How often the end of a program is asked for: what it has started may keep its output open, or
/// write into it for ever.
inline constexpr std::chrono::milliseconds kProgramRound{20};

/// A tool that is only asked downloads nothing: neither modules of Go nor a toolchain of Rust.
inline constexpr const char* kToolVariables[] = {"GOPROXY=off", "RUSTUP_AUTO_INSTALL=0"};

/// Runs a program, of which the first word is the path, in a folder, and waits for it. Kills it if
/// it has not ended in time or writes too much. Throws Failure if it cannot be started.
ProgramRun run_in(const std::string& folder, const Words& words, ProgramRun::Kind kind,
                  std::chrono::milliseconds time);

}  // namespace sitter::setup
