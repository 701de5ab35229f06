#include "options/http_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/ascii.hpp"
#include "core/base/text.hpp"
#include "options/suggestion.hpp"
#include "sitter/version.hpp"

namespace sitter {
namespace {

/// The headers that the protocol or the connection decides.
constexpr std::array<std::string_view, 12> kOwnHeaders = {
    "accept",         "accept-encoding",      "connection",
    "content-length", "content-type",         "expect",
    "host",           "last-event-id",        "te",
    "mcp-session-id", "mcp-protocol-version", "transfer-encoding"};

/// What is wrong with the name of a header; empty if nothing is.
std::string defect_of_name(std::string_view option, std::string_view name) {
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_token_character)) {
    // What stands there may be a value, which is secret.
    return fmt::format("{}: the text before = is not the name of a header, as in {} X-Team=tools",
                       option, option);
  }
  const std::string key = ascii_lower(name);
  const bool is_own = key.starts_with("mcp-") ||
                      std::find(kOwnHeaders.begin(), kOwnHeaders.end(), key) != kOwnHeaders.end();
  return is_own ? fmt::format("{}: mcp-sitter sets the header {} itself", option, shown_value(name))
                : std::string();
}

/// Whether a text may be shown as the name of a variable. Where the name should stand, the value
/// may stand by mistake, and it is secret.
bool looks_like_variable(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || is_ascii_digit(c) || c == '_';
  });
}

/// What is wrong with the value of a variable; empty if nothing is. `option` is how the option
/// begins, and `advice` says what to do.
std::string defect_of_variable(std::string_view option, std::string_view name, const char* found,
                               std::string_view advice) {
  if (found != nullptr && *found != '\0') return {};
  return fmt::format("{}: the variable{} is {}: {}", option,
                     looks_like_variable(name) ? " " + shown_value(name) : std::string(),
                     found == nullptr ? "not set" : "empty", advice);
}

bool is_field_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(),
                     [](char c) { return c == '\t' || !is_control(c); });
}

/// Splits NAME=VALUE. Returns false if there is no '='.
bool split(const std::string& pair, std::string& name, std::string& value) {
  const std::size_t equals = pair.find('=');
  if (equals == pair.npos) return false;
  name = pair.substr(0, equals);
  value = pair.substr(equals + 1);
  return true;
}

}  // namespace

std::variant<HttpBackend::Options, std::string> http_options(const RawHttp& raw,
                                                             const Environment& environment) {
  HttpBackend::Options options;
  std::string error;
  std::string address = raw.url;
  if (!raw.url_variable.empty()) {
    const char* const found = environment(raw.url_variable.c_str());
    error = defect_of_variable("--http-env", raw.url_variable, found,
                               "set it to the address of the daemon");
    if (!error.empty()) return error;
    address = found;
  }
  const auto url = parse_url(address, error);
  if (!url) return fmt::format("{}: {}", raw.url_variable.empty() ? "--http" : "--http-env", error);
  options.link.url = *url;
  options.link.keeps_session = raw.keeps_session;
  options.link.sitter_version = kVersion;
  options.cacert = raw.cacert;
  options.environment = environment;
  const auto add = [&](std::string_view option, std::string name, std::string value) {
    error = defect_of_name(option, name);
    if (error.empty() && !is_field_value(value)) {
      error = fmt::format("{}: the value of {} has characters that no header may have", option,
                          shown_value(name));
    }
    options.link.headers.push_back({std::move(name), std::move(value)});
    return error.empty();
  };
  std::string name;
  std::string value;
  for (const std::string& pair : raw.headers) {
    if (!split(pair, name, value)) {
      return "--header: a value is not NAME=VALUE, as in --header X-Team=tools";
    }
    if (!add("--header", name, value)) return error;
  }
  for (const std::string& pair : raw.header_variables) {
    if (!split(pair, name, value) || value.empty()) {
      return "--header-env: a value is not NAME=VARIABLE, as in --header-env "
             "Authorization=NOTES_AUTH";
    }
    const char* const found = environment(value.c_str());
    error =
        defect_of_variable("--header-env " + name, value, found, "set it, or leave out the header");
    if (!error.empty()) return error;
    if (!add("--header-env", name, found)) return error;
  }
  return options;
}

void hide_header_values(char** words) {
  constexpr std::string_view kJoined = "--header=";
  bool is_value = false;
  for (char** word = words; *word != nullptr; ++word) {
    const std::string_view text(*word);
    if (!is_value && text == "--") return;
    const bool is_joined = !is_value && text.starts_with(kJoined);
    if (is_value || is_joined) {
      // The value of the option is NAME=VALUE, and the name may be seen.
      const std::size_t start = is_joined ? kJoined.size() : 0;
      const std::size_t equals = text.find('=', start);
      std::fill(*word + (equals == text.npos ? start : equals + 1), *word + text.size(), '*');
    }
    is_value = !is_value && text == "--header";
  }
}

}  // namespace sitter
