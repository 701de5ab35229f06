#include "core/schema/json_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/schema/schema_format.hpp"
#include "core/schema/schema_parts.hpp"
#include "core/schema/schema_place.hpp"
#include "core/schema/schema_work.hpp"

namespace sitter {
namespace {

using Json = nlohmann::json;

/// How much of the schema or of a value a text shows, in bytes.
constexpr std::size_t kValueShownMax = 1000;
constexpr std::size_t kNameShownMax = 100;

/// How much more work it is at least to match a byte than to read it. At most it is as much more as
/// the pattern has instructions.
constexpr std::size_t kMatchShareMin = 8;
/// How many parts of a schema may be at work at once. At each level of a value these may be the
/// part of a property, one in its `anyOf`, the target of a `$ref`, one in the `allOf` of that, and
/// the target of another `$ref`.
constexpr std::size_t kDepthMax = 5 * limits::kNestingMax;

Json parsed(std::string_view raw) { return Json::parse(raw.begin(), raw.end(), nullptr, false); }

std::string dumped(const Json& value) {
  return shortened(value.dump(-1, ' ', false, Json::error_handler_t::replace), kValueShownMax);
}

constexpr auto schema_member = &SchemaParts::member;

}  // namespace

/// Checks one value. Stops at the first violation, and at a bound, which is one as well.
class JsonSchema::Checker {
 public:
  Checker(const SchemaParts& parts, Reading reading, std::vector<Path>* nulls)
      : parts_(parts), reading_(reading), nulls_(nulls) {}

  using Place = SchemaPlace;

  bool fits(const Json& value, const Json& schema, const Place& place) {
    if (!may_step()) return false;
    if (schema == false) return fail(place, "is not allowed", schema);
    if (!schema.is_object()) return true;
    const Use use{&value, &schema, innermost_, innermost_ == nullptr ? 1 : innermost_->depth + 1};
    if (use.depth > kDepthMax) {
      return give_up(fmt::format("is too large to be checked against its schema: that goes more "
                                 "than {} levels deep into it",
                                 kDepthMax),
                     *parts_.root);
    }
    innermost_ = &use;
    for (const std::string_view keyword : SchemaParts::kUncheckedKeywords) {
      if (schema_member(schema, keyword) != nullptr) allow_unchecked();
    }
    const bool is_fit = fits_keywords(value, schema, place);
    innermost_ = use.outer;
    return is_fit;
  }

  std::optional<Violation> take() { return std::move(violation_); }

 private:
  bool fits_keywords(const Json& value, const Json& schema, const Place& place) {
    return fits_value(value, schema, place) && fits_number(value, schema, place) &&
           fits_text(value, schema, place) && fits_array(value, schema, place) &&
           fits_object(value, schema, place) && fits_combination(value, schema, place);
  }

  enum class Fit { no, perhaps, yes };

  /// A part of the schema that is at work on a value.
  struct Use {
    const Json* value;
    const Json* schema;
    const Use* outer;
    std::size_t depth;
  };

  bool fail(const Place& place, std::string what, const Json& part) {
    if (trials_ == 0 && !violation_) {
      violation_ = {path_text(place.path()), std::move(what), dumped(part)};
    }
    return false;
  }

  /// Ends the check with a violation of the whole value, whatever a `not` makes of it.
  bool give_up(std::string what, const Json& part) {
    violation_ = {{}, std::move(what), dumped(part), true};
    return false;
  }

  bool may_step(std::size_t steps = 1) {
    if (violation_) return false;
    steps_ += steps;
    if (steps_ <= kSchemaStepsMax) return true;
    return give_up(
        fmt::format("is too large to be checked against its schema: that takes more than {} steps",
                    kSchemaStepsMax),
        *parts_.root);
  }

  bool may_compare(const Json& value, const Json& with) {
    return may_step(value.type() == with.type() ? steps_for(with) : 1);
  }

  /// Whether this part is at work on this value already, and would be again without end.
  bool is_at_work(const Json& value, const Json& schema) {
    for (const Use* use = innermost_; use != nullptr && use->value == &value; use = use->outer) {
      if (use->schema == &schema) return true;
      ++steps_;
    }
    return false;
  }

  /// What is not checked is allowed.
  bool allow_unchecked() {
    is_sure_ = false;
    return true;
  }

  /// Whether the value fits, without a violation if it does not. It fits perhaps if something was
  /// not checked.
  Fit fit_of(const Json& value, const Json& schema) {
    const bool was_sure = std::exchange(is_sure_, true);
    ++trials_;
    const bool is_fit = fits(value, schema, {});
    --trials_;
    const bool is_sure = std::exchange(is_sure_, was_sure);
    return !is_fit ? Fit::no : is_sure ? Fit::yes : Fit::perhaps;
  }

  struct Count {
    std::size_t sure = 0;
    std::size_t perhaps = 0;
  };

  /// How many of these fit; `fit` is asked for the fit of each.
  template <class Ask>
  Count count_fits(const Json& all, const Ask& fit) {
    Count count;
    for (const Json& one : all) {
      const Fit found = fit(one);
      if (found == Fit::yes) ++count.sure;
      if (found == Fit::perhaps) ++count.perhaps;
    }
    if (count.perhaps > 0) allow_unchecked();
    return count;
  }

  bool fits_value(const Json& value, const Json& schema, const Place& place) {
    if (const Json* const type = schema_member(schema, "type")) {
      const bool is_one =
          type->is_string()
              ? has_type(value, type->get_ref<const std::string&>())
              : !type->is_array() || std::any_of(type->begin(), type->end(), [&](const Json& one) {
                  return !may_step() ||
                         (one.is_string() && has_type(value, one.get_ref<const std::string&>()));
                });
      const bool is_nullable = reading_ == Reading::of_clients && value.is_null() &&
                               schema.value("nullable", Json()) == true;
      if (!is_one && !is_nullable) {
        return fail(place, fmt::format("is not of type {}", types_text(*type)), schema);
      }
    }
    if (const Json* const allowed = schema_member(schema, "enum");
        allowed != nullptr && allowed->is_array()) {
      const bool is_one = std::any_of(allowed->begin(), allowed->end(), [&](const Json& one) {
        return !may_compare(value, one) || is_same(value, one);
      });
      if (!is_one) return fail(place, "is none of the allowed values", schema);
    }
    if (const Json* const only = schema_member(schema, "const");
        only != nullptr && may_compare(value, *only) && !is_same(value, *only)) {
      return fail(place, "is not the allowed value", schema);
    }
    return true;
  }

  bool fits_number(const Json& value, const Json& schema, const Place& place) {
    if (!value.is_number()) return true;
    std::string wrong = broken_bound(value.get<double>(), schema);
    return wrong.empty() || fail(place, std::move(wrong), schema);
  }

  bool fits_size(std::size_t size, const Json& schema, const Place& place, const char* least,
                 const char* most, const char* unit) {
    const double count = static_cast<double>(size);
    const Json* const min = schema_member(schema, least);
    if (min != nullptr && min->is_number() && count < min->get<double>()) {
      return fail(place,
                  fmt::format("has {}, and needs at least {}", counted(size, unit), min->dump()),
                  schema);
    }
    const Json* const max = schema_member(schema, most);
    if (max != nullptr && max->is_number() && count > max->get<double>()) {
      return fail(place,
                  fmt::format("has {}, and may have at most {}", counted(size, unit), max->dump()),
                  schema);
    }
    return true;
  }

  Fit match_of(const std::string& pattern, const std::string& text) {
    const auto found = parts_.patterns.find(pattern);
    const bool is_known = found != parts_.patterns.end() && found->second.complaint().empty();
    const std::size_t share = is_known ? std::max(kMatchShareMin, found->second.size()) : 0;
    if (!may_step(steps_for(pattern.size() + share * text.size()))) return Fit::no;
    if (!is_known) return Fit::perhaps;
    return found->second.matches(text) ? Fit::yes : Fit::no;
  }

  bool fits_text(const Json& value, const Json& schema, const Place& place) {
    if (!value.is_string()) return true;
    const std::string& text = value.get_ref<const std::string&>();
    if (!may_step(steps_for(text.size()))) return false;
    if (!fits_size(character_count(text), schema, place, "minLength", "maxLength", "character"))
      return false;
    const Json* const format = schema_member(schema, "format");
    if (reading_ == Reading::of_clients && format != nullptr && format->is_string() &&
        !has_format(text, format->get_ref<const std::string&>())) {
      return fail(place, fmt::format("is not of the format {}", format->get<std::string>()),
                  schema);
    }
    const Json* const pattern = schema_member(schema, "pattern");
    if (pattern == nullptr || !pattern->is_string()) return true;
    switch (match_of(pattern->get_ref<const std::string&>(), text)) {
      case Fit::yes:
        return true;
      case Fit::perhaps:
        return allow_unchecked();
      case Fit::no:
        break;
    }
    return fail(place, "does not match the pattern", schema);
  }

  bool fits_array(const Json& value, const Json& schema, const Place& place) {
    if (!value.is_array()) return true;
    if (!fits_size(value.size(), schema, place, "minItems", "maxItems", "item")) return false;
    const Json* const unique = schema_member(schema, "uniqueItems");
    if (unique != nullptr && *unique == true) {
      if (!may_step(steps_for(value))) return false;
      std::set<std::string> seen;
      for (const Json& one : value) {
        if (!seen.insert(canonical(one)).second) return fail(place, "has an item twice", schema);
      }
    }
    // In draft 7 `items` may be a list for the first items, and `additionalItems` is for the rest.
    const Json* first = schema_member(schema, "prefixItems");
    const Json* rest = schema_member(schema, "items");
    if (first == nullptr && rest != nullptr && rest->is_array()) {
      first = rest;
      rest = schema_member(schema, "additionalItems");
    }
    const std::size_t first_count = first != nullptr && first->is_array() ? first->size() : 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const Json* const part = i < first_count ? &(*first)[i] : rest;
      if (part != nullptr && !fits(value[i], *part, {&place, nullptr, i})) return false;
    }
    return fits_contains(value, schema, place);
  }

  bool fits_contains(const Json& value, const Json& schema, const Place& place) {
    const Json* const wanted = schema_member(schema, "contains");
    if (wanted == nullptr) return true;
    const auto [sure, perhaps] =
        count_fits(value, [&](const Json& one) { return fit_of(one, *wanted); });
    const Json* const min = schema_member(schema, "minContains");
    const Json* const max = schema_member(schema, "maxContains");
    const double least = min != nullptr && min->is_number() ? min->get<double>() : 1;
    if (static_cast<double>(sure + perhaps) < least) {
      return fail(place, "has too few items of a kind", schema);
    }
    if (max != nullptr && max->is_number() && static_cast<double>(sure) > max->get<double>()) {
      return fail(place, "has too many items of a kind", schema);
    }
    return true;
  }

  bool fits_object(const Json& value, const Json& schema, const Place& place) {
    if (!value.is_object()) return true;
    if (const Json* const required = schema_member(schema, "required");
        required != nullptr && required->is_array()) {
      if (!has_all(value, *required, place, schema)) return false;
    }
    if (!fits_size(value.size(), schema, place, "minProperties", "maxProperties", "member"))
      return false;
    const Json* const names = schema_member(schema, "propertyNames");
    for (const auto& [key, one] : value.items()) {
      const Place there{&place, &key};
      if (names != nullptr && !fits(Json(key), *names, there)) return false;
      if (!fits_member(key, one, schema, there)) return false;
    }
    return fits_dependent(value, schema, place);
  }

  bool has_all(const Json& value, const Json& names, const Place& place, const Json& part) {
    for (const Json& name : names) {
      if (!may_step()) return false;
      if (name.is_string() && !value.contains(name.get<std::string>())) {
        return fail(
            place, fmt::format("has no member `{}`", brief(name.get<std::string>(), kNameShownMax)),
            part);
      }
    }
    return true;
  }

  bool fits_member(const std::string& key, const Json& value, const Json& schema,
                   const Place& there) {
    bool is_known = false;
    if (const Json* const properties = schema_member(schema, "properties");
        properties != nullptr && properties->is_object()) {
      if (const Json* const part = schema_member(*properties, key)) {
        is_known = true;
        if (takes_for_missing(key, value, schema, *part)) {
          nulls_->push_back(there.path());
        } else if (!fits(value, *part, there)) {
          return false;
        }
      }
    }
    if (const Json* const by_pattern = schema_member(schema, "patternProperties");
        by_pattern != nullptr && by_pattern->is_object()) {
      for (const auto& [pattern, part] : by_pattern->items()) {
        const Fit match = match_of(pattern, key);
        if (violation_) return false;
        if (match == Fit::no) continue;
        is_known = true;
        if (match == Fit::perhaps) {
          allow_unchecked();
        } else if (!fits(value, part, there)) {
          return false;
        }
      }
    }
    const Json* const others = schema_member(schema, "additionalProperties");
    if (is_known || others == nullptr) return true;
    if (*others == false) return fail(there, "is not a known member", schema);
    return fits(value, *others, there);
  }

  bool takes_for_missing(const std::string& key, const Json& value, const Json& schema,
                         const Json& part) {
    if (nulls_ == nullptr || trials_ > 0 || !value.is_null()) return false;
    const Json* const required = schema_member(schema, "required");
    const bool may_be_missing =
        required == nullptr || !required->is_array() ||
        std::find(required->begin(), required->end(), key) == required->end();
    return may_be_missing && fit_of(value, part) == Fit::no;
  }

  bool fits_dependent(const Json& value, const Json& schema, const Place& place) {
    for (const char* const keyword : {"dependentRequired", "dependentSchemas", "dependencies"}) {
      const Json* const dependent = schema_member(schema, keyword);
      if (dependent == nullptr || !dependent->is_object()) continue;
      for (const auto& [key, part] : dependent->items()) {
        if (!may_step()) return false;
        if (!value.contains(key)) continue;
        if (part.is_array() ? !has_all(value, part, place, schema) : !fits(value, part, place))
          return false;
      }
    }
    return true;
  }

  bool fits_combination(const Json& value, const Json& schema, const Place& place) {
    if (const Json* const reference = schema_member(schema, "$ref");
        reference != nullptr && reference->is_string()) {
      const std::string& name = reference->get_ref<const std::string&>();
      if (!may_step(steps_for(name.size()))) return false;
      const Json* const target = parts_.target(name);
      if (target == nullptr) {
        allow_unchecked();
      } else if (is_at_work(value, *target)) {
        return give_up(
            "cannot be checked against its schema: the schema refers to itself without end",
            schema);
      } else if (!fits(value, *target, place)) {
        return false;
      }
    }
    if (const Json* const all = schema_member(schema, "allOf"); all != nullptr && all->is_array()) {
      for (const Json& one : *all) {
        if (!fits(value, one, place)) return false;
      }
    }
    const auto fit = [&](const Json& one) { return fit_of(value, one); };
    if (const Json* const any = schema_member(schema, "anyOf"); any != nullptr && any->is_array()) {
      const auto [sure, perhaps] = count_fits(*any, fit);
      if (sure + perhaps == 0) return fail_any(value, *any, place, schema);
    }
    if (const Json* const one = schema_member(schema, "oneOf"); one != nullptr && one->is_array()) {
      const auto [sure, perhaps] = count_fits(*one, fit);
      if (sure > 1 || sure + perhaps == 0) {
        return fail(place, "does not fit exactly one of the allowed schemas", schema);
      }
    }
    if (const Json* const none = schema_member(schema, "not")) {
      const Fit found = fit(*none);
      if (found == Fit::yes) return fail(place, "fits a schema that is not allowed", schema);
      if (found == Fit::perhaps) allow_unchecked();
    }
    return fits_condition(value, schema, place);
  }

  /// The value fits none of these. If a constant in each tells them apart, like the `type` of a
  /// content block, the violation is the one of the schema that is meant.
  bool fail_any(const Json& value, const Json& any, const Place& place, const Json& part) {
    const std::vector<const Json*> branches = parts_.targets(any);
    const std::string key = key_of_constants(branches);
    if (key.empty() || !value.is_object()) {
      return fail(place, "fits none of the allowed schemas", part);
    }
    const Json* const given = schema_member(value, key);
    if (given == nullptr) return fail(place, fmt::format("has no member `{}`", key), part);
    for (const Json* const branch : branches) {
      if ((*branch)["properties"][key]["const"] == *given) return fits(value, *branch, place);
    }
    return fail({&place, &key, 0}, "is none of the allowed values", part);
  }

  bool fits_condition(const Json& value, const Json& schema, const Place& place) {
    const Json* const condition = schema_member(schema, "if");
    if (condition == nullptr) return true;
    const Fit found = fit_of(value, *condition);
    if (found == Fit::perhaps) return allow_unchecked();
    const Json* const then = schema_member(schema, found == Fit::yes ? "then" : "else");
    return then == nullptr || fits(value, *then, place);
  }

  const SchemaParts& parts_;
  const Reading reading_;
  std::vector<Path>* const nulls_;
  std::optional<Violation> violation_;
  /// Nothing was allowed because it is not checked.
  bool is_sure_ = true;
  /// How many checks that may well fail are under way.
  std::size_t trials_ = 0;
  const Use* innermost_ = nullptr;
  std::size_t steps_ = 0;
};

JsonSchema::JsonSchema(std::string_view raw, Reading reading)
    : parts_(std::make_unique<SchemaParts>(parsed(raw), reading == Reading::of_clients
                                                            ? SchemaParts::Patterns::few
                                                            : SchemaParts::Patterns::all)),
      reading_(reading) {}

JsonSchema::JsonSchema(JsonSchema&&) noexcept = default;
JsonSchema& JsonSchema::operator=(JsonSchema&&) noexcept = default;
JsonSchema::~JsonSchema() = default;

const std::vector<std::string>& JsonSchema::unchecked() const { return parts_->unchecked; }

std::optional<JsonSchema::Violation> JsonSchema::check(std::string_view raw,
                                                       const std::string& part,
                                                       std::vector<Path>* nulls) const {
  const auto unchecked = [&](std::string place, std::string what) {
    return Violation{std::move(place), std::move(what), dumped(*parts_->root), true};
  };
  if (value_count(raw) > kSchemaValuesMax) {
    return unchecked({}, fmt::format("is too large to be checked against its schema: it has more "
                                     "than {} values",
                                     kSchemaValuesMax));
  }
  const Json value = parsed(raw);
  if (value.is_discarded()) {
    return unchecked(brief(unreadable_member(raw), kNameShownMax),
                     "has half of a surrogate pair, or a number beyond the range of a double");
  }
  const Json* const target = parts_->target(part);
  if (target == nullptr) return unchecked({}, "cannot be checked: the schema has no part " + part);
  Checker checker(*parts_, reading_, nulls);
  checker.fits(value, *target, {});
  return checker.take();
}

}  // namespace sitter
