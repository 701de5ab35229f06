#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "io/stream/event_loop.hpp"
#include "sitter/control_id.hpp"

namespace sitter {

/// Where `mcp-sitter ctl` reaches this bridge: a socket in the control folder that nobody but the
/// user can use. Who connects gets a line that says which bridge this is, sends requests on lines,
/// and gets lines.
class ControlServer {
 public:
  struct Events {
    std::function<void(ControlId, std::string_view line)> on_line;
    std::function<void(ControlId)> on_closed;
  };

  /// `hello` is the first line that everybody gets. On failure null, and `error` says why.
  static std::unique_ptr<ControlServer> open(EventLoop& loop, std::string hello, Events events,
                                             std::string& error);
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;
  /// The socket is gone; what could not be written yet is dropped.
  ~ControlServer();

  /// A connection that does not read is closed when a bounded number of bytes waits for it.
  void send(ControlId connection, const std::string& line);

 private:
  class Listener;

  explicit ControlServer(std::shared_ptr<Listener> listener);

  std::shared_ptr<Listener> listener_;
};

}  // namespace sitter
