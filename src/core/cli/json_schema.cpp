#include "core/cli/json_schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/base/line_pattern.hpp"
#include "core/base/text.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

using Json = nlohmann::ordered_json;

/// How much of the schema or of a value a text shows, in bytes.
constexpr std::size_t kShownMax = 1000;
constexpr std::size_t kNameShownMax = 100;

/// How many parts of a schema are compared with one value and its parts. A schema may refer to
/// itself in two places, and would then never end. Arguments have a few hundred.
constexpr std::size_t kStepsMax = 1'000'000;

Json parsed(std::string_view raw) { return Json::parse(raw.begin(), raw.end(), nullptr, false); }

std::string dumped(const Json& value) {
  return shortened(value.dump(-1, ' ', false, Json::error_handler_t::replace), kShownMax);
}

const Json* member(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

bool is_integer(const Json& value) {
  if (value.is_number_integer()) return true;
  return value.is_number_float() && value.get<double>() == std::floor(value.get<double>());
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

/// JSON equality: the order of members and the spelling of numbers do not count.
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

/// A text that is the same for all values that are the same, but for numbers within them.
std::string canonical(const Json& value) {
  const bool is_whole = value.is_number_float() && is_integer(value);
  return is_whole
             ? fmt::format("{:.0f}", value.get<double>())
             : nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Unicode characters of valid UTF-8.
std::size_t length_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

bool is_multiple(double value, double of) {
  if (of <= 0) return true;
  const double quotient = value / of;
  // 0.0075 is a multiple of 0.0001, which no division of doubles shows.
  return std::isinf(quotient) ||
         std::abs(quotient - std::round(quotient)) < 1e-9 * std::max(1.0, std::abs(quotient));
}

}  // namespace

struct JsonSchema::Parts {
  Json root;
  std::map<std::string, LinePattern> patterns;
  std::vector<std::string> unchecked;

  void read(const Json& schema) {
    if (schema.is_array()) {
      for (const Json& element : schema) read(element);
    }
    if (!schema.is_object()) return;
    for (const auto& [key, value] : schema.items()) {
      if (key == "enum" || key == "const" || key == "default" || key == "examples") continue;
      if (key == "pattern" && value.is_string()) read_pattern(value.get<std::string>());
      if (key == "patternProperties" && value.is_object()) {
        for (const auto& one : value.items()) read_pattern(one.key());
      }
      if (key == "$ref" && value.is_string() && target(value.get<std::string>()) == nullptr) {
        unchecked.push_back(fmt::format("the reference {} does not point into the schema",
                                        brief(value.get<std::string>(), kNameShownMax)));
      }
      read(value);
    }
  }

  void read_pattern(const std::string& pattern) {
    const auto [added, is_new] = patterns.try_emplace(pattern, pattern);
    if (is_new && !added->second.complaint().empty()) {
      unchecked.push_back(fmt::format("the pattern {}: {}", brief(pattern, kNameShownMax),
                                      added->second.complaint()));
    }
  }

  /// Null if the reference does not point into the schema.
  const Json* target(const std::string& reference) const {
    if (reference == "#") return &root;
    if (!reference.starts_with("#/")) return nullptr;
    const Json* found = &root;
    std::string_view rest = std::string_view(reference).substr(2);
    for (bool is_last = false; !is_last;) {
      const std::size_t end = rest.find('/');
      is_last = end == rest.npos;
      std::string key(rest.substr(0, end));
      rest.remove_prefix(is_last ? rest.size() : end + 1);
      // RFC 6901, section 4.
      for (const auto& [written, meant] : {std::pair("~1", "/"), std::pair("~0", "~")}) {
        for (std::size_t at = 0; (at = key.find(written, at)) != key.npos; ++at)
          key.replace(at, 2, meant);
      }
      if (found->is_object()) {
        found = member(*found, key.c_str());
      } else if (found->is_array() && !key.empty() && key.size() < 6 &&
                 std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
                 std::stoul(key) < found->size()) {
        found = &(*found)[std::stoul(key)];
      } else {
        return nullptr;
      }
      if (found == nullptr) return nullptr;
    }
    return found;
  }
};

/// Checks one value. Stops at the first violation.
class JsonSchema::Checker {
 public:
  explicit Checker(const Parts& parts) : parts_(parts) {}

  bool fits(const Json& value, const Json& schema, const std::string& place) {
    if (schema == false) return fail(place, "is not allowed", schema);
    if (!schema.is_object()) return true;
    // What is not checked is allowed.
    if (depth_ >= limits::kNestingMax || ++steps_ > kStepsMax) return true;
    ++depth_;
    const bool is_fit = fits_keywords(value, schema, place);
    --depth_;
    return is_fit;
  }

  std::optional<Violation> take() { return std::move(violation_); }

 private:
  bool fits_keywords(const Json& value, const Json& schema, const std::string& place) {
    return fits_value(value, schema, place) && fits_number(value, schema, place) &&
           fits_text(value, schema, place) && fits_array(value, schema, place) &&
           fits_object(value, schema, place) && fits_combination(value, schema, place);
  }

  bool fail(const std::string& place, std::string what, const Json& part) {
    if (!violation_) violation_ = {place, std::move(what), dumped(part)};
    return false;
  }

  /// Whether the value fits, without a violation if it does not.
  bool would_fit(const Json& value, const Json& schema) {
    const bool had = violation_.has_value();
    const bool is_fit = fits(value, schema, {});
    if (!had) violation_.reset();
    return is_fit;
  }

  static std::string named_types(const Json& types) {
    if (types.is_string()) return types.get<std::string>();
    std::vector<std::string> names;
    for (const Json& type : types)
      names.push_back(type.is_string() ? type.get<std::string>() : "?");
    return fmt::format("{}", fmt::join(names, " or "));
  }

  bool fits_value(const Json& value, const Json& schema, const std::string& place) {
    if (const Json* const type = member(schema, "type")) {
      const bool is_one =
          type->is_string()
              ? has_type(value, type->get<std::string>())
              : !type->is_array() || std::any_of(type->begin(), type->end(), [&](const Json& one) {
                  return one.is_string() && has_type(value, one.get<std::string>());
                });
      if (!is_one) return fail(place, fmt::format("is not of type {}", named_types(*type)), schema);
    }
    if (const Json* const allowed = member(schema, "enum");
        allowed != nullptr && allowed->is_array()) {
      const bool is_one = std::any_of(allowed->begin(), allowed->end(),
                                      [&](const Json& one) { return is_same(value, one); });
      if (!is_one) return fail(place, "is none of the allowed values", schema);
    }
    if (const Json* const only = member(schema, "const");
        only != nullptr && !is_same(value, *only)) {
      return fail(place, "is not the allowed value", schema);
    }
    return true;
  }

  bool fits_number(const Json& value, const Json& schema, const std::string& place) {
    if (!value.is_number()) return true;
    const double number = value.get<double>();
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
        Bound{"multipleOf", is_multiple, "is no multiple"}};
    for (const Bound& bound : kBounds) {
      const Json* const limit = member(schema, bound.keyword);
      if (limit == nullptr || !limit->is_number()) continue;
      if (!bound.holds(number, limit->get<double>())) {
        return fail(place, fmt::format("{} {}", bound.what, limit->dump()), schema);
      }
    }
    return true;
  }

  bool fits_size(std::size_t size, const Json& schema, const std::string& place, const char* least,
                 const char* most, const char* unit) {
    const double count = static_cast<double>(size);
    const Json* const min = member(schema, least);
    if (min != nullptr && min->is_number() && count < min->get<double>()) {
      return fail(place, fmt::format("has {} {}, and needs at least {}", size, unit, min->dump()),
                  schema);
    }
    const Json* const max = member(schema, most);
    if (max != nullptr && max->is_number() && count > max->get<double>()) {
      return fail(place, fmt::format("has {} {}, and may have at most {}", size, unit, max->dump()),
                  schema);
    }
    return true;
  }

  bool matches(const std::string& pattern, const std::string& text, bool if_unread) const {
    const auto found = parts_.patterns.find(pattern);
    const bool is_read = found != parts_.patterns.end() && found->second.complaint().empty();
    return is_read ? found->second.matches(text) : if_unread;
  }

  bool fits_text(const Json& value, const Json& schema, const std::string& place) {
    if (!value.is_string()) return true;
    const std::string text = value.get<std::string>();
    if (!fits_size(length_of(text), schema, place, "minLength", "maxLength", "characters"))
      return false;
    const Json* const pattern = member(schema, "pattern");
    if (pattern == nullptr || !pattern->is_string()) return true;
    return matches(pattern->get<std::string>(), text, true) ||
           fail(place, "does not match the pattern", schema);
  }

  bool fits_array(const Json& value, const Json& schema, const std::string& place) {
    if (!value.is_array()) return true;
    if (!fits_size(value.size(), schema, place, "minItems", "maxItems", "items")) return false;
    const Json* const unique = member(schema, "uniqueItems");
    if (unique != nullptr && *unique == true) {
      std::set<std::string> seen;
      for (const Json& one : value) {
        if (!seen.insert(canonical(one)).second) return fail(place, "has an item twice", schema);
      }
    }
    // In draft 7 `items` may be a list for the first items, and `additionalItems` is for the rest.
    const Json* first = member(schema, "prefixItems");
    const Json* rest = member(schema, "items");
    if (first == nullptr && rest != nullptr && rest->is_array()) {
      first = rest;
      rest = member(schema, "additionalItems");
    }
    const std::size_t first_count = first != nullptr && first->is_array() ? first->size() : 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const Json* const part = i < first_count ? &(*first)[i] : rest;
      if (part != nullptr && !fits(value[i], *part, fmt::format("{}[{}]", place, i))) return false;
    }
    return fits_contains(value, schema, place);
  }

  bool fits_contains(const Json& value, const Json& schema, const std::string& place) {
    const Json* const wanted = member(schema, "contains");
    if (wanted == nullptr) return true;
    const auto count = static_cast<double>(std::count_if(
        value.begin(), value.end(), [&](const Json& one) { return would_fit(one, *wanted); }));
    const Json* const min = member(schema, "minContains");
    const Json* const max = member(schema, "maxContains");
    if (count < (min != nullptr && min->is_number() ? min->get<double>() : 1)) {
      return fail(place, "has too few items of a kind", schema);
    }
    if (max != nullptr && max->is_number() && count > max->get<double>()) {
      return fail(place, "has too many items of a kind", schema);
    }
    return true;
  }

  bool fits_object(const Json& value, const Json& schema, const std::string& place) {
    if (!value.is_object()) return true;
    if (const Json* const required = member(schema, "required");
        required != nullptr && required->is_array()) {
      if (!has_all(value, *required, place, schema)) return false;
    }
    if (!fits_size(value.size(), schema, place, "minProperties", "maxProperties", "members"))
      return false;
    const Json* const names = member(schema, "propertyNames");
    for (const auto& [key, one] : value.items()) {
      const std::string there = place.empty() ? key : place + "." + key;
      if (names != nullptr && !fits(Json(key), *names, there)) return false;
      if (!fits_member(key, one, schema, there)) return false;
    }
    return fits_dependent(value, schema, place);
  }

  bool has_all(const Json& value, const Json& names, const std::string& place, const Json& part) {
    for (const Json& name : names) {
      if (name.is_string() && !value.contains(name.get<std::string>())) {
        return fail(
            place, fmt::format("has no member `{}`", brief(name.get<std::string>(), kNameShownMax)),
            part);
      }
    }
    return true;
  }

  bool fits_member(const std::string& key, const Json& value, const Json& schema,
                   const std::string& there) {
    bool is_known = false;
    if (const Json* const properties = member(schema, "properties");
        properties != nullptr && properties->is_object()) {
      if (const Json* const part = member(*properties, key.c_str())) {
        is_known = true;
        if (!fits(value, *part, there)) return false;
      }
    }
    if (const Json* const by_pattern = member(schema, "patternProperties");
        by_pattern != nullptr && by_pattern->is_object()) {
      for (const auto& [pattern, part] : by_pattern->items()) {
        if (!matches(pattern, key, false)) continue;
        is_known = true;
        if (!fits(value, part, there)) return false;
      }
    }
    const Json* const others = member(schema, "additionalProperties");
    if (is_known || others == nullptr) return true;
    if (*others == false) return fail(there, "is no known member", schema);
    return fits(value, *others, there);
  }

  bool fits_dependent(const Json& value, const Json& schema, const std::string& place) {
    for (const char* const keyword : {"dependentRequired", "dependentSchemas", "dependencies"}) {
      const Json* const dependent = member(schema, keyword);
      if (dependent == nullptr || !dependent->is_object()) continue;
      for (const auto& [key, part] : dependent->items()) {
        if (!value.contains(key)) continue;
        if (part.is_array() ? !has_all(value, part, place, schema) : !fits(value, part, place))
          return false;
      }
    }
    return true;
  }

  bool fits_combination(const Json& value, const Json& schema, const std::string& place) {
    if (const Json* const reference = member(schema, "$ref");
        reference != nullptr && reference->is_string()) {
      const Json* const target = parts_.target(reference->get<std::string>());
      if (target != nullptr && !fits(value, *target, place)) return false;
    }
    if (const Json* const all = member(schema, "allOf"); all != nullptr && all->is_array()) {
      for (const Json& one : *all) {
        if (!fits(value, one, place)) return false;
      }
    }
    const auto count_fitting = [&](const Json& schemas) {
      return std::count_if(schemas.begin(), schemas.end(),
                           [&](const Json& one) { return would_fit(value, one); });
    };
    if (const Json* const any = member(schema, "anyOf");
        any != nullptr && any->is_array() && count_fitting(*any) == 0) {
      return fail(place, "fits none of the allowed schemas", schema);
    }
    if (const Json* const one = member(schema, "oneOf");
        one != nullptr && one->is_array() && count_fitting(*one) != 1) {
      return fail(place, "does not fit exactly one of the allowed schemas", schema);
    }
    if (const Json* const none = member(schema, "not");
        none != nullptr && would_fit(value, *none)) {
      return fail(place, "fits a schema that is not allowed", schema);
    }
    if (const Json* const condition = member(schema, "if")) {
      const Json* const then = member(schema, would_fit(value, *condition) ? "then" : "else");
      if (then != nullptr && !fits(value, *then, place)) return false;
    }
    return true;
  }

  const Parts& parts_;
  std::optional<Violation> violation_;
  std::size_t depth_ = 0;
  std::size_t steps_ = 0;
};

JsonSchema::JsonSchema(std::string_view raw) : parts_(std::make_unique<Parts>()) {
  parts_->root = parsed(raw);
  parts_->read(parts_->root);
}

JsonSchema::JsonSchema(JsonSchema&&) noexcept = default;
JsonSchema& JsonSchema::operator=(JsonSchema&&) noexcept = default;
JsonSchema::~JsonSchema() = default;

const std::vector<std::string>& JsonSchema::unchecked() const { return parts_->unchecked; }

std::optional<JsonSchema::Violation> JsonSchema::check(std::string_view raw) const {
  Checker checker(*parts_);
  checker.fits(parsed(raw), parts_->root, {});
  return checker.take();
}

}  // namespace sitter
