#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/http.hpp"

namespace sitter {

/// The headers that the link has given for a request.
inline std::vector<HttpHeader> sent_headers(const order::HttpSend& order) {
  std::vector<HttpHeader> headers;
  for (std::string_view left = order.headers; !left.empty();) {
    const std::size_t colon = left.find(": ");
    const std::size_t end = left.find("\r\n");
    if (end == left.npos || colon > end) throw std::runtime_error("no header: " + order.headers);
    headers.push_back(
        {std::string(left.substr(0, colon)), std::string(left.substr(colon + 2, end - colon - 2))});
    left.remove_prefix(end + 2);
  }
  return headers;
}

/// The value of the header with this name, in the case in which the link writes it; empty if there
/// is none.
inline std::string sent_value(const order::HttpSend& order, std::string_view name) {
  return std::string(header_value(sent_headers(order), name));
}

}  // namespace sitter
