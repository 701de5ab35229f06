#include "io/http/http_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "io/http/proxy.hpp"
#include "io/http/response_reader.hpp"
#include "io/stream/timer.hpp"
#include "io/system/file_descriptor.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

using Kind = fact::HttpFailed::Kind;

/// A body of this size or more is written apart from the head: copying a smaller one costs less
/// than a separate write.
constexpr std::size_t kLarge = 64 * limits::kKiB;

/// A connection, and the exchange on it.
///
///        /------------------v
///     opening --> busy <--> idle
///        \--------\----------\---> over
struct Connection : std::enable_shared_from_this<Connection> {
  enum class Phase : std::uint8_t {
    opening,  ///< the request waits
    busy,     ///< the request was sent, at least in part
    idle,     ///< no exchange is under way
    over,     ///< closed; nothing follows
  };

  bool has(ExchangeId of) const {
    return exchange == of && (phase == Phase::opening || phase == Phase::busy);
  }

  Phase phase = Phase::opening;
  bool is_paused = false;  ///< its response, while others go on
  ExchangeId exchange{};
  /// Waits until the connection is open. Empty for HttpConnect.
  std::string request;
  /// What must listen for the request to be sent.
  ListenerId expected = kNoListener;
  /// What listened when the connection was opened, if anybody has asked.
  ListenerId listener = kNoListener;
  Milliseconds idle_max = limits::kIdleDefault;
  Instant idle_until{};
  std::unique_ptr<ByteStream> stream;
  std::optional<ResponseReader> reader;
};

std::string_view word(order::HttpSend::Method method) {
  switch (method) {
    case order::HttpSend::Method::post:
      return "POST";
    case order::HttpSend::Method::get:
      return "GET";
    case order::HttpSend::Method::del:
      break;
  }
  return "DELETE";
}

void append(std::string& text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) text.append(part);
}

void append_head(std::string& text, const order::HttpSend& order, std::string_view host_line) {
  append(text, {word(order.method), " ", order.target, " HTTP/1.1\r\n", host_line, order.headers});
  if (order.method == order::HttpSend::Method::post || !order.body.empty()) {
    append(text, {"Content-Length: ", std::to_string(order.body.size()), "\r\n"});
  }
  text.append("\r\n");
}

/// How long the daemon keeps an idle connection, as it has announced it: "timeout=5, max=100".
std::optional<Milliseconds> announced(std::string_view keep_alive) {
  constexpr std::string_view kTimeout = "timeout=";
  const std::size_t at = keep_alive.find(kTimeout);
  if (at == std::string_view::npos) return {};
  const char* const from = keep_alive.data() + at + kTimeout.size();
  std::uint64_t seconds = 0;
  const auto [end, error] = std::from_chars(from, keep_alive.data() + keep_alive.size(), seconds);
  if (error == std::errc::result_out_of_range) return limits::kIdleMax;
  if (error != std::errc()) return {};
  const auto longest = std::chrono::duration_cast<std::chrono::seconds>(limits::kIdleMax);
  return std::chrono::seconds(std::min(seconds, static_cast<std::uint64_t>(longest.count())));
}

Milliseconds idle_max(const std::vector<HttpHeader>& headers) {
  const auto time = announced(header_value(headers, "keep-alive"));
  return time ? *time - limits::kIdleMargin : limits::kIdleDefault;
}

}  // namespace

/// What is under way shares this object, and may outlast the client.
struct HttpClient::State : std::enable_shared_from_this<State> {
  State(EventLoop& of, Options chosen, Events told)
      : loop(of),
        options(std::move(chosen)),
        host_line(fmt::format("Host: {}\r\n", options.url.authority())),
        name(host_and_port(options.url.host, options.url.port)),
        events(std::move(told)),
        expiry(of, [this] { close_expired(); }) {}

  Instant time() const { return options.now ? options.now() : loop.now(); }

  // ---- orders

  void carry_out(const order::HttpConnect& order) { open(order.exchange); }

  void carry_out(const order::HttpSend& order) {
    text.clear();
    append_head(text, order, host_line);
    const bool is_large = order.body.size() >= kLarge;
    if (!is_large) text.append(order.body);
    if (Connection* const kept = take_idle(order.listener)) {
      kept->exchange = order.exchange;
      kept->phase = Connection::Phase::busy;
      kept->reader->begin();
      kept->stream->write(text);
      if (is_large) kept->stream->write(order.body);
      return;
    }
    Connection& connection = open(order.exchange);
    connection.expected = order.listener;
    connection.request = text;
    if (is_large) connection.request.append(order.body);
  }

  void carry_out(const order::HttpAbort& order) {
    const auto found = std::find_if(connections.begin(), connections.end(),
                                    [&](const auto& one) { return one->has(order.exchange); });
    if (found != connections.end()) close(*std::shared_ptr(*found));
  }

  void carry_out(const order::HttpPause& order) {
    const auto found = std::find_if(connections.begin(), connections.end(),
                                    [&](const auto& one) { return one->has(order.exchange); });
    if (found == connections.end()) return;
    (*found)->is_paused = order.is_paused;
    pause(**found);
  }

  // ---- connections

  void pause(Connection& connection) const {
    if (connection.stream) connection.stream->set_paused(is_paused || connection.is_paused);
  }

  Connection& open(ExchangeId exchange) {
    Connection& added = *connections.emplace_back(std::make_shared<Connection>());
    added.exchange = exchange;
    added.reader.emplace(
        ResponseReader::Events{[this, &added](int status, std::vector<HttpHeader> headers) {
                                 added.idle_max = idle_max(headers);
                                 tell(fact::HttpHead{added.exchange, status, std::move(headers)});
                               },
                               [this, &added](std::string_view bytes) {
                                 tell(fact::HttpBytes{added.exchange, bytes});
                               }});
    connect(added);
    return added;
  }

  void connect(Connection& added) {
    added.stream = options.connect(
        {[this, &added] { during(added, [&] { on_opened(added); }); },
         [this, &added](std::string_view bytes) { during(added, [&] { on_bytes(added, bytes); }); },
         [this, &added](const std::string& reason) {
           during(added, [&] { on_closed(added, reason); });
         }});
    pause(added);
  }

  /// The connection that was used last, if it may be used again.
  Connection* take_idle(ListenerId expected) {
    const Instant now = time();
    while (!idle.empty()) {
      Connection& last = *idle.back();
      const bool is_wanted = now < last.idle_until && !is_other(last, expected);
      if (is_wanted && last.stream->is_quiet()) {
        idle.pop_back();
        return &last;
      }
      close(last);
      // The loop has not seen yet that the daemon has closed it.
      if (is_wanted) tell_soon(fact::HttpIdleClosed{});
    }
    return nullptr;
  }

  void keep(Connection& connection) {
    connection.phase = Connection::Phase::idle;
    connection.idle_until = time() + connection.idle_max;
    idle.push_back(&connection);
    if (idle.size() == 1) expire_later();
  }

  void expire_later() { expiry.set(loop.now() + (idle.front()->idle_until - time())); }

  /// What nobody may use any more must not hold a descriptor.
  void close_expired() {
    const Instant now = time();
    for (std::size_t i = idle.size(); i-- > 0;) {
      if (idle[i]->idle_until <= now) close(*idle[i]);
    }
    if (!idle.empty()) expire_later();
  }

  /// Whether the system shows that another process listened for this connection.
  static bool is_other(const Connection& connection, ListenerId expected) {
    return expected != kNoListener && connection.listener != kNoListener &&
           connection.listener != expected;
  }

  /// The connection stays alive as long as anybody shares it.
  void close(Connection& connection) {
    const auto kept = connection.shared_from_this();
    connection.phase = Connection::Phase::over;
    connection.reader->stop();
    connection.stream.reset();
    std::erase(idle, &connection);
    std::erase(connections, kept);
  }

  void close_all() {
    is_over = true;
    expiry.cancel();
    while (!connections.empty()) close(*connections.back());
  }

  // ---- events of a connection

  /// The owner may abort the exchange, and even destroy the client, when it is told something.
  template <class Event>
  void during(Connection& connection, Event event) {
    const auto alive = std::pair(shared_from_this(), connection.shared_from_this());
    event();
    end_event();
  }

  void end_event() {
    if (std::exchange(has_told, false) && !is_over) events.on_told();
  }

  void on_opened(Connection& connection) {
    const bool is_sending = !connection.request.empty();
    if (!is_sending || connection.expected != kNoListener) {
      connection.listener = connection.stream->listener();
    }
    if (!is_sending) {
      keep(connection);
      tell(fact::HttpConnected{connection.exchange, connection.listener});
    } else if (is_other(connection, connection.expected)) {
      fail(connection, Kind::other_listener,
           fmt::format("another process listens on {} by now", name));
    } else if (connection.stream->is_quiet()) {
      connection.phase = Connection::Phase::busy;
      connection.stream->write(std::exchange(connection.request, {}));
    }
    // Otherwise an event follows, which says what the daemon has done before it was asked.
  }

  void on_bytes(Connection& connection, std::string_view bytes) {
    if (connection.phase == Connection::Phase::opening) {
      fail(connection, Kind::not_connected, fmt::format("{} sent bytes before any request", name));
      return;
    }
    if (connection.phase == Connection::Phase::idle) {
      close(connection);
      return;
    }
    const ResponseReader::State state = connection.reader->feed(bytes);
    if (connection.phase == Connection::Phase::over) return;
    if (state == ResponseReader::State::complete) complete(connection);
    if (state == ResponseReader::State::failed) {
      fail(connection, Kind::broken, connection.reader->complaint());
    }
  }

  void on_closed(Connection& connection, const std::string& reason) {
    if (connection.phase == Connection::Phase::idle) {
      const bool is_early = time() < connection.idle_until;
      close(connection);
      if (is_early) tell(fact::HttpIdleClosed{});
    } else if (connection.phase == Connection::Phase::opening && !may_open_files(1)) {
      on_no_descriptor(connection);
    } else if (connection.phase == Connection::Phase::opening) {
      fail(connection, Kind::not_connected,
           reason.empty() ? fmt::format("{} closed the connection before the request", name)
                          : reason);
    } else if (connection.reader->end(reason.empty()) == ResponseReader::State::complete) {
      complete(connection);
    } else {
      fail(connection, Kind::broken,
           reason.empty() ? connection.reader->complaint()
                          : fmt::format("{} ({})", connection.reader->complaint(), reason));
    }
  }

  /// A connection that is needed takes the place of an idle one.
  void on_no_descriptor(Connection& connection) {
    if (idle.empty()) {
      fail(connection, Kind::no_descriptor,
           fmt::format("mcp-sitter may open no more files, so it can't connect to {}", name));
    } else {
      close(*idle.front());
      connect(connection);
    }
  }

  void complete(Connection& connection) {
    const bool is_kept = connection.reader->keeps_connection() &&
                         connection.stream->queued() == 0 &&
                         connection.idle_max > Milliseconds::zero();
    if (is_kept) {
      keep(connection);
    } else {
      close(connection);
    }
    tell(fact::HttpEnded{connection.exchange});
  }

  void fail(Connection& connection, Kind kind, std::string reason) {
    close(connection);
    tell(fact::HttpFailed{connection.exchange, kind, std::move(reason)});
  }

  void tell(HttpFact&& fact) {
    if (is_over) return;
    has_told = true;
    events.on_fact(std::move(fact));
  }

  void tell_soon(HttpFact fact) {
    loop.post([self = shared_from_this(), fact = std::move(fact)]() mutable {
      self->tell(std::move(fact));
      self->end_event();
    });
  }

  EventLoop& loop;
  Options options;
  std::string host_line;
  std::string name;  // of the daemon, in reasons
  Events events;
  std::string text;  // of a request; kept for its memory
  std::vector<std::shared_ptr<Connection>> connections;
  std::vector<Connection*> idle;  // the one that was used last is the last
  Timer expiry;                   // of the first of them
  bool is_paused = false;
  bool has_told = false;  // in the current event
  bool is_over = false;
};

HttpClient::HttpClient(EventLoop& loop, Options options, Events events)
    : state_(std::make_shared<State>(loop, std::move(options), std::move(events))) {}

HttpClient::~HttpClient() { state_->close_all(); }

void HttpClient::carry_out(const HttpOrder& order) {
  std::visit([this](const auto& one) { state_->carry_out(one); }, order);
}

void HttpClient::set_paused(bool paused) {
  state_->is_paused = paused;
  for (const auto& connection : state_->connections) {
    state_->pause(*connection);
  }
}

std::size_t HttpClient::queued() const {
  std::size_t bytes = 0;
  for (const auto& connection : state_->connections) {
    bytes += connection->request.size();
    if (connection->stream) bytes += connection->stream->queued();
  }
  return bytes;
}

}  // namespace sitter
