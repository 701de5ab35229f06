#pragma once

#include <string>
#include <string_view>

#include "support/simulation_said.hpp"

/// What passes the bridge is unchanged, except for ids and for what the bridge must put in. These
/// functions compare texts byte for byte, and throw `Broken`.
namespace sitter::sim {

/// The client gets the answer of a child under the id of its request. The bridge may put in one
/// item: a notice if `may_tell` is true, or its tools into a list of tools.
void check_answer(const std::string& line, const ChildSaid& said, const ClientSaid& asked,
                  bool may_tell);
/// Whether the line is this answer of a child under `raw_id`, perhaps with an item in it.
bool is_answer_under(const std::string& raw_id, const std::string& line, const ChildSaid& said);

/// The client gets the answer to `initialize` or `server/discover`. The bridge writes most of it.
void check_opening(const std::string& line, const ChildSaid& said, const ClientSaid& asked);

/// The client gets a question of a child. Only its id and its token may be changed, both to the
/// same number. Returns that number.
std::string check_question(const std::string& line, const ChildSaid& said);

/// A child gets what the client has said about the child's question.
void check_reply(const std::string& line, const ClientSaid& said, const ChildSaid& asked);

/// A stream gets a change. The bridge only names the stream if the child has not done so.
void check_change(const std::string& line, const ChildSaid& said, const std::string& stream_id);

/// A stream ends. In a result, the bridge names the stream and says that the result is complete,
/// if the child has not done so.
void check_stream_end(const std::string& line, const ChildSaid& said, const std::string& stream_id);

}  // namespace sitter::sim
