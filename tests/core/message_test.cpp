#include "core/wire/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/wire/salvage.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Kind = Message::Kind;

class MessageTest : public ::testing::Test {
 protected:
  const Message* read(std::string_view text) {
    owned_ = OwnedLine(text);
    return reader_.read(owned_.line());
  }

  /// The kind of the defect, and the id that was found in spite of it.
  std::pair<Defect::Kind, std::string> defect(std::string_view text) {
    EXPECT_EQ(read(text), nullptr) << text;
    EXPECT_NE(reader_.defect().what, "");
    return {reader_.defect().kind, reader_.defect().id};
  }

  OwnedLine owned_;
  MessageReader reader_;
};

TEST_F(MessageTest, ARequest) {
  const Message* const message =
      read(R"json({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}})json");
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->kind, Kind::request);
  EXPECT_EQ(message->method, Method::tools_call);
  EXPECT_EQ(message->method_text, "tools/call");
  EXPECT_EQ(message->id, "7");
  EXPECT_EQ(message->params_raw, R"json({"name":"x"})json");
  EXPECT_EQ(message->params.name_text, "x");
}

TEST_F(MessageTest, ANotification) {
  const Message* const message =
      read(R"json({"method":"notifications/vendor","jsonrpc":"2.0"})json");
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->kind, Kind::notification);
  EXPECT_EQ(message->method, Method::other);
  EXPECT_EQ(message->params_raw, "");
}

TEST_F(MessageTest, AResultAndAnError) {
  const Message* message = read(R"json({"result" : [1, 2] , "id":"a", "jsonrpc":"2.0"})json");
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->kind, Kind::result);
  EXPECT_EQ(message->result, "[1, 2]");
  EXPECT_EQ(message->id, "\"a\"");
  message = read(R"json({"jsonrpc":"2.0","error":{"code":-1},"id":null})json");
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->kind, Kind::error);
  EXPECT_EQ(message->error, "{\"code\":-1}");
  EXPECT_EQ(message->id, "");
}

TEST_F(MessageTest, WhatIsRawHasNoWhiteSpaceAroundIt) {
  const Message* message = read(
      "{ \"params\" : { \"arguments\" : { } , \"cursor\" : \"c\" }\t, \"id\" : 7 , \"method\" : "
      "\"x\" , \"jsonrpc\" : \"2.0\" }");
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->id, "7");
  EXPECT_EQ(message->params_raw, "{ \"arguments\" : { } , \"cursor\" : \"c\" }");
  EXPECT_EQ(message->params.cursor, "\"c\"");
  message = read("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{ } \t}");
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->result, "{ }");
  message = read("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[ ] \t}");
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->result, "[ ]");
  message = read("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\": 7 \t}");
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->result, "7");
}

TEST_F(MessageTest, ReadsTheKnownParams) {
  const Message* const message = read(
      R"json({"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a\u00fc","arguments":[1],)json"
      R"json("_meta":{"progressToken":1.0,"more":{}},"progressToken":"p","requestId":9,"cursor":null,)json"
      R"json("uri":"a:b","level":"info","protocolVersion":"v","task":{},"other":{"name":"no"}}})json");
  ASSERT_NE(message, nullptr);
  const Message::Params& params = message->params;
  EXPECT_EQ(params.name_text, "a\xC3\xBC");
  EXPECT_EQ(params.meta_progress_token, "1.0");
  EXPECT_EQ(params.progress_token, "\"p\"");
  EXPECT_EQ(params.request_id, "9");
  EXPECT_EQ(params.cursor, "null");
  EXPECT_EQ(params.uri, "\"a:b\"");
  EXPECT_EQ(params.level, "\"info\"");
  EXPECT_EQ(params.protocol_version, "\"v\"");
  EXPECT_TRUE(params.has_task);
}

TEST_F(MessageTest, ATaskThatIsNullIsNone) {
  const Message* const message =
      read(R"json({"jsonrpc":"2.0","id":1,"method":"x","params":{"task":null}})json");
  ASSERT_NE(message, nullptr);
  EXPECT_FALSE(message->params.has_task);
}

TEST_F(MessageTest, ParamsOfAnyTypePass) {
  for (const std::string params : {"[]", "\"text\"", "7", "null", "[{\"name\":\"x\"}]"}) {
    const Message* const message =
        read(R"json({"jsonrpc":"2.0","id":1,"method":"x","params":)json" + params + "}");
    ASSERT_NE(message, nullptr) << params;
    EXPECT_EQ(message->params_raw, params);
    EXPECT_EQ(message->params.name_text, "");
  }
}

TEST_F(MessageTest, ParamsOfAnotherTypeThanExpectedPass) {
  const Message* const message = read(
      R"json({"jsonrpc":"2.0","id":1,"method":"x","params":{"name":7,"_meta":[],"cursor":{"a":1}}})json");
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->params.name_text, "");
}

TEST_F(MessageTest, KeepsNothingOfThePreviousMessage) {
  read(R"json({"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","task":{}}})json");
  const Message* const message = read(R"json({"jsonrpc":"2.0","id":2,"result":1})json");
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->method_text, "");
  EXPECT_EQ(message->params.name_text, "");
  EXPECT_FALSE(message->params.has_task);
}

TEST_F(MessageTest, OfDuplicateKeysTheLastCounts) {
  const Message* const message = read(
      R"json({"jsonrpc":"2.0","id":1,"method":"y","id":2,"method":"x","params":{"name":"a","name":"b"}})json");
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->id, "2");
  EXPECT_EQ(message->method_text, "x");
  EXPECT_EQ(message->params.name_text, "b");
}

TEST_F(MessageTest, EscapedKeysAreKeys) {
  const Message* const message =
      read(R"json({"jsonrpc":"2.0","\u0069d":5,"m\u0065thod":"tools\/list"})json");
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->id, "5");
  EXPECT_EQ(message->method, Method::tools_list);
}

TEST_F(MessageTest, DepthDoesNotMatter) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_NE(
      read(R"json({"jsonrpc":"2.0","id":1,"method":"x","params":{"arguments":)json" + deep + "}}"),
      nullptr);
  EXPECT_NE(read(R"json({"jsonrpc":"2.0","id":1,"result":)json" + deep + "}"), nullptr);
  EXPECT_NE(read(R"json({"x":)json" + deep + R"json(,"jsonrpc":"2.0","id":1,"result":1})json"),
            nullptr);
}

TEST_F(MessageTest, NumbersOfAnyLengthAndLoneSurrogatesPass) {
  EXPECT_NE(
      read(
          R"json({"jsonrpc":"2.0","id":1,"result":{"n":1234567890123456789012345678901234567890e-999,"s":"\ud83d"}})json"),
      nullptr);
}

TEST_F(MessageTest, AReaderThatReadALargeLineReadsSmallOnes) {
  EXPECT_NE(read(R"json({"jsonrpc":"2.0","id":1,"result":")json" +
                 std::string(2 * limits::kMiB, 'x') + "\"}"),
            nullptr);
  EXPECT_NE(read(R"json({"jsonrpc":"2.0","id":1,"result":1})json"), nullptr);
}

TEST_F(MessageTest, DefectsAreToldApart) {
  using K = Defect::Kind;
  EXPECT_EQ(defect("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"),
            std::pair(K::not_utf8, std::string("1")));
  EXPECT_EQ(defect("hello"), std::pair(K::not_json, std::string()));
  EXPECT_EQ(defect(R"json({"jsonrpc":"2.0","id":1)json"), std::pair(K::not_json, std::string("1")));
  EXPECT_EQ(defect("{} {}"), std::pair(K::not_json, std::string()));
  EXPECT_EQ(defect("[{\"id\":1}]"), std::pair(K::batch, std::string()));
  EXPECT_EQ(defect("7"), std::pair(K::not_an_object, std::string()));
  EXPECT_EQ(defect("\"x\""), std::pair(K::not_an_object, std::string()));
  EXPECT_EQ(defect("null"), std::pair(K::not_an_object, std::string()));
  EXPECT_EQ(defect(R"json({"id":1,"method":"x"})json"),
            std::pair(K::not_json_rpc, std::string("1")));
  EXPECT_EQ(defect(R"json({"jsonrpc":2.0,"id":1,"method":"x"})json"),
            std::pair(K::not_json_rpc, std::string("1")));
  EXPECT_EQ(defect(R"json({"jsonrpc":"2.0","id":1,"method":{}})json"),
            std::pair(K::not_json_rpc, std::string("1")));
  EXPECT_EQ(defect(R"json({"jsonrpc":"2.0","id":1})json"),
            std::pair(K::not_json_rpc, std::string("1")));
  EXPECT_EQ(defect(R"json({"jsonrpc":"2.0","id":null,"method":"x"})json"),
            std::pair(K::not_json_rpc, std::string()));
  EXPECT_EQ(defect(R"json({"jsonrpc":"2.0","id":null,"result":1})json"),
            std::pair(K::not_json_rpc, std::string()));
  EXPECT_EQ(defect(R"json({"jsonrpc":"2.0","result":1})json"),
            std::pair(K::not_json_rpc, std::string()));
}

TEST_F(MessageTest, AnIdIsAStringOrANumber) {
  for (const std::string id :
       {"true", "{}", "[]", "[1]", "01", "1.", ".5", "+1", "-", "1e", "0x1", "nan"}) {
    EXPECT_EQ(read(R"json({"jsonrpc":"2.0","id":)json" + id + R"json(,"method":"x"})json"), nullptr)
        << id;
  }
  for (const std::string id :
       {"0", "-1", "1.5", "1e400", "-0", "\"\"", "12345678901234567890", "1E+2"}) {
    const Message* const message =
        read(R"json({"jsonrpc":"2.0","id":)json" + id + R"json(,"method":"x"})json");
    ASSERT_NE(message, nullptr) << id;
    EXPECT_EQ(message->id, id);
  }
}

TEST(MessageReaderTest, EscapesAreChecked) {
  for (const std::string escape :
       {R"(\")", R"(\\)", R"(\/)", R"(\b\f\n\r\t)", R"(\u00fC)", R"(\ud83d)"}) {
    const OwnedLine line(R"json({"jsonrpc":"2.0","id":1,"result":{"a":")json" + escape + "\"}}");
    MessageReader reader;
    EXPECT_NE(reader.read(line.line()), nullptr) << escape;
  }
  for (const std::string escape : {R"(\q)", R"(\u12)", R"(\u12g4)", R"(\\\q)"}) {
    const OwnedLine line(R"json({"jsonrpc":"2.0","id":1,"result":{"a":")json" + escape + "\"}}");
    MessageReader reader;
    EXPECT_EQ(reader.read(line.line()), nullptr) << escape;
    EXPECT_EQ(reader.defect().kind, Defect::Kind::not_json);
    EXPECT_EQ(reader.defect().id, "1");
  }
}

TEST(LenientIdTest, TheIdOfTheTopLevelIsFoundFromTheStart) {
  EXPECT_EQ(lenient_id(R"json({"jsonrpc":"2.0","id":7,"result":{"a)json"), "7");
  EXPECT_EQ(lenient_id(R"json( [ { "id" : "a\"b" , )json"), R"json("a\"b")json");
  EXPECT_EQ(lenient_id(R"json({"params":{"id":1,"x":[{"id":2}]},"id":3)json"), "3");
  EXPECT_EQ(lenient_id(R"json({"x":"\"id\":9","id":4)json"), "4");
  EXPECT_EQ(lenient_id(R"json({"x":"id","id":5})json"), "5");
}

TEST(LenientIdTest, WithoutAnIdNoneIsFound) {
  for (const std::string text :
       {"", "id", "{", "{\"id\"", "{\"id\":", "{\"id\":}", "{\"id\":null}", "{\"id\":tru",
        "{\"id\":{}}", "{\"id\":\"unclosed", "{\"params\":{\"id\":1", "got {\"id\":1,"}) {
    EXPECT_EQ(lenient_id(text), "") << text;
  }
}

TEST(LenientIdTest, SearchesFromTheEndIfTheStartIsBroken) {
  EXPECT_EQ(lenient_id(R"json({"result":{"a":"x},"jsonrpc":"2.0","id":1})json"), "1");
  EXPECT_EQ(lenient_id(R"json({"result":{"a":[1,2},"jsonrpc":"2.0","id":"b"})json"), "\"b\"");
  EXPECT_EQ(lenient_id(R"json({"result":{}},"jsonrpc":"2.0","id":3})json"), "3");
  EXPECT_EQ(lenient_id(R"json(y"},"jsonrpc":"2.0","id":4})json"), "4");
}

TEST(LenientIdTest, TheIdAtTheVeryEndIsFound) {
  EXPECT_EQ(lenient_id("{", R"json(xxx"},"id":5})json"), "5");
  EXPECT_EQ(lenient_id("{", R"json(xxx"},"id" : "a" } )json"), "\"a\"");
  for (const std::string text : {"", "5}", "\"id\":5}", "x\"id\":5}", ",\"id\":5,\"x\":1}",
                                 ",\"id\":5}}", ",\"id\":5", ",\"id\":{}}"}) {
    EXPECT_EQ(lenient_id("{", text), "") << text;
  }
}

std::vector<std::string_view> texts_in(std::string_view line) {
  return texts_around(split_objects(line), line);
}

TEST(SplitTest, ObjectsAndTheTextAroundThem) {
  const std::string line = " a {\"x\":\"}\"} b{}, [c] {\"y\":{}} ";
  EXPECT_THAT(split_objects(line), ElementsAre("{\"x\":\"}\"}", "{}", "{\"y\":{}}"));
  EXPECT_THAT(texts_in(line), ElementsAre("a", "b", ", [c]"));
}

TEST(SplitTest, ArrayBracketsAndCommasAreNotText) {
  const std::string line = " [ {} , {}\t] ";
  EXPECT_THAT(split_objects(line), ElementsAre("{}", "{}"));
  EXPECT_THAT(texts_in(line), IsEmpty());
}

TEST(SplitTest, WithoutAnObjectAllIsText) {
  EXPECT_THAT(texts_in(" [] "), ElementsAre("[]"));
  EXPECT_THAT(texts_in("{ {"), ElementsAre("{ {"));
  EXPECT_THAT(split_objects("{ {"), IsEmpty());
  std::string many = "x";
  for (std::size_t count = 0; count <= limits::kBatchCountMax; ++count) many += "{}";
  EXPECT_THAT(split_objects(many), SizeIs(limits::kBatchCountMax));
  EXPECT_THAT(texts_around(split_objects(many), many), ElementsAre("x", "{}"));
}

TEST(SplitTest, AnObjectInsideAnUnclosedOneIsNotSplitOff) {
  for (const std::string line :
       {R"json({"id":1,"result":{"a":{}})json", R"json({"a":[{},{})json"}) {
    EXPECT_THAT(split_objects(line), IsEmpty()) << line;
    EXPECT_THAT(texts_in(line), ElementsAre(line));
  }
  EXPECT_THAT(split_objects("{mode {\"a\":1}"), ElementsAre("{\"a\":1}"));
}

TEST(SplitTest, BracesThatNeverCloseAreTriedUpToABound) {
  EXPECT_THAT(split_objects(std::string(15, '{') + "{}"), ElementsAre("{}"));
  EXPECT_THAT(split_objects(std::string(16, '{') + "{}"), IsEmpty());
  const std::string large = "{\"a\":\"" + std::string(8 * limits::kMiB, 'x') + "\"}";
  EXPECT_THAT(split_objects("{ { " + large), SizeIs(1));
  EXPECT_THAT(split_objects("{ { { " + large), IsEmpty());
}

TEST(LooksLikeAnswerTest, AnAnswerIsToldFromARequestAndALogLine) {
  EXPECT_TRUE(looks_like_answer(R"json({"id":1,"result":{)json"));
  EXPECT_TRUE(looks_like_answer(R"json({"id":1,"error":{"message":"method)json"));
  EXPECT_TRUE(looks_like_answer(R"json({"jsonrpc":"2.0","id":1)json"));
  EXPECT_FALSE(looks_like_answer(R"json({"method":"x","params":{"result":1)json"));
  EXPECT_FALSE(looks_like_answer(R"json({"level":"info","message":"x"})json"));
  EXPECT_FALSE(looks_like_answer("Server is listening"));
}

}  // namespace
}  // namespace sitter
