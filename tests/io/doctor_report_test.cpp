#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "doctor/findings.hpp"

namespace sitter {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Finding> one_of_each() {
  return {{Level::ok, "file", "runs /a", ""},
          {Level::warning, "end", "ends late", "end earlier"},
          {Level::problem, "lint", "no schema", "write one"}};
}

TEST(DoctorReport, ShowsTheRemedyBelowAFindingAndTheCountsLast) {
  EXPECT_EQ(doctor_text(one_of_each(), false),
            "ok      runs /a\n"
            "warning ends late\n"
            "        end earlier\n"
            "problem no schema\n"
            "        write one\n"
            "1 ok, 1 warning, 1 problem\n");
  EXPECT_EQ(doctor_text({}, false), "0 ok, 0 warnings, 0 problems\n");
}

TEST(DoctorReport, OnlyTheLevelIsColoured) {
  const std::string text = doctor_text(one_of_each(), true);
  EXPECT_THAT(text, HasSubstr("\x1b[32mok      \x1b[0mruns /a\n"));
  EXPECT_THAT(text, HasSubstr("\x1b[33mwarning \x1b[0mends late\n"));
  EXPECT_THAT(text, HasSubstr("\x1b[31mproblem \x1b[0mno schema\n"));
}

TEST(DoctorReport, OnlyAProblemFails) {
  EXPECT_EQ(doctor_exit_code(one_of_each()), 1);
  EXPECT_EQ(doctor_exit_code({{Level::warning, "end", "a", "b"}}), 0);
}

TEST(DoctorReport, JsonHasTheFactsAndTheFindings) {
  DoctorFacts facts;
  facts.command = "./server";
  facts.opening = {true, "2025-11-25", Milliseconds(200), "notes", "", {"tools"}, "", false};
  facts.discovery = DoctorFacts::Discovery::answered;
  facts.tools = {{"add", 10, "needs arguments"}, {"list", 30}};
  facts.lists = {{"tools/list", 2, ""}, {"prompts/list", 0, "refused"}};
  facts.noise = {{"\u009bnoise"}, 4};
  facts.end = DoctorFacts::End{DoctorFacts::Ended{"./server", "SIGTERM"}, {{"a", "SIGKILL"}}, {}};
  facts.termination = DoctorFacts::Termination{};
  facts.environment = DoctorFacts::Environment{
      DoctorFacts::Environment::Outcome::needs_variables, {"KEY"}, true, 5, ""};
  const std::string text = doctor_json(facts, one_of_each());
  EXPECT_THAT(text, Not(HasSubstr("\u009b")));
  const json report = json::parse(text);
  EXPECT_EQ(report["server"]["kind"], "stdio");
  EXPECT_EQ(report["server"]["path"], nullptr);
  EXPECT_EQ(report["server"]["version"], nullptr);
  EXPECT_EQ(report["opening"],
            json::parse(R"json({"opened":true,"ms":200,"initialize":"2025-11-25","stateless":true,
                                "capabilities":["tools"],"failure":null})json"));
  EXPECT_EQ(report["tools"], json::parse(R"json({"count":2,"bytes":40,"tokensRough":10,"largest":[
                                {"name":"list","bytes":30},{"name":"add","bytes":10}]})json"));
  EXPECT_EQ(
      report["lists"],
      json::parse(R"json({"tools/list":{"count":2},"prompts/list":{"error":"refused"}})json"));
  EXPECT_EQ(report["calls"], json::parse(R"json({"called":["list"],"failed":{},
                                "notCalled":{"add":"needs arguments"}})json"));
  EXPECT_EQ(report["stdout"]["lines"], 4);
  EXPECT_EQ(report["stderr"], json::parse(R"json({"lines":0,"last":[]})json"));
  EXPECT_EQ(report["end"], json::parse(R"json({"endsBy":"SIGTERM","endsAtSigterm":true,
                                "descendants":[{"command":"a","endsBy":"SIGKILL"}]})json"));
  EXPECT_EQ(
      report["environment"],
      json::parse(R"json({"opensWithShort":false,"needed":["KEY"],"exact":true,"starts":5})json"));
  EXPECT_EQ(report["findings"][1],
            json::parse(R"json({"level":"warning","subject":"end","what":"ends late",
                                "wayOut":"end earlier"})json"));
  EXPECT_EQ(report["findings"][0]["wayOut"], nullptr);
  EXPECT_EQ(report["ok"], 1);
  EXPECT_EQ(report["warnings"], 1);
  EXPECT_EQ(report["problems"], 1);
}

TEST(DoctorReport, TextsOfTheServerAreBounded) {
  const std::string text(100'000, 'x');
  DoctorFacts facts;
  facts.opening = {true, text, {}, text, text, {text}, text, false};
  facts.tools = {{text, 1, "needs arguments"}, {"a" + text, 1}, {"b" + text, 1, "", text}};
  facts.lists = {{"tools/list", 0, text}};
  EXPECT_LT(doctor_json(facts, {}).size(), 10'000);
}

}  // namespace
}  // namespace sitter
