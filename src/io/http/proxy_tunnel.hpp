#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/http/url.hpp"
#include "io/http/byte_stream.hpp"
#include "io/http/proxy.hpp"
#include "io/stream/event_loop.hpp"
#include "sitter/bytes.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How long a proxy may take to answer CONNECT. It first connects to the daemon, and most proxies
/// give that less time.
inline constexpr Milliseconds kTunnelWait{30'000};

/// The largest head of the answer to CONNECT. Servers accept heads of 8 to 64 KiB.
inline constexpr std::size_t kTunnelHeadMax = 64 * kKiB;

}  // namespace limits

/// A connection to the host of a URL through a proxy (CONNECT, RFC 9110, 9.3.6). It opens when the
/// proxy has connected to the host. From then on it passes all bytes.
///
///     connecting -> asking -> open -> closed
///          \-----------\---------------^
class ProxyTunnel : public ByteStream {
 public:
  /// Makes the stream to the proxy.
  using Below = std::function<std::unique_ptr<ByteStream>(Events)>;

  struct Options {
    Proxy proxy;
    /// Only its host and its port are used.
    Url url;
    Milliseconds wait = limits::kTunnelWait;
  };

  ProxyTunnel(EventLoop& loop, Options options, const Below& below, Events events);
  ProxyTunnel(const ProxyTunnel&) = delete;
  ProxyTunnel& operator=(const ProxyTunnel&) = delete;
  ~ProxyTunnel() override;

  void write(std::string_view bytes) override;
  std::size_t queued() const override;
  void set_paused(bool paused) override;
  bool is_quiet() override;
  std::string take_arrived() override;

 private:
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace sitter
