#include "gate.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "loopback.hpp"

namespace sitter::bench {
namespace {

/// How soon the thread sees that the gate is to be shut.
constexpr int kLookMillis = 20;

}  // namespace

Gate::Gate(std::uint16_t daemon) : daemon_(daemon) { open(); }

void Gate::open() {
  listener_ = listen_at(port_);
  first_accept_.reset();
  is_open_ = true;
  thread_ = std::thread([this] { run(); });
}

void Gate::shut() {
  if (!thread_.joinable()) return;
  is_open_ = false;
  thread_.join();
}

void Gate::run() {
  std::vector<pollfd> polled;
  while (is_open_) {
    polled.assign(1, {listener_, POLLIN, 0});
    for (const int descriptor : pairs_) polled.push_back({descriptor, POLLIN, 0});
    if (poll(polled.data(), polled.size(), kLookMillis) <= 0) continue;
    // From the last one on, since a pair that has ended is taken out.
    for (std::size_t pair = pairs_.size(); pair > 0; pair -= 2) {
      const std::size_t client = pair - 2;
      const std::size_t daemon = pair - 1;
      const bool goes_on =
          (polled[client + 1].revents == 0 || copy(pairs_[client], pairs_[daemon])) &&
          (polled[daemon + 1].revents == 0 || copy(pairs_[daemon], pairs_[client]));
      if (!goes_on) drop(client);
    }
    if (polled.front().revents != 0) accept_one();
  }
  close(listener_);
  std::for_each(pairs_.begin(), pairs_.end(), close);
  pairs_.clear();
}

void Gate::drop(std::size_t pair) {
  const auto first = pairs_.begin() + static_cast<std::ptrdiff_t>(pair);
  std::for_each(first, first + 2, close);
  pairs_.erase(first, first + 2);
}

void Gate::accept_one() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  if (!first_accept_) first_accept_ = Clock::now();
  const int daemon = connect_to(daemon_);
  send_at_once(client);
  pairs_.insert(pairs_.end(), {client, daemon});
}

/// Both sides have at most one message under way, so a write does not wait for long.
bool Gate::copy(int from, int to) {
  char buffer[64 * 1024];
  const ssize_t count = read(from, buffer, sizeof buffer);
  if (count <= 0) return false;
  for (ssize_t done = 0; done < count;) {
    const ssize_t written =
        send(to, buffer + done, static_cast<std::size_t>(count - done), MSG_NOSIGNAL);
    if (written <= 0) return false;
    done += written;
  }
  return true;
}

}  // namespace sitter::bench
