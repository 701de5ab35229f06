#include "core/report/tool_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"

namespace sitter {
namespace {

constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kSignatureBytesMax = 1024;
constexpr std::size_t kEnumCountMax = 8;
constexpr int kTypeDepthMax = 3;

using Values = std::map<std::string, std::string_view, std::less<>>;

/// If a key is written twice, the last value counts, as in every common parser.
Values values_of(std::string_view object) {
  Values values;
  for (auto& [key, value] : json_members(object)) values.insert_or_assign(std::move(key), value);
  return values;
}

std::string_view value_of(const Values& values, std::string_view key) {
  const auto found = values.find(key);
  return found == values.end() ? std::string_view() : found->second;
}

bool same_or_both_missing(std::string_view left, std::string_view right) {
  return left.empty() || right.empty() ? left.empty() == right.empty() : json_same(left, right);
}

/// The keys in which two objects differ, sorted, without the keys in `aside`.
std::vector<std::string> differing_keys(const Values& before, const Values& after,
                                        const std::set<std::string_view>& aside) {
  std::set<std::string> keys;
  for (const auto& [key, value] : before) {
    if (!same_or_both_missing(value, value_of(after, key))) keys.insert(key);
  }
  for (const auto& [key, value] : after) {
    if (value_of(before, key).empty()) keys.insert(key);
  }
  std::erase_if(keys, [&](const std::string& key) { return aside.contains(key); });
  return {keys.begin(), keys.end()};
}

void add_once(std::vector<std::string>& words, std::string word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
}

std::string type_words(std::string_view schema, int depth = 0);

std::vector<std::string> alternatives(const Values& keywords, int depth) {
  std::vector<std::string> words;
  for (const std::string_view keyword : {"anyOf", "oneOf"}) {
    for (const std::string_view option : json_elements(value_of(keywords, keyword))) {
      add_once(words, type_words(option, depth + 1));
    }
  }
  return words;
}

/// The type that a JSON Schema asks for, in a word or two: "integer", "array of string",
/// "string|null".
std::string type_words(std::string_view schema, int depth) {
  if (depth > kTypeDepthMax) return "any";
  const Values keywords = values_of(schema);
  const std::string_view type = value_of(keywords, "type");
  if (const auto name = json_decoded(type)) {
    const std::string_view items = value_of(keywords, "items");
    if (*name != "array" || items.empty()) return shown_name(*name);
    const std::string item_words = type_words(items, depth + 1);
    return item_words == "any" ? "array" : "array of " + item_words;
  }
  std::vector<std::string> words;
  for (const std::string_view element : json_elements(type)) {
    if (const auto name = json_decoded(element)) add_once(words, shown_name(*name));
  }
  if (words.empty()) words = alternatives(keywords, depth);
  if (!words.empty()) return shortened(fmt::format("{}", fmt::join(words, "|")), kNameBytesMax);
  if (const auto reference = json_decoded(value_of(keywords, "$ref"))) {
    return shown_name(std::string_view(*reference).substr(reference->rfind('/') + 1));
  }
  return value_of(keywords, "enum").empty() ? "any" : "enum";
}

struct Parameter {
  std::string name;
  /// Empty for an argument of a prompt, which is always a string.
  std::string type;
  bool required = false;
  Values keywords;
};

/// A name in `required` for which there is no property gives no parameter.
std::vector<Parameter> tool_parameters(const Values& tool) {
  const Values schema = values_of(value_of(tool, "inputSchema"));
  std::set<std::string> required;
  for (const std::string_view element : json_elements(value_of(schema, "required"))) {
    if (auto name = json_decoded(element)) required.insert(std::move(*name));
  }
  std::vector<Parameter> parameters;
  for (auto& [name, property] : json_members(value_of(schema, "properties"))) {
    const bool is_required = required.contains(name);
    parameters.push_back({std::move(name), type_words(property), is_required, values_of(property)});
  }
  return parameters;
}

std::vector<Parameter> prompt_parameters(const Values& prompt) {
  std::vector<Parameter> parameters;
  for (const std::string_view argument : json_elements(value_of(prompt, "arguments"))) {
    Values keywords = values_of(argument);
    const bool required = value_of(keywords, "required") == "true";
    auto name = json_decoded(value_of(keywords, "name"));
    keywords.erase("name");
    keywords.erase("required");
    if (name) parameters.push_back({std::move(*name), "", required, std::move(keywords)});
  }
  return parameters;
}

std::vector<Parameter> parameters_of(CatalogKind kind, const Values& item) {
  switch (kind) {
    case CatalogKind::tools:
      return tool_parameters(item);
    case CatalogKind::prompts:
      return prompt_parameters(item);
    case CatalogKind::resources:
      break;
  }
  return {};
}

/// "limit (integer, optional)", with the choices if there are few.
std::string parameter_words(const Parameter& parameter) {
  std::string words = parameter.type;
  const auto choices = json_elements(value_of(parameter.keywords, "enum"));
  if (!choices.empty() && choices.size() <= kEnumCountMax) {
    std::vector<std::string> texts;
    for (const std::string_view choice : choices) {
      texts.push_back(one_line(json_decoded(choice).value_or(std::string(choice))));
    }
    words += ": " + shortened(fmt::format("{}", fmt::join(texts, "|")), kNameBytesMax);
  }
  if (!words.empty()) words += ", ";
  return fmt::format("{} ({}{})", shown_name(parameter.name), words,
                     parameter.required ? "required" : "optional");
}

const Parameter* find(const std::map<std::string_view, const Parameter*>& by_name,
                      std::string_view name) {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::map<std::string_view, const Parameter*> by_name(const std::vector<Parameter>& parameters) {
  std::map<std::string_view, const Parameter*> index;
  for (const Parameter& parameter : parameters) index.insert_or_assign(parameter.name, &parameter);
  return index;
}

void describe_parameter(const Parameter& before, const Parameter& after,
                        std::vector<std::string>& details) {
  const std::string name = shown_name(after.name);
  std::set<std::string_view> aside;
  if (before.type != after.type) {
    details.push_back(fmt::format("{}: {} -> {}", name, before.type, after.type));
    // A change of these keywords is already told by the new type.
    aside = {"type", "items", "anyOf", "oneOf", "$ref"};
  }
  if (before.required != after.required) {
    details.push_back(name + (after.required ? " now required" : " now optional"));
  }
  std::vector<std::string> keys = differing_keys(before.keywords, after.keywords, aside);
  if (keys.empty()) return;
  for (std::string& key : keys) key = shown_name(key);
  details.push_back(fmt::format("{}: {} changed", name, fmt::join(keys, ", ")));
}

void describe_parameters(const std::vector<Parameter>& before, const std::vector<Parameter>& after,
                         std::vector<std::string>& details) {
  const auto old_ones = by_name(before);
  const auto new_ones = by_name(after);
  for (const Parameter& parameter : after) {
    if (!find(old_ones, parameter.name)) details.push_back("+" + parameter_words(parameter));
  }
  for (const Parameter& parameter : before) {
    if (!find(new_ones, parameter.name)) {
      details.push_back(fmt::format("-{} removed", shown_name(parameter.name)));
    }
  }
  for (const auto& [name, parameter] : new_ones) {
    if (const Parameter* old_one = find(old_ones, name)) {
      describe_parameter(*old_one, *parameter, details);
    }
  }
}

/// Adds what the parameters do not show: other keywords of the schema, and schemas of an unexpected
/// shape.
void describe_schema_rest(std::string_view before, std::string_view after,
                          std::vector<std::string>& details) {
  const bool no_parameter_told = details.empty();
  std::vector<std::string> keys =
      differing_keys(values_of(before), values_of(after), {"properties", "required"});
  for (std::string& key : keys) key = shown_name(key);
  if (!keys.empty()) {
    details.push_back(fmt::format("input schema: {} changed", fmt::join(keys, ", ")));
  } else if (no_parameter_told && !same_or_both_missing(before, after)) {
    details.push_back("input schema changed");
  }
}

std::string_view key_words(std::string_view key) {
  return key == "outputSchema" ? "output schema" : key;
}

}  // namespace

DefinitionChange definition_change(CatalogKind kind, std::string_view before,
                                   std::string_view after) {
  DefinitionChange change;
  const Values old_values = values_of(before);
  const Values new_values = values_of(after);
  describe_parameters(parameters_of(kind, old_values), parameters_of(kind, new_values),
                      change.details);
  std::set<std::string_view> aside;
  if (kind == CatalogKind::tools) {
    describe_schema_rest(value_of(old_values, "inputSchema"), value_of(new_values, "inputSchema"),
                         change.details);
    aside = {"inputSchema"};
  } else if (!change.details.empty()) {
    aside = {"arguments"};
  }
  for (const std::string& key : differing_keys(old_values, new_values, aside)) {
    change.details.push_back(shown_name(key_words(key)) + " changed");
    change.output_schema_changed |= kind == CatalogKind::tools && key == "outputSchema";
  }
  if (change.details.empty()) change.details.push_back("definition changed");
  return change;
}

std::string signature(CatalogKind kind, std::string_view name, std::string_view definition) {
  std::vector<std::string> words;
  for (const Parameter& parameter : parameters_of(kind, values_of(definition))) {
    words.push_back(parameter_words(parameter));
  }
  if (words.empty()) words.push_back("no parameters");
  return shortened(fmt::format("{}: {}", shown_name(name), fmt::join(words, ", ")),
                   kSignatureBytesMax);
}

std::string shown_name(std::string_view name) { return brief(name, kNameBytesMax); }

}  // namespace sitter
