#include "json.hpp"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace sitter::fake {
namespace {

using Json = nlohmann::json;

/// The position behind the string that begins at `at`, or the size of the text.
std::size_t string_end(std::string_view json, std::size_t at) {
  for (at = json.find('"', at + 1); at < json.size(); at = json.find('"', at + 1)) {
    std::size_t slashes = 0;
    while (json[at - 1 - slashes] == '\\') ++slashes;
    if (slashes % 2 == 0) return at + 1;
  }
  return json.size();
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

bool each_item(std::string_view json, char open, const VisitItem& visit) {
  const bool keyed = open == '{';
  json = trimmed(json);
  if (!json.starts_with(open) || !json.ends_with(keyed ? '}' : ']')) return false;
  if (trimmed(json.substr(1, json.size() - 2)).empty()) return true;
  std::string_view key;
  std::size_t depth = 0;
  std::size_t begin = 1;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') {
      at = string_end(json, at) - 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    }
    if (depth > 1 || (depth == 1 && c != ':' && c != ',')) continue;
    const std::string_view part = trimmed(json.substr(begin, at - begin));
    begin = at + 1;
    if (c == ':') {
      if (!keyed || !key.empty() || !part.starts_with('"')) return false;
      key = part;
      continue;
    }
    if (part.empty() || key.empty() == keyed) return false;
    // Most keys have no escapes, and need no decoding.
    if (key.find('\\') != key.npos) {
      visit(text_of(key), part);
    } else {
      visit(keyed ? key.substr(1, key.size() - 2) : key, part);
    }
    if (depth == 0) return begin == json.size();
    key = {};
  }
  return false;
}

std::string_view member(std::string_view object, std::string_view name) {
  std::string_view found;
  each_item(object, '{', [&](std::string_view key, std::string_view value) {
    if (key == name) found = value;
  });
  return found;
}

std::string text_of(std::string_view raw) {
  if (!raw.starts_with('"')) return {};
  const Json text = Json::parse(raw, nullptr, false);
  return text.is_string() ? text.get<std::string>() : std::string();
}

long long integer_of(std::string_view raw, long long fallback) {
  const std::string number(raw);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  const bool usable = end != number.c_str() && *end == '\0' && value > -9e18 && value < 9e18;
  return usable ? static_cast<long long>(value) : fallback;
}

std::string json_quoted(std::string_view text) {
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string object_of(
    std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
  std::string json;
  for (const auto& [key, value] : members) {
    json.append(json.empty() ? "{\"" : ",\"").append(key).append("\":").append(value);
  }
  return json += '}';
}

std::string array_of(const std::vector<std::string>& values) {
  std::string json = "[";
  for (const std::string& value : values) json.append(json.size() > 1 ? "," : "").append(value);
  return json += ']';
}

std::string with_members(std::string object, std::string_view members) {
  object.pop_back();
  if (object.size() > 1) object += ',';
  return object.append(members).append("}");
}

std::string spread_out(std::string_view json) {
  std::string text;
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    const std::size_t end = c == '"' ? string_end(json, at) : at + 1;
    if (c == '}' || c == ']') text += '\n';
    text += json.substr(at, end - at);
    if (c == '{' || c == '[' || c == ',') text += "\n  ";
    at = end;
  }
  return text;
}

std::string error_object(long long code, std::string_view message, std::string_view data) {
  std::string error =
      object_of({{"code", std::to_string(code)}, {"message", json_quoted(message)}});
  if (!data.empty()) error = with_members(std::move(error), "\"data\":" + std::string(data));
  return error;
}

}  // namespace sitter::fake
