#include "io/http/connector.hpp"

#include <utility>

#include "io/http/proxy.hpp"
#include "io/http/proxy_tunnel.hpp"
#include "io/http/tcp_stream.hpp"
#include "io/http/tls_context.hpp"
#include "io/http/tls_stream.hpp"

namespace sitter {
namespace {

/// A connection that cannot be opened.
class FailedStream final : public ByteStream {
 public:
  FailedStream(EventLoop& loop, Events events, std::string reason)
      : on_closed_(std::make_shared<Events>(std::move(events))) {
    loop.post([told = std::weak_ptr(on_closed_), reason = std::move(reason)] {
      if (const auto owner = told.lock()) owner->on_closed(reason);
    });
  }

  void write(std::string_view) override {}
  std::size_t queued() const override { return 0; }
  void set_paused(bool) override {}
  bool is_quiet() override { return false; }

 private:
  std::shared_ptr<Events> on_closed_;
};

Connector over_tcp(EventLoop& loop, std::string host, std::uint16_t port) {
  return [&loop, host = std::move(host), port](ByteStream::Events events) {
    return std::make_unique<TcpStream>(loop, TcpStream::Options{}, host, port, std::move(events));
  };
}

}  // namespace

Connector connector_to(EventLoop& loop, const Url& url, const std::string& cacert,
                       const Environment& environment) {
  std::string error;
  const auto proxy = proxy_for(url, environment, error);
  if (!error.empty()) {
    return [&loop, error](ByteStream::Events events) {
      return std::make_unique<FailedStream>(loop, std::move(events), error);
    };
  }
  Connector connector =
      proxy ? over_tcp(loop, proxy->host, proxy->port) : over_tcp(loop, url.host, url.port);
  if (proxy) {
    connector = [&loop, below = std::move(connector), proxy = *proxy,
                 url](ByteStream::Events events) {
      return std::make_unique<ProxyTunnel>(loop, ProxyTunnel::Options{proxy, url}, below,
                                           std::move(events));
    };
  }
  if (!url.is_https) return connector;
  auto context = std::make_shared<TlsContext>(TlsContext::Options{cacert, environment});
  return [&loop, below = std::move(connector), context = std::move(context),
          host = url.host](ByteStream::Events events) {
    return std::make_unique<TlsStream>(loop, *context, TlsStream::Options{host}, below,
                                       std::move(events));
  };
}

}  // namespace sitter
