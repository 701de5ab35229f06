#pragma once

#include <string>
#include <string_view>

#include "core/wire/json_view.hpp"
#include "sitter/line.hpp"

namespace sitter {

/// The raw `_meta` member of a notification to a stream.
std::string stream_meta(std::string_view stream_id);
/// The only member of that `_meta`.
std::string stream_member(std::string_view stream_id);

/// Whether the raw result of an answer says that it ends a stream.
bool names_stream(std::string_view result);

/// Puts the id of a stream into a notification of the child that names no stream.
std::string tagged(Line notification, std::string_view params_raw, std::string_view stream_id);
/// Makes the `_meta` of `object`, which is a part of a line, name the stream.
void name_stream(std::string_view object, std::string_view stream_id, Edits& edits);

}  // namespace sitter
