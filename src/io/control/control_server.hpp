#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "io/stream/event_loop.hpp"
#include "sitter/control_id.hpp"

namespace sitter {

/// The socket through which `mcp-sitter ctl` reaches this bridge. It is in the control folder, and
/// no other user can use it. A new connection first gets a line that says which bridge this is.
/// Then it sends requests as lines, and gets lines as answers.
class ControlServer {
 public:
  struct Events {
    std::function<void(ControlId, std::string_view line)> on_line;
    std::function<void(ControlId)> on_closed;
  };

  /// `hello` is the first line on every connection. Returns null on failure, and `error` then holds
  /// the reason.
  static std::unique_ptr<ControlServer> open(EventLoop& loop, std::string hello, Events events,
                                             std::string& error);
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;
  /// Removes the socket. Bytes that are not written yet are dropped.
  ~ControlServer();

  /// If a connection does not read, it is closed when too many bytes wait for it.
  void send(ControlId connection, const std::string& line);

 private:
  class Listener;

  explicit ControlServer(std::shared_ptr<Listener> listener);

  std::shared_ptr<Listener> listener_;
};

}  // namespace sitter
