#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/process/keeper.hpp"
#include "io/process/launch_plan.hpp"
#include "io/stream/error_output.hpp"
#include "io/stream/log.hpp"
#include "sitter/bridge.hpp"

namespace sitter {

/// Everything that the core does not do: it feeds the core with facts and the time, one at a time,
/// and carries out what the core orders. One thread, one event loop, one timer.
class Driver {
 public:
  /// How `mcp-sitter ctl` finds this bridge.
  struct Control {
    bool is_on = true;
    /// May be empty.
    std::string name;
  };

  struct Parts {
    BridgeConfig config;
    LaunchRequest command;
    /// Only used if the core has a build command.
    LaunchRequest build;
    Control control;
    /// May be empty: then nothing survives the bridge to clean up after it.
    std::optional<Keeper>& keeper;
    Log& log;
    ErrorOutput& error_output;
  };

  explicit Driver(Parts parts);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver();

  /// Until the end of the bridge. Returns the exit code.
  int run();

 private:
  class Loop;

  std::unique_ptr<Loop> loop_;
};

}  // namespace sitter
