#include "core/schema/schema_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/ascii.hpp"
#include "core/base/json_text.hpp"
#include "core/base/text.hpp"

namespace sitter {
namespace {

using Json = nlohmann::json;

/// How much of a name a text shows, in bytes.
constexpr std::size_t kTextShownMax = 100;

/// A result is checked within some milliseconds. RE2 needs a millisecond for a pattern of this
/// size; what does not fit is not checked.
constexpr std::size_t kFewPatterns = 30;
constexpr std::int64_t kFewPatternMemory = 64 * 1024;

/// In so few members, a walk is shorter than a search.
constexpr std::size_t kFewMembers = 6;

/// Keywords whose values are no schemas.
constexpr std::array<std::string_view, 4> kValueKeywords{"enum", "const", "default", "examples"};
/// Keywords whose values are objects of schemas, under names that are no keywords.
constexpr std::array<std::string_view, 6> kMapKeywords{
    "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"};

/// The text of a part of a URI, in which %41 stands for A (RFC 6901, section 6).
std::string without_escapes(std::string_view part) {
  std::string text;
  while (!part.empty()) {
    unsigned char byte = 0;
    const char* const begin = part.data() + 1;
    const bool is_escape = part.size() > 2 && part.front() == '%' &&
                           std::from_chars(begin, begin + 2, byte, 16).ptr == begin + 2;
    text += is_escape ? static_cast<char>(byte) : part.front();
    part.remove_prefix(is_escape ? 3 : 1);
  }
  return text;
}

using Json = nlohmann::json;

bool is_integer(const Json& value) {
  if (value.is_number_integer()) return true;
  return value.is_number_float() && value.get<double>() == std::floor(value.get<double>());
}

/// True if `of` is not positive.
bool is_multiple(double value, double of) {
  if (of <= 0) return true;
  const double quotient = value / of;
  // 0.0075 is a multiple of 0.0001, which no division of doubles shows.
  return std::isinf(quotient) ||
         std::abs(quotient - std::round(quotient)) < 1e-9 * std::max(1.0, std::abs(quotient));
}

}  // namespace

SchemaParts::SchemaParts(Json schema, Patterns which)
    : root(std::make_unique<const Json>(std::move(schema))), which_(which) {
  read(*root);
}

const Json* SchemaParts::member(const Json& object, std::string_view key) {
  const auto* const members = object.get_ptr<const Json::object_t*>();
  if (members == nullptr) return nullptr;
  // Most schemas have a few keywords, and are asked for all.
  if (members->size() <= kFewMembers) {
    for (const auto& [name, value] : *members) {
      if (name == key) return &value;
    }
    return nullptr;
  }
  const auto found = members->find(key);
  return found == members->end() ? nullptr : &found->second;
}

void SchemaParts::read(const Json& schema) {
  if (schema.is_array()) {
    for (const Json& element : schema) read(element);
  }
  if (!schema.is_object()) return;
  for (const auto& [key, value] : schema.items()) {
    const auto is_key = [&key](std::string_view one) { return key == one; };
    if (std::any_of(kValueKeywords.begin(), kValueKeywords.end(), is_key)) continue;
    if (std::any_of(kMapKeywords.begin(), kMapKeywords.end(), is_key) && value.is_object()) {
      for (const auto& [name, part] : value.items()) {
        if (key == "patternProperties") read_pattern(name);
        read(part);
      }
      continue;
    }
    if (std::any_of(kUncheckedKeywords.begin(), kUncheckedKeywords.end(), is_key)) {
      unchecked.push_back(fmt::format("the keyword {} is not known", key));
    }
    if (key == "pattern" && value.is_string()) read_pattern(value.get<std::string>());
    if (key == "$ref" && value.is_string() && target(value.get<std::string>()) == nullptr) {
      unchecked.push_back(fmt::format("the reference {} does not point into the schema",
                                      brief(value.get<std::string>(), kTextShownMax)));
    }
    read(value);
  }
}

void SchemaParts::read_pattern(const std::string& pattern) {
  if (which_ == Patterns::few && patterns.size() >= kFewPatterns) return;
  const auto [added, is_new] = patterns.try_emplace(
      pattern, pattern, which_ == Patterns::few ? kFewPatternMemory : LinePattern::kMemory);
  if (is_new && !added->second.complaint().empty()) {
    unchecked.push_back(
        fmt::format("the pattern {} {}", brief(pattern, kTextShownMax), added->second.complaint()));
  }
}

const Json* SchemaParts::target(const Json& base, const std::string& reference) {
  if (reference == "#") return &base;
  if (!reference.starts_with("#/")) return nullptr;
  const Json* found = &base;
  std::string_view rest = std::string_view(reference).substr(2);
  for (bool is_last = false; !is_last;) {
    const std::size_t end = rest.find('/');
    is_last = end == rest.npos;
    std::string key = without_escapes(rest.substr(0, end));
    rest.remove_prefix(is_last ? rest.size() : end + 1);
    // RFC 6901, section 4.
    for (const auto& [written, meant] : {std::pair("~1", "/"), std::pair("~0", "~")}) {
      for (std::size_t at = 0; (at = key.find(written, at)) != key.npos; ++at)
        key.replace(at, 2, meant);
    }
    if (found->is_object()) {
      found = member(*found, key);
    } else if (found->is_array() && !key.empty() && key.size() < 6 &&
               std::all_of(key.begin(), key.end(), is_ascii_digit) &&
               std::stoul(key) < found->size()) {
      found = &(*found)[std::stoul(key)];
    } else {
      return nullptr;
    }
    if (found == nullptr) return nullptr;
  }
  return found;
}

std::vector<const Json*> SchemaParts::targets(const Json& schemas) const {
  std::vector<const Json*> found;
  for (const Json& one : schemas) {
    const Json* const reference = member(one, "$ref");
    found.push_back(reference == nullptr || !reference->is_string()
                        ? &one
                        : target(reference->get_ref<const std::string&>()));
    if (found.back() == nullptr || !found.back()->is_object()) return {};
  }
  return found;
}

std::string key_of_constants(const std::vector<const Json*>& schemas) {
  const auto has_constant = [](const Json& schema, const std::string& key) {
    const Json* const properties = SchemaParts::member(schema, "properties");
    const Json* const one = properties == nullptr ? nullptr : SchemaParts::member(*properties, key);
    return one != nullptr && one->is_object() && one->contains("const");
  };
  const Json* const first =
      schemas.empty() ? nullptr : SchemaParts::member(*schemas.front(), "properties");
  if (first == nullptr || !first->is_object()) return {};
  for (const auto& [key, one] : first->items()) {
    if (std::all_of(schemas.begin(), schemas.end(),
                    [&, &name = key](const Json* schema) { return has_constant(*schema, name); })) {
      return key;
    }
  }
  return {};
}

bool has_type(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "number") return value.is_number();
  if (type == "integer") return is_integer(value);
  return true;
}

std::string types_text(const Json& types) {
  if (types.is_string()) return types.get<std::string>();
  std::vector<std::string> names;
  for (const Json& type : types) names.push_back(type.is_string() ? type.get<std::string>() : "?");
  return fmt::format("{}", fmt::join(names, " or "));
}

std::string unreadable_member(std::string_view raw) {
  for (JsonMember& one : json_members(raw)) {
    if (!Json::accept(one.value.begin(), one.value.end())) return std::move(one.key);
  }
  return {};
}

bool is_same(const Json& left, const Json& right) {
  if (left.is_number() && right.is_number()) return left == right;
  if (left.type() != right.type() || left.size() != right.size()) return false;
  if (left.is_array()) return std::equal(left.begin(), left.end(), right.begin(), is_same);
  if (!left.is_object()) return left == right;
  return std::all_of(left.items().begin(), left.items().end(), [&](const auto& item) {
    const auto found = right.find(item.key());
    return found != right.end() && is_same(item.value(), *found);
  });
}

std::string canonical(const Json& value) {
  const bool is_whole = value.is_number_float() && is_integer(value);
  return is_whole ? fmt::format("{:.0f}", value.get<double>())
                  : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string broken_bound(double number, const Json& schema) {
  struct Bound {
    const char* keyword;
    bool (*holds)(double, double);
    const char* what;
  };
  static constexpr std::array kBounds{
      Bound{"minimum", [](double a, double b) { return a >= b; }, "is less than the minimum"},
      Bound{"maximum", [](double a, double b) { return a <= b; }, "is more than the maximum"},
      Bound{"exclusiveMinimum", [](double a, double b) { return a > b; },
            "is not more than the bound"},
      Bound{"exclusiveMaximum", [](double a, double b) { return a < b; },
            "is not less than the bound"},
      Bound{"multipleOf", is_multiple, "is not a multiple"}};
  for (const Bound& bound : kBounds) {
    const Json* const limit = SchemaParts::member(schema, bound.keyword);
    if (limit == nullptr || !limit->is_number() || bound.holds(number, limit->get<double>()))
      continue;
    return fmt::format("{} {}", bound.what, limit->dump());
  }
  return {};
}

}  // namespace sitter
