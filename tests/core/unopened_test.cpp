#include "core/child/unopened.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace sitter {
namespace {

std::string raw_error(int code, const std::string& message) {
  return nlohmann::json{{"code", code}, {"message", message}}.dump();
}

TEST(ReadsAsUnopenedTest, ServersSayItInManyWays) {
  for (const std::string& error :
       {raw_error(-32002, "Server not initialized"),
        raw_error(-32603, "Received request before initialization was complete"),
        raw_error(0, "method is invalid during session initialization"),
        raw_error(-32000, "Client must be initialised first"),
        raw_error(-32602, "Invalid request parameters"), raw_error(-32600, "Invalid Request")}) {
    EXPECT_TRUE(reads_as_unopened(error)) << error;
  }
}

TEST(ReadsAsUnopenedTest, OtherErrorsSayNothingOfTheKind) {
  for (const std::string& error :
       {raw_error(-32602, "Unknown tool: add"), raw_error(-32601, "Method not found"),
        raw_error(-32603, "Internal error"), raw_error(-32602, "Invalid request parameters: x"),
        std::string("{}"), std::string("7")}) {
    EXPECT_FALSE(reads_as_unopened(error)) << error;
  }
}

}  // namespace
}  // namespace sitter
