#include "io/http/proxy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "core/base/ascii.hpp"
#include "core/base/base64.hpp"
#include "core/base/text.hpp"
#include "io/http/certificate_words.hpp"
#include "io/http/resolver_names.hpp"

namespace sitter {
namespace {

using boost::asio::ip::address;

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kAfterScheme = "://";

/// A variable and what it holds.
struct Variable {
  std::string_view name;
  std::string_view value;
};

/// The first variable that is set and not empty.
Variable first_of(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const char* const value = environment(name);
    if (value != nullptr && *value != '\0') return {name, value};
  }
  return {};
}

Variable proxy_variable(const Url& url, const Environment& environment) {
  if (url.is_https) {
    return first_of(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
  }
  return first_of(environment, {"http_proxy", "all_proxy", "ALL_PROXY"});
}

bool same(std::string_view left, std::string_view right) {
  return ascii_lower(left) == ascii_lower(right);
}

template <typename Number>
std::optional<Number> number(std::string_view digits) {
  Number value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

/// `user` is what a URL has before the "@".
std::string basic_authorization(std::string_view user) {
  const std::size_t colon = std::min(user.find(':'), user.size());
  const std::string_view password = user.substr(std::min(colon + 1, user.size()));
  return "Basic " +
         base64(percent_decoded(user.substr(0, colon)) + ':' + percent_decoded(password));
}

template <typename Bytes>
bool share_bits(const Bytes& left, const Bytes& right, std::size_t bits) {
  if (bits > 8 * left.size()) return false;
  const std::size_t whole = bits / 8;
  if (!std::equal(left.begin(), left.begin() + whole, right.begin())) return false;
  const std::size_t rest = bits % 8;
  return rest == 0 || (left[whole] ^ right[whole]) >> (8 - rest) == 0;
}

/// Whether an address is in the block that another one and a number of bits stand for.
bool is_in_block(const address& host, const address& block, std::size_t bits) {
  if (host.is_v4() != block.is_v4()) return false;
  return host.is_v4() ? share_bits(host.to_v4().to_bytes(), block.to_v4().to_bytes(), bits)
                      : share_bits(host.to_v6().to_bytes(), block.to_v6().to_bytes(), bits);
}

bool is_below(std::string_view host, std::string_view domain) {
  if (same(host, domain)) return true;
  return host.size() > domain.size() && same(host.substr(host.size() - domain.size()), domain) &&
         host[host.size() - domain.size() - 1] == '.';
}

std::string_view without_last_dot(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  return name;
}

/// Whether an entry without a port is the host, or a domain of it.
bool names_host(std::string_view entry, std::string_view host) {
  if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  const std::optional<address> own = address_literal(host);
  if (!own) {
    if (entry.starts_with('*')) entry.remove_prefix(1);
    if (entry.starts_with('.')) entry.remove_prefix(1);
    entry = without_last_dot(entry);
    return !entry.empty() && is_below(without_last_dot(host), entry);
  }
  const std::size_t slash = entry.find('/');
  const std::optional<address> block = address_literal(entry.substr(0, slash));
  if (!block) return false;
  if (slash == std::string_view::npos) return *own == *block;
  const std::optional<std::size_t> bits = number<std::size_t>(entry.substr(slash + 1));
  return bits && is_in_block(*own, *block, *bits);
}

bool has_host(std::string_view entry, const Url& url) {
  if (entry == "*" || names_host(entry, url.host)) return true;
  const std::size_t colon = entry.rfind(':');
  if (colon == std::string_view::npos) return false;
  // The last colon of an IPv6 address without brackets is not before a port.
  const std::string_view host = entry.substr(0, colon);
  if (host.find(':') != std::string_view::npos && !host.ends_with(']')) return false;
  return number<std::uint16_t>(entry.substr(colon + 1)) == url.port && names_host(host, url.host);
}

}  // namespace

std::string host_and_port(const std::string& host, std::uint16_t port) {
  const bool has_colon = host.find(':') != std::string::npos;
  return has_colon ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::optional<Proxy> proxy_for(const Url& url, const Environment& environment, std::string& error) {
  if (url.is_loopback()) return std::nullopt;
  const Variable variable = proxy_variable(url, environment);
  std::string_view rest = without_blanks(variable.value, kBlank);
  if (rest.empty()) return std::nullopt;
  if (is_exempt(url, first_of(environment, {"no_proxy", "NO_PROXY"}).value)) return std::nullopt;

  if (const std::size_t end = rest.find(kAfterScheme); end != std::string_view::npos) {
    const std::string_view scheme = rest.substr(0, end);
    if (!same(scheme, "http")) {
      error = fmt::format("{} names a proxy with {}://, but only http:// is supported",
                          variable.name, brief(scheme, limits::kPeerTextMax));
      return std::nullopt;
    }
    rest.remove_prefix(end + kAfterScheme.size());
  }
  Proxy proxy;
  rest = rest.substr(0, rest.find('/'));
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    proxy.authorization = basic_authorization(rest.substr(0, at));
    rest.remove_prefix(at + 1);
  }
  std::string ignored;  // it may quote a password
  const std::optional<Url> server = parse_url("http://" + std::string(rest), ignored);
  if (!server) {
    error = fmt::format("{} is not the URL of a proxy (expected http://host:port)", variable.name);
    return std::nullopt;
  }
  proxy.host = server->host;
  proxy.port = server->port;
  return proxy;
}

bool is_exempt(const Url& url, std::string_view no_proxy) {
  constexpr std::string_view kBetween = ", \t";
  while (!no_proxy.empty()) {
    const std::size_t end = std::min(no_proxy.find_first_of(kBetween), no_proxy.size());
    const std::string_view entry = no_proxy.substr(0, end);
    if (!entry.empty() && has_host(entry, url)) return true;
    no_proxy.remove_prefix(std::min(end + 1, no_proxy.size()));
  }
  return false;
}

}  // namespace sitter
