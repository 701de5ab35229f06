#include "io/http/proxy_tunnel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/text.hpp"
#include "io/http/certificate_words.hpp"
#include "io/stream/timer.hpp"

namespace sitter {
namespace {

constexpr std::string_view kProtocol = "HTTP/1.";

/// The first line of a response.
struct StatusLine {
  int status = 0;
  /// "407 Proxy Authentication Required".
  std::string text;
};

/// Where the head of a response ends, or npos. Lines may end with LF alone (RFC 9112, 2.2).
/// `heard_before` bytes were searched before.
std::size_t end_of_head(std::string_view text, std::size_t heard_before) {
  std::size_t at = heard_before - std::min<std::size_t>(heard_before, 2);
  while ((at = text.find('\n', at)) != std::string_view::npos) {
    std::size_t next = at + 1;
    if (next < text.size() && text[next] == '\r') ++next;
    if (next < text.size() && text[next] == '\n') return next + 1;
    ++at;
  }
  return std::string_view::npos;
}

std::optional<StatusLine> status_line(std::string_view head) {
  // "HTTP/1.1 200 OK"
  constexpr std::size_t kStatusAt = kProtocol.size() + 2;
  constexpr std::size_t kDigits = 3;
  const std::string_view line = head.substr(0, head.find('\n'));
  if (!line.starts_with(kProtocol) || line.size() < kStatusAt + kDigits) return std::nullopt;
  StatusLine result;
  for (const char digit : line.substr(kStatusAt, kDigits)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    result.status = result.status * 10 + (digit - '0');
  }
  result.text = brief(line.substr(kStatusAt), limits::kPeerTextMax);
  return result;
}

/// Whether the bytes may become an HTTP response.
bool may_be_http(std::string_view bytes) {
  const std::size_t size = std::min(bytes.size(), kProtocol.size());
  return bytes.substr(0, size) == kProtocol.substr(0, size);
}

}  // namespace

/// Posted functions share this object and may outlast the tunnel.
struct ProxyTunnel::State : std::enable_shared_from_this<State> {
  enum class Phase : std::uint8_t {
    connecting,  ///< the stream to the proxy is not open
    asking,      ///< the proxy has not answered
    open,        ///< bytes may pass
    closed,      ///< no event follows
  };

  State(EventLoop& of, Options with, Events told)
      : loop(of),
        options(std::move(with)),
        events(std::move(told)),
        limit(of, [this] { on_limit(); }) {}

  void start(const Below& below) {
    stream = below({[weak = weak_from_this()] {
                      if (const auto self = weak.lock()) self->ask();
                    },
                    [weak = weak_from_this()](std::string_view bytes) {
                      if (const auto self = weak.lock()) self->on_below_bytes(bytes);
                    },
                    [weak = weak_from_this()](std::string reason) {
                      if (const auto self = weak.lock()) self->on_below_closed(std::move(reason));
                    }});
  }

  void on_limit() {
    const auto self = shared_from_this();
    close(proxy_name() + " does not answer");
  }

  std::string proxy_name() const { return "the proxy " + options.proxy.name(); }

  void ask() {
    phase = Phase::asking;
    limit.set(Instant::clock::now() + options.wait);
    const std::string target = host_and_port(options.url.host, options.url.port);
    std::string request = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", target);
    if (!options.proxy.authorization.empty()) {
      request += fmt::format("Proxy-Authorization: {}\r\n", options.proxy.authorization);
    }
    stream->write(request + "\r\n");
  }

  void on_below_bytes(std::string_view bytes) {
    if (phase == Phase::asking) {
      const std::size_t before = held.size();
      held += bytes;
      read_answer(before);
    } else if (phase == Phase::open && held.empty() && !is_paused) {
      events.on_bytes(bytes);
    } else if (phase == Phase::open) {
      held += bytes;
    }
  }

  /// `heard_before` bytes of the answer were read before.
  void read_answer(std::size_t heard_before) {
    while (phase == Phase::asking) {
      if (!may_be_http(held)) return close(proxy_name() + " does not speak HTTP");
      const std::size_t end = end_of_head(held, heard_before);
      if (std::min(end, held.size()) > limits::kTunnelHeadMax) {
        return close(fmt::format("the answer of {} has a head of more than {} KiB", proxy_name(),
                                 limits::kTunnelHeadMax / limits::kKiB));
      }
      if (end == std::string::npos) return;
      const std::optional<StatusLine> line = status_line(held);
      if (!line) return close(proxy_name() + " does not speak HTTP");
      held.erase(0, end);
      heard_before = 0;
      on_answer(*line);
    }
  }

  void on_answer(const StatusLine& line) {
    if (line.status >= 200 && line.status < 300) return open();
    // An interim response comes before the final one (RFC 9110, 15.2).
    if (line.status >= 100 && line.status < 200 && line.status != 101) return;
    close(fmt::format("{} refused the connection: {}", proxy_name(), line.text));
  }

  void open() {
    phase = Phase::open;
    limit.cancel();
    if (is_paused) stream->set_paused(true);
    events.on_opened();
    pass_held();
  }

  /// Passes what came together with the answer, or during a pause.
  void pass_held() {
    if (phase != Phase::open || is_paused) return;
    if (!held.empty()) events.on_bytes(std::exchange(held, {}));
    if (phase == Phase::open && is_below_over && held.empty() && !is_paused) {
      close(std::move(below_reason));
    }
  }

  void on_below_closed(std::string reason) {
    is_below_over = true;
    below_reason = std::move(reason);
    if (phase == Phase::open) return pass_held();
    if (phase == Phase::connecting) {
      return close(with_reason(proxy_name() + " can't be reached"));
    }
    close(with_reason(proxy_name() + " closed the connection without an answer"));
  }

  std::string with_reason(std::string text) const {
    return below_reason.empty() ? text : text + ": " + below_reason;
  }

  void write(std::string_view bytes) {
    if (phase == Phase::open && !is_below_over) stream->write(bytes);
  }

  void set_paused(bool paused) {
    if (std::exchange(is_paused, paused) == paused || phase != Phase::open) return;
    if (!is_below_over) stream->set_paused(paused);
    if (paused) return;
    loop.post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->pass_held();
    });
  }

  bool is_quiet() {
    return phase == Phase::open && !is_below_over && held.empty() && stream->is_quiet();
  }

  std::string take_arrived() {
    if (phase != Phase::open) return {};
    std::string bytes = std::exchange(held, {});
    if (!is_below_over) bytes += stream->take_arrived();
    return bytes;
  }

  void close(std::string reason) {
    if (phase == Phase::closed) return;
    end();
    events.on_closed(std::move(reason));
  }

  /// After this, nothing comes from the tunnel.
  void end() {
    phase = Phase::closed;
    limit.cancel();
    stream.reset();
  }

  EventLoop& loop;
  Options options;
  Events events;
  Timer limit;
  std::unique_ptr<ByteStream> stream;
  /// Bytes of the answer, and later bytes of the tunnel that were not passed on.
  std::string held;
  std::string below_reason;
  Phase phase = Phase::connecting;
  bool is_paused = false;
  bool is_below_over = false;
};

ProxyTunnel::ProxyTunnel(EventLoop& loop, Options options, const Below& below, Events events)
    : state_(std::make_shared<State>(loop, std::move(options), std::move(events))) {
  state_->start(below);
}

ProxyTunnel::~ProxyTunnel() {
  if (state_->phase != State::Phase::closed) state_->end();
}

void ProxyTunnel::write(std::string_view bytes) {
  assert(state_->phase == State::Phase::open);
  state_->write(bytes);
}

std::size_t ProxyTunnel::queued() const { return state_->stream ? state_->stream->queued() : 0; }
void ProxyTunnel::set_paused(bool paused) { state_->set_paused(paused); }
bool ProxyTunnel::is_quiet() { return state_->is_quiet(); }
std::string ProxyTunnel::take_arrived() { return state_->take_arrived(); }

}  // namespace sitter
