#pragma once

#include <string>
#include <string_view>

#include "core/wire/protocol.hpp"

namespace sitter {

/// Lines of our own. Ids, params, results and data are raw JSON text; other texts are made into
/// JSON strings here. The members stand in the order jsonrpc, id, result or error.

std::string result_line(std::string_view id, std::string_view result);

/// An empty id leaves the member out, which is valid from 2025-11-25 on; before, pass "null".
std::string error_line(std::string_view id, ErrorCode code, std::string_view message,
                       std::string_view data = {});

/// With a raw error object of somebody else's.
std::string error_line(std::string_view id, std::string_view error);

/// The result of a tools/call: one block of text.
std::string tool_text(std::string_view text, bool is_error);

/// The same result, an object, as the stateless revision has it. `meta` are raw members for its
/// `_meta`: at least who gives it.
std::string complete(std::string_view result, std::string_view meta);
/// And a list, which must say how long it may be kept: not at all.
std::string complete_list(std::string_view result, std::string_view meta);
/// The member that says that the bridge itself gives the result.
std::string server_info_member(std::string_view sitter_version);

/// Empty params leave the member out.
std::string request_line(std::string_view id, std::string_view method,
                         std::string_view params = {});
std::string notification_line(std::string_view method, std::string_view params = {});

/// {"type":"text","text":...}
std::string text_block(std::string_view text);

}  // namespace sitter
