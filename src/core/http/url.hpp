#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sitter {

/// An http or https URL (RFC 3986), as far as a client of it needs to know.
struct Url {
  bool is_https = false;
  /// In lower case, without the brackets of an IPv6 address.
  std::string host;
  std::uint16_t port = 80;
  /// The path with the query; at least "/". A fragment is dropped.
  std::string target;

  /// "host:port" for a Host header; without the port if it is the port of the scheme.
  std::string authority() const;
  /// "http://host:port", which two URLs share if they lead to the same server. The port of the
  /// scheme is left out here too.
  std::string origin() const;
  /// Whether the host is a loopback address, or "localhost" or a name below it (RFC 6761, 6.3).
  bool is_loopback() const;
  std::string text() const { return origin() + target; }
  /// Without the query, which may be secret.
  std::string shown() const { return origin() + target.substr(0, target.find('?')); }

  friend bool operator==(const Url&, const Url&) = default;
};

/// Reads a URL. On failure, `error` says what is wrong, as a clause for a person. A user name or a
/// password is an error, since secrets do not belong into a list of arguments.
std::optional<Url> parse_url(std::string_view text, std::string& error);

/// Where a redirect from `base` leads: `location` may be absolute, or relative to `base` (RFC 3986,
/// 5.2). Empty if it is no http or https URL.
std::optional<Url> resolve_location(const Url& base, std::string_view location);

/// The text with each "%41" as the byte that it stands for (RFC 3986, 2.1). Anything else stays.
std::string percent_decoded(std::string_view text);

}  // namespace sitter
