#include "core/http/http_link_limits.hpp"
#include "support/link_order_script.hpp"

namespace sitter {
namespace {

/// What the daemon refuses for now, or may not have got, and is sent again.
class LinkAgainTest : public LinkOrderTest {};

TEST_F(LinkAgainTest, AnAnswerThatAGatewayRefusesIsSentAgain) {
  open_session();
  client_answers_a_question();
  done();
  for (const int code : {429, 502}) {
    status(last(), code);
    EXPECT_THAT(done(), IsEmpty());
    next_deadline_comes();
    EXPECT_THAT(done(), ElementsAre(HasSubstr(result(5))));
  }
  takes(last());
  EXPECT_THAT(logs(), Not(Contains(HasSubstr("may be lost"))));
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkAgainTest, WhatIsRefusedForNowWaitsAlone) {
  open_session();
  client(call(1, "ask"));
  streams(*exchange_of(1));
  done();
  int next = 2;
  for (const int code : {429, 503}) {
    event(*exchange_of(1), request(code, "elicitation/create"));
    for (const std::string& line : {result(answer()["id"].dump()), cancelled(next), told_}) {
      client(line);
      status(last(), code, "", {{"retry-after", "12"}});
      done();
      client(call(next, "slow"));
      EXPECT_THAT(done(), ElementsAre(HasSubstr(call(next, "slow")))) << code << ' ' << line;
      ++next;
    }
  }
}

TEST_F(LinkAgainTest, ANotificationThatIsRefusedForNowIsSentAgainWhenTheDaemonSays) {
  open_listed_session();
  client(told_);
  status(last(), 429, "", {{"retry-after", "12"}});
  done();
  EXPECT_EQ(wait(), seconds(12));
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("post 8 [s1] " + told_));
  takes(8);
  EXPECT_THAT(logs(), Not(Contains(HasSubstr("429"))));
}

TEST_F(LinkAgainTest, ANotificationWaitsForTheDaemonNoLongerThanARequest) {
  config.wait_for_server = seconds(3);
  open_listed_session();
  client(told_);
  status(last(), 503, "", {{"retry-after", "12"}});
  done();
  EXPECT_EQ(wait(), seconds(3));
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("post 8 [s1] " + told_));
  status(8, 503, "", {{"retry-after", "9"}});
  EXPECT_THAT(logs(), Contains(HasSubstr("503")));
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkAgainTest, AnAnswerThatIsRefusedForNowIsSentUntilItsTriesAreUsedUpToo) {
  config.wait_for_server = seconds(3);
  open_session();
  client_answers_a_question();
  for (int i = 0; i <= limits::kHttpAnswerRepeatsMax; ++i) {
    EXPECT_THAT(done(), ElementsAre(HasSubstr(result(5)))) << i;
    status(last(), 429, "", {{"retry-after", "12"}});
    EXPECT_EQ(wait(), seconds(i == 0 ? 3 : 12)) << i;
    next_deadline_comes();
  }
  EXPECT_THAT(done(), ElementsAre(HasSubstr(result(5))));
  status(last(), 429, "", {{"retry-after", "12"}});
  EXPECT_THAT(logs(), Contains(HasSubstr("429")));
  answers(*exchange_of(1), result(1));
}

/// It would come after progress that says more.
TEST_F(LinkAgainTest, ProgressThatIsRefusedForNowIsNotSentAgain) {
  open_listed_session();
  event(4, R"json({"jsonrpc":"2.0","id":5,"method":"elicitation/create",)json"
           R"json("params":{"message":"?","_meta":{"progressToken":"p"}}})json");
  const auto asked = answer();
  client(progress(asked["id"].dump(), 1));
  status(last(), 503, "", {{"retry-after", "1"}});
  done();
  client(progress(asked["id"].dump(), 2));
  EXPECT_THAT(done(), ElementsAre(HasSubstr(progress("\"p\"", 2))));
  takes(last());
  time_passes(seconds(2));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkAgainTest, RequestsWaitForInitializedThatIsRefusedForNow) {
  client_opens();
  status(last(), 503, "", {{"retry-after", "5"}});
  client(call(1, "echo"));
  EXPECT_THAT(done(), Not(Contains(HasSubstr("tools/"))));
  time_passes(seconds(5));
  EXPECT_THAT(done(), Contains(HasSubstr(initialized())));
  takes(last());
  ASSERT_TRUE(exchange_of(1));
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkAgainTest, RequestsWaitForInitializedNoLongerThanForTheDaemon) {
  config.wait_for_server = seconds(3);
  client_opens();
  status(last(), 429, "", {{"retry-after", "12"}});
  client(call(1, "echo"));
  time_passes(seconds(3));
  EXPECT_FALSE(exchange_of(1));
  status(last(), 429, "", {{"retry-after", "9"}});
  ASSERT_TRUE(exchange_of(1));
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkAgainTest, AnAnswerOfTheClientWhoseConnectionBreaksIsSentAgain) {
  open_session();
  client_answers_a_question();
  EXPECT_THAT(done(), ElementsAre(HasSubstr(result(5))));
  breaks(last());
  EXPECT_THAT(done(), ElementsAre(HasSubstr(result(5))));
  for (const auto pause : {seconds(1), seconds(2)}) {
    breaks(last());
    EXPECT_THAT(done(), IsEmpty());
    EXPECT_EQ(wait(), pause);
    next_deadline_comes();
    EXPECT_THAT(done(), ElementsAre(HasSubstr(result(5))));
  }
  breaks(last());
  EXPECT_THAT(logs(), Contains(HasSubstr("an answer may be lost")));
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkAgainTest, AnAnswerThatWasTakenIsNotSentAgain) {
  open_session();
  client_answers_a_question();
  const Exchange exchange = last();
  done();
  head(exchange, 202);
  breaks(exchange);
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_THAT(logs(), Not(Contains(HasSubstr("may be lost"))));
}

}  // namespace
}  // namespace sitter
