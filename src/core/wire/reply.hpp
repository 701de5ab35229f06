#pragma once

#include <string>
#include <string_view>

#include "core/wire/json_view.hpp"
#include "core/wire/protocol.hpp"

namespace sitter {

/// Lines that the bridge writes itself. Ids, params, results and data are raw JSON text; other
/// texts are made into JSON strings here. The members are in the order jsonrpc, id, result or
/// error.

std::string result_line(std::string_view id, std::string_view result);

/// With an empty id the member is left out, which is valid from 2025-11-25 on. For earlier
/// revisions, pass "null".
std::string error_line(std::string_view id, ErrorCode code, std::string_view message,
                       std::string_view data = {});

/// `error` is a raw error object that somebody else has made.
std::string error_line(std::string_view id, std::string_view error);

/// Whether a raw error has a message, which a model can read.
bool has_message(std::string_view error);
/// Appends a paragraph to the message of a raw error that has one.
void append_to_error(std::string_view error, std::string_view text, Edits& edits);

/// The result of a tools/call: one block of text.
std::string tool_text(std::string_view text, bool is_error);

/// Makes a result object valid in the stateless revision. `meta` holds raw members for its `_meta`,
/// at least the member that names the server.
std::string complete(std::string_view result, std::string_view meta);
/// Does the same for a list, which must also say how long it may be kept: not at all.
std::string complete_list(std::string_view result, std::string_view meta);
/// Makes a result of the stateless revision say that it must not be kept, because the next build
/// may change it.
void expire(std::string_view result, Edits& edits);
/// The member of `_meta` that names the bridge as the source of the result.
std::string server_info_member(std::string_view sitter_version);

/// With empty params the member is left out.
std::string request_line(std::string_view id, std::string_view method,
                         std::string_view params = {});
std::string notification_line(std::string_view method, std::string_view params = {});
/// `notifications/cancelled` for the request with this raw id. `reason` is plain text; an empty
/// reason is left out.
std::string cancelled_line(std::string_view raw_id, std::string_view reason = {});

/// {"type":"text","text":...}
std::string text_block(std::string_view text);

}  // namespace sitter
