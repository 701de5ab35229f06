#include "core/client/streams.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/client/stream_filter.hpp"
#include "core/client/stream_tag.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kTools = R"json({"toolsListChanged":true})json";

class StreamsTest : public ::testing::Test {
 protected:
  Turn turn() { return {now_, out_, client_}; }

  void open(std::string_view id, std::string_view filter = kTools) {
    streams_.open(id, keep("open " + std::string(id)), StreamFilter::of(filter).value(), {});
  }
  Streams::Stream& stream(std::string_view id) { return *streams_.find(id); }

  /// The child of this generation acknowledges the stream.
  void acknowledges(Generation gen, std::string_view id, std::string_view filter) {
    const Line line = keep(acknowledged_line(id, filter));
    streams_.on_acknowledged({gen}, *reader_.read(line), line, turn());
  }
  void answers(std::string_view id, const std::string& outcome, bool is_last = false) {
    const Line line =
        keep(R"json({"jsonrpc":"2.0","id":)json" + std::string(id) + "," + outcome + "}");
    streams_.on_answer(stream(id), *reader_.read(line), line, is_last, turn());
  }
  void cancel(const std::string& id, bool is_heard) {
    streams_.cancel(stream(id), keep("cancel " + id), is_heard, turn());
  }
  void time_passes(Milliseconds duration, bool is_up = true) {
    now_.steady += duration;
    streams_.on_timeout([is_up](Generation) { return is_up; }, turn());
  }

  /// The lines that were ordered since the last call, each with its receiver.
  std::vector<std::string> said() {
    std::vector<std::string> lines;
    while (const auto order = out_.poll()) {
      if (const auto* const to_client = std::get_if<order::SendToClient>(&*order)) {
        lines.push_back("client " + to_client->line.text());
      } else if (const auto* const to_child = std::get_if<order::SendToChild>(&*order)) {
        lines.push_back("child " + std::to_string(to_child->gen) + " " + to_child->line.text());
      }
    }
    return lines;
  }

  /// A line that lives as long as the orders that pass it on.
  Line keep(const std::string& text) { return kept_.emplace_back(text).line(); }

  static std::string acknowledged_line(std::string_view id, std::string_view filter) {
    return R"json({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",)json"
           R"json("params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)json" +
           std::string(id) + R"json(},"notifications":)json" + std::string(filter) + "}}";
  }

  static constexpr const char* kError = R"json("error":{"code":-32000,"message":"no"})json";
  static constexpr const char* kUnknown = R"json("error":{"code":-32601,"message":"no"})json";
  static constexpr const char* kEnd = R"json("result":{})json";

  Now now_{};
  Orders out_;
  ClientOutput client_;
  MessageReader reader_;
  std::deque<OwnedLine> kept_;
  bool finds_changes_ = true;
  Streams streams_{[this](CatalogKind) { return finds_changes_; }};
};

TEST_F(StreamsTest, AreFoundByTheMeaningOfTheirId) {
  open("1");
  streams_.ask(2, false, turn());
  EXPECT_NE(streams_.find("1.0"), nullptr);
  EXPECT_EQ(streams_.find("\"1\""), nullptr);
  EXPECT_NE(streams_.find("1", 2), nullptr);
  EXPECT_EQ(streams_.find("1", 3), nullptr);
}

TEST_F(StreamsTest, ARoundedIdMatchesAStreamOnlyOfAChildThatMayRound) {
  open("12345678901234567890");
  streams_.ask(2, false, turn());
  const auto found = [&](std::string_view id, Generation gen, bool may_round) {
    return streams_.find(id, Streams::Sender{gen, true, may_round});
  };
  EXPECT_EQ(found("12345678901234567168", 2, true), &stream("12345678901234567890"));
  EXPECT_EQ(found("12345678901234567168", 2, false), nullptr);
  EXPECT_EQ(found("12345678901234567168", 3, true), nullptr);
  EXPECT_EQ(found("12345678901234567892", 2, true), nullptr) << "no double is printed like this";
}

TEST_F(StreamsTest, WaitUntilTheyAreGranted) {
  EXPECT_FALSE(streams_.is_waiting());
  open("1");
  EXPECT_TRUE(streams_.is_waiting());
  EXPECT_FALSE(streams_.wants(CatalogKind::tools));
  streams_.ask(1, false, turn());
  acknowledges(1, "1", kTools);
  EXPECT_THAT(said(), ElementsAre("child 1 open 1", "client " + acknowledged_line("1", kTools)));
  EXPECT_FALSE(streams_.is_waiting());
  EXPECT_TRUE(streams_.wants(CatalogKind::tools));
  EXPECT_FALSE(streams_.wants(CatalogKind::prompts));
}

TEST_F(StreamsTest, AChildIsAskedOnceForEach) {
  open("1");
  streams_.ask(1, false, turn());
  open("2");
  streams_.ask(1, false, turn());
  EXPECT_THAT(said(), ElementsAre("child 1 open 1", "child 1 open 2"));
  EXPECT_EQ(stream("1").at_child, Streams::AtChild::asked);
}

TEST_F(StreamsTest, AChildThatDoesNotAcknowledgeInTimeIsNotWaitedFor) {
  open("1");
  streams_.ask(1, false, turn());
  said();
  time_passes(limits::kStreamAckWait - Milliseconds(1));
  EXPECT_THAT(said(), IsEmpty());
  time_passes(Milliseconds(1));
  EXPECT_THAT(said(), ElementsAre(HasSubstr("notifications/subscriptions/acknowledged")));
  EXPECT_EQ(stream("1").at_client, Streams::AtClient::granted_by_us);
  EXPECT_EQ(streams_.deadline(), std::nullopt);
}

TEST_F(StreamsTest, TheNextChildIsAskedForWhatTheLostOneHad) {
  open("1");
  streams_.ask(1, false, turn());
  acknowledges(1, "1", kTools);
  streams_.on_child_lost(1, turn());
  EXPECT_EQ(stream("1").at_child, Streams::AtChild::unasked);
  said();
  streams_.ask(2, false, turn());
  acknowledges(2, "1", kTools);
  EXPECT_THAT(said(), ElementsAre("child 2 open 1")) << "the client knows already";
}

TEST_F(StreamsTest, DelaysAStreamThatCrashedTwoChildrenUntilTheNextHasAnswered) {
  open("1");
  for (Generation gen = 1; gen <= 2; ++gen) {
    streams_.ask(gen, false, turn());
    streams_.on_child_lost(gen, turn());
  }
  said();
  streams_.ask(3, false, turn());
  EXPECT_THAT(said(), IsEmpty());
  streams_.ask(3, true, turn());
  EXPECT_THAT(said(), ElementsAre("child 3 open 1"));
}

TEST_F(StreamsTest, AnErrorThatRefusesIsTheAnswer) {
  open("1");
  streams_.ask(1, false, turn());
  said();
  answers("1", kError);
  EXPECT_THAT(said(), ElementsAre(HasSubstr(kError)));
  EXPECT_EQ(streams_.find("1"), nullptr);
}

TEST_F(StreamsTest, AChildThatDoesNotKnowTheMethodLeavesTheStreamToTheBridge) {
  open("1");
  streams_.ask(1, false, turn());
  said();
  answers("1", kUnknown);
  EXPECT_THAT(said(), ElementsAre(HasSubstr("notifications/subscriptions/acknowledged")));
  EXPECT_EQ(stream("1").at_child, Streams::AtChild::refused);
}

TEST_F(StreamsTest, AnEndIsHeldForASecondAndPassedOnIfTheChildIsStillUp) {
  open("1");
  streams_.ask(1, false, turn());
  acknowledges(1, "1", kTools);
  said();
  answers("1", kEnd);
  EXPECT_EQ(stream("1").at_child, Streams::AtChild::ending);
  EXPECT_THAT(said(), IsEmpty());
  time_passes(limits::kStreamEndWait);
  EXPECT_THAT(said(), ElementsAre(HasSubstr("\"resultType\":\"complete\"")));
  EXPECT_EQ(streams_.find("1"), nullptr);
}

TEST_F(StreamsTest, DoesNotPassOnAnEndFromAChildBeingTakenDown) {
  open("1");
  streams_.ask(1, false, turn());
  acknowledges(1, "1", kTools);
  answers("1", kEnd);
  said();
  time_passes(limits::kStreamEndWait, false);
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_NE(streams_.find("1"), nullptr);
}

TEST_F(StreamsTest, TheLastEndIsPassedOnAtOnce) {
  open("1");
  open("2");
  streams_.ask(1, false, turn());
  acknowledges(1, "1", kTools);
  acknowledges(1, "2", kTools);
  answers("1", kEnd);
  said();
  streams_.pass_ends(turn());
  answers("2", kEnd, true);
  EXPECT_THAT(said(), ElementsAre(HasSubstr("\"id\":1"), HasSubstr("\"id\":2")));
}

TEST_F(StreamsTest, TheEndOfAnEmptyGrantEndsNothing) {
  open("1");
  streams_.ask(1, false, turn());
  acknowledges(1, "1", "{}");
  EXPECT_EQ(stream("1").at_child, Streams::AtChild::carries_nothing);
  said();
  answers("1", kEnd);
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_EQ(stream("1").at_child, Streams::AtChild::refused);
  EXPECT_TRUE(streams_.wants(CatalogKind::tools));
}

TEST_F(StreamsTest, ACancellationReachesAChildThatReadsAndHasNotRefused) {
  for (const char* const id : {"1", "2", "3"}) open(id);
  streams_.ask(1, false, turn());
  answers("2", kUnknown);
  said();
  cancel("1", true);
  cancel("2", true);
  cancel("3", false);
  EXPECT_THAT(said(), ElementsAre("child 1 cancel 1"));
  EXPECT_TRUE(streams_.was_cancelled("3"));
}

TEST_F(StreamsTest, TheLast64CancelledOnesAreRemembered) {
  const auto open_and_cancel = [&](int id) {
    open(std::to_string(id));
    cancel(std::to_string(id), false);
  };
  for (int id = 1; id <= 64; ++id) open_and_cancel(id);
  EXPECT_TRUE(streams_.was_cancelled("1"));
  EXPECT_TRUE(streams_.was_cancelled("64.0"));
  open_and_cancel(65);
  EXPECT_FALSE(streams_.was_cancelled("1"));
  EXPECT_TRUE(streams_.was_cancelled("2"));
  EXPECT_TRUE(streams_.was_cancelled("65"));
}

TEST_F(StreamsTest, WhatChangedWhileTheClientWaitedIsToldBehindTheAcknowledgement) {
  open("1");
  EXPECT_FALSE(streams_.tell_changed(CatalogKind::tools, turn()));
  EXPECT_THAT(said(), IsEmpty());
  streams_.grant_waiting(turn());
  EXPECT_THAT(said(), ElementsAre(HasSubstr("acknowledged"),
                                  HasSubstr("notifications/tools/list_changed")));
}

StreamFilter filter(std::string_view raw) { return StreamFilter::of(raw).value(); }

TEST(StreamFilterTest, ReadsWhatIsAskedFor) {
  const auto asked = filter(R"json({"toolsListChanged":true,"promptsListChanged":false,)json"
                            R"json("resourceSubscriptions":["a:/b",7]})json");
  EXPECT_TRUE(asked.has(CatalogKind::tools));
  EXPECT_FALSE(asked.has(CatalogKind::prompts));
  EXPECT_FALSE(asked.has(CatalogKind::resources));
  EXPECT_THAT(asked.uris, ElementsAre("\"a:/b\""));
  EXPECT_EQ(asked.text(), R"json({"toolsListChanged":true,"resourceSubscriptions":["a:/b"]})json");
}

TEST(StreamFilterTest, KeepsWhatItDoesNotKnow) {
  const auto asked = filter(R"json({"taskIds":["t"],"toolsListChanged":true})json");
  EXPECT_EQ(asked.text(), R"json({"toolsListChanged":true,"taskIds":["t"]})json");
}

TEST(StreamFilterTest, AnythingButAnObjectIsNone) {
  EXPECT_FALSE(StreamFilter::of(""));
  EXPECT_FALSE(StreamFilter::of("[]"));
  EXPECT_EQ(filter("{}").text(), "{}");
}

TEST(StreamFilterTest, CoversWhatItHasAll) {
  const auto all = filter(
      R"json({"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a","b"]})json");
  EXPECT_TRUE(all.covers(filter("{}")));
  EXPECT_TRUE(all.covers(
      filter(R"json({"toolsListChanged":true,"resourceSubscriptions":["\u0062"]})json")));
  EXPECT_FALSE(all.covers(filter(R"json({"resourcesListChanged":true})json")));
  EXPECT_FALSE(all.covers(filter(R"json({"resourceSubscriptions":["c"]})json")));
}

TEST(TaggedTest, AddsTheStreamIdToTheMeta) {
  const auto tag = [](const std::string& line, std::string_view params) {
    const OwnedLine owned{std::string_view(line)};
    const std::size_t at = params.empty() ? 0 : owned.text().find(params);
    return tagged(owned.line(), std::string_view(owned.text()).substr(at, params.size()), "\"s\"");
  };
  EXPECT_EQ(tag(R"json({"method":"x"})json", ""),
            R"json({"method":"x","params":{"_meta":)json"
            R"json({"io.modelcontextprotocol/subscriptionId":"s"}}})json");
  EXPECT_EQ(tag(R"json({"method":"x","params":{"uri":"u"}})json", R"json({"uri":"u"})json"),
            R"json({"method":"x","params":{"uri":"u","_meta":)json"
            R"json({"io.modelcontextprotocol/subscriptionId":"s"}}})json");
  EXPECT_EQ(tag(R"json({"params":{"_meta":{"a":1}}})json", R"json({"_meta":{"a":1}})json"),
            R"json({"params":{"_meta":{"a":1,"io.modelcontextprotocol/subscriptionId":"s"}}})json");
  EXPECT_EQ(tag(R"json({"params":null})json", "null"),
            R"json({"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}})json");
}

TEST(NamesStreamTest, OnlyTheMetaOfTheResultCounts) {
  EXPECT_TRUE(names_stream(R"json({"_meta":{"io.modelcontextprotocol/subscriptionId":7}})json"));
  EXPECT_FALSE(names_stream(R"json({"_meta":{"x":7}})json"));
  EXPECT_FALSE(names_stream("{}"));
  EXPECT_FALSE(names_stream(""));
}

}  // namespace
}  // namespace sitter
