#include "core/http/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "core/base/ascii.hpp"

namespace sitter {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

/// The text before and after the first of these characters; the second part begins with it.
struct Halves {
  std::string_view before;
  std::string_view after;
};

Halves cut_before(std::string_view text, std::string_view characters) {
  const std::size_t at = std::min(text.find_first_of(characters), text.size());
  return {text.substr(0, at), text.substr(at)};
}

/// The scheme that the text begins with, without its colon; empty if there is none (RFC 3986, 3.1).
std::string_view scheme_of(std::string_view text) {
  const auto is_part = [](char c) {
    return is_ascii_letter(c) || is_ascii_digit(c) || c == '+' || c == '-' || c == '.';
  };
  if (text.empty() || !is_ascii_letter(text.front())) return {};
  const std::string_view scheme = text.substr(0, text.find(':'));
  const bool is_scheme =
      scheme.size() < text.size() && std::all_of(scheme.begin(), scheme.end(), is_part);
  return is_scheme ? scheme : std::string_view();
}

std::optional<unsigned> number(std::string_view digits, int base, unsigned max) {
  unsigned value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  const bool is_whole = error == std::errc() && end == digits.data() + digits.size();
  if (!is_whole || value > max) return std::nullopt;
  return value;
}

using Ipv4 = std::array<std::uint8_t, 4>;
using Ipv6 = std::array<std::uint16_t, 8>;

/// Four decimal numbers without leading zeros, which some systems would read as octal.
std::optional<Ipv4> ipv4_of(std::string_view text) {
  Ipv4 address{};
  for (std::size_t i = 0; i < address.size(); ++i) {
    const auto [part, rest] = cut_before(text, ".");
    const auto value = number(part, 10, 255);
    if (!value || (part.size() > 1 && part.front() == '0')) return std::nullopt;
    if (rest.empty() != (i + 1 == address.size())) return std::nullopt;
    address[i] = static_cast<std::uint8_t>(*value);
    text = rest.substr(rest.empty() ? 0 : 1);
  }
  return address;
}

/// Groups of an IPv6 address between colons, up to its end or to a "::".
struct Groups {
  Ipv6 values{};
  std::size_t count = 0;

  bool add(unsigned value) {
    if (count == values.size()) return false;
    values[count++] = static_cast<std::uint16_t>(value);
    return true;
  }
};

/// The last group may be an IPv4 address, which counts as two.
bool read_last_group(std::string_view text, Groups& groups) {
  const auto address = ipv4_of(text);
  if (!address) return false;
  const auto& [a, b, c, d] = *address;
  return groups.add(a * 256U + b) && groups.add(c * 256U + d);
}

bool read_groups(std::string_view text, bool may_end_with_ipv4, Groups& groups) {
  if (text.empty()) return true;
  while (true) {
    const auto [group, rest] = cut_before(text, ":");
    if (rest.empty() && may_end_with_ipv4 && group.find('.') != group.npos) {
      return read_last_group(group, groups);
    }
    const auto value = group.size() <= 4 ? number(group, 16, 0xFFFF) : std::nullopt;
    if (!value || !groups.add(*value)) return false;
    if (rest.empty()) return true;
    text = rest.substr(1);
  }
}

/// An IPv6 address without brackets and without a zone (RFC 4291, 2.2).
std::optional<Ipv6> ipv6_of(std::string_view text) {
  const std::size_t gap = text.find("::");
  const bool has_gap = gap != text.npos;
  Groups before;
  Groups after;
  if (!read_groups(text.substr(0, gap), !has_gap, before)) return std::nullopt;
  if (has_gap && !read_groups(text.substr(gap + 2), true, after)) return std::nullopt;
  const std::size_t count = before.count + after.count;
  // A gap stands for at least one group.
  if (has_gap ? count >= before.values.size() : count != before.values.size()) return std::nullopt;
  std::copy_n(after.values.begin(), after.count, before.values.end() - after.count);
  return before.values;
}

bool is_loopback_address(const Ipv6& address) {
  if (address == Ipv6{0, 0, 0, 0, 0, 0, 0, 1}) return true;
  // The address of an IPv4 host (RFC 4291, 2.5.5.2).
  const Ipv6 prefix{0, 0, 0, 0, 0, 0xFFFF};
  return std::equal(prefix.begin(), prefix.begin() + 6, address.begin()) && address[6] >> 8 == 127;
}

bool is_host_name(std::string_view host) {
  return std::all_of(host.begin(), host.end(), [](char c) {
    return is_ascii_letter(c) || is_ascii_digit(c) || c == '-' || c == '.' || c == '_';
  });
}

/// Why a host without brackets is none, as a clause for a person.
std::string host_error(std::string_view host) {
  if (host.empty()) return "the URL names no host";
  return is_host_name(host) ? ""
                            : "the host has a character that host names do not have (a name with "
                              "other letters is written as xn--...)";
}

/// Reads the host and the text of the port, which begins with a colon, from "host:port".
std::string read_host(std::string_view authority, Url& url, std::string_view& port) {
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    const std::string_view host = authority.substr(1, end == authority.npos ? end : end - 1);
    if (host.find('%') != host.npos) return "an IPv6 address with a zone is not supported";
    if (end == authority.npos || !ipv6_of(host))
      return "the text in brackets is not an IPv6 address";
    url.host = ascii_lower(host);
    port = authority.substr(end + 1);
    return "";
  }
  if (ipv6_of(authority)) {
    return "an IPv6 address must stand in brackets, as in http://[::1]:3000/mcp";
  }
  const auto [host, rest] = cut_before(authority, ":");
  url.host = ascii_lower(host);
  port = rest;
  return host_error(host);
}

std::string read_authority(std::string_view authority, Url& url) {
  if (authority.find('@') != authority.npos) {
    return "a user name or a password does not belong in a URL, because other users can read it";
  }
  std::string_view port;
  std::string error = read_host(authority, url, port);
  if (!error.empty()) return error;
  url.port = url.is_https ? kHttpsPort : kHttpPort;
  if (port.empty() || port == ":") return "";
  const auto value = port.front() == ':' ? number(port.substr(1), 10, 65535) : std::nullopt;
  if (value.value_or(0) == 0) return "the port must be a number from 1 to 65535";
  url.port = static_cast<std::uint16_t>(*value);
  return "";
}

/// RFC 3986, 5.2.4. The path begins with a slash.
std::string without_dot_segments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/', 1), path.size());
    const std::string_view segment = path.substr(1, end - 1);
    path.remove_prefix(end);
    if (segment != "." && segment != "..") {
      out.append("/").append(segment);
      continue;
    }
    if (segment == "..") out.resize(std::min(out.rfind('/'), out.size()));
    if (path.empty()) out += '/';
  }
  return out;
}

bool has_bad_escape(std::string_view text) {
  for (std::size_t at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
    if (at + 2 >= text.size()) return true;
    if (hex_value(text[at + 1]) < 0 || hex_value(text[at + 2]) < 0) return true;
  }
  return false;
}

/// URLs have only ASCII, but people and some servers write other characters too.
std::string with_escapes(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_visible_ascii(c)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string read_target(std::string_view text, Url& url) {
  const std::string_view target = cut_before(text, "#").before;
  if (has_bad_escape(target)) return "a % is not followed by two hexadecimal digits";
  const auto [path, query] = cut_before(target, "?");
  url.target = path.empty() ? "/" : without_dot_segments(with_escapes(path));
  url.target += with_escapes(query);
  return "";
}

std::string scheme_error(std::string_view text) {
  std::string error =
      "a URL that begins with http:// or https:// is expected, such as http://127.0.0.1:3000/mcp";
  const std::string_view scheme = scheme_of(text);
  const std::string_view rest = text.substr(std::min(scheme.size() + 1, text.size()));
  // In "localhost:3000" the text before the colon is a host.
  const bool names_port = !rest.empty() && is_ascii_digit(rest.front());
  if (!scheme.empty() && !names_port) error += fmt::format(", not \"{}:\"", scheme);
  return error;
}

std::string read_url(std::string_view text, Url& url) {
  const auto is_blank = [](char c) { return (c >= 0 && c <= ' ') || c == '\x7F'; };
  if (std::any_of(text.begin(), text.end(), is_blank)) {
    return "the URL has a space or a control character in it";
  }
  url.is_https = starts_with_ignoring_case(text, "https://");
  if (!url.is_https && !starts_with_ignoring_case(text, "http://")) return scheme_error(text);
  const auto [authority, rest] = cut_before(text.substr(text.find("//") + 2), "/?#");
  std::string error = read_authority(authority, url);
  return error.empty() ? read_target(rest, url) : error;
}

/// The whole text of the URL that `location` means, or an empty text (RFC 3986, 5.2.2).
std::string absolute(const Url& base, std::string_view location) {
  const std::string_view scheme = scheme_of(location);
  if (!scheme.empty()) return std::string(location);
  if (location.starts_with("//")) {
    return fmt::format("{}:{}", base.is_https ? "https" : "http", location);
  }
  if (location.starts_with('/')) return fmt::format("{}{}", base.origin(), location);
  const std::string_view path = cut_before(base.target, "?").before;
  if (location.starts_with('?')) return fmt::format("{}{}{}", base.origin(), path, location);
  if (location.empty() || location.starts_with('#')) return base.text();
  const std::string_view folder = path.substr(0, path.rfind('/') + 1);
  return fmt::format("{}{}{}", base.origin(), folder, location);
}

}  // namespace

std::string Url::authority() const {
  const bool is_ipv6 = host.find(':') != host.npos;
  std::string text = is_ipv6 ? fmt::format("[{}]", host) : host;
  if (port != (is_https ? kHttpsPort : kHttpPort)) text += fmt::format(":{}", port);
  return text;
}

std::string Url::origin() const {
  return fmt::format("{}://{}", is_https ? "https" : "http", authority());
}

bool Url::is_loopback() const {
  if (const auto address = ipv6_of(host)) return is_loopback_address(*address);
  if (const auto address = ipv4_of(host)) return address->front() == 127;
  std::string_view name = host;
  // The dot says that the name is complete.
  if (name.ends_with('.')) name.remove_suffix(1);
  return name == "localhost" || name.ends_with(".localhost");
}

std::optional<Url> parse_url(std::string_view text, std::string& error) {
  Url url;
  error = read_url(text, url);
  if (!error.empty()) return std::nullopt;
  return url;
}

std::optional<Url> resolve_location(const Url& base, std::string_view location) {
  std::string ignored;  // a redirect that leads nowhere needs no reason
  return parse_url(absolute(base, location), ignored);
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
    if (low >= 0) i += 2;
    decoded += low >= 0 ? static_cast<char>(high * 16 + low) : text[i];
  }
  return decoded;
}

}  // namespace sitter
