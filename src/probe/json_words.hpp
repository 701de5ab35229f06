#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sitter {

// JSON from outside, which may have any shape.

/// The library recurses at each level when it copies or writes a value, and the stack has 8 MiB.
/// Some hundred bytes a level are little of that, and no message of a sane server is nested so
/// deeply: values of `limits::kNestingMax` levels fit with all that stands around them.
inline constexpr std::size_t kParsedLevelsMax = 500;

/// Discarded if the text is not valid JSON, or nested more than `kParsedLevelsMax` levels deep.
nlohmann::ordered_json parsed_json(std::string_view text, bool allows_comments = false);

/// Null if there is no such member.
nlohmann::ordered_json member(const nlohmann::ordered_json& json, std::string_view key);

/// Empty if there is no such text.
std::string text_in(const nlohmann::ordered_json& json, std::string_view key);

/// 0 if there is no such whole number.
std::int64_t number_in(const nlohmann::ordered_json& json, std::string_view key);

bool is_true(const nlohmann::ordered_json& json, std::string_view key);

}  // namespace sitter
