#include "core/tool_server/usage_description.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sitter {
namespace {

using OrderedJson = nlohmann::ordered_json;

const OrderedJson& member_or_null(const OrderedJson& object, const char* key) {
  static const OrderedJson kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string text(const OrderedJson& object, const char* key) {
  const OrderedJson& value = member_or_null(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool is_set(const OrderedJson& object, const char* key) {
  return member_or_null(object, key) == true;
}

std::string help_of(const OrderedJson& object) {
  for (const char* const key : {"help_long", "help"}) {
    if (std::string help = text(object, key); !help.empty()) return help;
  }
  return {};
}

/// One command while its tool is made.
class ToolMaker {
 public:
  explicit ToolMaker(const OrderedJson& words) : words_(words) {}

  void add_flag(const OrderedJson& flag) {
    if (is_set(flag, "hide")) return;
    const OrderedJson& longs = member_or_null(flag, "long");
    const OrderedJson& shorts = member_or_null(flag, "short");
    const bool is_long = longs.is_array() && !longs.empty() && longs[0].is_string();
    if (!is_long && !(shorts.is_array() && !shorts.empty() && shorts[0].is_string())) return;
    const std::string option =
        is_long ? "--" + longs[0].get<std::string>() : "-" + shorts[0].get<std::string>();
    const std::string name = text(flag, "name");
    const OrderedJson& value = member_or_null(flag, "arg");
    if (value.is_null()) {
      add_parameter(name, OrderedJson{{"type", "boolean"}}, flag, false);
      words_.push_back(option + '{' + name + '}');
    } else {
      add_parameter(name, value_schema(value, is_set(flag, "var") || is_set(value, "var")), flag,
                    is_set(flag, "required"));
      words_.push_back(option + (is_long ? "=" : "") + '{' + name + '}');
    }
  }

  void add_argument(const OrderedJson& argument) {
    if (is_set(argument, "hide")) return;
    const std::string name = text(argument, "name");
    add_parameter(name, value_schema(argument, is_set(argument, "var")), argument,
                  is_set(argument, "required"));
    if (text(argument, "double_dash") == "Required") words_.push_back("--");
    words_.push_back('{' + name + '}');
  }

  OrderedJson tool(const std::string& name, const std::string& description) const {
    OrderedJson made{{"name", name}};
    if (!description.empty()) made["description"] = description;
    made["inputSchema"] = OrderedJson{{"type", "object"}, {"properties", properties_}};
    if (!required_.empty()) made["inputSchema"]["required"] = required_;
    made["inputSchema"]["additionalProperties"] = false;
    made["cli_command"] = words_;
    return made;
  }

 private:
  static OrderedJson value_schema(const OrderedJson& argument, bool is_list) {
    OrderedJson one{{"type", "string"}};
    const OrderedJson& choices = member_or_null(member_or_null(argument, "choices"), "choices");
    if (choices.is_array() && !choices.empty()) one["enum"] = choices;
    if (!is_list) return one;
    OrderedJson list{{"type", "array"}, {"items", one}};
    if (member_or_null(argument, "var_min").is_number()) list["minItems"] = argument["var_min"];
    if (member_or_null(argument, "var_max").is_number()) list["maxItems"] = argument["var_max"];
    return list;
  }

  void add_parameter(const std::string& name, OrderedJson schema, const OrderedJson& described,
                     bool is_required) {
    if (const std::string help = help_of(described); !help.empty()) schema["description"] = help;
    properties_[name] = std::move(schema);
    if (is_required) required_.push_back(name);
  }

  OrderedJson words_;
  OrderedJson properties_ = OrderedJson::object();
  OrderedJson required_ = OrderedJson::array();
};

void add_tools(const OrderedJson& command, const std::string& root_name,
               const std::string& root_help, std::vector<const OrderedJson*> globals,
               OrderedJson& tools) {
  if (is_set(command, "hide")) return;
  const OrderedJson& flags = member_or_null(command, "flags");
  const OrderedJson& subcommands = member_or_null(command, "subcommands");
  const bool is_group = subcommands.is_object() && !subcommands.empty();
  if (!is_group) {
    const OrderedJson& words = member_or_null(command, "full_cmd");
    ToolMaker maker(words.is_array() ? words : OrderedJson::array());
    for (const OrderedJson* const flag : globals) maker.add_flag(*flag);
    for (const OrderedJson& flag : flags) maker.add_flag(flag);
    for (const OrderedJson& argument : member_or_null(command, "args"))
      maker.add_argument(argument);
    std::string name;
    for (const OrderedJson& word : words) {
      if (word.is_string()) name += (name.empty() ? "" : "_") + word.get<std::string>();
    }
    const bool is_root = name.empty();
    const std::string help = help_of(command);
    tools.push_back(
        maker.tool(is_root ? root_name : name, is_root && help.empty() ? root_help : help));
    return;
  }
  for (const OrderedJson& flag : flags) {
    if (is_set(flag, "global")) globals.push_back(&flag);
  }
  for (const OrderedJson& subcommand : subcommands) {
    add_tools(subcommand, root_name, root_help, globals, tools);
  }
}

}  // namespace

bool is_usage(const OrderedJson& value) {
  return member_or_null(value, "cmd").is_object() &&
         (member_or_null(value, "bin").is_string() || member_or_null(value, "name").is_string());
}

OrderedJson tools_of_usage(const OrderedJson& specification) {
  OrderedJson tools = OrderedJson::array();
  std::string name = text(specification, "bin");
  if (name.empty()) name = text(specification, "name");
  std::string help = text(specification, "about_long");
  if (help.empty()) help = text(specification, "about");
  add_tools(member_or_null(specification, "cmd"), name, help, {}, tools);
  return tools;
}

}  // namespace sitter
