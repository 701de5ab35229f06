#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/backend.hpp"
#include "io/process/keeper.hpp"
#include "io/process/launch_plan.hpp"
#include "io/stream/error_output.hpp"
#include "io/stream/log.hpp"
#include "sitter/bridge.hpp"

namespace sitter {

/// Does everything that the core does not do: it feeds the core with facts and the time, one fact
/// at a time, and carries out the orders of the core. It uses one thread and one event loop, and
/// one timer for all deadlines of the core.
class Driver {
 public:
  /// The settings for `mcp-sitter ctl`.
  struct Control {
    bool is_on = true;
    /// The name of this bridge; may be empty.
    std::string name;
  };

  struct Parts {
    BridgeConfig config;
    LaunchRequest command;
    /// Only used if the core has a build command.
    LaunchRequest build;
    /// Makes the backend for the kind of the server.
    std::function<std::unique_ptr<Backend>(const Backend::Parts&)> backend;
    Control control;
    /// May be empty: then no process cleans up when the bridge is killed.
    std::optional<Keeper>& keeper;
    Log& log;
    ErrorOutput& error_output;
  };

  explicit Driver(Parts parts);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver();

  /// Runs until the bridge ends. Returns the exit code.
  int run();

 private:
  class Loop;

  std::unique_ptr<Loop> loop_;
};

}  // namespace sitter
