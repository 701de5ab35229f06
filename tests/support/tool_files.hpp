#pragma once

#include <string>

namespace sitter::testing {

/// An example of a file from which fake-mcp takes its tools.
inline const std::string kOneTool = R"json([{"name":"echo","inputSchema":{"type":"object"}}])json";
inline const std::string kTwoTools = R"json([{"name":"echo","inputSchema":{"type":"object"}},)json"
                                     R"json({"name":"find","inputSchema":{"type":"object"}}])json";

}  // namespace sitter::testing
