#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "doctor/findings.hpp"

namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Kind = DoctorFacts::Kind;
using Discovery = DoctorFacts::Discovery;
using Termination = DoctorFacts::Termination;
using Environment = DoctorFacts::Environment;

DoctorFacts healthy() {
  DoctorFacts facts;
  facts.command = "./server";
  facts.file = DoctorFacts::File{"/home/me/server", 2048, "12s ago", "2026-01-01T00:00:00Z", ""};
  facts.opening = {true, "2025-11-25", Milliseconds(200), "notes", "1.0", {"tools"}, "", false};
  facts.discovery = Discovery::refused;
  facts.tools = {{"add", 100}, {"list", 300}};
  facts.lists = {{"tools/list", 2, ""}};
  facts.end = DoctorFacts::End{DoctorFacts::Ended{"./server", "stdin closed"}, {}, {}};
  facts.termination = Termination{Termination::Outcome::ended, "exit 0", Milliseconds(2000)};
  facts.environment = Environment{};
  return facts;
}

/// "level subject" of each finding.
std::vector<std::string> outline(const DoctorFacts& facts) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings_in(facts)) {
    lines.push_back(std::string(level_name(finding.level)) + " " + finding.subject);
  }
  return lines;
}

Finding finding_of(const DoctorFacts& facts, const std::string& subject) {
  for (const Finding& finding : findings_in(facts)) {
    if (finding.subject == subject) return finding;
  }
  ADD_FAILURE() << "no finding about " << subject;
  return {};
}

Level level_of(const DoctorFacts& facts, const std::string& subject) {
  return finding_of(facts, subject).level;
}

TEST(DoctorFindings, AHealthyServerHasOnlyOkInTheOrderOfTheReport) {
  EXPECT_THAT(outline(healthy()),
              ElementsAre("ok file", "ok opening", "ok capabilities", "ok eras", "ok tools",
                          "ok calls", "ok end", "ok sigterm", "ok environment"));
  EXPECT_THAT(findings_in(healthy()), Each(Field(&Finding::way_out, IsEmpty())));
}

TEST(DoctorFindings, WhatDidNotStartSaysOnlyWhyAndWhatToDo) {
  DoctorFacts facts;
  facts.opening.was_not_started = true;
  facts.opening.failure = "no such file: 'a'; install it; or give its path";
  EXPECT_THAT(outline(facts), ElementsAre("problem file"));
  EXPECT_EQ(finding_of(facts, "file").what, "no such file: 'a'; install it");
  EXPECT_EQ(finding_of(facts, "file").way_out, "or give its path");
  facts.opening.failure = "the directory is gone";
  EXPECT_EQ(finding_of(facts, "file").what, "the directory is gone");
  EXPECT_THAT(finding_of(facts, "file").way_out, Not(IsEmpty()));
  facts.kind = Kind::tool;
  EXPECT_THAT(finding_of(facts, "description").way_out, HasSubstr("--schema-args"));
  facts.errors = {{"no database"}, 1};
  EXPECT_THAT(outline(facts), ElementsAre("problem description", "warning stderr"));
}

TEST(DoctorFindings, AServerThatRanAndDidNotOpenPointsAtItsStderr) {
  DoctorFacts facts = healthy();
  facts.opening = {};
  facts.opening.failure = "it ended (exit 3); sorry";
  EXPECT_EQ(finding_of(facts, "opening").what, "it ended (exit 3); sorry");
  EXPECT_THAT(finding_of(facts, "opening").way_out, Not(HasSubstr("stderr")));
  facts.errors = {{"no database"}, 1};
  EXPECT_THAT(finding_of(facts, "opening").way_out, HasSubstr("stderr"));
  EXPECT_EQ(finding_of(facts, "stderr").what, "1 line on stderr: \"no database\"");
  EXPECT_EQ(level_of(facts, "stderr"), Level::warning);
  facts.errors.count = 2;
  EXPECT_EQ(finding_of(facts, "stderr").what, "2 lines on stderr, among them: \"no database\"");
  facts.opening.failure = "clients refuse its answer to initialize: capabilities.tools is null";
  EXPECT_EQ(finding_of(facts, "opening").way_out, "correct it in the server");
  facts.opening.is_open = true;
  EXPECT_EQ(level_of(facts, "stderr"), Level::ok);
  facts.end_in_lists = "it ended";
  EXPECT_EQ(level_of(facts, "stderr"), Level::warning);
  facts.end_in_lists.clear();
  facts.tools = {{.name = "t", .has_ended_server = true}};
  EXPECT_EQ(level_of(facts, "stderr"), Level::warning);
}

TEST(DoctorFindings, SaysWhatWasCalledAndWhyTheRestWasNot) {
  DoctorFacts facts = healthy();
  facts.tools = {{"list", 1},
                 {"add", 1, "not marked read-only"},
                 {"count", 1},
                 {"find", 1, "needs arguments"},
                 {"ask", 1, "needs arguments"}};
  EXPECT_EQ(finding_of(facts, "calls").what,
            "called list, count; not called: find, ask (needs arguments); not called: add (not "
            "marked read-only)");
  facts.tools.assign(7, {"list", 1});
  EXPECT_EQ(finding_of(facts, "calls").what, "called list, list, list, list, list and 2 more");
  facts.tools[6].failure = "no licence";
  EXPECT_EQ(finding_of(facts, "calls").what, "the call of list fails: no licence");
  EXPECT_EQ(level_of(facts, "calls"), Level::warning);
  facts.tools[6].has_ended_server = true;
  EXPECT_EQ(level_of(facts, "calls"), Level::problem);
}

TEST(DoctorFindings, ACallWithoutAResultIsNoCalledTool) {
  DoctorFacts facts = healthy();
  facts.tools = {{"list", 1}};
  facts.tools[0].failure = "\x1b[31m";
  EXPECT_EQ(finding_of(facts, "calls").what, "the call of list fails: an error without words");
  EXPECT_THAT(outline(facts), Not(Contains("ok calls")));
}

TEST(DoctorFindings, UsesTheHintInAnAnswerAsTheRemedy) {
  DoctorFacts facts;
  facts.kind = Kind::elsewhere;
  facts.opening.failure = "answers 401; give it a header";
  EXPECT_EQ(finding_of(facts, "opening").way_out, "give it a header");
}

TEST(DoctorFindings, ASlowOpeningNamesTheClientsThatGiveUp) {
  DoctorFacts facts = healthy();
  facts.opening.time = Milliseconds(8000);
  EXPECT_EQ(level_of(facts, "opening"), Level::ok);
  facts.opening.time = Milliseconds(8001);
  EXPECT_EQ(level_of(facts, "opening"), Level::warning);
  EXPECT_THAT(finding_of(facts, "opening").what, AllOf(HasSubstr("Codex"), HasSubstr("8s")));
}

TEST(DoctorFindings, EachEraIsNamed) {
  DoctorFacts facts = healthy();
  facts.discovery = Discovery::answered;
  EXPECT_THAT(finding_of(facts, "eras").what,
              AllOf(HasSubstr("2025-11-25"), HasSubstr("offers 2026-07-28")));
  facts.discovery = Discovery::unanswered;
  EXPECT_EQ(level_of(facts, "eras"), Level::warning);
  facts.discovery = Discovery::unfit;
  EXPECT_EQ(finding_of(facts, "eras").what,
            "initialize opens revision 2025-11-25; 2026-07-28 is not spoken, because the answer to "
            "server/discover does not name it in supportedVersions");
  EXPECT_EQ(level_of(facts, "eras"), Level::warning);
  facts.discovery = Discovery::ended;
  EXPECT_THAT(finding_of(facts, "eras").what, HasSubstr("ends on server/discover"));
  facts.discovery = Discovery::answered;
  facts.opening.revision = "";
  EXPECT_EQ(level_of(facts, "eras"), Level::warning);
}

TEST(DoctorFindings, WhatOfficialClientsTakeIsAWarning) {
  DoctorFacts facts = healthy();
  for (const std::string clause : {"and some clients do not match them", "so clients refuse it"}) {
    facts.lint = {"the server writes ids, " + clause};
    EXPECT_EQ(level_of(facts, "lint"), clause.starts_with("and") ? Level::warning : Level::problem);
  }
  facts.lists = {{"resources/templates/list", 0, "Method not found", true}};
  EXPECT_EQ(level_of(facts, "lists"), Level::warning);
  facts.lists[0].is_unknown = false;
  EXPECT_EQ(level_of(facts, "lists"), Level::problem);
  facts.lists = {{"resources/list", 0, "Method not found", true}};
  EXPECT_EQ(level_of(facts, "lists"), Level::problem);
}

TEST(DoctorFindings, AFileOfUnknownAgeWasNotChangedAtSomeTime) {
  DoctorFacts facts = healthy();
  EXPECT_EQ(finding_of(facts, "file").what, "runs /home/me/server (2.0 KiB, changed 12s ago)");
  facts.file->age = "of unknown age";
  EXPECT_EQ(finding_of(facts, "file").what, "runs /home/me/server (2.0 KiB, of unknown age)");
}

TEST(DoctorFindings, ManyTokensNameTheThreeLargestTools) {
  DoctorFacts facts = healthy();
  facts.tools = {{"a", 10'000}, {"b", 5'000}, {"c", 20'000}, {"d", 5'000}};
  EXPECT_EQ(level_of(facts, "tools"), Level::ok);
  facts.tools.push_back({"e", 1});
  facts.lists.front().count = 5;
  const Finding tools = finding_of(facts, "tools");
  EXPECT_EQ(tools.level, Level::warning);
  EXPECT_THAT(tools.what, AllOf(HasSubstr("5 tools"), HasSubstr("10001 tokens")));
  EXPECT_THAT(tools.way_out, HasSubstr("c (20000 bytes), a (10000 bytes), b (5000 bytes)"));
}

TEST(DoctorFindings, ListsAreCountedOrComplainedAbout) {
  DoctorFacts facts = healthy();
  facts.lists.push_back({"prompts/list", 1, ""});
  facts.lists.push_back({"resources/list", 2, ""});
  facts.lists.push_back({"resources/templates/list", 0, ""});
  EXPECT_EQ(finding_of(facts, "lists").what, "1 prompt, 2 resources, 0 resource templates");
  facts.lists[1].error = "no answer within 10s";
  EXPECT_EQ(level_of(facts, "lists"), Level::problem);
  facts.lists = {{"tools/list", 0, ""}};
  EXPECT_EQ(finding_of(facts, "tools").what, "has no tools");
  facts.end_in_lists = "the server crashed (SIGSEGV)";
  EXPECT_THAT(finding_of(facts, "lists").what, HasSubstr("SIGSEGV"));
}

TEST(DoctorFindings, LintAndNoiseAreProblems) {
  DoctorFacts facts = healthy();
  facts.lint = {"tool \"add\": no schema"};
  facts.noise = {{"hello\x1b[31m", "world"}, 3};
  EXPECT_EQ(level_of(facts, "lint"), Level::problem);
  EXPECT_EQ(level_of(facts, "stdout"), Level::problem);
  EXPECT_THAT(finding_of(facts, "stdout").what,
              AllOf(HasSubstr("3 lines"), HasSubstr("\"hello\", \"world\", ...")));
}

TEST(DoctorFindings, WhatEndsTheServerDecidesTheLevel) {
  DoctorFacts facts = healthy();
  facts.end->server->how = "SIGTERM";
  EXPECT_EQ(level_of(facts, "end"), Level::warning);
  facts.end->server->how = "SIGKILL";
  EXPECT_EQ(level_of(facts, "end"), Level::problem);
  facts.kind = Kind::daemon;
  EXPECT_EQ(level_of(facts, "end"), Level::warning);
  facts.end->server->how = "SIGTERM";
  EXPECT_EQ(level_of(facts, "end"), Level::ok);
}

TEST(DoctorFindings, OnlyProcessesThatOutliveTheServerAreLeftBehind) {
  DoctorFacts facts = healthy();
  facts.end->descendants = {{"helper", "stdin closed"}};
  EXPECT_THAT(outline(facts), Each(Not(HasSubstr("left-behind"))));
  facts.end->descendants.push_back({"daemon", "SIGTERM"});
  EXPECT_EQ(level_of(facts, "left-behind"), Level::warning);
  EXPECT_THAT(finding_of(facts, "left-behind").what,
              AllOf(HasSubstr("1 process "), HasSubstr("daemon"), Not(HasSubstr("helper"))));
}

TEST(DoctorFindings, ASecondStartAndSigtermAreTold) {
  DoctorFacts facts = healthy();
  facts.termination->outcome = Termination::Outcome::survived;
  EXPECT_EQ(level_of(facts, "sigterm"), Level::warning);
  facts.termination = Termination{Termination::Outcome::not_restarted, "it ended (exit 1)", {}};
  EXPECT_EQ(level_of(facts, "restart"), Level::problem);
  EXPECT_THAT(finding_of(facts, "restart").what, HasSubstr("exit 1"));
}

TEST(DoctorFindings, WhereEveryProcessEndsTheSecondStartAloneIsTold) {
  DoctorFacts facts = healthy();
  facts.end_words = {.asked = "asked to end",
                     .killed = "terminated",
                     .asked_alone = "terminated",
                     .request = "Ctrl+Break",
                     .kill = "TerminateProcess"};
  facts.end->server->how = "asked to end";
  EXPECT_THAT(finding_of(facts, "end").what, HasSubstr("but at Ctrl+Break"));
  facts.end->server->how = "terminated";
  EXPECT_EQ(level_of(facts, "end"), Level::problem);
  EXPECT_EQ(level_of(facts, "restart"), Level::ok);
  EXPECT_THAT(outline(facts), Each(Not(HasSubstr("sigterm"))));
}

TEST(DoctorFindings, NeededVariablesAreNamedWithoutTheirValues) {
  DoctorFacts facts = healthy();
  facts.environment = Environment{
      Environment::Outcome::needs_variables, {"PATH", "KEY"}, true, 7, "it ended (exit 1)"};
  const Finding exact = finding_of(facts, "environment");
  EXPECT_EQ(exact.level, Level::warning);
  EXPECT_THAT(exact.what, AllOf(HasSubstr("needs PATH, KEY"), Not(HasSubstr("starts"))));
  EXPECT_THAT(exact.way_out, HasSubstr("--env PATH=\"$PATH\" --env KEY=\"$KEY\""));
  facts.environment->is_exact = false;
  EXPECT_THAT(finding_of(facts, "environment").what,
              AllOf(HasSubstr("some of PATH, KEY"), HasSubstr("after 7 starts")));
  facts.environment->outcome = Environment::Outcome::is_unsteady;
  EXPECT_EQ(level_of(facts, "environment"), Level::warning);
}

}  // namespace
}  // namespace sitter
