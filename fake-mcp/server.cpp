#include "server.hpp"

#include <chrono>
#include <optional>
#include <string_view>
#include <thread>

#include "process.hpp"

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
    const bool has_input = wait_for_input(wait);
    if (!has_input && idle) return end();
    if (has_input && !read_input() && !options_.ignore_eof) return end();
    session_.agenda.do_what_is_due();
    session_.output.end_of_read();
  }
}

/// False if no input comes within this time, or if the server reads none.
bool Server::wait_for_input(std::optional<std::chrono::milliseconds> limit) {
  if (session_.reading && !at_end_) return input_.wait(limit);
  if (!limit) wait_for_ever();
  std::this_thread::sleep_for(*limit);
  return false;
}

/// Returns false at the end of input.
bool Server::read_input() {
  const std::size_t seen = bytes_.size();
  bytes_.resize(seen + kReadSize);
  const std::size_t count = input_.read(bytes_.data() + seen, kReadSize);
  bytes_.resize(seen + count);
  at_end_ = count == 0;
  if (at_end_) return false;

  std::size_t begin = 0;
  std::size_t end = bytes_.find('\n', seen);
  while (end != std::string::npos && session_.reading) {
    receiver_.on_line(std::string_view(bytes_).substr(begin, end - begin));
    begin = end + 1;
    end = bytes_.find('\n', begin);
  }
  bytes_.erase(0, begin);
  return true;
}

/// Ends the streams and writes the last answer. Returns the exit code.
int Server::end() {
  if (options_.graceful_end) session_.streams.end();
  session_.output.end_of_read();
  return 0;
}

}  // namespace sitter::fake
