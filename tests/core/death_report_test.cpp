#include "core/report/death_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace sitter {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

DeathReport report(EndReason reason, ExitStatus status = {}, std::string why = "") {
  DeathReport report;
  report.end = ChildEnd{reason, std::move(status), seconds(2), std::move(why)};
  return report;
}

TEST(DeathReportTest, ACrashInACallTellsAllThatHelps) {
  DeathReport crash = report(EndReason::crashed, {139, "SIGSEGV"});
  crash.stderr_tail = "one\ntwo";
  EXPECT_EQ(
      report_text(crash),
      "[mcp-sitter] the server crashed (SIGSEGV) after 2s. This call was running then and may "
      "or may not have taken effect.\n"
      "Its last words on stderr:\n"
      "one\n"
      "two\n"
      "Fix the cause if need be and call again: the next request starts the server. "
      "sitter_child_stderr shows more.");
}

TEST(DeathReportTest, SaysThatStderrIsEmpty) {
  EXPECT_THAT(report_text(report(EndReason::crashed, {3, ""})),
              AllOf(HasSubstr("crashed (exit 3)"), HasSubstr("\nIt wrote nothing to stderr.\n"),
                    Not(HasSubstr("sitter_child_stderr"))));
}

TEST(DeathReportTest, ACallThatOnlyWaitedHadNoEffect) {
  DeathReport failed = report(EndReason::not_executed, {}, "no such file");
  failed.reach = DeathReport::Reach::not_delivered;
  EXPECT_EQ(report_text(failed),
            "[mcp-sitter] the server could not be started: no such file. This call was not "
            "delivered and had no effect.\n"
            "Fix the cause and call again: the next request starts the server.");
}

TEST(DeathReportTest, AFailedFirstBuildShowsItsOutput) {
  DeathReport failed = report(EndReason::not_executed, {}, "the build failed");
  failed.reach = DeathReport::Reach::not_delivered;
  failed.build_output = "1 error:\na.c:1:2: error: no";
  EXPECT_EQ(report_text(failed),
            "[mcp-sitter] the server could not be started: the build failed. This call was not "
            "delivered and had no effect.\n"
            "Output of the build (sitter_build_log shows more):\n"
            "1 error:\n"
            "a.c:1:2: error: no\n"
            "Fix the cause and call again: the next request starts the server.");
  EXPECT_EQ(nlohmann::json::parse(error_data(failed))["buildOutput"], failed.build_output);
}

TEST(DeathReportTest, ADeliberateKillIsNoCrash) {
  const std::string text =
      report_text(report(EndReason::killed_by_sitter, {137, "SIGKILL"}, "sitter_kill"));
  EXPECT_THAT(text, StartsWith("[mcp-sitter] the server was killed by sitter_kill after 2s."));
  EXPECT_THAT(text, Not(HasSubstr("crash")));
  EXPECT_THAT(text, Not(HasSubstr("SIGKILL")));
}

TEST(DeathReportTest, ATimedOutOpeningNamesTheOption) {
  DeathReport failed = report(EndReason::opening_timed_out);
  failed.startup_timeout = seconds(50);
  EXPECT_THAT(report_text(failed), HasSubstr("the limit is 50s, set by --startup-timeout"));
}

TEST(DeathReportTest, ARepeatedEndSaysSoWhateverItsEra) {
  DeathReport failed = report(EndReason::exited, {1, ""});
  failed.end->may_be_of_other_era = true;
  EXPECT_THAT(report_text(failed), HasSubstr("the next request starts the server"));
  failed.is_repeated = true;
  EXPECT_THAT(report_text(failed), HasSubstr("no new start was tried"));
}

TEST(DeathReportTest, ASilentServerNamesTheOptionAndTheOtherEra) {
  DeathReport failed = report(EndReason::said_nothing);
  failed.startup_timeout = seconds(50);
  EXPECT_THAT(report_text(failed), AllOf(HasSubstr("the limit is 50s, set by --startup-timeout"),
                                         HasSubstr("reconnect the client")));
}

TEST(DeathReportTest, EveryOtherEndHasItsOwnWords) {
  EXPECT_THAT(report_text(report(EndReason::exited, {0, ""})),
              HasSubstr("the server exited by itself (exit 0) after 2s"));
  EXPECT_THAT(report_text(report(EndReason::ended_from_outside, {143, "SIGTERM"})),
              HasSubstr("the server was ended from outside (SIGTERM) after 2s"));
  EXPECT_THAT(report_text(report(EndReason::closed_stdout)),
              HasSubstr("the server closed its stdout and was taken down after 2s"));
  EXPECT_THAT(report_text(report(EndReason::wrote_rubbish, {}, "a line of 300 MB")),
              HasSubstr("the server was taken down after 2s: a line of 300 MB."));
  EXPECT_THAT(
      report_text(report(EndReason::given_up, {}, "not permitted")),
      AllOf(HasSubstr("was given up after 2s: not permitted."), HasSubstr("end it by hand")));
  EXPECT_THAT(report_text(report(EndReason::ended_in_opening, {7, ""})),
              HasSubstr("could not be started: it ended (exit 7) after 2s"));
  EXPECT_THAT(report_text(report(EndReason::shut_down)), HasSubstr("The session is ending."));
}

TEST(DeathReportTest, AChildThatStoppedReadingIsStillThere) {
  DeathReport deaf;
  deaf.reach = DeathReport::Reach::not_delivered;
  EXPECT_EQ(error_message(deaf),
            "[mcp-sitter] the server has stopped reading its input, but it is still running. This "
            "request was not delivered and had no effect. So call sitter_kill, and then try "
            "again.");
  deaf.restart_tool.clear();
  EXPECT_THAT(error_message(deaf), HasSubstr("So ask the user to restart the server (mcp-sitter "
                                             "ctl kill), and then try again."));
}

TEST(DeathReportTest, OtherRequestsGetTheSameOnOneLine) {
  DeathReport crash = report(EndReason::crashed, {3, ""});
  crash.stderr_tail = "one\ntwo";
  EXPECT_EQ(
      error_message(crash),
      "[mcp-sitter] the server crashed (exit 3) after 2s. This request was running then and "
      "may or may not have taken effect. Fix the cause if need be and call again: the next request "
      "starts the server.");
}

TEST(DeathReportTest, TheDataOfAnErrorIsJson) {
  DeathReport crash = report(EndReason::crashed, {139, "SIGSEGV"});
  crash.stderr_tail = "ü\n\xFF";
  EXPECT_EQ(error_data(crash),
            R"json({"reason":"crashed","delivered":true,"exitCode":139,"signal":"SIGSEGV",)json"
            R"json("lifetimeMs":2000,"stderr":"ü\n)json"
            "\uFFFD\"}");
  EXPECT_EQ(error_data(report(EndReason::crashed, {3, ""})),
            R"json({"reason":"crashed","delivered":true,"exitCode":3,"lifetimeMs":2000})json");
  EXPECT_EQ(error_data(report(EndReason::crashed, {static_cast<int>(0xC0000005), ""})),
            R"json({"reason":"crashed","delivered":true,"exitCode":3221225477,)json"
            R"json("exitWords":"access violation","lifetimeMs":2000})json");
  DeathReport failed = report(EndReason::not_executed, {}, "no such file");
  failed.reach = DeathReport::Reach::not_delivered;
  EXPECT_EQ(error_data(failed),
            R"json({"reason":"could not be executed","delivered":false,"why":"no such file"})json");
  DeathReport killed = report(EndReason::killed_by_sitter, {}, "ctl kill");
  killed.end->is_unseen = killed.end->had_no_child = true;
  EXPECT_EQ(error_data(killed),
            R"json({"reason":"killed by ctl kill","delivered":true,"why":"ctl kill"})json");
  EXPECT_EQ(error_data(DeathReport()), R"json({"reason":"stopped reading","delivered":true})json");
}

}  // namespace
}  // namespace sitter
