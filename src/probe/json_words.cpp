#include "probe/json_words.hpp"

#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"

namespace sitter {

using Json = nlohmann::ordered_json;

Json parsed_json(std::string_view text, bool allows_comments) {
  if (is_nested_deeper(text, kParsedLevelsMax)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false, allows_comments);
}

Json member(const Json& json, std::string_view key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found == json.end() ? Json() : *found;
}

std::string text_in(const Json& json, std::string_view key) {
  const auto found = member(json, key);
  return found.is_string() ? found.get<std::string>() : std::string();
}

std::int64_t number_in(const Json& json, std::string_view key) {
  const auto found = member(json, key);
  return found.is_number_integer() ? found.get<std::int64_t>() : 0;
}

bool is_true(const Json& json, std::string_view key) { return member(json, key) == true; }

}  // namespace sitter
