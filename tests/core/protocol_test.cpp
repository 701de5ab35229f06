#include "core/wire/protocol.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

TEST(ErrorCodeTest, IsReadFromTheErrorItself) {
  const std::string_view error = R"json({"message":"no","code":-32601})json";
  EXPECT_TRUE(has_code(error, ErrorCode::method_not_found));
  EXPECT_FALSE(has_code(error, ErrorCode::invalid_params));
  EXPECT_FALSE(has_code(R"json({"message":"no"})json", ErrorCode::method_not_found));
  EXPECT_FALSE(has_code("", ErrorCode::method_not_found));
}

TEST(ResultTypeTest, AResultWithoutATypeIsComplete) {
  EXPECT_TRUE(is_complete(""));
  EXPECT_TRUE(is_complete(R"json("complete")json"));
  EXPECT_TRUE(is_complete(R"json("\u0063omplete")json"));
  EXPECT_FALSE(is_complete(R"json("input_required")json"));
  EXPECT_FALSE(is_complete("null"));
}

TEST(MetaTest, EachNameBeginsWithThePrefix) {
  for (const std::string_view name :
       {kMetaVersion, kMetaClientInfo, kMetaClientCapabilities, kMetaServerInfo, kMetaStream}) {
    EXPECT_TRUE(name.starts_with(kMetaPrefix)) << name;
  }
}

}  // namespace
}  // namespace sitter
