#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "io/http/byte_stream.hpp"
#include "io/http/resolver.hpp"
#include "io/stream/event_loop.hpp"
#include "sitter/bytes.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How long a TCP connection to the daemon may take, with all addresses of its name together. A
/// daemon on this machine accepts at once. Over a network, lost first packets are sent again after
/// 1 s, 3 s and 7 s.
inline constexpr Milliseconds kConnectWait{10'000};

/// A machine that is gone without a word is asked for a sign of life after a connection has been
/// silent for the first time, and then at intervals of the second. With three questions without an
/// answer the connection is broken. Proxies and address translation forget a silent connection
/// after a minute or more.
inline constexpr std::chrono::seconds kTcpSilenceMax{30};
inline constexpr std::chrono::seconds kTcpQuestionInterval{10};
inline constexpr int kTcpQuestionsMax = 3;

/// How much one read takes: the answer to most requests with one call, and a large body with few.
inline constexpr std::size_t kTcpReadMax = 64 * kKiB;

}  // namespace limits

/// A TCP connection to a host. The addresses of the host are tried one after the other.
class TcpStream final : public ByteStream {
 public:
  struct State;

  struct Options {
    /// For all addresses together. Each gets an equal share of what is left.
    Milliseconds connect_wait = limits::kConnectWait;
    Resolver::Options names = {};
  };

  TcpStream(EventLoop& loop, Options options, std::string host, std::uint16_t port, Events events);
  TcpStream(const TcpStream&) = delete;
  TcpStream& operator=(const TcpStream&) = delete;
  ~TcpStream() override;

  void write(std::string_view bytes) override;
  std::size_t queued() const override;
  void set_paused(bool paused) override;
  bool is_quiet() override;
  ListenerId listener() override;
  std::string take_arrived() override;

 private:
  std::shared_ptr<State> state_;
};

/// Whether the system has connected this socket to itself. It does so if nothing listens at the
/// port and the system happens to take the same port for the near end. The socket would then keep
/// the daemon from listening.
bool is_connected_to_itself(std::intptr_t socket);

}  // namespace sitter
