#include "core/wire/answer_defect.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/base/json_text.hpp"
#include "sitter/bytes.hpp"
#include "sitter/line.hpp"

namespace sitter {
namespace {

/// What is wrong with an answer that has these members beside its id.
std::string defect_of(const std::string& members) {
  const OwnedLine line(R"json({"jsonrpc":"2.0","id":1,)json" + members + "}");
  MessageReader reader;
  const Message* const message = reader.read(line.line());
  return message == nullptr ? "not read: " + reader.defect().what : answer_defect(*message);
}

TEST(AnswerDefectTest, WhatClientsTakeHasNone) {
  for (const char* members :
       {R"json("result":{})json", R"json("result":{"_meta":{},"a":[1.5e3,null,"NaN"]})json",
        R"json("result":{"_metadata":null})json",
        R"json("result":{"_meta":{"progressToken":1,"a":null}})json",
        R"json("result":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}})json",
        R"json("error":{"code":-9007199254740991,"message":""})json",
        R"json("error":{"code":-32000,"message":""})json",
        R"json("error":{"code":1.0,"message":"x","data":null,"more":1})json"}) {
    EXPECT_EQ(defect_of(members), "") << members;
  }
}

TEST(AnswerDefectTest, WhatClientsThrowAwayIsNamed) {
  struct Row {
    const char* members;
    const char* defect;
  };
  const std::string python =
      ", which JSON does not have (Python's json.dumps writes it, and refuses it with "
      "allow_nan=False)";
  for (const Row& row : {
           Row{R"json("result":null)json", "its result is null, and must be an object"},
           Row{R"json("result":"x")json", "its result is a string, and must be an object"},
           Row{R"json("result":[])json", "its result is an array, and must be an object"},
           Row{R"json("result":true)json", "its result is true, and must be an object"},
           Row{R"json("result":1)json", "its result is a number, and must be an object"},
           Row{R"json("result":{},"error":null)json", "it has both a result and an error"},
           Row{R"json("result":{"_meta":null})json",
               "its member result._meta is null, and must be an object"},
           Row{R"json("error":"bad")json", "its error is a string, and must be an object"},
           Row{R"json("error":{"message":"x"})json",
               "its member error.code has no value, and must be an integer"},
           Row{R"json("error":{"code":"1","message":"x"})json",
               "its member error.code is a string, and must be an integer"},
           Row{R"json("error":{"code":1.5,"message":"x"})json",
               "its member error.code is 1.5, and must be an integer that a client in JavaScript "
               "can "
               "hold"},
           Row{R"json("error":{"code":9007199254740992,"message":"x"})json",
               "its member error.code is 9007199254740992, and must be an integer that a client in "
               "JavaScript can hold"},
           Row{R"json("result":{"_meta":{"progressToken":null}})json",
               "its member result._meta.progressToken is null, and must be a string or an integer"},
           Row{R"json("result":{"_meta":{"io.modelcontextprotocol/related-task":{}}})json",
               "its member result._meta[\"io.modelcontextprotocol/related-task\"] has no taskId"},
           Row{R"json("error":{"code":1})json",

               "its member error.message has no value, and must be a string"},
           Row{R"json("error":{"code":1,"message":null})json",
               "its member error.message is null, and must be a string"},
           Row{R"json("result":{"a":[1,]})json", "result.a is not valid JSON"},
           Row{R"json("error":{"code":01,"message":"x"})json", "error.code is not valid JSON"},
       }) {
    EXPECT_EQ(defect_of(row.members), row.defect) << row.members;
  }
  EXPECT_EQ(defect_of(R"json("result":{"content":[],"structuredContent":{"a":[0,NaN]}})json"),
            "it has NaN at result.structuredContent.a[1]" + python);
  EXPECT_EQ(defect_of(R"json("result":{"a":-Infinity})json"),
            "it has -Infinity at result.a" + python);
}

TEST(AnswerDefectTest, ALargeResultIsReadOnlyForNaNAndMeta) {
  for (const std::size_t size : {64 * limits::kKiB, 1 * limits::kMiB}) {
    const std::string text = "\"" + std::string(size, 'x') + "\"";
    EXPECT_EQ(defect_of("\"result\":{\"NaN\":" + text + "}"), "");
    EXPECT_NE(defect_of("\"result\":{\"a\":" + text + ",\"b\":NaN}"), "");
    EXPECT_NE(defect_of("\"result\":{\"a\":" + text + ",\"_meta\":null}"), "");
    EXPECT_NE(defect_of("\"result\":{\"_meta\":null,\"a\":" + text + "}"), "");
  }
}

TEST(AnswerDefectTest, TheDepthIsLimited) {
  const std::string open(10'000, '[');
  EXPECT_NE(defect_of("\"result\":{\"a\":" + open + "NaN" + std::string(10'000, ']') + "}"), "");
}

TEST(AnswerDefectTest, AnIdHasOneSpellingOfTheOtherType) {
  EXPECT_EQ(id_of_other_type("7"), "\"7\"");
  EXPECT_EQ(id_of_other_type("\"7\""), "7");
  EXPECT_EQ(id_of_other_type("\"a\""), "");
  EXPECT_EQ(id_of_other_type("null"), "");
}

}  // namespace
}  // namespace sitter
