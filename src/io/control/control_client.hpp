#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sitter {

/// A connection to a bridge of this user from outside.
class ControlClient {
 public:
  /// Connects to every bridge; one that does not answer soon has no hello. Sockets on which nobody
  /// listens any more are removed.
  static std::vector<ControlClient> connect_to_all();

  ControlClient(ControlClient&&) noexcept;
  ControlClient& operator=(ControlClient&&) noexcept;
  ~ControlClient();

  long pid() const;
  /// The line that the bridge has sent first; empty if it does not answer.
  const std::string& hello() const;

  /// Sends a line and waits for the next one, however long that takes. Empty at the end of the
  /// bridge.
  std::optional<std::string> ask(const std::string& line);
  std::optional<std::string> next_line();

 private:
  struct Connection;

  explicit ControlClient(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace sitter
