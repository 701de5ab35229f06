#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "catalog.hpp"
#include "options.hpp"

namespace sitter::fake {

inline constexpr long long kInvalidParams = -32602;

/// The capabilities object and the name and version of this server, raw.
std::string capabilities(const Options& options);
std::string server_info(const Options& options);

/// A raw result, or an error instead.
using Outcome = std::variant<std::string, ErrorAnswer>;

/// What comes of a request that both eras know, tools/call apart. A result has nothing that only
/// one of them wants. A method that is unknown or not offered is an error.
Outcome outcome_of(const Options& options, const Catalog& catalog, std::string_view method,
                   std::string_view params);

/// Whether the capability that a method belongs to is declared.
bool offers(const Options& options, std::string_view method);

ErrorAnswer method_not_found();

/// The result with what the modern era wants in every one, and in those that may be cached.
std::string modern_result(const Options& options, std::string result);
std::string cacheable_result(const Options& options, std::string result);

}  // namespace sitter::fake
