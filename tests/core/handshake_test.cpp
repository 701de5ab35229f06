#include "core/child/handshake.hpp"

#include "core/child/list_survey.hpp"
#include "support/handshake_script.hpp"

namespace sitter {
namespace {

using State = Handshake::State;
using ::testing::Optional;

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

TEST_F(HandshakeTest, DiscoveryDoesNotReplaceTheOpening) {
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

TEST_F(HandshakeTest, DoesNotTakeASecondAnswerToTheOpening) {
  open("{}");
  EXPECT_FALSE(answer(error(1, -1, "no")));
  EXPECT_EQ(handshake_.state(), State::opened);
  EXPECT_EQ(Handshake(
                1, [] { return "1"; }, [] { return ""; }, "9.9.9")
                .take_lists(Now{}),
            std::nullopt);
}

TEST_F(HandshakeTest, AVersionThatIsNeitherKnownNorAskedForIsRefused) {
  const auto opens = [&](std::string_view asked, std::string_view answered) {
    Server server;
    server.protocol_version = answered;
    handshake_.open_with_clients(
        request(0, "initialize", fmt::format(R"json({{"protocolVersion":"{}"}})json", asked)), "0",
        out_);
    answer(result(0, server.opening()));
    return handshake_.state() == State::opened;
  };
  EXPECT_TRUE(opens("2025-11-25", "2024-10-07"));
  EXPECT_TRUE(opens("2099-01-01", "2099-01-01"));
  for (const char* version : {"2099-01-01", "1.0", "2026-07-28", ""}) {
    EXPECT_FALSE(opens("2025-11-25", version));
    EXPECT_EQ(handshake_.refusal(),
              fmt::format("clients refuse its answer to initialize: protocolVersion \"{}\" is "
                          "neither the one that was asked for (2025-11-25) nor another that opens "
                          "with initialize",
                          version));
  }
}

TEST_F(HandshakeTest, AReplayThatIsAnsweredWithAnUnknownVersionIsRefused) {
  Server server;
  server.protocol_version = "2099-01-01";
  handshake_.open_again(session_, out_);
  answer(result(1, server.opening()));
  EXPECT_EQ(handshake_.state(), State::refused);
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

TEST_F(HandshakeTest, ABaselineRestoresNothing) {
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

TEST_F(HandshakeTest, AnEarlierTimeoutDoesNotEndTheRestore) {
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

TEST_F(HandshakeTest, TakesALateAnswerToItsOwnRequest) {
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

TEST_F(HandshakeTest, TheTimeForTheStartEndsWithTheAnswerToTheOpening) {
  handshake_.open_with_clients(initialize(0), "0", out_);
  handshake_.expect_start(now_.steady + seconds(50));
  handshake_.on_spoken(now_);
  EXPECT_EQ(handshake_.startup_deadline(), now_.steady + seconds(50)) << "it has only logged";
  EXPECT_TRUE(answer(result(0, Server().opening())));
  EXPECT_EQ(handshake_.startup_deadline(), std::nullopt);
}

}  // namespace
}  // namespace sitter
