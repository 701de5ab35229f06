#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "io/stream/event_loop.hpp"
#include "io/system/windows.hpp"

namespace sitter {

/// Reads or writes one end of a pipe, a console or a file, without ever waiting for it. A handle
/// that was not opened for overlapped operations, as the standard streams, is read and written by a
/// thread of its own.
class Transfer {
 public:
  /// `is_open` is false at the end and after an error. Called from the loop.
  using Done = std::function<void(bool is_open, std::size_t count)>;

  Transfer(EventLoop& loop, windows::Handle handle);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  /// Closes the handle. What is under way ends, and its `done` is not called any more.
  ~Transfer();

  /// Only one operation may be under way. `done` must keep the bytes alive: it is destroyed only
  /// when the system has let go of them.
  void read(std::span<char> bytes, Done done);
  /// Returns how many bytes were taken at once; `done` is not called then. With `is_last`, nobody
  /// waits for the end of this write: unless something is wrong, `done` is called only if
  /// `written` was called meanwhile. To wake the loop costs as much as to write.
  std::optional<std::size_t> write(std::string_view bytes, bool is_last, Done done);
  /// How many bytes the last write has taken, if it is over; `done` is not called then. If it is
  /// not over, `done` will be called.
  std::optional<std::size_t> written();

  /// Calls `closed` when the child has closed its end of an input that we write
  /// (`open_child_pipe`). Of all other handles, only a write shows it.
  void watch(std::function<void()> closed);

 private:
  struct State;
  struct Overlapped;
  struct Threaded;

  std::shared_ptr<State> state_;
};

}  // namespace sitter
