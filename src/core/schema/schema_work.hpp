#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace sitter {

/// How much work one check of a value against a schema is. A step is one part of a schema that is
/// compared with one part of a value, or some bytes of text that must be read for that. All steps
/// together hold up the bridge for about half a second. Arguments take a few hundred.
inline constexpr std::size_t kSchemaStepsMax = 500'000;

/// How many values a check reads at most. Each takes some 60 bytes while it is compared.
inline constexpr std::size_t kSchemaValuesMax = kSchemaStepsMax;

/// How many values there are in this raw one, or a few more.
std::size_t value_count(std::string_view raw);

/// How many steps it takes to read this many bytes of text, or all of the value.
std::size_t steps_for(std::size_t bytes);
std::size_t steps_for(const nlohmann::json& value);

}  // namespace sitter
