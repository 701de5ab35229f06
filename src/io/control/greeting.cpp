#include "io/control/greeting.hpp"

#include <nlohmann/json.hpp>

namespace sitter {

std::string greeting(const BridgeConfig& config, const std::string& name,
                     const std::optional<std::string>& folder) {
  nlohmann::ordered_json hello;
  hello["version"] = config.sitter_version;
  hello["name"] = name;
  hello["cwd"] = folder.value_or("");
  hello["command"] = config.command;
  hello["args"] = config.arguments;
  return hello.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace sitter
