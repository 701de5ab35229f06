#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/stream/event_loop.hpp"
#include "sitter/bytes.hpp"

namespace sitter {

namespace limits {

/// `mcp-sitter ctl` sends short requests of people and scripts.
inline constexpr std::size_t kControlLineMax = 64 * kKiB;

}  // namespace limits

/// Takes the first line off the input, which has so many bytes with its end. Nothing for no bytes.
inline std::optional<std::string> taken_line(std::string& input, std::size_t size) {
  if (size == 0) return std::nullopt;
  std::string line = input.substr(0, size - 1);
  input.erase(0, size);
  return line;
}

/// The bridge's end of a connection to another process of this user.
class LocalConnection {
 public:
  struct State;

  explicit LocalConnection(std::shared_ptr<State> state);
  LocalConnection(LocalConnection&&) noexcept;
  LocalConnection& operator=(LocalConnection&&) = delete;
  /// Closes the connection. Nothing is called after that. May be called from within a callback.
  ~LocalConnection();

  /// Reads a line, and calls the function once with it, from the loop; with nothing if the
  /// connection has ended, or the line is too long.
  void read_line(std::function<void(std::optional<std::string> line)> on_line);

  /// Writes from the beginning of the text without waiting, and removes what was taken. Returns
  /// whether the function will be called, once and from the loop: when more can be written, or the
  /// connection has ended. If not, all was written.
  bool write(std::string& text, std::function<void(bool is_open)> on_ready);

 private:
  std::shared_ptr<State> state_;
};

/// Where other processes of this user find this bridge: the socket of the control folder, which no
/// other user can use.
class LocalListener {
 public:
  using OnConnected = std::function<void(LocalConnection)>;

  /// Null on failure, and `error` then holds the reason.
  static std::unique_ptr<LocalListener> open(EventLoop& loop, OnConnected on_connected,
                                             std::string& error);
  LocalListener(const LocalListener&) = delete;
  LocalListener& operator=(const LocalListener&) = delete;
  /// Removes the socket. Nothing is called after that.
  ~LocalListener();

 private:
  struct State;

  explicit LocalListener(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace sitter
