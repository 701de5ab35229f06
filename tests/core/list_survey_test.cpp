#include "core/child/list_survey.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sitter/limits.hpp"
#include "support/messages.hpp"
#include "support/script.hpp"

namespace sitter {
namespace {

using ListState = ListSurvey::List::State;

class ListSurveyTest : public ::testing::Test {
 protected:
  std::vector<std::string> sent() {
    std::vector<std::string> lines;
    while (const auto order = out_.poll()) {
      const auto& sent = std::get<order::SendToChild>(*order);
      EXPECT_EQ(sent.gen, 3);
      lines.push_back(sent.line.text());
    }
    return lines;
  }
  bool answer(const std::string& text) {
    const OwnedLine line(text);
    return survey_.on_answer(*reader_.read(line.line()), out_);
  }

  int id_ = 0;
  std::string meta_;
  ListSurvey survey_{3, [this] { return std::to_string(++id_); }, [this] { return meta_; }};
  Orders out_;
  MessageReader reader_;
  Now now_{Instant() + seconds(10), {}};
};

TEST_F(ListSurveyTest, IsDoneWithoutLists) {
  EXPECT_TRUE(survey_.is_done());
  EXPECT_FALSE(survey_.deadline());
}

TEST_F(ListSurveyTest, EachKindIsAskedByItsMethod) {
  survey_.begin(CatalogKind::tools, now_, out_);
  survey_.begin(CatalogKind::prompts, now_, out_);
  survey_.begin(CatalogKind::resources, now_, out_);
  EXPECT_THAT(sent(), ElementsAre(request(1, "tools/list", "{}"), request(2, "prompts/list", "{}"),
                                  request(3, "resources/list", "{}")));
  EXPECT_FALSE(survey_.is_done());
}

TEST_F(ListSurveyTest, PagesAreFollowed) {
  survey_.begin(CatalogKind::prompts, now_, out_);
  sent();
  EXPECT_TRUE(answer(result(1, R"json({"nextCursor":"\u00fc","prompts":[1]})json")));
  EXPECT_THAT(sent(), ElementsAre(request(2, "prompts/list", R"json({"cursor":"\u00fc"})json")));
  EXPECT_FALSE(survey_.is_done());
  EXPECT_TRUE(answer(result(2, R"json({"prompts":[ 2, 3 ]})json")));
  EXPECT_TRUE(survey_.is_done());
  ASSERT_THAT(survey_.lists(), SizeIs(1));
  EXPECT_EQ(survey_.lists()[0].state, ListState::complete);
  EXPECT_THAT(survey_.lists()[0].pages, ElementsAre("[1]", "[ 2, 3 ]"));
}

TEST_F(ListSurveyTest, AnswersToOthersAreNotTaken) {
  survey_.begin(CatalogKind::tools, now_, out_);
  EXPECT_FALSE(answer(result(9)));
  EXPECT_TRUE(answer(result("1.0", R"json({"tools":[]})json")));
  EXPECT_TRUE(survey_.is_done());
}

TEST_F(ListSurveyTest, AnErrorOrAnythingUnusableFailsTheList) {
  for (const std::string& line :
       {error(1, -1, "no"), result(1, "{}"), result(1, R"json({"tools":{}})json"), result(1, "[]"),
        result(1, "null")}) {
    id_ = 0;
    survey_ = ListSurvey(
        3, [this] { return std::to_string(++id_); }, [this] { return meta_; });
    survey_.begin(CatalogKind::tools, now_, out_);
    EXPECT_TRUE(answer(line));
    EXPECT_TRUE(survey_.is_done());
    EXPECT_EQ(survey_.lists()[0].state, ListState::failed) << line;
  }
}

TEST_F(ListSurveyTest, PagesAreBounded) {
  survey_.begin(CatalogKind::tools, now_, out_);
  for (int page = 1; page < 100; ++page) {
    answer(result(page, R"json({"tools":[],"nextCursor":")json" + std::to_string(page) + "\"}"));
    ASSERT_FALSE(survey_.is_done());
  }
  EXPECT_THAT(sent(), SizeIs(100));
  answer(result(100, R"json({"tools":[],"nextCursor":"100"})json"));
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_EQ(survey_.lists()[0].state, ListState::failed);
}

TEST_F(ListSurveyTest, AHundredPagesAreWhole) {
  survey_.begin(CatalogKind::tools, now_, out_);
  for (int page = 1; page < 100; ++page) {
    answer(result(page, R"json({"tools":[],"nextCursor":")json" + std::to_string(page) + "\"}"));
  }
  answer(result(100, R"json({"tools":[]})json"));
  EXPECT_EQ(survey_.lists()[0].state, ListState::complete);
  EXPECT_THAT(survey_.lists()[0].pages, SizeIs(100));
}

TEST_F(ListSurveyTest, ARepeatedCursorEndsTheList) {
  survey_.begin(CatalogKind::tools, now_, out_);
  answer(result(1, R"json({"tools":[],"nextCursor":"a"})json"));
  answer(result(2, R"json({"tools":[],"nextCursor":"a"})json"));
  EXPECT_EQ(survey_.lists()[0].state, ListState::complete);
  EXPECT_TRUE(survey_.lists()[0].is_endless);
  EXPECT_EQ(survey_.lists()[0].repeated_cursor, "\"a\"");
}

TEST_F(ListSurveyTest, APageOfKnownItemsEndsTheList) {
  survey_.begin(CatalogKind::tools, now_, out_);
  answer(result(1, R"json({"tools":[1,2],"nextCursor":"a"})json"));
  answer(result(2, R"json({"tools":[],"nextCursor":"b"})json"));
  answer(result(3, R"json({"tools":[2,3],"nextCursor":"c"})json"));
  ASSERT_FALSE(survey_.is_done());
  answer(result(4, R"json({"tools":[3,1],"nextCursor":"d"})json"));
  EXPECT_EQ(survey_.lists()[0].state, ListState::complete);
  EXPECT_TRUE(survey_.lists()[0].is_endless);
  EXPECT_EQ(survey_.lists()[0].repeated_cursor, "");
}

TEST_F(ListSurveyTest, ALastPageOfKnownItemsIsNoFault) {
  survey_.begin(CatalogKind::tools, now_, out_);
  answer(result(1, R"json({"tools":[1],"nextCursor":"a"})json"));
  answer(result(2, R"json({"tools":[1]})json"));
  EXPECT_EQ(survey_.lists()[0].state, ListState::complete);
  EXPECT_FALSE(survey_.lists()[0].is_endless);
}

TEST_F(ListSurveyTest, AListThatBeginsAnewMayHaveTheSameItems) {
  survey_.begin(CatalogKind::tools, now_, out_);
  answer(result(1, R"json({"tools":[1],"nextCursor":"a"})json"));
  survey_.begin(CatalogKind::tools, now_, out_);
  answer(result(3, R"json({"tools":[1],"nextCursor":"a"})json"));
  EXPECT_FALSE(survey_.is_done());
}

TEST_F(ListSurveyTest, EachKindHasItsTime) {
  survey_.begin(CatalogKind::tools, now_, out_);
  survey_.begin(CatalogKind::prompts, now_, out_);
  EXPECT_EQ(survey_.deadline(), now_.steady + milliseconds(1000));
  now_.steady += milliseconds(999);
  survey_.on_timeout(now_);
  EXPECT_EQ(survey_.lists()[1].state, ListState::asking);
  now_.steady += milliseconds(1);
  survey_.on_timeout(now_);
  EXPECT_EQ(survey_.lists()[1].state, ListState::late);
  EXPECT_EQ(survey_.deadline(), now_.steady + milliseconds(1000));
  EXPECT_FALSE(survey_.is_done());
  now_.steady += milliseconds(1000);
  survey_.on_timeout(now_);
  EXPECT_TRUE(survey_.is_done());
  EXPECT_FALSE(survey_.deadline());
}

TEST_F(ListSurveyTest, AListThatIsLateIsTakenTwice) {
  survey_.begin(CatalogKind::tools, now_, out_);
  now_.steady += seconds(2);
  survey_.on_timeout(now_);
  auto taken = survey_.take();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].state, ListState::failed);
  EXPECT_FALSE(taken[0].was_late);
  EXPECT_THAT(survey_.take(), IsEmpty());
  EXPECT_TRUE(answer(result(1, R"json({"tools":[]})json")));
  taken = survey_.take();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].state, ListState::complete);
  EXPECT_TRUE(taken[0].was_late);
  EXPECT_TRUE(survey_.is_empty());
}

TEST_F(ListSurveyTest, AListThatBeginsAnewForgetsItsPagesAndKeepsItsTime) {
  survey_.begin(CatalogKind::tools, now_, out_);
  const auto deadline = survey_.deadline();
  answer(result(1, R"json({"tools":["old"],"nextCursor":"a"})json"));
  sent();
  now_.steady += seconds(1);
  survey_.begin(CatalogKind::tools, now_, out_);
  EXPECT_THAT(sent(), ElementsAre(request(3, "tools/list", "{}")));
  EXPECT_EQ(survey_.deadline(), deadline);
  EXPECT_FALSE(answer(result(2, R"json({"tools":["old"]})json")));
  answer(result(3, R"json({"tools":[],"nextCursor":"a"})json"));
  answer(result(4, R"json({"tools":["new"]})json"));
  ASSERT_THAT(survey_.lists(), SizeIs(1));
  EXPECT_THAT(survey_.lists()[0].pages, ElementsAre("[]", "[\"new\"]"));
}

TEST_F(ListSurveyTest, OnlyTheLastAnswerCounts) {
  meta_ = R"json({"x":1})json";
  survey_.begin(CatalogKind::tools, now_, out_);
  EXPECT_TRUE(answer(error(1, -32600, "not initialized")));
  EXPECT_EQ(survey_.lists()[0].answer, ListSurvey::List::Answer::refused);
  survey_.begin(CatalogKind::tools, now_, out_);
  EXPECT_TRUE(answer(result(2, R"json({"resultType":"complete","tools":[]})json")));
  EXPECT_EQ(survey_.lists()[0].answer, ListSurvey::List::Answer::usual);
}

TEST_F(ListSurveyTest, AListIsOutdatedAfterTooManyRestarts) {
  survey_.begin(CatalogKind::tools, now_, out_);
  for (int i = 0; i < limits::kListRestartsMax; ++i) survey_.begin(CatalogKind::tools, now_, out_);
  EXPECT_THAT(sent(), SizeIs(1 + limits::kListRestartsMax));
  EXPECT_FALSE(survey_.lists()[0].is_outdated);
  survey_.begin(CatalogKind::tools, now_, out_);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_TRUE(survey_.lists()[0].is_outdated);
}

TEST_F(ListSurveyTest, AByteMoreThanTheBoundFailsTheList) {
  const auto tools_of = [](std::size_t size) {
    return result(1, R"json({"tools":[")json" + std::string(size - 4, 'x') + "\"]}");
  };
  for (const std::size_t more : {0, 1}) {
    id_ = 0;
    survey_ = ListSurvey(
        3, [this] { return std::to_string(++id_); }, [this] { return meta_; });
    survey_.begin(CatalogKind::tools, now_, out_);
    answer(tools_of(limits::kListBytesMax + more));
    EXPECT_EQ(survey_.lists()[0].state, more == 0 ? ListState::complete : ListState::failed);
  }
}

}  // namespace
}  // namespace sitter
