#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/system/file_descriptor.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// A connection from `mcp-sitter ctl` to a bridge of this user.
class ControlClient {
 public:
  /// Connects to every bridge. If a bridge does not answer until `by`, its hello is empty. Sockets
  /// on which no process listens any more are removed.
  static std::vector<ControlClient> connect_to_all(Instant by);

  ControlClient(ControlClient&&) noexcept;
  ControlClient& operator=(ControlClient&&) noexcept;
  ~ControlClient();

  long pid() const;
  /// The first line that the bridge has sent; empty if the bridge does not answer.
  const std::string& hello() const;

  /// Sends a line and waits for the next line, however long that takes if no time is given. Nothing
  /// if the bridge ends, or has not answered by then.
  std::optional<std::string> ask(const std::string& line, std::optional<Instant> by = {});
  std::optional<std::string> next_line(std::optional<Instant> by = {});

 private:
  struct Connection;

  explicit ControlClient(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

/// Asks another bridge of this user to end its server, and says that our sitter_kill is the reason.
/// Never waits. The descriptor is to be kept open until the bridge has had time to read. It is
/// closed if the bridge cannot be reached.
FileDescriptor ask_to_end_server(long bridge);

}  // namespace sitter
