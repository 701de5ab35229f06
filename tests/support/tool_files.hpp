#pragma once

#include <string>

namespace sitter::testing {

/// What a file may hold that fake-mcp takes its tools from.
inline const std::string kOneTool = R"json([{"name":"echo","inputSchema":{"type":"object"}}])json";
inline const std::string kTwoTools = R"json([{"name":"echo","inputSchema":{"type":"object"}},)json"
                                     R"json({"name":"find","inputSchema":{"type":"object"}}])json";

}  // namespace sitter::testing
