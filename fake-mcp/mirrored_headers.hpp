#pragma once

#include <string>
#include <string_view>

#include "http_request.hpp"
#include "receiver.hpp"

namespace sitter::fake {

/// What is wrong with the headers of a request of the modern era, which repeat parts of its body;
/// empty if nothing is. `tool` is the raw definition of the tool that is called; empty if there is
/// none.
std::string header_mismatch(const HttpRequest& request, const Message& message,
                            std::string_view tool);

}  // namespace sitter::fake
