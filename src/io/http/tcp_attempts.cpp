#include "io/http/tcp_attempts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/http/proxy.hpp"

namespace sitter {

void TcpAttempts::begin(const std::vector<boost::asio::ip::address>& hosts, std::uint16_t port,
                        Milliseconds wait) {
  for (const auto& host : hosts) addresses_.push_back({host, port});
  end_ = Instant::clock::now() + wait;
}

std::string TcpAttempts::name() const {
  return host_and_port(address().host.to_string(), address().port);
}

Instant TcpAttempts::give_up_at() const {
  const Instant now = Instant::clock::now();
  const auto share = (end_ - now) / static_cast<int>(addresses_.size() - failed_);
  return now + std::max(share, decltype(share)::zero());
}

void TcpAttempts::note_refusal() {
  refusing_.push_back(name());
  ++failed_;
}

void TcpAttempts::note_silence() { note_failure("it did not answer in time"); }

void TcpAttempts::note_failure(std::string_view reason) {
  if (other_failure_.empty()) {
    other_failure_ = fmt::format("{} can't be reached: {}", name(), reason);
  }
  ++failed_;
}

std::string TcpAttempts::failure() const {
  if (refusing_.empty()) return other_failure_;
  if (refusing_.size() == 1) return "nothing listens on " + refusing_.front();
  return fmt::format("nothing listens on {} or {}", refusing_[0], refusing_[1]);
}

std::string TcpAttempts::broken_by(std::string_view reason) const {
  return fmt::format("the connection to {} has broken: {}", name(), reason);
}

}  // namespace sitter
