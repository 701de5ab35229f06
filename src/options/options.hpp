#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "io/cli_backend.hpp"
#include "io/driver.hpp"
#include "io/http_backend.hpp"
#include "io/process/launch_plan.hpp"
#include "io/stream/log.hpp"
#include "sitter/bridge.hpp"

namespace sitter {

struct Options {
  BridgeConfig bridge;
  LaunchRequest command;
  LaunchRequest build;
  std::optional<HttpBackend::Options> daemon;
  std::optional<CliBackend::Options> cli;
  Driver::Control control;
  Log::Options log;
  /// Whether `--` stood before the command, so that its first word is meant as it stands.
  bool has_dashes = false;
};

/// A text to print instead of running: on stdout with code 0, such as the version, or a mistake on
/// stderr with another code.
struct Refusal {
  std::string text;
  int exit_code = 0;
};

/// What a mistake says, without the program's name and the hint at its help.
std::string sentence_of(const Refusal& refusal);

/// The help is to be printed instead of running.
struct HelpAsked {};

/// Reads the command line, without the program's name. The first word that is not an option begins
/// the child's command, which is kept unchanged. If `--` stands before the command, it is dropped.
std::variant<Options, Refusal, HelpAsked> parse_options(const std::vector<std::string>& words);

}  // namespace sitter
