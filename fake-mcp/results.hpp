#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "catalog.hpp"
#include "options.hpp"

namespace sitter::fake {

inline constexpr long long kInvalidParams = -32602;

/// The capabilities object of this server, and its name and version, both raw.
std::string capabilities(const Options& options);
std::string server_info(const Options& options);

/// A raw result, or an error.
using Outcome = std::variant<std::string, ErrorAnswer>;

/// The answer to a request that both eras know, except tools/call. The result has no members that
/// only one era requires. An unknown method, or a method that is not offered, gives an error.
Outcome outcome_of(const Options& options, const Catalog& catalog, std::string_view method,
                   std::string_view params);

/// Whether the server declares the capability that a method belongs to.
bool offers(const Options& options, std::string_view method);

ErrorAnswer method_not_found();

/// Adds the members that the modern era requires in every result, or in results that may be cached.
std::string modern_result(const Options& options, std::string result);
std::string cacheable_result(const Options& options, std::string result);

}  // namespace sitter::fake
