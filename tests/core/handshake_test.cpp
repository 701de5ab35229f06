#include "core/child/handshake.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/bridge_script.hpp"

namespace sitter {
namespace {

using State = Handshake::State;
using ::testing::Optional;

class HandshakeTest : public ::testing::Test {
 protected:
  HandshakeTest() {
    session_.opening_params = R"json({"protocolVersion":"2025-11-25"})json";
    session_.negotiated_version = "2025-11-25";
    session_.initialized_line = initialized();
  }

  std::vector<std::string> sent() {
    std::vector<std::string> lines;
    while (const auto order = out_.pop()) {
      lines.push_back(std::get<order::SendToChild>(*order).line.text());
    }
    return lines;
  }
  bool answer(const std::string& text) {
    const OwnedLine line(text);
    return handshake_.on_answer(*reader_.read(line.line()), now_, out_);
  }
  /// Goes on to `opened`, by a replay with the id 1.
  void open(const std::string& capabilities) {
    Server server;
    server.capabilities = capabilities;
    handshake_.open_again(session_, out_);
    answer(result(1, server.opening()));
    sent();
    ASSERT_EQ(handshake_.state(), State::opened);
  }

  /// Begins without an opening. The lists are asked for with the ids 1, 2 and 3.
  void list(bool before_requests) {
    meta_ = "{}";
    handshake_.leave_unopened();
    handshake_.list(before_requests, false, now_, out_);
    sent();
  }
  /// Answers the requests for the prompts and the resources.
  void answer_others_as_stateless() {
    EXPECT_TRUE(answer(result(2, R"json({"resultType":"complete","prompts":[]})json")));
    EXPECT_TRUE(answer(result(3, R"json({"resultType":"complete","resources":[]})json")));
  }
  /// Goes on to `doubted`, where `initialize` has the id 4.
  void doubt() {
    list(true);
    answer_others_as_stateless();
    answer(error(1, -32600, "not initialized"));
    sent();
    ASSERT_EQ(handshake_.state(), State::doubted);
  }

  int id_ = 0;
  std::string meta_;
  Handshake handshake_{2, [this] { return std::to_string(++id_); }, [this] { return meta_; },
                       "9.9.9"};
  Session session_;
  Orders out_;
  MessageReader reader_;
  Now now_{Instant() + seconds(10), {}};
};

TEST_F(HandshakeTest, FromIdleToOpeningWithTheClientsLine) {
  EXPECT_EQ(handshake_.state(), State::idle);
  EXPECT_FALSE(answer(result(0)));
  handshake_.open_with_clients(initialize(0), "0", out_);
  EXPECT_EQ(handshake_.state(), State::opening);
  EXPECT_EQ(handshake_.opening_id(), "0");
  EXPECT_THAT(sent(), ElementsAre(initialize(0)));
}

TEST_F(HandshakeTest, FromIdleToOpeningWithAReplay) {
  handshake_.open_again(session_, out_);
  EXPECT_EQ(handshake_.state(), State::opening);
  EXPECT_THAT(sent(), ElementsAre(request(1, "initialize", session_.opening_params)));
}

TEST_F(HandshakeTest, FromOpeningToOpened) {
  handshake_.open_again(session_, out_);
  EXPECT_FALSE(answer(result(77, Server().opening())));
  EXPECT_EQ(handshake_.state(), State::opening);
  EXPECT_TRUE(answer(result("1.0", Server().opening())));
  EXPECT_EQ(handshake_.state(), State::opened);
  EXPECT_EQ(handshake_.opened_with().server_name(), "server");
}

TEST_F(HandshakeTest, WhatAChildDiscoversIsNoOpening) {
  open(R"json({"tools":{}})json");
  handshake_.on_discovered(OpeningResult::of_discovery(R"json({"capabilities":{}})json"));
  EXPECT_TRUE(handshake_.was_opened());
  EXPECT_TRUE(handshake_.opened_with().declares("tools"));
}

TEST_F(HandshakeTest, FromOpeningToRefused) {
  handshake_.open_again(session_, out_);
  EXPECT_TRUE(answer(error(1, -32000, "database\nis locked")));
  EXPECT_EQ(handshake_.state(), State::refused);
  EXPECT_EQ(handshake_.refusal(), "it answered initialize with error -32000: database is locked");
}

TEST_F(HandshakeTest, AnAnswerWithoutAVersionIsRefused) {
  handshake_.open_again(session_, out_);
  EXPECT_TRUE(answer(result(1, R"json({"capabilities":{}})json")));
  EXPECT_EQ(handshake_.state(), State::refused);
}

TEST_F(HandshakeTest, ASecondAnswerToTheOpeningIsNotTheHandshakes) {
  open("{}");
  EXPECT_FALSE(answer(error(1, -1, "no")));
  EXPECT_EQ(handshake_.state(), State::opened);
  EXPECT_EQ(Handshake(
                1, [] { return "1"; }, [] { return ""; }, "9.9.9")
                .take_lists(Now{}),
            std::nullopt);
}

TEST_F(HandshakeTest, ARefusedOneStaysRefused) {
  handshake_.open_again(session_, out_);
  answer(error(1, -1, "no"));
  EXPECT_FALSE(answer(result(1, Server().opening())));
  handshake_.on_timeout(now_, out_);
  EXPECT_EQ(handshake_.state(), State::refused);
  EXPECT_FALSE(handshake_.take_lists(now_));
}

TEST_F(HandshakeTest, FromOpenedToDoneWithoutAnythingToTell) {
  open("{}");
  handshake_.settle(session_, true, now_, out_);
  EXPECT_THAT(sent(), ElementsAre(initialized()));
  EXPECT_EQ(handshake_.state(), State::done);
  const auto lists = handshake_.take_lists(now_);
  ASSERT_TRUE(lists);
  EXPECT_THAT(*lists, IsEmpty());
  EXPECT_FALSE(handshake_.take_lists(now_));
}

TEST_F(HandshakeTest, ARestoreIsSettlingUntilTheListsAreThere) {
  open(R"json({"tools":{},"resources":{}})json");
  handshake_.settle(session_, true, now_, out_);
  EXPECT_EQ(handshake_.state(), State::settling);
  EXPECT_THAT(sent(), ElementsAre(initialized(), request(2, "tools/list", "{}"),
                                  request(3, "resources/list", "{}")));
  EXPECT_TRUE(answer(result(3, R"json({"resources":[]})json")));
  EXPECT_FALSE(handshake_.take_lists(now_));
  EXPECT_TRUE(answer(result(2, R"json({"tools":[]})json")));
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_THAT(*handshake_.take_lists(now_), SizeIs(2));
}

TEST_F(HandshakeTest, ABaselineServesAtOnce) {
  open(R"json({"tools":{}})json");
  handshake_.settle(session_, false, now_, out_);
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_FALSE(handshake_.take_lists(now_));
  answer(result(2, R"json({"tools":[]})json"));
  EXPECT_TRUE(handshake_.take_lists(now_));
}

TEST_F(HandshakeTest, ABaselineTellsNothingAgain) {
  session_.log_level = "\"debug\"";
  session_.subscribe("\"a\"");
  open(R"json({"logging":{},"resources":{"subscribe":true}})json");
  handshake_.settle(session_, false, now_, out_);
  EXPECT_THAT(sent(), ElementsAre(initialized(), HasSubstr("resources/list")));
}

TEST_F(HandshakeTest, WhatTheClientHadSetUpIsToldAgain) {
  session_.log_level = "\"debug\"";
  session_.subscribe("\"a\"");
  session_.subscribe("\"b\"");
  open(R"json({"logging":{},"resources":{"subscribe":true}})json");
  handshake_.settle(session_, true, now_, out_);
  EXPECT_THAT(sent(), ElementsAre(initialized(),
                                  request(2, "logging/setLevel", R"json({"level":"debug"})json"),
                                  request(3, "resources/subscribe", R"json({"uri":"a"})json"),
                                  request(4, "resources/subscribe", R"json({"uri":"b"})json"),
                                  request(5, "resources/list", "{}")));
  answer(result(5, R"json({"resources":[]})json"));
  answer(error(2, -1, "no level"));
  answer(error(3, -32002, "gone"));
  answer(result(3));
  EXPECT_EQ(handshake_.state(), State::settling);
  answer(result(4));
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_THAT(handshake_.lost_subscriptions(), ElementsAre("\"a\""));
  EXPECT_THAT(handshake_.restored_subscriptions(), ElementsAre("\"b\""));
}

TEST_F(HandshakeTest, ATimeoutOfSomethingElseDoesNotEndTheRestoreBeforeItBegins) {
  session_.subscribe("\"a\"");
  open(R"json({"resources":{"subscribe":true}})json");
  handshake_.on_timeout(now_, out_);
  handshake_.settle(session_, true, now_, out_);
  answer(result(3, R"json({"resources":[]})json"));
  EXPECT_EQ(handshake_.state(), State::settling);
  answer(error(2, -32002, "gone"));
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_THAT(handshake_.lost_subscriptions(), ElementsAre("\"a\""));
}

TEST_F(HandshakeTest, WhatTheChildCannotTakeIsNotTold) {
  session_.log_level = "\"debug\"";
  session_.subscribe("\"a\"");
  open("{}");
  handshake_.settle(session_, true, now_, out_);
  EXPECT_THAT(sent(), ElementsAre(initialized()));
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_THAT(handshake_.lost_subscriptions(), ElementsAre("\"a\""));
}

TEST_F(HandshakeTest, TheWaitForAnswersIsBounded) {
  session_.subscribe("\"a\"");
  open(R"json({"tools":{},"resources":{"subscribe":true}})json");
  handshake_.settle(session_, true, now_, out_);
  EXPECT_EQ(handshake_.deadline(), now_.steady + milliseconds(1000));
  now_.steady += milliseconds(1000);
  handshake_.on_timeout(now_, out_);
  EXPECT_EQ(handshake_.state(), State::settling);
  EXPECT_EQ(handshake_.deadline(), now_.steady + milliseconds(1000));
  now_.steady += milliseconds(1000);
  handshake_.on_timeout(now_, out_);
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_FALSE(handshake_.deadline());
  EXPECT_THAT(handshake_.lost_subscriptions(), ElementsAre("\"a\""));
  const auto lists = handshake_.take_lists(now_);
  ASSERT_TRUE(lists);
  EXPECT_THAT(*lists, SizeIs(2));
  for (const auto& list : *lists) EXPECT_EQ(list.state, ListSurvey::List::State::failed);
}

TEST_F(HandshakeTest, AnAnswerAfterItsTimeIsStillTheHandshakes) {
  session_.subscribe("\"a\"");
  open(R"json({"resources":{"subscribe":true}})json");
  handshake_.settle(session_, true, now_, out_);
  now_.steady += seconds(2);
  handshake_.on_timeout(now_, out_);
  EXPECT_TRUE(answer(result(2)));
  EXPECT_THAT(handshake_.lost_subscriptions(), ElementsAre("\"a\""));
}

TEST_F(HandshakeTest, ListsAreTakenAgain) {
  open("{}");
  handshake_.settle(session_, true, now_, out_);
  handshake_.take_lists(now_);
  sent();
  handshake_.survey_again(CatalogKind::tools, now_, out_);
  EXPECT_THAT(sent(), ElementsAre(request(2, "tools/list", "{}")));
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_FALSE(handshake_.take_lists(now_));
  answer(result(2, R"json({"tools":[]})json"));
  EXPECT_THAT(*handshake_.take_lists(now_), SizeIs(1));
}

TEST_F(HandshakeTest, AChildThatAnnouncesAChangeWheneverItIsListedIsListedAtABoundedPace) {
  open("{}");
  handshake_.settle(session_, true, now_, out_);
  handshake_.take_lists(now_);
  sent();
  int asked = 0;
  const auto answer_all = [&] {
    for (const std::string& line : sent()) {
      ++asked;
      const OwnedLine request(line);
      const std::string id(reader_.read(request.line())->id);
      handshake_.survey_again(CatalogKind::tools, now_, out_);
      answer(result(id, R"json({"tools":[]})json"));
    }
    if (handshake_.take_lists(now_)) handshake_.survey_again(CatalogKind::tools, now_, out_);
  };
  handshake_.survey_again(CatalogKind::tools, now_, out_);
  const Instant until = now_.steady + seconds(10);
  for (int turn = 0; turn < 1000; ++turn) {
    answer_all();
    if (const auto due = handshake_.deadline(); due && *due <= until) now_.steady = *due;
    handshake_.on_timeout(now_, out_);
  }
  EXPECT_GE(asked, 10);
  EXPECT_LE(asked, 10 * (1 + limits::kListRestartsMax) + 20);
}

TEST_F(HandshakeTest, RefusalsOfAModernServerAreKnown) {
  for (const int code : {-32022, -32601, -32602, -32600, -32000}) {
    Handshake handshake(
        1, [] { return std::string("1"); }, [] { return std::string(); }, "9.9.9");
    handshake.open_again(session_, out_);
    const OwnedLine line(error(1, code, "no"));
    handshake.on_answer(*reader_.read(line.line()), now_, out_);
    EXPECT_EQ(handshake.refusal().find("2026-07-28") != std::string::npos,
              (code != -32600 && code != -32000));
  }
}

TEST_F(HandshakeTest, FromIdleToUnopened) {
  handshake_.leave_unopened();
  EXPECT_EQ(handshake_.state(), State::unopened);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_FALSE(answer(result(0, Server().opening())));
  handshake_.on_timeout(now_, out_);
  EXPECT_EQ(handshake_.state(), State::unopened);
  EXPECT_FALSE(handshake_.deadline());
  EXPECT_FALSE(handshake_.take_lists(now_));
}

TEST_F(HandshakeTest, FromUnopenedToOpeningWithTheClientsLine) {
  handshake_.leave_unopened();
  handshake_.open_with_clients(initialize(5), "5", out_);
  EXPECT_EQ(handshake_.state(), State::opening);
  EXPECT_THAT(sent(), ElementsAre(initialize(5)));
  EXPECT_TRUE(answer(result(5, Server().opening())));
  EXPECT_EQ(handshake_.state(), State::opened);
}

TEST_F(HandshakeTest, FromUnopenedToOpeningWithAReplay) {
  handshake_.leave_unopened();
  handshake_.open_again(session_, out_);
  EXPECT_EQ(handshake_.state(), State::opening);
  EXPECT_THAT(sent(), ElementsAre(request(1, "initialize", session_.opening_params)));
}

TEST_F(HandshakeTest, FromUnopenedToListing) {
  meta_ = R"json({"a":1})json";
  handshake_.leave_unopened();
  handshake_.list(true, false, now_, out_);
  EXPECT_EQ(handshake_.state(), State::listing);
  EXPECT_THAT(sent(), ElementsAre(request(1, "tools/list", R"json({"_meta":{"a":1}})json"),
                                  request(2, "prompts/list", R"json({"_meta":{"a":1}})json"),
                                  request(3, "resources/list", R"json({"_meta":{"a":1}})json")));
  EXPECT_FALSE(handshake_.is_in_doubt());
}

TEST_F(HandshakeTest, FromListingToDoneWhenAllListsAreThere) {
  list(true);
  EXPECT_TRUE(answer(result(1, R"json({"resultType":"complete","tools":[]})json")));
  EXPECT_EQ(handshake_.state(), State::listing);
  EXPECT_FALSE(handshake_.take_lists(now_));
  answer_others_as_stateless();
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_THAT(handshake_.take_lists(now_), Optional(SizeIs(3)));
}

TEST_F(HandshakeTest, FromListingToDoneWithAServerThatHasNoTools) {
  list(true);
  answer_others_as_stateless();
  EXPECT_TRUE(answer(error(1, -32601, "Method not found")));
  EXPECT_EQ(handshake_.state(), State::done);
}

TEST_F(HandshakeTest, FromListingToDoubted) {
  list(true);
  EXPECT_TRUE(answer(result(1, R"json({"tools":[]})json")));
  EXPECT_EQ(handshake_.state(), State::listing);
  answer_others_as_stateless();
  EXPECT_EQ(handshake_.state(), State::doubted);
  EXPECT_TRUE(handshake_.is_in_doubt());
  EXPECT_THAT(sent(), ElementsAre(HasSubstr(
                          R"json("id":4,"method":"initialize","params":{"protocolVersion":)json"
                          R"json("2025-11-25")json")));
  EXPECT_EQ(handshake_.deadline(), now_.steady + milliseconds(1000));
  EXPECT_FALSE(handshake_.take_lists(now_));
}

TEST_F(HandshakeTest, FromListingToDoneWhenTheToolsNeverCome) {
  list(true);
  EXPECT_EQ(handshake_.deadline(), std::nullopt);
  now_.steady += seconds(40);
  handshake_.on_spoken(now_);
  answer_others_as_stateless();
  EXPECT_EQ(handshake_.deadline(), now_.steady + milliseconds(2000));
  now_.steady += milliseconds(1999);
  handshake_.on_timeout(now_, out_);
  EXPECT_EQ(handshake_.state(), State::listing);
  now_.steady += milliseconds(1);
  handshake_.on_timeout(now_, out_);
  EXPECT_EQ(handshake_.state(), State::done);
}

TEST_F(HandshakeTest, FromDoubtedToRefused) {
  doubt();
  EXPECT_TRUE(answer(result(4, Server().opening())));
  EXPECT_EQ(handshake_.state(), State::refused);
  EXPECT_THAT(handshake_.refusal(), HasSubstr("it is a server of revision 2025-11-25"));
  EXPECT_FALSE(handshake_.deadline());
  EXPECT_FALSE(handshake_.take_lists(now_));
  EXPECT_TRUE(answer(error(4, -32601, "once more")));
  handshake_.end_doubt();
  now_.steady += seconds(10);
  handshake_.on_timeout(now_, out_);
  EXPECT_EQ(handshake_.state(), State::refused);
}

TEST_F(HandshakeTest, FromDoubtedToDoneWhenInitializeIsRefused) {
  doubt();
  EXPECT_TRUE(answer(error(4, -32022, "Unsupported protocol version")));
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_FALSE(handshake_.is_in_doubt());
  EXPECT_FALSE(handshake_.deadline());
  EXPECT_THAT(handshake_.take_lists(now_), Optional(SizeIs(3)));
}

TEST_F(HandshakeTest, FromDoubtedToDoneAfterASecond) {
  doubt();
  now_.steady += milliseconds(999);
  handshake_.on_timeout(now_, out_);
  EXPECT_EQ(handshake_.state(), State::doubted);
  now_.steady += milliseconds(1);
  handshake_.on_timeout(now_, out_);
  EXPECT_EQ(handshake_.state(), State::done);
  // A late answer still belongs to the handshake.
  EXPECT_TRUE(answer(result(4, Server().opening())));
  EXPECT_EQ(handshake_.state(), State::done);
}

TEST_F(HandshakeTest, FromDoubtedToDoneByAnAnswerOfTheStatelessRevision) {
  doubt();
  handshake_.end_doubt();
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_TRUE(answer(result(4, Server().opening())));
  EXPECT_EQ(handshake_.state(), State::done);
}

TEST_F(HandshakeTest, FromUnprovenToDoneWhereTheListsAreMerelyABaseline) {
  list(false);
  EXPECT_EQ(handshake_.state(), State::unproven);
  EXPECT_TRUE(handshake_.is_in_doubt());
  EXPECT_FALSE(handshake_.take_lists(now_));
  answer_others_as_stateless();
  EXPECT_TRUE(handshake_.is_in_doubt());
  EXPECT_TRUE(answer(result(1, R"json({"tools":[]})json")));
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_FALSE(handshake_.is_in_doubt());
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_THAT(handshake_.take_lists(now_), Optional(SizeIs(3)));
}

TEST_F(HandshakeTest, FromUnprovenToDoubtedWhenTheFirstListOfToolsIsRefused) {
  list(false);
  EXPECT_TRUE(answer(error(1, -32600, "not initialized")));
  EXPECT_EQ(handshake_.state(), State::unproven);
  answer_others_as_stateless();
  EXPECT_EQ(handshake_.state(), State::doubted);
  EXPECT_THAT(sent(), ElementsAre(HasSubstr(R"json("id":4,"method":"initialize")json")));
}

TEST_F(HandshakeTest, AListThatIsGivenAfterARefusalIsNoReasonToDoubt) {
  list(false);
  EXPECT_TRUE(answer(error(1, -32600, "not yet")));
  handshake_.survey_again(CatalogKind::tools, now_, out_);
  EXPECT_THAT(sent(), ElementsAre(HasSubstr(R"json("id":4,"method":"tools/list")json")));
  EXPECT_TRUE(answer(result(4, R"json({"resultType":"complete","tools":[]})json")));
  answer_others_as_stateless();
  EXPECT_EQ(handshake_.state(), State::done);
}

TEST_F(HandshakeTest, AListOfToolsThatNeverComesIsNoReasonToDoubtOneThatServes) {
  list(false);
  handshake_.on_spoken(now_);
  answer_others_as_stateless();
  now_.steady += milliseconds(2000);
  handshake_.on_timeout(now_, out_);
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_FALSE(handshake_.is_in_doubt());
}

TEST_F(HandshakeTest, AChildThatHasShownItsEraIsNotDoubted) {
  list(false);
  handshake_.end_doubt();
  EXPECT_FALSE(handshake_.is_in_doubt());
  answer(error(1, -32600, "no"));
  answer_others_as_stateless();
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(HandshakeTest, AChildThatHasAnsweredServerDiscoverIsNotDoubted) {
  OpeningResult discovered;
  discovered.capabilities = "{}";
  handshake_.on_discovered(discovered);
  list(false);
  EXPECT_FALSE(handshake_.is_in_doubt());
  answer(error(1, -32600, "no"));
  answer_others_as_stateless();
  EXPECT_EQ(handshake_.state(), State::done);
}

}  // namespace
}  // namespace sitter
