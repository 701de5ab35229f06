#pragma once

#include <string>
#include <string_view>

#include "core/wire/message.hpp"

namespace sitter {

/// Why the official clients throw this answer away, so that its request is never answered; empty if
/// they take it. A clause for a person. It is valid only as far as JSON-RPC 2.0 (sections 5
/// and 5.1) and MCP ("Responses", "_meta") say what an answer is; what its method asks for is not
/// looked at.
///
/// A result of more than 64 KiB is not checked for what JSON does not have, but for NaN and
/// Infinity.
std::string answer_defect(const Message& answer);

/// What is wrong with an answer that has members which belong to no answer, as a clause about the
/// server. `line` is the whole answer.
std::string others_finding(std::string_view line);
/// The answer without these members.
std::string without_others(const Message& answer);

/// The same id written as the other type: "7" for 7, and the other way round. Empty if there is
/// none.
std::string id_of_other_type(std::string_view raw_id);
bool has_other_type(std::string_view raw_id);

}  // namespace sitter
