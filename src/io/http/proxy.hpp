#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/http/url.hpp"
#include "io/http/environment.hpp"

namespace sitter {

/// "host:port", with brackets around an IPv6 address.
std::string host_and_port(const std::string& host, std::uint16_t port);

/// An HTTP proxy that is asked for a tunnel.
struct Proxy {
  /// In lower case, without the brackets of an IPv6 address.
  std::string host;
  std::uint16_t port = 80;
  /// The value of Proxy-Authorization; empty if the proxy has no user. A secret, which stands in no
  /// message.
  std::string authorization;

  std::string name() const { return host_and_port(host, port); }

  friend bool operator==(const Proxy&, const Proxy&) = default;
};

/// Which proxy leads to the URL, by the variables that curl reads as well: https_proxy and
/// HTTPS_PROXY, or http_proxy, then all_proxy and ALL_PROXY. HTTP_PROXY is not read, because a web
/// server sets it to a header of its client. Nothing if there is none, if no_proxy or NO_PROXY has
/// the host, or if the host is the own machine. If the variable has no proxy that can be used,
/// `error` is a clause for a person.
std::optional<Proxy> proxy_for(const Url& url, const Environment& environment, std::string& error);

/// Whether a value of NO_PROXY has the host of the URL. Its entries are separated by commas or
/// blanks: "*" for all hosts, an address, a block of addresses ("10.0.0.0/8"), or a name, which
/// stands for the names below it too. A port may follow a name or an address ("host:8080",
/// "[::1]:8080").
bool is_exempt(const Url& url, std::string_view no_proxy);

}  // namespace sitter
