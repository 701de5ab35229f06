#include "core/report/tool_json.hpp"

#include <nlohmann/json.hpp>

namespace sitter {

std::string indented(const ToolJson& json) {
  return json.dump(2, ' ', false, ToolJson::error_handler_t::replace);
}

}  // namespace sitter
