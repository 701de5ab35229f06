#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "io/driver.hpp"
#include "io/process/launch_plan.hpp"
#include "io/stream/log.hpp"
#include "sitter/bridge.hpp"

namespace sitter {

struct Options {
  BridgeConfig bridge;
  LaunchRequest command;
  LaunchRequest build;
  std::optional<Daemon::Options> daemon;
  std::optional<CliChild::Options> cli;
  Driver::Control control;
  Log::Options log;
};

/// A text to print instead of running: help or version on stdout with code 0, or a mistake on
/// stderr with code 2.
struct Refusal {
  std::string text;
  int exit_code = 0;
};

/// Reads the command line, without the program's name. The first word that is not an option begins
/// the child's command, which is kept unchanged. If `--` stands before the command, it is dropped.
std::variant<Options, Refusal> parse_options(const std::vector<std::string>& words);

}  // namespace sitter
