#include "core/child/own_restart.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/base/orders.hpp"
#include "core/child/unopened.hpp"
#include "core/wire/message.hpp"
#include "support/messages.hpp"

namespace sitter {
namespace {

std::string raw_error(int code, const std::string& message) {
  return nlohmann::json{{"code", code}, {"message", message}}.dump();
}

TEST(AnnouncementTest, RecognizesTheRestartLinesOfWatchers) {
  for (const std::string line :
       {"Restarting 'server.mjs'", "\x1b[32m[nodemon] restarting due to changes...\x1b[39m",
        "\x1b"
        "c\x1b[32mRestarting 'server.mjs'\x1b[39m"}) {
    EXPECT_EQ(announcement_in(line), Announcement::restart) << line;
  }
  for (const char* line : {"Watcher File change detected! Restarting!",
                           "\x1b[0m\x1b[38;5;12mWatcher\x1b[0m \x1b[0m\x1b[38;5;245mRestarting! "
                           "File change detected: \"/a.ts\"\x1b[0m"}) {
    EXPECT_EQ(announcement_in(line), Announcement::restart_within) << line;
  }
  EXPECT_EQ(announcement_in("[nodemon] starting `node server.mjs`"), Announcement::start);
  for (const std::string line : {"", "\x1b", "Restarting the database", "log: Restarting 'x'",
                                 "[nodemon] 3.1.14", "Completed running 'server.mjs'"}) {
    EXPECT_EQ(announcement_in(line), Announcement::none) << line;
  }
}

class OwnRestartTest : public ::testing::Test {
 protected:
  /// The server has given its tools.
  void SetUp() override { restart_.note({list(ListSurvey::List::State::complete)}); }
  void ask() { restart_.ask(CatalogKind::tools, kRefusal, now_, out_); }
  static ListSurvey::List list(ListSurvey::List::State state, std::string refusal = {}) {
    ListSurvey::List list;
    list.state = state;
    list.refusal = std::move(refusal);
    return list;
  }
  std::optional<std::string> sent() {
    const auto order = out_.poll();
    if (!order) return std::nullopt;
    return std::get<order::SendToChild>(*order).line.text();
  }
  bool answered(const std::string& text) {
    line_.emplace(text);
    return restart_.on_answer(*reader_.read(line_->line()));
  }
  void passes(Milliseconds time) {
    now_.steady += time;
    restart_.on_timeout(now_);
  }

  static constexpr char kRefusal[] = R"json({"code":-32600,"message":"Invalid Request"})json";
  Now now_{Instant() + std::chrono::hours(1), WallTime()};
  Orders out_;
  MessageReader reader_;
  std::optional<OwnedLine> line_;
  OwnRestart restart_{1, [] { return std::string("77"); }};
};

TEST_F(OwnRestartTest, ARefusedListProvesTheRestart) {
  ask();
  EXPECT_EQ(sent(), request(77, "tools/list", "{}"));
  EXPECT_TRUE(restart_.is_suspected());
  EXPECT_FALSE(answered(error(76, -32600, "not initialized")));
  EXPECT_FALSE(restart_.is_certain());
  EXPECT_TRUE(answered(error(77, -32602, "Invalid request parameters")));
  EXPECT_TRUE(restart_.is_certain());
}

TEST_F(OwnRestartTest, ExplainsErrorsWithTheSameTextAsTheRefusedList) {
  ask();
  answered(error(77, -32600, "method tools/list before initialization"));
  EXPECT_TRUE(restart_.explains(raw_error(-32600, "method tools/call before initialization"),
                                "tools/call"));
  EXPECT_FALSE(restart_.explains(raw_error(-32602, "method tools/call before initialization"),
                                 "tools/call"));
  EXPECT_FALSE(restart_.explains(raw_error(-32600, "the cache is not initialized"), "tools/call"));
}

TEST_F(OwnRestartTest, AnAnnouncementExplainsNoError) {
  restart_.expect(now_);
  passes(limits::kOwnRestartWait);
  EXPECT_FALSE(restart_.explains(raw_error(-32600, "not initialized"), "tools/call"));
  EXPECT_FALSE(restart_.explains("", "tools/call"));
}

TEST_F(OwnRestartTest, AnAnsweredListEndsTheSuspicion) {
  for (const std::string& answer :
       {result(77, R"json({"tools":[]})json"), error(77, -32601, "Method not found")}) {
    ask();
    EXPECT_TRUE(answered(answer));
    EXPECT_FALSE(restart_.is_suspected());
    EXPECT_EQ(restart_.deadline(), std::nullopt);
  }
}

TEST_F(OwnRestartTest, AListTimeoutProvesNothing) {
  ask();
  passes(limits::kOwnRestartListWait - Milliseconds(1));
  EXPECT_TRUE(restart_.is_suspected());
  passes(Milliseconds(1));
  EXPECT_FALSE(restart_.is_suspected());
  EXPECT_TRUE(answered(error(77, -32600, "not initialized")));
  EXPECT_FALSE(restart_.is_suspected());
}

TEST_F(OwnRestartTest, SendsOneListAtATime) {
  ask();
  sent();
  ask();
  EXPECT_EQ(sent(), std::nullopt);
}

TEST_F(OwnRestartTest, AnAnnouncementBecomesCertainAfterADelay) {
  restart_.expect(now_);
  EXPECT_TRUE(restart_.is_suspected());
  passes(limits::kOwnRestartWait - Milliseconds(1));
  EXPECT_FALSE(restart_.is_certain());
  passes(Milliseconds(1));
  EXPECT_TRUE(restart_.is_certain());
  EXPECT_EQ(restart_.deadline(), std::nullopt);
}

TEST_F(OwnRestartTest, ASecondAnnouncementRestartsTheDelay) {
  restart_.expect(now_);
  passes(limits::kOwnRestartWait - Milliseconds(1));
  restart_.expect(now_);
  passes(limits::kOwnRestartWait - Milliseconds(1));
  EXPECT_FALSE(restart_.is_certain());
  passes(Milliseconds(1));
  EXPECT_TRUE(restart_.is_certain());
}

TEST_F(OwnRestartTest, RepeatedAnnouncementsDelayItForALimitedTime) {
  restart_.expect(now_);
  for (Milliseconds past{}; past < limits::kOwnRestartWaitsMax; past += Milliseconds(500)) {
    EXPECT_FALSE(restart_.is_certain());
    restart_.expect(now_);
    passes(Milliseconds(500));
  }
  EXPECT_TRUE(restart_.is_certain());
}

TEST_F(OwnRestartTest, AListThatIsRefusedAfterAnAnnouncementExplainsErrorsToo) {
  ask();
  restart_.expect(now_);
  EXPECT_TRUE(answered(error(77, -32600, "not initialized")));
  EXPECT_FALSE(restart_.is_certain());
  passes(limits::kOwnRestartWait);
  EXPECT_TRUE(restart_.is_certain());
  EXPECT_TRUE(restart_.explains(raw_error(-32600, "not initialized"), "tools/call"));
}

TEST_F(OwnRestartTest, AfterAnAnnouncementAListShowsHowTheServerRefuses) {
  restart_.expect(now_);
  ask();
  EXPECT_EQ(sent(), request(77, "tools/list", "{}"));
  ask();
  EXPECT_EQ(sent(), std::nullopt);
  answered(error(77, -32600, "not initialized"));
  EXPECT_FALSE(restart_.is_certain());
  passes(limits::kOwnRestartWait);
  EXPECT_TRUE(restart_.explains(raw_error(-32600, "not initialized"), "tools/call"));
}

TEST_F(OwnRestartTest, ADroppedRefusalExplainsNoLaterErrors) {
  ask();
  answered(error(77, -32600, "not initialized"));
  restart_.drop();
  restart_.expect(now_);
  passes(limits::kOwnRestartWait);
  EXPECT_FALSE(restart_.explains(raw_error(-32600, "not initialized"), "tools/call"));
}

TEST_F(OwnRestartTest, AnAnnouncementOutweighsAnAnsweredList) {
  ask();
  restart_.expect(now_);
  EXPECT_TRUE(answered(result(77, R"json({"tools":[]})json")));
  EXPECT_TRUE(restart_.is_suspected());
  passes(limits::kOwnRestartWait);
  EXPECT_TRUE(restart_.is_certain());
}

TEST_F(OwnRestartTest, CountsUnusedServersInARow) {
  for (const bool was_used : {true, false, false}) {
    OwnRestart next(2, [] { return std::string("77"); });
    next.follow(restart_, was_used);
    restart_ = std::move(next);
  }
  EXPECT_EQ(restart_.unused_in_row(), 2);
  OwnRestart next(2, [] { return std::string("77"); });
  next.follow(restart_, true);
  EXPECT_EQ(next.unused_in_row(), 0);
}

TEST_F(OwnRestartTest, DroppingEndsTheSuspicion) {
  restart_.expect(now_);
  restart_.drop();
  EXPECT_FALSE(restart_.is_suspected());
  EXPECT_EQ(restart_.deadline(), std::nullopt);
}

class DoubtfulRestartTest : public OwnRestartTest {
 protected:
  void SetUp() override {}
  void ask_unopened() {
    restart_.ask(CatalogKind::tools, raw_error(-32002, "not initialized"), now_, out_);
  }
  bool is_asked() { return sent().has_value(); }
};

TEST_F(DoubtfulRestartTest, AServerThatHasGivenNoListIsAskedForAnErrorThatNamesTheOpening) {
  ask();
  EXPECT_FALSE(is_asked());
  EXPECT_FALSE(restart_.is_suspected());
  ask_unopened();
  EXPECT_TRUE(is_asked());
}

TEST_F(DoubtfulRestartTest, OnlyARefusalThatNamesTheOpeningMakesItCertain) {
  ask_unopened();
  answered(error(77, -32600, "Invalid Request"));
  EXPECT_FALSE(restart_.is_suspected());
  ask_unopened();
  answered(error(77, -32002, "not initialized"));
  EXPECT_TRUE(restart_.is_certain());
}

TEST_F(DoubtfulRestartTest, LimitsDoubtfulRestartsInARow) {
  for (int i = 0; i < limits::kDoubtfulRestartsMax; ++i) {
    ask_unopened();
    EXPECT_TRUE(is_asked());
    answered(error(77, -32002, "not initialized"));
    ASSERT_TRUE(restart_.is_certain());
    OwnRestart next(2, [] { return std::string("77"); });
    next.follow(restart_, true);
    EXPECT_TRUE(next.follows());
    restart_ = std::move(next);
  }
  ask_unopened();
  EXPECT_FALSE(is_asked());
  restart_.expect(now_);
  passes(limits::kOwnRestartWait);
  ASSERT_TRUE(restart_.is_certain());
  OwnRestart next(2, [] { return std::string("77"); });
  next.follow(restart_, true);
  restart_ = std::move(next);
  ask_unopened();
  EXPECT_TRUE(is_asked());
}

TEST_F(DoubtfulRestartTest, AListThatIsRefusedAfterAnAnnouncementExplainsErrors) {
  const std::string refusal = raw_error(-32002, "not initialized");
  restart_.note({list(ListSurvey::List::State::failed, refusal)});
  EXPECT_FALSE(restart_.explains(refusal, "tools/call"));
  restart_.expect(now_);
  restart_.note({list(ListSurvey::List::State::failed, refusal)});
  EXPECT_TRUE(restart_.explains(refusal, "tools/call"));
}

TEST(ReadsAsUnopenedTest, RecognizesTheErrorsOfManyServers) {
  for (const std::string& error :
       {raw_error(-32002, "Server not initialized"),
        raw_error(-32603, "Received request before initialization was complete"),
        raw_error(0, "method is invalid during session initialization"),
        raw_error(-32000, "Client must be initialised first"),
        raw_error(-32602, "Invalid request parameters"), raw_error(-32600, "Invalid Request")}) {
    EXPECT_TRUE(reads_as_unopened(error)) << error;
  }
}

TEST(ReadsAsUnopenedTest, RejectsOtherErrors) {
  for (const std::string& error :
       {raw_error(-32602, "Unknown tool: add"), raw_error(-32601, "Method not found"),
        raw_error(-32603, "Internal error"), raw_error(-32602, "Invalid request parameters: x"),
        std::string("{}"), std::string("7")}) {
    EXPECT_FALSE(reads_as_unopened(error)) << error;
  }
}

}  // namespace
}  // namespace sitter
