#include "server.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string_view>

namespace sitter::fake {
namespace {

constexpr std::size_t kReadSize = std::size_t{1} << 16;

}  // namespace

Server::Server(const Options& options)
    : options_(options),
      journal_(options.journal),
      sink_(options),
      session_(options, sink_),
      receiver_(options, session_, journal_) {}

int Server::run() {
  if (options_.stop_reading_after == 0) receiver_.stop_reading();
  while (true) {
    using std::chrono::milliseconds;
    std::optional<milliseconds> wait;
    bool idle = false;
    if (const auto next = session_.agenda.next()) {
      wait = std::chrono::ceil<milliseconds>(*next - Agenda::Clock::now());
    } else if (options_.exit_when_idle) {
      wait = options_.exit_when_idle;
      idle = true;
    }
    const bool listening = session_.reading && !at_end_;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, listening ? 1 : 0,
                             wait ? static_cast<int>(std::max<long long>(wait->count(), 0)) : -1);
    if (ready == 0 && idle) return end();
    if (ready > 0 && !read_input() && !options_.ignore_eof) return end();
    session_.agenda.do_what_is_due();
    session_.output.end_of_read();
  }
}

/// Returns false at the end of input.
bool Server::read_input() {
  const std::size_t seen = input_.size();
  input_.resize(seen + kReadSize);
  const ssize_t count = ::read(STDIN_FILENO, input_.data() + seen, kReadSize);
  input_.resize(seen + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  at_end_ = count <= 0;
  if (at_end_) return false;

  std::size_t begin = 0;
  std::size_t end = input_.find('\n', seen);
  while (end != std::string::npos && session_.reading) {
    receiver_.on_line(std::string_view(input_).substr(begin, end - begin));
    begin = end + 1;
    end = input_.find('\n', begin);
  }
  input_.erase(0, begin);
  return true;
}

/// Ends the streams and writes the last answer. Returns the exit code.
int Server::end() {
  if (options_.graceful_end) session_.streams.end();
  session_.output.end_of_read();
  return 0;
}

}  // namespace sitter::fake
