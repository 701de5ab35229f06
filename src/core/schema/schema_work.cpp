#include "core/schema/schema_work.hpp"

#include <nlohmann/json.hpp>

namespace sitter {
namespace {

constexpr std::size_t kBytesPerStep = 64;

}  // namespace

std::size_t value_count(std::string_view raw) {
  std::size_t count = 1;
  bool is_in_text = false;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '"') {
      is_in_text = !is_in_text;
    } else if (raw[i] == '\\') {
      ++i;
    } else if (!is_in_text && (raw[i] == ',' || raw[i] == '[' || raw[i] == '{')) {
      ++count;
    }
  }
  return count;
}

std::size_t steps_for(std::size_t bytes) { return 1 + bytes / kBytesPerStep; }

std::size_t steps_for(const nlohmann::json& value) {
  if (value.is_string()) return steps_for(value.get_ref<const std::string&>().size());
  std::size_t steps = 1;
  if (value.is_structured()) {
    for (const auto& [key, one] : value.items()) steps += steps_for(key.size()) + steps_for(one);
  }
  return steps;
}

}  // namespace sitter
