#include "sitter/bytes.hpp"
#include "support/stateless_script.hpp"

namespace sitter {
namespace {

/// Clients of 2026-07-28 reject a result without a type that they know.
class BridgeResultTypeTest : public StatelessTest {
 protected:
  /// What the client gets if the child answers a request of this method with this.
  std::string answered(const std::string& method, const std::string& json) {
    client(enveloped(++id_, method, method == "tools/call" ? R"json("name":"echo")json" : ""));
    done();
    child(1, result(id_, json));
    return answer()["result"].dump();
  }
  std::string told() {
    client(enveloped_call(++id_, "echo"));
    done();
    child(1, result(id_, complete_text("x")));
    return answer_text_of_first();
  }

  int id_ = 10;
};

TEST_F(BridgeResultTypeTest, AResultWithoutATypeIsMadeComplete) {
  serve_session();
  for (const std::string method : {"tools/call", "resources/read", "vendor/x"}) {
    for (const std::string type : {"", R"json("resultType":null,)json"}) {
      EXPECT_EQ(answered(method, "{" + type + R"json("structuredContent":1,"contents":[]})json"),
                R"json({"contents":[],"resultType":"complete","structuredContent":1})json");
    }
  }
  EXPECT_EQ(answered("vendor/x", "{}"), R"json({"resultType":"complete"})json");
  const std::string text = told();
  EXPECT_THAT(text, HasSubstr("lint: tools/call: the result has no member `resultType`, so clients "
                              "reject the result; mcp-sitter makes it \"complete\""));
  EXPECT_THAT(text, HasSubstr("lint: resources/read: resultType is null"));
  EXPECT_THAT(text, HasSubstr("lint: another request: "));
}

TEST_F(BridgeResultTypeTest, AnUnknownTypeIsOnlyNamed) {
  serve_session();
  const std::string foo = R"json({"content":[],"resultType":"foo"})json";
  EXPECT_EQ(answered("tools/call", foo), foo);
  EXPECT_THAT(told(),
              HasSubstr("lint: tools/call: resultType is \"foo\", so clients reject the result"));
}

TEST_F(BridgeResultTypeTest, AKnownTypePasses) {
  serve_session();
  for (const std::string type : {"complete", "input_required", "task"}) {
    const std::string json = R"json({"content":[],"resultType":")json" + type + "\"}";
    EXPECT_EQ(answered("tools/call", json), json);
  }
  EXPECT_EQ(told(), "x");
}

TEST_F(BridgeResultTypeTest, AListIsCompleteWhateverItsType) {
  serve_session();
  for (const std::string type : {"", R"json("resultType":null,)json", R"json("resultType":7,)json",
                                 R"json("resultType":"foo",)json"}) {
    client(enveloped(++id_, "tools/list"));
    child(1, result(id_, "{" + type + R"json("tools":[],"ttlMs":0,"cacheScope":"private"})json"));
    const auto list = answer()["result"];
    EXPECT_EQ(list["resultType"], "complete");
    EXPECT_EQ(list["tools"][0]["name"], "sitter_status");
  }
  EXPECT_THAT(told(), HasSubstr("lint: tools/list: the result has no member `resultType`"));
}

TEST_F(BridgeResultTypeTest, AListThatAsksFirstIsNoList) {
  serve_session();
  const std::string asks = R"json({"inputRequests":{"a":{}},"resultType":"input_required"})json";
  EXPECT_EQ(answered("prompts/list", asks), asks);
}

TEST_F(BridgeResultTypeTest, AResultOfASessionHasNoType) {
  server.is_stateless = false;
  open_session();
  client(call(1, "echo"));
  child(1, result(1, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(result(1, text_result("x"))));
}

TEST_F(BridgeResultTypeTest, EachResultPassesWithTheLintOff) {
  config.lints = false;
  serve_session();
  EXPECT_EQ(answered("tools/call", R"json({"content":[]})json"), R"json({"content":[]})json");
  EXPECT_EQ(answered("prompts/list", R"json({"prompts":null})json"), R"json({"prompts":null})json");
}

TEST_F(BridgeResultTypeTest, AResultOfMoreThan64KiBPasses) {
  serve_session();
  const auto padded = [](std::size_t size) {
    std::string json = R"json({"a":""})json";
    return json.insert(6, size - json.size(), 'x');
  };
  EXPECT_THAT(answered("vendor/x", padded(64 * limits::kKiB)), HasSubstr("resultType"));
  EXPECT_THAT(answered("vendor/x", padded(64 * limits::kKiB + 1)), Not(HasSubstr("resultType")));
}

}  // namespace
}  // namespace sitter
