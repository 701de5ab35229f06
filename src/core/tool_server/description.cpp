#include "core/tool_server/description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/tool_server/usage_description.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// How much of a name or a value a complaint shows, in bytes.
constexpr std::size_t kFieldShownMax = 100;

/// The longest time that a tool may set for its calls. A longer one is a mistake in the unit.
constexpr double kTimeoutSecondsMax =
    std::chrono::duration<double>(limits::kCallTimeoutMax).count();

/// The members of a tool that say how it is run. The client gets all others.
constexpr std::array kOwnMembers{"cli_command", "stdin",         "env",         "cwd",
                                 "timeout",     "ok_exit_codes", "content_type"};

std::string written(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

const OrderedJson* member(const OrderedJson& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// A member of the tool itself, or of the function in it.
const OrderedJson* member(const OrderedJson& outer, const OrderedJson& inner, const char* key) {
  const OrderedJson* const found = member(outer, key);
  return found != nullptr ? found : member(inner, key);
}

/// Finds where a text stops being JSON.
class Scanner : public nlohmann::json_sax<OrderedJson> {
 public:
  std::size_t error_at() const { return error_at_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error_at_ = position;
    return false;
  }

 private:
  std::size_t error_at_ = 0;
};

/// Says what is wrong with a text that is no JSON.
std::string not_json(std::string_view text) {
  if (!text.starts_with('{') && !text.starts_with('[')) {
    return fmt::format("it is not JSON; it begins with {}, and only the JSON may stand on stdout",
                       json_string(brief(text, kFieldShownMax)));
  }
  Scanner scanner;
  OrderedJson::sax_parse(text.begin(), text.end(), &scanner);
  // The position is that of the first byte that was too much, counted from 1.
  const std::size_t at = std::min(scanner.error_at(), text.size() + 1);
  const std::string_view before = text.substr(0, at == 0 ? 0 : at - 1);
  const std::size_t begin = before.rfind('\n') + 1;
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  return fmt::format("it is not JSON; line {} has a mistake at character {}: {}",
                     std::count(before.begin(), before.end(), '\n') + 1, before.size() - begin + 1,
                     json_string(brief(line, kFieldShownMax)));
}

/// "{text}, {tag}"
std::string places(const std::set<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back('{' + brief(name, kFieldShownMax) + '}');
  return fmt::format("{}", fmt::join(shown, ", "));
}

/// Reads one tool. Stops at the first thing that is wrong.
class ToolReader {
 public:
  ToolReader(const OrderedJson& outer, const OrderedJson& inner, const ToolNames& tool_names)
      : outer_(outer), inner_(inner), tool_names_(tool_names) {}

  std::variant<CliTool, Complaint> read() {
    const OrderedJson* const name = find("name");
    if (name == nullptr || !name->is_string() || name->get_ref<const std::string&>().empty()) {
      return Complaint{"it has no name"};
    }
    const OrderedJson* parameters = find("inputSchema");
    if (parameters == nullptr) {
      parameters = find("parameters");
    } else if (find("parameters") != nullptr) {
      return Complaint{"it has both inputSchema and parameters: leave out one of them"};
    }
    static const OrderedJson kNone = OrderedJson{{"type", "object"}};
    if (parameters == nullptr) parameters = &kNone;
    if (!parameters->is_object()) return Complaint{"parameters is not a JSON Schema object"};
    if (const OrderedJson* const properties = member(*parameters, "properties")) {
      for (const auto& one : properties->items()) known_.insert(one.key());
    }

    CliTool tool{name->get<std::string>(),
                 listed(*parameters),
                 JsonSchema(written(of_object(*parameters))),
                 {},
                 {}};
    if (const OrderedJson* const output = find("outputSchema");
        output != nullptr && output->is_object()) {
      tool.output.emplace(written(of_object(*output)));
    }
    check_passed_on();
    read_command(tool);
    read_input(tool);
    read_environment(tool);
    read_cwd(tool);
    read_timeout(tool);
    read_exit_codes(tool);
    read_content_type(tool);
    if (complaint_) return *std::move(complaint_);
    return tool;
  }

 private:
  const OrderedJson* find(const char* key) const { return member(outer_, inner_, key); }

  void complain(std::string text) {
    if (!complaint_) complaint_ = {std::move(text)};
  }

  std::string listed(const OrderedJson& parameters) const {
    OrderedJson shown = OrderedJson::object();
    const auto add = [&](const OrderedJson& object) {
      for (const auto& [key, value] : object.items()) {
        const bool is_own =
            std::find(kOwnMembers.begin(), kOwnMembers.end(), key) != kOwnMembers.end();
        const bool is_form = key == "function" || key == "type" || key == "strict" ||
                             key == "parameters" || key == "inputSchema";
        if (!is_own && !is_form && !shown.contains(key)) shown[key] = value;
      }
    };
    add(outer_);
    if (&inner_ != &outer_) add(inner_);
    shown["inputSchema"] = of_object(parameters);
    if (const auto output = shown.find("outputSchema"); output != shown.end()) {
      *output = of_object(*output);
    }
    return written(shown);
  }

  /// Clients refuse a schema that does not say that it is that of an object.
  static OrderedJson of_object(OrderedJson schema) {
    if (schema.is_object() && !schema.contains("type")) schema["type"] = "object";
    return schema;
  }

  /// Clients refuse all tools if one of them has a member of another type.
  void check_passed_on() {
    for (const char* const key : {"title", "description"}) {
      const OrderedJson* const text = find(key);
      if (text != nullptr && !text->is_string()) complain(fmt::format("{} is not a string", key));
    }
    for (const char* const key : {"outputSchema", "annotations", "execution", "_meta"}) {
      const OrderedJson* const object = find(key);
      if (object != nullptr && !object->is_object())
        complain(fmt::format("{} is not an object", key));
    }
    const OrderedJson* const icons = find("icons");
    if (icons != nullptr && !icons->is_array()) complain("icons is not a list");
    const OrderedJson* const output = find("outputSchema");
    const OrderedJson* const type = output == nullptr ? nullptr : member(*output, "type");
    if (type != nullptr && *type != "object") {
      complain("outputSchema is not of the type object");
    }
  }

  void check_names(const char* where, const std::set<std::string>& names) {
    for (const std::string& name : names) {
      if (known_.contains(name)) continue;
      const std::string of = known_.empty()
                                 ? "its schema has no properties"
                                 : fmt::format("the parameters have {}", fmt::join(known_, ", "));
      complain(fmt::format("{} has {}, and {}", where, places({name}), of));
    }
  }

  void read_command(CliTool& tool) {
    const OrderedJson* const words = find("cli_command");
    if (words == nullptr) return complain("it has no cli_command, the list of the words to run");
    auto command = CommandTemplate::read(written(*words), known_);
    if (const auto* const complaint = std::get_if<Complaint>(&command)) {
      return complain("cli_command: " + complaint->text);
    }
    tool.command = std::get<CommandTemplate>(std::move(command));
    tool.command.drop_tool(tool_names_);
    check_names("cli_command", tool.command.names());
  }

  std::optional<TextTemplate> read_text(const char* where, const OrderedJson& value,
                                        bool allows_nul = false) {
    if (!value.is_string()) {
      complain(fmt::format("{} is not a string", where));
      return {};
    }
    if (!allows_nul && value.get_ref<const std::string&>().find('\0') != std::string::npos) {
      complain(fmt::format("{} has a NUL character", where));
      return {};
    }
    TextTemplate text = TextTemplate::read(value.get<std::string>(), known_);
    check_names(where, text.names());
    return text;
  }

  void read_input(CliTool& tool) {
    if (const OrderedJson* const input = find("stdin"))
      tool.input = read_text("stdin", *input, true);
  }

  void read_environment(CliTool& tool) {
    const OrderedJson* const variables = find("env");
    if (variables == nullptr) return;
    if (!variables->is_object()) return complain("env is not an object of names and values");
    for (const auto& [name, value] : variables->items()) {
      if (name.empty() || name.find('=') != std::string::npos ||
          name.find('\0') != std::string::npos) {
        return complain(
            fmt::format("env: {} cannot be the name of a variable", brief(name, kFieldShownMax)));
      }
      auto text = read_text("env", value.is_number() ? OrderedJson(written(value)) : value);
      if (text) tool.environment.emplace_back(name, *std::move(text));
    }
  }

  void read_cwd(CliTool& tool) {
    if (const OrderedJson* const cwd = find("cwd")) tool.cwd = read_text("cwd", *cwd);
  }

  void read_timeout(CliTool& tool) {
    const OrderedJson* const timeout = find("timeout");
    if (timeout == nullptr) return;
    const double seconds = timeout->is_number() ? timeout->get<double>() : 0;
    if (!(seconds > 0 && seconds <= kTimeoutSecondsMax)) {
      return complain(
          fmt::format("timeout is {}; it must be a number of seconds above 0, and at most {}",
                      brief(written(*timeout), kFieldShownMax), kTimeoutSecondsMax));
    }
    tool.timeout = Milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000)));
  }

  void read_exit_codes(CliTool& tool) {
    const OrderedJson* const codes = find("ok_exit_codes");
    if (codes == nullptr) return;
    if (!codes->is_array()) return complain("ok_exit_codes is not a list of numbers");
    tool.ok_exit_codes = {0};
    for (const OrderedJson& code : *codes) {
      const std::int64_t number = code.is_number_integer() ? code.get<std::int64_t>() : -1;
      if (number < 0 || number > 255) {
        return complain(fmt::format("ok_exit_codes has {}, and an exit code is 0 to 255",
                                    brief(written(code), kFieldShownMax)));
      }
      tool.ok_exit_codes.insert(static_cast<int>(number));
    }
  }

  void read_content_type(CliTool& tool) {
    const OrderedJson* const type = find("content_type");
    if (type == nullptr) return;
    if (!type->is_string()) return complain("content_type is not a string");
    tool.content_type = type->get<std::string>();
  }

  const OrderedJson& outer_;
  const OrderedJson& inner_;
  const ToolNames& tool_names_;
  std::set<std::string> known_;
  std::optional<Complaint> complaint_;
};

/// The list of the tools, or null.
const OrderedJson* tools_in(const OrderedJson& value) {
  if (value.is_array()) return &value;
  if (!value.is_object()) return nullptr;
  for (const char* const key : {"tools", "functions"}) {
    if (const OrderedJson* const tools = member(value, key); tools != nullptr && tools->is_array())
      return tools;
  }
  const OrderedJson* const result = member(value, "result");
  return result == nullptr || !result->is_object() ? nullptr : tools_in(*result);
}

std::variant<Description, Complaint> read_tools(const OrderedJson& tools,
                                                const std::string& version,
                                                const ToolNames& tool_names) {
  if (tools.size() > limits::kDescribedToolsMax) {
    return Complaint{fmt::format("it has {} tools, and may have at most {}", tools.size(),
                                 limits::kDescribedToolsMax)};
  }
  Description description;
  description.version = version;
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const OrderedJson& outer = tools[i];
    if (!outer.is_object()) return Complaint{fmt::format("tool {} is not an object", i + 1)};
    const OrderedJson* const function = member(outer, "function");
    const OrderedJson& inner = function != nullptr && function->is_object() ? *function : outer;
    auto tool = ToolReader(outer, inner, tool_names).read();
    const OrderedJson* const name = member(outer, inner, "name");
    const std::string shown =
        name != nullptr && name->is_string()
            ? fmt::format("`{}`", brief(name->get<std::string>(), kFieldShownMax))
            : std::to_string(i + 1);
    if (const auto* const complaint = std::get_if<Complaint>(&tool)) {
      return Complaint{fmt::format("tool {}: {}", shown, complaint->text)};
    }
    CliTool& read = std::get<CliTool>(tool);
    if (description.find(read.name) != nullptr)
      return Complaint{fmt::format("tool {} is listed twice", shown)};
    for (const std::string& remark : read.arguments.unchecked()) {
      description.remarks.push_back(
          fmt::format("tool {}: {}, so it is not checked", shown, remark));
    }
    description.tools.push_back(std::move(read));
  }
  return description;
}

}  // namespace

const CliTool* Description::find(std::string_view name) const {
  const auto found = std::find_if(tools.begin(), tools.end(),
                                  [&](const CliTool& tool) { return tool.name == name; });
  return found == tools.end() ? nullptr : &*found;
}

std::variant<Description, Complaint> read_description(std::string_view text,
                                                      const ToolNames& tool_names) {
  const std::string_view trimmed = json_trimmed(text);
  if (trimmed.empty()) return Complaint{"it is empty"};
  if (is_nested_deeper(trimmed, limits::kNestingMax)) {
    return Complaint{fmt::format("it is nested deeper than {} levels", limits::kNestingMax)};
  }
  // The library takes a NUL for the end.
  if (trimmed.find('\0') != trimmed.npos)
    return Complaint{"it is not JSON; it has a NUL character"};
  const OrderedJson value = OrderedJson::parse(trimmed.begin(), trimmed.end(), nullptr, false);
  if (value.is_discarded()) return Complaint{not_json(trimmed)};
  std::string version;
  if (value.is_object()) {
    const OrderedJson* const said = member(value, "version");
    if (said != nullptr && said->is_string()) version = said->get<std::string>();
  }
  if (const OrderedJson* const tools = tools_in(value))
    return read_tools(*tools, version, tool_names);
  if (is_usage(value)) return read_tools(tools_of_usage(value), version, tool_names);
  return Complaint{
      "it has none of the forms that are known: {\"tools\":[...]}, a list of functions, or the "
      "JSON of `usage generate json`"};
}

}  // namespace sitter
