#include "support/stateless_script.hpp"

namespace sitter {
namespace {

/// What the client is told through a stream.
class BridgeStreamChangesTest : public StreamsTest {};

TEST_F(BridgeStreamChangesTest, AChangedListIsToldToTheStreamsThatAskedAndToNobodyElse) {
  open_stream(kTools, kTools);
  client(listen(7, R"json({"promptsListChanged":true})json"));
  child(1, acknowledged(7, R"json({"promptsListChanged":true})json"));
  dies(1, 0);
  server.tools = {tool("other")};
  done();
  respawn(2);
  EXPECT_THAT(client_got(), ElementsAre(to_stream(kStream, kChanged)));
  answers_x(2);
}

TEST_F(BridgeStreamChangesTest, ResourcesMayHaveChangedWhileNoChildServed) {
  const std::string resource = R"json({"resourceSubscriptions":["a:/b"]})json";
  open_stream(resource, resource);
  dies(1, 0);
  done();
  respawn(2);
  EXPECT_THAT(client_got(), ElementsAre(to_stream(kStream, "notifications/resources/updated",
                                                  R"json("uri":"a:/b")json")));
  answers_x(2);
}

TEST_F(BridgeStreamChangesTest, PassesAnUpdateBelowASubscribedResource) {
  const std::string resource = R"json({"resourceSubscriptions":["file:///dir"]})json";
  open_stream(resource, resource);
  const std::string part =
      to_stream(kStream, "notifications/resources/updated", R"json("uri":"file:///dir/a.txt")json");
  child(1, part);
  EXPECT_THAT(client_got(), ElementsAre(part));
}

TEST_F(BridgeStreamChangesTest, AStreamThatStartsTheChildIsToldOfWhatHasChanged) {
  client(enveloped(1, "x"));
  opens(1);
  child(1, result(1, R"json({"resultType":"complete"})json"));
  dies(1, 0);
  server.tools.push_back(tool("more"));
  client(listen(kStream, kTools));
  opens(2);
  done();
  child(2, acknowledged(kStream, kTools));
  EXPECT_THAT(client_got(),
              ElementsAre(acknowledged(kStream, kTools), to_stream(kStream, kChanged)));
}

TEST_F(BridgeStreamChangesTest, AChangeThatTheChildTellsReachesItsStream) {
  open_stream(kTools, kTools);
  child(1, to_stream(kStream, kChanged));
  EXPECT_THAT(done(),
              ElementsAre(HasSubstr("\"tools/list\""), "client " + to_stream(kStream, kChanged)));
  child(1, to_stream("\"t\"", kChanged));
  EXPECT_THAT(client_got(), IsEmpty());
}

TEST_F(BridgeStreamChangesTest, AChangeThatAStreamDoesNotCarryIsDropped) {
  open_stream(kTools, kTools);
  child(1, to_stream(kStream, "notifications/prompts/list_changed"));
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, to_stream(kStream, "notifications/resources/updated", R"json("uri":"a:/b")json"));
  EXPECT_THAT(client_got(), IsEmpty());
}

TEST_F(BridgeStreamChangesTest, AChangeWithoutAStreamsIdGoesToTheStreamsThatAsked) {
  open_stream(kTools, kTools);
  child(1, notification(kChanged));
  EXPECT_THAT(client_got(), ElementsAre(to_stream(kStream, kChanged)));
  child(1, notification("notifications/prompts/list_changed"));
  EXPECT_THAT(client_got(), IsEmpty());
}

TEST_F(BridgeStreamChangesTest, TheNoticeWaitsForTheListOfAClientThatListens) {
  open_stream(kTools, kTools);
  dies(1, 0);
  server.tools = {tool("other")};
  client(enveloped_call(2, "other"));
  opens(2);
  done();
  child(2, result(2, R"json({"resultType":"complete","content":[]})json"));
  EXPECT_THAT(client_got(), IsEmpty());
  client(enveloped(3, "tools/list"));
  child(2, result(3, server.page("tools", server.tools)));
  next_deadline_comes();
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":3,"), HasSubstr("server restarted")));
}

TEST_F(BridgeStreamChangesTest, EachStreamIsToldOnceUnderItsOwnId) {
  open_stream(kTools, kTools);
  client(listen(7, kTools));
  child(1, acknowledged(7, kTools));
  dies(1, 0);
  server.tools = {tool("other")};
  done();
  respawn(2);
  EXPECT_THAT(client_got(), ElementsAre(to_stream(kStream, kChanged), to_stream(7, kChanged)));
  answers_x(2);
}

}  // namespace
}  // namespace sitter
