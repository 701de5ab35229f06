#include "support/bridge_script.hpp"

namespace sitter {
namespace {

/// Cursors belong to the child that gave them.
class BridgeCursorsTest : public BridgeTest {};

TEST_F(BridgeCursorsTest, ACursorOfADeadChildIsNotShownToItsSuccessor) {
  open_session();
  client(request(1, "resources/list"));
  child(1, result(1, R"json({"resources":[],"nextCursor":"page2"})json"));
  dies(1, 0);
  done();
  client(request(2, "resources/list", R"json({"cursor":"page2"})json"));
  EXPECT_THAT(done(), ElementsAre(AllOf(HasSubstr("\"id\":2,"), HasSubstr("-32602"))));
  client(call(3, "echo"));
  opens(2);
  child(2, result(3));
  done();
  client(request(4, "resources/list", R"json({"cursor":"page2"})json"));
  EXPECT_THAT(done(), ElementsAre(AllOf(HasSubstr("\"id\":4,"), HasSubstr("-32602"))));
}

TEST_F(BridgeCursorsTest, ACursorOfTheLivingChildPasses) {
  open_session();
  dies(1, 0);
  client(call(1, "echo"));
  opens(2);
  child(2, result(1));
  int id = 1;
  for (const std::string method : {"tools", "prompts", "resources", "resources/templates"}) {
    client(request(++id, method + "/list"));
    child(2, result(id, R"json({"nextCursor":"\u00e9)json" + method + "\"}"));
    done();
    const std::string next =
        request(++id, method + "/list", R"json({"cursor":"é)json" + method + "\"}");
    client(next);
    EXPECT_THAT(done(), ElementsAre("child 2 " + next));
    child(2, result(id));
  }
}

TEST(CursorsTest, ACursorThatTheChildNeverGaveIsRefusedUntil10000AreKnown) {
  // The fixture would be too slow for so many requests.
  const Now now{Instant() + seconds(1), WallTime()};
  Bridge bridge(BridgeConfig{}, now);
  std::string to_client;
  std::string to_child;
  const auto feed = [&](const Fact& fact) {
    to_client = to_child = "";
    bridge.handle(fact, now);
    while (const auto order = bridge.poll_order()) {
      if (const auto* const a = std::get_if<order::SendToClient>(&*order)) {
        to_client = a->line.text();
      } else if (const auto* const b = std::get_if<order::SendToChild>(&*order)) {
        to_child = b->line.text();
      }
    }
  };
  const auto client = [&](const std::string& text) {
    const OwnedLine line(text);
    feed(fact::ClientLine{line.line()});
  };
  const auto child = [&](Generation gen, const std::string& text) {
    const OwnedLine line(text);
    feed(fact::ChildLine{gen, line.line()});
  };
  client(initialize(0));
  feed(fact::ChildStarted{1, 1});
  child(1, result(0, Server().opening()));
  feed(fact::ChildExited{1, {0, ""}});
  feed(fact::ChildOutputEnded{1});
  feed(fact::ChildErrorEnded{1});
  feed(fact::UnitSignalled{1, {}});
  const auto answer_own = [&](const std::string& method) {
    child(2, Server().answer(nlohmann::json::parse(to_child)["id"].dump(), method));
  };
  client(request(1, "resources/list"));
  feed(fact::ChildStarted{2, 2});
  answer_own("initialize");
  answer_own("tools/list");

  const auto answer_page = [&](std::size_t page) {
    const std::string id = std::to_string(page);
    ASSERT_EQ(to_child, request(id, "resources/list"));
    child(2, result(id, R"json({"resources":[],"nextCursor":")json" + id + "\"}"));
  };
  answer_page(1);
  for (std::size_t page = 2; page < 10000; ++page) {
    client(request(std::to_string(page), "resources/list"));
    answer_page(page);
  }
  const std::string made_up =
      request(R"json("one more")json", "resources/list", R"json({"cursor":"made up"})json");
  client(made_up);
  EXPECT_EQ(to_child, "");
  EXPECT_THAT(to_client, HasSubstr("-32602"));
  client(request(10000, "resources/list"));
  answer_page(10000);
  client(made_up);
  EXPECT_EQ(to_child, made_up);
}

TEST_F(BridgeCursorsTest, ACursorThatLeadsBackIsLeftOutAndTold) {
  open_session();
  client(request(1, "resources/list"));
  child(1, result(1, R"json({"resources":[],"nextCursor":"a"})json"));
  done();
  client(request(2, "resources/list", R"json({"cursor":"a"})json"));
  child(1, result(2, R"json({ "resources":[] , "nextCursor":"a" })json"));
  EXPECT_THAT(client_got(), ElementsAre(result(2, R"json({ "resources":[]  })json")));
  client(call(3, "echo"));
  child(1, result(3, text_result("x")));
  EXPECT_THAT(answer_text(),
              HasSubstr("lint: resources/list gives the cursor \"a\" again, and clients would list "
                        "without end"));
}

TEST_F(BridgeCursorsTest, AServerThatIgnoresTheCursorGivesItsItemsOnce) {
  const auto page = [](const std::string& next) {
    return R"json({"resourceTemplates":[{"name":"a","uriTemplate":"x"}])json" + next + "}";
  };
  open_session();
  client(request(1, "resources/templates/list"));
  child(1, result(1, page(R"json(,"nextCursor":"1")json")));
  client(request(2, "resources/templates/list", R"json({"cursor":"1"})json"));
  child(1, result(2, page(R"json(,"nextCursor":"2")json")));
  EXPECT_THAT(client_got(), Contains(result(2, R"json({"resourceTemplates":[]})json")));
  client(call(3, "echo"));
  child(1, result(3, text_result("x")));
  EXPECT_THAT(answer_text(),
              HasSubstr("lint: resources/templates/list gives the same items again"));
}

TEST_F(BridgeCursorsTest, WithTheLintOffEachCursorPasses) {
  config.lints = false;
  open_session();
  for (const int id : {1, 2}) {
    const std::string line = result(id, R"json({"resources":[],"nextCursor":"a"})json");
    client(request(id, "resources/list", id == 1 ? "{}" : R"json({"cursor":"a"})json"));
    child(1, line);
    EXPECT_THAT(client_got(), ElementsAre(line));
  }
}

TEST_F(BridgeCursorsTest, ALastPageThatTheBridgeHasMadeEndsTheHold) {
  open_session();
  client(request(1, "tools/list"));
  child(1, result(1, Server::list("tools", server.tools)));
  dies(1, 0);
  server.tools.push_back(tool("more"));
  client(call(2, "echo"));
  opens(2);
  child(2, result(2, text_result("x")));
  client(request(3, "tools/list"));
  child(2, result(3, R"json({"tools":[],"nextCursor":"a"})json"));
  client(request(4, "tools/list", R"json({"cursor":"a"})json"));
  EXPECT_THAT(client_got(), Not(Contains(HasSubstr("\"id\":2,"))));
  child(2, result(4, R"json({"tools":[],"nextCursor":"a"})json"));
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(), Contains(HasSubstr("\"id\":2,")));
}

TEST_F(BridgeCursorsTest, AnUnknownCursorIsPassedToTheOnlyChild) {
  open_session();
  const std::string list = request(1, "resources/list", R"json({"cursor":"made up"})json");
  client(list);
  EXPECT_THAT(done(), ElementsAre("child 1 " + list));
  child(1, error(1, -32602, "Invalid cursor"));
}

TEST_F(BridgeCursorsTest, AnOldCursorThatWaitedForTheNextChildIsNotShownToIt) {
  open_session();
  client(request(1, "tools/list"));
  child(1, result(1, R"json({"tools":[],"nextCursor":"page2"})json"));
  exits(1, 0);
  client(call(2, "echo"));
  client(request(3, "tools/list", R"json({"cursor":"page2"})json"));
  closes_output(1);
  opens(2);
  const auto got = done();
  EXPECT_THAT(got, Contains(AllOf(HasSubstr("\"id\":3,"), HasSubstr("-32602"))));
  EXPECT_THAT(got, Not(Contains(AllOf(HasSubstr("child 2"), HasSubstr("page2")))));
  child(2, result(2));
}

}  // namespace
}  // namespace sitter
