#include "core/wire/protocol.hpp"

#include <gtest/gtest.h>

#include "core/wire/method.hpp"
#include "core/wire/reply.hpp"

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

TEST(MethodTest, EveryMethodHasOneName) {
  for (int number = 1; number <= static_cast<int>(Method::subscriptions_acknowledged); ++number) {
    const Method method = static_cast<Method>(number);
    EXPECT_NE(method_name(method), "") << number;
    EXPECT_EQ(method_of(method_name(method)), method);
  }
  EXPECT_EQ(method_of("tools/List"), Method::other);
  EXPECT_EQ(method_name(Method::other), "");
}

TEST(ReplyTest, MembersStandInTheUsualOrder) {
  EXPECT_EQ(result_line("7", "{}"), R"json({"jsonrpc":"2.0","id":7,"result":{}})json");
  EXPECT_EQ(error_line("\"a\"", ErrorCode::internal_error, "no"),
            R"json({"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"no"}})json");
  EXPECT_EQ(request_line("7", "tools/list", "{}"),
            R"json({"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}})json");
  EXPECT_EQ(request_line("7", "ping"), R"json({"jsonrpc":"2.0","id":7,"method":"ping"})json");
  EXPECT_EQ(notification_line("notifications/x"),
            R"json({"jsonrpc":"2.0","method":"notifications/x"})json");
  EXPECT_EQ(notification_line("notifications/x", "[]"),
            R"json({"jsonrpc":"2.0","method":"notifications/x","params":[]})json");
}

TEST(ReplyTest, AnErrorMayBeWithoutAnIdAndWithData) {
  EXPECT_EQ(error_line("", ErrorCode::parse_error, "no", "{\"a\":1}"),
            R"json({"jsonrpc":"2.0","error":{"code":-32700,"message":"no","data":{"a":1}}})json");
}

TEST(ReplyTest, TheCodesAreThoseOfTheProtocol) {
  EXPECT_EQ(static_cast<int>(ErrorCode::parse_error), -32700);
  EXPECT_EQ(static_cast<int>(ErrorCode::invalid_request), -32600);
  EXPECT_EQ(static_cast<int>(ErrorCode::method_not_found), -32601);
  EXPECT_EQ(static_cast<int>(ErrorCode::invalid_params), -32602);
  EXPECT_EQ(static_cast<int>(ErrorCode::internal_error), -32603);
}

TEST(ReplyTest, ATextIsOneBlock) {
  EXPECT_EQ(tool_text("a\n\"b\" \xC3\xBC", false),
            "{\"content\":[{\"type\":\"text\",\"text\":\"a\\n\\\"b\\\" \xC3\xBC\"}]}");
  EXPECT_EQ(tool_text("", true),
            R"json({"content":[{"type":"text","text":""}],"isError":true})json");
}

TEST(ReplyTest, AResultOfTheStatelessRevisionSaysThatItIsComplete) {
  EXPECT_EQ(complete("{}", R"json("m":1)json"),
            R"json({"resultType":"complete","_meta":{"m":1}})json");
  EXPECT_EQ(complete(R"json({"a":1})json", R"json("m":1)json"),
            R"json({"resultType":"complete","_meta":{"m":1},"a":1})json");
  EXPECT_EQ(complete_list(R"json({"tools":[]})json", R"json("m":1)json"),
            R"json({"resultType":"complete","_meta":{"m":1},"ttlMs":0,"cacheScope":"private",)json"
            R"json("tools":[]})json");
}

TEST(ReplyTest, AResultNamesWhoGivesIt) {
  EXPECT_EQ(
      server_info_member("1.2"),
      R"json("io.modelcontextprotocol/serverInfo":{"name":"mcp-sitter","version":"1.2"})json");
}

TEST(ReplyTest, ATextThatIsNoUtf8BecomesValid) {
  EXPECT_EQ(text_block("\xff"), "{\"type\":\"text\",\"text\":\"\xEF\xBF\xBD\"}");
}

TEST(ReplyTest, ACancellationNamesTheRequestAndPerhapsWhy) {
  EXPECT_EQ(
      cancelled_line("\"a\""),
      R"json({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}})json");
  EXPECT_EQ(cancelled_line("7", "it is \"gone\""),
            R"json({"jsonrpc":"2.0","method":"notifications/cancelled","params":)json"
            R"json({"requestId":7,"reason":"it is \"gone\""}})json");
}

}  // namespace
}  // namespace sitter
