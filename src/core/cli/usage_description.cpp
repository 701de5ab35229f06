#include "core/cli/usage_description.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sitter {
namespace {

using Json = nlohmann::ordered_json;

const Json& member(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string text(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool is_set(const Json& object, const char* key) { return member(object, key) == true; }

std::string help_of(const Json& object) {
  for (const char* const key : {"help_long", "help"}) {
    if (std::string help = text(object, key); !help.empty()) return help;
  }
  return {};
}

/// One command while its tool is made.
class ToolMaker {
 public:
  explicit ToolMaker(const Json& words) : words_(words) {}

  void add_flag(const Json& flag) {
    if (is_set(flag, "hide")) return;
    const Json& longs = member(flag, "long");
    const Json& shorts = member(flag, "short");
    const bool is_long = longs.is_array() && !longs.empty() && longs[0].is_string();
    if (!is_long && !(shorts.is_array() && !shorts.empty() && shorts[0].is_string())) return;
    const std::string option =
        is_long ? "--" + longs[0].get<std::string>() : "-" + shorts[0].get<std::string>();
    const std::string name = text(flag, "name");
    const Json& value = member(flag, "arg");
    if (value.is_null()) {
      add_parameter(name, Json{{"type", "boolean"}}, flag, false);
      words_.push_back(option + '{' + name + '}');
    } else {
      add_parameter(name, value_schema(value, is_set(flag, "var") || is_set(value, "var")), flag,
                    is_set(flag, "required"));
      words_.push_back(option + (is_long ? "=" : "") + '{' + name + '}');
    }
  }

  void add_argument(const Json& argument) {
    if (is_set(argument, "hide")) return;
    const std::string name = text(argument, "name");
    add_parameter(name, value_schema(argument, is_set(argument, "var")), argument,
                  is_set(argument, "required"));
    if (text(argument, "double_dash") == "Required") words_.push_back("--");
    words_.push_back('{' + name + '}');
  }

  Json tool(const std::string& name, const std::string& description) const {
    Json made{{"name", name}};
    if (!description.empty()) made["description"] = description;
    made["inputSchema"] = Json{{"type", "object"}, {"properties", properties_}};
    if (!required_.empty()) made["inputSchema"]["required"] = required_;
    made["inputSchema"]["additionalProperties"] = false;
    made["cli_command"] = words_;
    return made;
  }

 private:
  static Json value_schema(const Json& argument, bool is_list) {
    Json one{{"type", "string"}};
    const Json& choices = member(member(argument, "choices"), "choices");
    if (choices.is_array() && !choices.empty()) one["enum"] = choices;
    if (!is_list) return one;
    Json list{{"type", "array"}, {"items", one}};
    if (member(argument, "var_min").is_number()) list["minItems"] = argument["var_min"];
    if (member(argument, "var_max").is_number()) list["maxItems"] = argument["var_max"];
    return list;
  }

  void add_parameter(const std::string& name, Json schema, const Json& described,
                     bool is_required) {
    if (const std::string help = help_of(described); !help.empty()) schema["description"] = help;
    properties_[name] = std::move(schema);
    if (is_required) required_.push_back(name);
  }

  Json words_;
  Json properties_ = Json::object();
  Json required_ = Json::array();
};

void add_tools(const Json& command, const std::string& root_name, const std::string& root_help,
               std::vector<const Json*> globals, Json& tools) {
  if (is_set(command, "hide")) return;
  const Json& flags = member(command, "flags");
  const Json& subcommands = member(command, "subcommands");
  const bool is_group = subcommands.is_object() && !subcommands.empty();
  if (!is_group) {
    const Json& words = member(command, "full_cmd");
    ToolMaker maker(words.is_array() ? words : Json::array());
    for (const Json* const flag : globals) maker.add_flag(*flag);
    for (const Json& flag : flags) maker.add_flag(flag);
    for (const Json& argument : member(command, "args")) maker.add_argument(argument);
    std::string name;
    for (const Json& word : words) {
      if (word.is_string()) name += (name.empty() ? "" : "_") + word.get<std::string>();
    }
    const bool is_root = name.empty();
    const std::string help = help_of(command);
    tools.push_back(
        maker.tool(is_root ? root_name : name, is_root && help.empty() ? root_help : help));
    return;
  }
  for (const Json& flag : flags) {
    if (is_set(flag, "global")) globals.push_back(&flag);
  }
  for (const Json& subcommand : subcommands) {
    add_tools(subcommand, root_name, root_help, globals, tools);
  }
}

}  // namespace

bool is_usage(const Json& value) {
  return member(value, "cmd").is_object() &&
         (member(value, "bin").is_string() || member(value, "name").is_string());
}

Json tools_of_usage(const Json& specification) {
  Json tools = Json::array();
  std::string name = text(specification, "bin");
  if (name.empty()) name = text(specification, "name");
  std::string help = text(specification, "about_long");
  if (help.empty()) help = text(specification, "about");
  add_tools(member(specification, "cmd"), name, help, {}, tools);
  return tools;
}

}  // namespace sitter
