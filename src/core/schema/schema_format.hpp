#pragma once

#include <string_view>

namespace sitter {

/// Whether the text has a `format` of JSON Schema as Ajv checks it; true for a format that is not
/// known here. Known are date, time, date-time, email, ipv4, uri, uuid and byte, and
/// `iso-date-time`
/// (`lastModified` of MCP: the seconds may be missing).
bool has_format(std::string_view text, std::string_view format);

}  // namespace sitter
