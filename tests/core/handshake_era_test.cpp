#include "support/handshake_script.hpp"

namespace sitter {
namespace {

using State = Handshake::State;
using ::testing::Optional;

/// The handshake of a child that has no opening, so that its lists show its era.
class HandshakeEraTest : public HandshakeTest {};

TEST_F(HandshakeEraTest, FromIdleToUnopened) {
  handshake_.leave_unopened();
  EXPECT_EQ(handshake_.state(), State::unopened);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_FALSE(answer(result(0, Server().opening())));
  handshake_.on_timeout(now_, out_);
  EXPECT_EQ(handshake_.state(), State::unopened);
  EXPECT_FALSE(handshake_.deadline());
  EXPECT_FALSE(handshake_.take_lists(now_));
}

TEST_F(HandshakeEraTest, FromUnopenedToOpeningWithTheClientsLine) {
  handshake_.leave_unopened();
  handshake_.open_with_clients(initialize(5), "5", out_);
  EXPECT_EQ(handshake_.state(), State::opening);
  EXPECT_THAT(sent(), ElementsAre(initialize(5)));
  EXPECT_TRUE(answer(result(5, Server().opening())));
  EXPECT_EQ(handshake_.state(), State::opened);
}

TEST_F(HandshakeEraTest, FromUnopenedToOpeningWithAReplay) {
  handshake_.leave_unopened();
  handshake_.open_again(session_, out_);
  EXPECT_EQ(handshake_.state(), State::opening);
  EXPECT_THAT(sent(), ElementsAre(request(1, "initialize", session_.opening_params)));
}

TEST_F(HandshakeEraTest, FromUnopenedToListing) {
  meta_ = R"json({"a":1})json";
  handshake_.leave_unopened();
  handshake_.list(true, false, now_, out_);
  EXPECT_EQ(handshake_.state(), State::listing);
  EXPECT_THAT(sent(), ElementsAre(request(1, "tools/list", R"json({"_meta":{"a":1}})json"),
                                  request(2, "prompts/list", R"json({"_meta":{"a":1}})json"),
                                  request(3, "resources/list", R"json({"_meta":{"a":1}})json")));
  EXPECT_FALSE(handshake_.is_in_doubt());
}

TEST_F(HandshakeEraTest, FromListingToDoneWhenAllListsAreThere) {
  list(true);
  EXPECT_TRUE(answer(result(1, R"json({"resultType":"complete","tools":[]})json")));
  EXPECT_EQ(handshake_.state(), State::listing);
  EXPECT_FALSE(handshake_.take_lists(now_));
  answer_others_as_stateless();
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_THAT(handshake_.take_lists(now_), Optional(SizeIs(3)));
}

TEST_F(HandshakeEraTest, FromListingToDoneWithAServerThatHasNoTools) {
  list(true);
  answer_others_as_stateless();
  EXPECT_TRUE(answer(error(1, -32601, "Method not found")));
  EXPECT_EQ(handshake_.state(), State::done);
}

TEST_F(HandshakeEraTest, FromListingToDoubted) {
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

TEST_F(HandshakeEraTest, FromListingToDoneWhenTheToolsNeverCome) {
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

TEST_F(HandshakeEraTest, FromDoubtedToRefused) {
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

TEST_F(HandshakeEraTest, FromDoubtedToDoneWhenInitializeIsRefused) {
  doubt();
  EXPECT_TRUE(answer(error(4, -32022, "Unsupported protocol version")));
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_FALSE(handshake_.is_in_doubt());
  EXPECT_FALSE(handshake_.deadline());
  EXPECT_THAT(handshake_.take_lists(now_), Optional(SizeIs(3)));
}

TEST_F(HandshakeEraTest, FromDoubtedToDoneAfterASecond) {
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

TEST_F(HandshakeEraTest, FromDoubtedToDoneByAnAnswerOfTheStatelessRevision) {
  doubt();
  handshake_.end_doubt();
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_TRUE(answer(result(4, Server().opening())));
  EXPECT_EQ(handshake_.state(), State::done);
}

TEST_F(HandshakeEraTest, FromUnprovenToDoneWhereTheListsAreMerelyABaseline) {
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

TEST_F(HandshakeEraTest, FromUnprovenToDoubtedWhenTheFirstListOfToolsIsRefused) {
  list(false);
  EXPECT_TRUE(answer(error(1, -32600, "not initialized")));
  EXPECT_EQ(handshake_.state(), State::unproven);
  answer_others_as_stateless();
  EXPECT_EQ(handshake_.state(), State::doubted);
  EXPECT_THAT(sent(), ElementsAre(HasSubstr(R"json("id":4,"method":"initialize")json")));
}

TEST_F(HandshakeEraTest, AListThatIsGivenAfterARefusalIsNoReasonToDoubt) {
  list(false);
  EXPECT_TRUE(answer(error(1, -32600, "not yet")));
  handshake_.survey_again(CatalogKind::tools, now_, out_);
  EXPECT_THAT(sent(), ElementsAre(HasSubstr(R"json("id":4,"method":"tools/list")json")));
  EXPECT_TRUE(answer(result(4, R"json({"resultType":"complete","tools":[]})json")));
  answer_others_as_stateless();
  EXPECT_EQ(handshake_.state(), State::done);
}

TEST_F(HandshakeEraTest, AMissingToolListCastsNoDoubtOnAServingChild) {
  list(false);
  handshake_.on_spoken(now_);
  answer_others_as_stateless();
  now_.steady += milliseconds(2000);
  handshake_.on_timeout(now_, out_);
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_FALSE(handshake_.is_in_doubt());
}

TEST_F(HandshakeEraTest, AChildThatHasShownItsEraIsNotDoubted) {
  list(false);
  handshake_.end_doubt();
  EXPECT_FALSE(handshake_.is_in_doubt());
  answer(error(1, -32600, "no"));
  answer_others_as_stateless();
  EXPECT_EQ(handshake_.state(), State::done);
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(HandshakeEraTest, AChildThatHasAnsweredServerDiscoverIsNotDoubted) {
  OpeningResult discovered;
  discovered.capabilities = "{}";
  handshake_.on_discovered(discovered);
  list(false);
  EXPECT_FALSE(handshake_.is_in_doubt());
  answer(error(1, -32600, "no"));
  answer_others_as_stateless();
  EXPECT_EQ(handshake_.state(), State::done);
}

TEST_F(HandshakeEraTest, TheTimeForTheStartEndsWithAnyMessage) {
  handshake_.leave_unopened();
  handshake_.expect_start(now_.steady + seconds(50));
  EXPECT_EQ(handshake_.startup_deadline(), now_.steady + seconds(50));
  handshake_.on_spoken(now_);
  EXPECT_EQ(handshake_.startup_deadline(), std::nullopt);
}

}  // namespace
}  // namespace sitter
