#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/orders.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// The official TypeScript clients lose progress that arrives in the same read as its answer.
inline constexpr Milliseconds kProgressGap{1};

/// Writes that wait for such gaps. Without a bound, the writes would lag further and further behind
/// a server that sends each answer right after its progress, and does so faster than the gap.
inline constexpr std::size_t kWaitingWritesMax = 50;

}  // namespace limits

/// The lines to the client, in order. If an answer follows progress of its own request too closely,
/// the answer begins a new write a moment later, and all later lines wait behind it: the official
/// TypeScript clients lose the progress callbacks of a request if its answer arrives in the same
/// read. Several writes may therefore wait. Each goes out a moment after the write before it.
///
///     open --answer after progress, or gap()--> closed --deadline, last write--> open
class ClientOutput {
 public:
  void send(Outgoing line, Orders& out);

  /// Progress with this raw token follows.
  void on_progress(std::string_view token, Now now);
  /// The answer to a request with this raw token follows. An empty token means that the request
  /// never had progress.
  void before_answer(std::string_view token, Now now);
  /// The lines that follow must reach the client in a separate read.
  void gap(Now now);

  void on_timeout(Now now, Orders& out);
  std::optional<Instant> deadline() const { return opens_at_; }
  /// Sends everything at once, because the program ends.
  void flush(Orders& out);

 private:
  struct Progress {
    std::string token;
    /// The write that the progress belongs to, and when that write went out. `at` is empty while
    /// the write waits.
    std::uint64_t write = 0;
    std::optional<Instant> at;
  };

  /// The number of the write that the next line belongs to.
  std::uint64_t last_write() const { return first_write_ + writes_.size() - 1; }
  void close_until(Instant until);
  void let_out_first(Orders& out);

  /// While the output is closed: when the first write goes out.
  std::optional<Instant> opens_at_;
  /// The writes that wait. At least one write waits while the output is closed.
  std::deque<std::vector<Outgoing>> writes_;
  std::uint64_t first_write_ = 0;
  /// Recent progress, and all progress that waits.
  std::vector<Progress> recent_;
};

}  // namespace sitter
