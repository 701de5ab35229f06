#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/http/tcp_address.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The addresses of one host, which are tried one after the other until one of them accepts.
class TcpAttempts {
 public:
  /// All attempts together get this time, from now on.
  void begin(const std::vector<boost::asio::ip::address>& hosts, std::uint16_t port,
             Milliseconds wait);

  /// False when all addresses have failed.
  bool has_address() const { return failed_ < addresses_.size(); }
  /// The address that is tried now, or that has accepted.
  const TcpAddress& address() const { return addresses_[failed_]; }
  /// "127.0.0.1:3001"
  std::string name() const;

  /// When the time of the address is over. Each gets an equal share of what is left.
  Instant give_up_at() const;

  void note_refusal();
  void note_silence();
  /// `reason` is a clause for a person.
  void note_failure(std::string_view reason);

  /// Why all have failed, as a clause for a person. Where several addresses failed, a refusal says
  /// most: the host is there, and the daemon is not.
  std::string failure() const;

  /// Why the connection is over.
  std::string broken_by(std::string_view reason) const;

 private:
  std::vector<TcpAddress> addresses_;
  std::size_t failed_ = 0;
  Instant end_{};
  std::vector<std::string> refusing_;
  std::string other_failure_;  // the first
};

}  // namespace sitter
