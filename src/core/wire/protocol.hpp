#pragma once

#include <string_view>

namespace sitter {

/// Words of the protocol that occur in several kinds of message.

/// Error codes that the bridge uses or knows (JSON-RPC 2.0, section 5.1; specification 2026-07-28,
/// basic/index, error codes).
enum class ErrorCode {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
  header_mismatch = -32020,
  missing_client_capability = -32021,
  unsupported_version = -32022,
};

/// Whether a raw error object has this code.
bool has_code(std::string_view error, ErrorCode code);

/// Whether a result with this raw `resultType` is the whole answer. Before 2026-07-28 no result has
/// a type.
bool is_complete(std::string_view result_type);

/// The beginning of the message of an error that the bridge has made in the place of the server.
inline constexpr std::string_view kOwnErrorPrefix = "[mcp-sitter] ";

/// Members of `_meta` that the stateless revision defines. All of them begin with the prefix.
inline constexpr std::string_view kMetaPrefix = "io.modelcontextprotocol/";
inline constexpr std::string_view kMetaVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kMetaClientInfo = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kMetaClientCapabilities =
    "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kMetaServerInfo = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kMetaStream = "io.modelcontextprotocol/subscriptionId";

}  // namespace sitter
