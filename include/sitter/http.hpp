#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sitter/order.hpp"

namespace sitter {

/// Names one exchange with an HTTP daemon: a request and its response. No two exchanges have the
/// same id.
enum class ExchangeId : std::uint64_t {};

/// The identity of what listens at the address of the daemon, as far as the system shows it. Two
/// processes that listen one after the other differ. `kNoListener` if the identity is not known.
enum class ListenerId : std::uint64_t {};
inline constexpr ListenerId kNoListener{0};

struct HttpHeader {
  std::string name;
  std::string value;

  friend bool operator==(const HttpHeader&, const HttpHeader&) = default;
};

/// The value of the header with this lower-case name, the first if there are several; empty if
/// there is none.
inline std::string_view header_value(const std::vector<HttpHeader>& headers,
                                     std::string_view name) {
  for (const HttpHeader& header : headers) {
    if (header.name == name) return header.value;
  }
  return {};
}

namespace order {

/// Open a connection to the daemon and keep it for the next request. The shell answers with
/// `HttpConnected` or `HttpFailed`.
struct HttpConnect {
  ExchangeId exchange{};
};
/// Send a request. The shell takes an idle connection or opens another one; it never sends a
/// request twice. It answers with `HttpHead`, any number of `HttpBytes`, and `HttpEnded`, or with
/// `HttpFailed` at any point.
struct HttpSend {
  enum class Method : std::uint8_t { post, get, del };
  ExchangeId exchange{};
  Method method = Method::post;
  /// The path with the query.
  std::string target;
  /// The lines of all headers but Host and Content-Length, which the shell adds. Each
  /// has its line end. The values may be secret.
  std::string headers;
  std::string body;
  /// If the system shows that another process listens by now, the request is not sent, and fails
  /// with `other_listener`. `kNoListener`: send it to any.
  ListenerId listener = kNoListener;
};
/// The response is not wanted any more: close the connection. Nothing comes from the exchange after
/// that.
struct HttpAbort {
  ExchangeId exchange{};
};

/// Stop reading the response, or go on. The connection stays.
struct HttpPause {
  ExchangeId exchange{};
  bool is_paused = false;
};

/// Take over the process of the daemon that listens, if an earlier mcp-sitter of this user has
/// started it with the same command for the same address, and if no other one has it. The shell
/// answers with `ChildStarted`, else with `ChildStartFailed`.
struct TakeDaemon {
  Generation gen = kNoGeneration;
};

}  // namespace order

/// What is ordered of the process of a daemon.
using DaemonOrder = std::variant<order::StartChild, order::RenumberChild, order::CloseChildInput,
                                 order::SignalUnit, order::ReleaseChild, order::TakeDaemon>;

using HttpOrder =
    std::variant<order::HttpConnect, order::HttpSend, order::HttpAbort, order::HttpPause>;

namespace fact {

struct HttpConnected {
  ExchangeId exchange{};
  ListenerId listener = kNoListener;
};
/// The head of the final response has come. Of its headers only those are there that the core looks
/// at, with their names in lower case.
struct HttpHead {
  ExchangeId exchange{};
  int status = 0;
  std::vector<HttpHeader> headers;
};
/// A piece of the body, without chunk sizes. A view; it is valid until the next fact.
struct HttpBytes {
  ExchangeId exchange{};
  std::string_view bytes;
};
/// The response is complete.
struct HttpEnded {
  ExchangeId exchange{};
};
struct HttpFailed {
  enum class Kind : std::uint8_t {
    /// There was no connection, so nothing was sent: nothing listens, the name is not known, the
    /// certificate is not trusted.
    not_connected,
    /// There was no connection, because this process may open no further file. That says nothing of
    /// the daemon. Nothing was sent.
    no_descriptor,
    /// Another process listens than the request was meant for. Nothing was sent.
    other_listener,
    /// The request was sent, at least in part, and the connection ended before the response was
    /// complete, or the response is no HTTP.
    broken,
  };
  ExchangeId exchange{};
  Kind kind = Kind::broken;
  /// A clause for a person, without a full stop: "nothing listens on 127.0.0.1:3001".
  std::string reason;
};

/// The daemon has closed an idle connection earlier than it had announced. Perhaps it has ended.
struct HttpIdleClosed {};

}  // namespace fact

using HttpFact = std::variant<fact::HttpConnected, fact::HttpHead, fact::HttpBytes, fact::HttpEnded,
                              fact::HttpFailed, fact::HttpIdleClosed>;

}  // namespace sitter
