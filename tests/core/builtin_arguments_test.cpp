#include "core/report/builtin_arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sitter {
namespace {

using ::testing::HasSubstr;

std::string kill_error(std::string_view raw) {
  const auto parsed = parse_kill_arguments(raw);
  const auto* error = std::get_if<ArgumentError>(&parsed);
  return error ? *error : "";
}

std::string stderr_error(std::string_view raw) {
  const auto parsed = parse_stderr_arguments(raw);
  const auto* error = std::get_if<ArgumentError>(&parsed);
  return error ? *error : "";
}

StderrRing::Query query(std::string_view raw) {
  const auto parsed = parse_stderr_arguments(raw);
  const auto* query = std::get_if<StderrRing::Query>(&parsed);
  if (!query) ADD_FAILURE() << std::get<ArgumentError>(parsed);
  return query ? *query : StderrRing::Query{.lines = 0};
}

KillScope scope(std::string_view raw) {
  const auto parsed = parse_kill_arguments(raw);
  const auto* arguments = std::get_if<KillArguments>(&parsed);
  if (!arguments) ADD_FAILURE() << std::get<ArgumentError>(parsed);
  return arguments ? arguments->scope : KillScope::child;
}

TEST(KillArgumentsTest, AutoIsTheDefault) {
  for (const char* raw : {"", "null", "{}", "\"\"", R"json({"scope":null})json",
                          R"json({"scope":"","restart":""})json", R"json({"scope":"auto"})json"}) {
    EXPECT_EQ(scope(raw), KillScope::automatic) << raw;
  }
}

TEST(KillArgumentsTest, ScopesAreNamed) {
  EXPECT_EQ(scope(R"json({"scope":"child"})json"), KillScope::child);
  EXPECT_EQ(scope(R"json({"scope":"same-executable"})json"), KillScope::same_executable);
  EXPECT_EQ(kill_error(R"json({"scope":"all"})json"),
            "scope must be auto, child or same-executable");
  EXPECT_EQ(kill_error(R"json({"scope":1})json"), "scope must be a string");
}

TEST(KillArgumentsTest, AnUnknownArgumentIsNamed) {
  EXPECT_EQ(kill_error(R"json({"force\n":true})json"),
            "unknown argument force; known: scope, restart");
}

TEST(StderrArgumentsTest, DefaultsHold) {
  EXPECT_EQ(query(R"json({"lines":"","since_spawn":"","grep":"","generation":""})json").lines,
            200u);
  const StderrRing::Query plain = query("");
  EXPECT_EQ(plain.lines, 200u);
  EXPECT_FALSE(plain.since_spawn);
  EXPECT_EQ(plain.generation, std::nullopt);
  EXPECT_EQ(plain.grep, "");
}

TEST(StderrArgumentsTest, AllAreRead) {
  const auto all = query(R"json({"lines":7,"since_spawn":true,"grep":"a\\d","generation":3})json");
  EXPECT_EQ(all.lines, 7u);
  EXPECT_TRUE(all.since_spawn);
  EXPECT_EQ(all.generation, 3);
  EXPECT_EQ(all.grep, "a\\d");
}

TEST(StderrArgumentsTest, AWholeNumberMayBeSpelledInAnyWay) {
  for (const char* spelling : {"2", "2.0", "0.2e1", "\"2\"", "\"2.0\""}) {
    EXPECT_EQ(query(std::string(R"json({"lines":)json") + spelling + "}").lines, 2u) << spelling;
  }
  EXPECT_TRUE(query(R"json({"since_spawn":"true"})json").since_spawn);
}

TEST(StderrArgumentsTest, LinesAreBounded) {
  EXPECT_EQ(query(R"json({"lines":1})json").lines, 1u);
  EXPECT_EQ(query(R"json({"lines":1000})json").lines, 1000u);
  for (const char* wrong : {"0", "1001", "-1", "2.5", "\" \"", "\"x\"", "[]", "true", "1e300",
                            "18446744073709551615", "\"[[[[\""}) {
    EXPECT_EQ(stderr_error(std::string(R"json({"lines":)json") + wrong + "}"),
              "lines must be a whole number from 1 to 1000")
        << wrong;
  }
}

TEST(StderrArgumentsTest, OtherWrongTypesAreNamed) {
  EXPECT_EQ(stderr_error(R"json({"since_spawn":1})json"), "since_spawn must be true or false");
  EXPECT_EQ(stderr_error(R"json({"grep":["a"]})json"), "grep must be a string");
  EXPECT_EQ(stderr_error(R"json({"generation":0})json"),
            "generation must be a whole number from 1 to 2147483647");
  EXPECT_EQ(stderr_error(R"json({"line":5})json"),
            "unknown argument line; known: lines, since_spawn, grep, generation");
}

TEST(NoArgumentsTest, AnyObjectOrNothingIsTaken) {
  for (const char* raw : {"", "{}", "null", "\"\"", R"json({"random_string":"dummy"})json"}) {
    EXPECT_EQ(parse_no_arguments(raw), (std::variant<NoArguments, ArgumentError>(NoArguments())))
        << raw;
  }
  for (const char* raw : {"[]", "1", "\"x\"", "{", "false"}) {
    EXPECT_EQ(std::get<ArgumentError>(parse_no_arguments(raw)),
              "arguments must be a valid JSON object")
        << raw;
  }
}

TEST(NoArgumentsTest, RefusesArgumentsThatAreTooLarge) {
  const std::string deep(65'536, '[');
  EXPECT_EQ(std::get<ArgumentError>(parse_no_arguments(deep)),
            "arguments must be a valid JSON object");
  EXPECT_EQ(std::get<ArgumentError>(parse_no_arguments(deep + "[")),
            "arguments are larger than 65536 bytes");
}

TEST(RebuildArgumentsTest, AreReadAndChecked) {
  const auto parsed = [](std::string_view raw) { return parse_rebuild_arguments(raw); };
  const auto read = [&](std::string_view raw) { return std::get<RebuildArguments>(parsed(raw)); };
  EXPECT_EQ(read(""), RebuildArguments());
  EXPECT_EQ(read(R"json({"mode":"kill-first","timeout_seconds":86400})json"),
            (RebuildArguments{RebuildMode::kill_first, std::chrono::hours(24)}));
  const auto error = [&](std::string_view raw) { return std::get<ArgumentError>(parsed(raw)); };
  EXPECT_EQ(error(R"json({"timeout_seconds":86401})json"),
            "timeout_seconds must be a whole number from 1 to 86400");
  EXPECT_EQ(error(R"json({"mode":1})json"), "mode must be a string");
  EXPECT_EQ(error(R"json({"x":1})json"), "unknown argument x; known: mode, timeout_seconds");
}

TEST(CallArgumentsTest, TheInnerOnesStayAsTheyAreWritten) {
  const auto parsed = [](std::string_view raw) { return parse_call_arguments(raw); };
  const auto read = [&](std::string_view raw) { return std::get<CallArguments>(parsed(raw)); };
  EXPECT_EQ(read(R"json({"tool":"a"})json"), (CallArguments{"a", "{}"}));
  EXPECT_EQ(read(R"json({"tool":"a","arguments":null})json"), (CallArguments{"a", "{}"}));
  EXPECT_EQ(read(R"json({"tool":"a","arguments":""})json"), (CallArguments{"a", "{}"}));
  EXPECT_EQ(read(R"json({"tool":"a","arguments":{ "x" : 1e2 }})json"),
            (CallArguments{"a", R"json({ "x" : 1e2 })json"}));
  EXPECT_EQ(read(R"json({"tool":"a","arguments":"{\"x\":1}"})json"),
            (CallArguments{"a", R"json({"x":1})json"}));
  const auto error = [&](std::string_view raw) { return std::get<ArgumentError>(parsed(raw)); };
  EXPECT_EQ(error(""), "tool must be the name of a tool of the server");
  EXPECT_EQ(error(R"json({"tool":"a","arguments":[1]})json"), "arguments must be an object");
  EXPECT_EQ(error(R"json({"tool":"a","arguments":"{x"})json"), "arguments is not valid JSON");
  EXPECT_EQ(error(R"json({"name":"a"})json"), "unknown argument name; known: tool, arguments");
}

TEST(BuildLogArgumentsTest, AreReadAndChecked) {
  const auto read = std::get<StderrRing::Query>(
      parse_build_log_arguments(R"json({"lines":20000,"grep":"x"})json"));
  EXPECT_EQ(read.lines, 20000u);
  EXPECT_EQ(read.grep, "x");
  EXPECT_EQ(std::get<ArgumentError>(parse_build_log_arguments(R"json({"lines":20001})json")),
            "lines must be a whole number from 1 to 20000");
}

}  // namespace
}  // namespace sitter
