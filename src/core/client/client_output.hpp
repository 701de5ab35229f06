#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/orders.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The lines to the client, in order. An answer that follows progress of its own request too
/// closely starts a new write a moment later, and all later lines wait behind it: the official
/// TypeScript clients lose the progress callbacks of a request whose answer arrives in the same
/// read. So several writes may wait, each a moment after the one before it.
///
///     open --answer after progress, or gap()--> closed --deadline, last write--> open
class ClientOutput {
 public:
  void send(Outgoing line, Orders& out);

  /// Progress under this raw token follows.
  void on_progress(std::string_view token, Now now);
  /// The answer to a request with this raw token follows; an empty one never had progress.
  void before_answer(std::string_view token, Now now);
  /// What follows must reach the client in a read of its own.
  void gap(Now now);

  void on_timeout(Now now, Orders& out);
  std::optional<Instant> deadline() const { return opens_at_; }
  /// Lets everything out at once: the program ends.
  void flush(Orders& out);

 private:
  struct Progress {
    std::string token;
    /// The write that it belongs to, and when that was let out; it may still wait.
    std::uint64_t write = 0;
    std::optional<Instant> at;
  };

  /// The number of the write that the next line belongs to.
  std::uint64_t last_write() const { return first_write_ + writes_.size() - 1; }
  void close_until(Instant until);
  void let_out_first(Orders& out);

  /// When it is closed: until when its first write waits.
  std::optional<Instant> opens_at_;
  /// The writes that wait, at least one while it is closed.
  std::deque<std::vector<Outgoing>> writes_;
  std::uint64_t first_write_ = 0;
  /// Progress of the last moment, and all that waits.
  std::vector<Progress> recent_;
};

}  // namespace sitter
