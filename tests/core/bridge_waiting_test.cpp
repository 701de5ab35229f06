#include "sitter/bytes.hpp"
#include "support/respawn_script.hpp"

namespace sitter {
namespace {

/// What happens while the next child is on its way.
class BridgeWaitingTest : public RespawnTest {};

TEST_F(BridgeWaitingTest, BuiltinsAreAnsweredWhileTheChildHangsInItsOpening) {
  call_while_down();
  done();
  client(call(2, "sitter_status"));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr(R"json("childState": "running")json"),
                                   HasSubstr(R"json("requestsWaiting": 1)json")));
  client(call(3, "sitter_kill"));
  EXPECT_THAT(done(),
              ElementsAre(AllOf(HasSubstr("\"id\":1,"), HasSubstr("not delivered")), "close 2"));
  dies(2, 0);
  EXPECT_THAT(answer_text(), HasSubstr(R"json("count": 1)json"));
}

TEST_F(BridgeWaitingTest, ARequestThatWaitsCanBeCancelledAndIsNeverSent) {
  call_while_down();
  client(call(2, "echo"));
  client(cancelled(1));
  opens(2);
  const auto got = done();
  EXPECT_THAT(got, Contains("child 2 " + call(2, "echo")));
  EXPECT_THAT(got, Not(Contains("child 2 " + call(1, "echo"))));
  EXPECT_THAT(got, Not(Contains("child 2 " + cancelled(1))));
  child(2, result(2));
}

TEST_F(BridgeWaitingTest, CancellingAllWaitingRequestsDoesNotStopTheStart) {
  call_while_down();
  client(cancelled(1));
  opens(2);
  done();
  client(call(2, "sitter_status"));
  EXPECT_THAT(answer_text(), HasSubstr(R"json("childState": "ready")json"));
}

TEST_F(BridgeWaitingTest, TheNumberOfRequestsThatWaitIsBounded) {
  plays.start = false;
  open_session_with_start();
  for (int id = 1; id <= 1000; ++id) client(call(id, "echo"));
  EXPECT_THAT(done(), ElementsAre("start 2"));
  client(call(1001, "echo"));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":1001,"), HasSubstr("1000 requests"))));
  start_fails(2, "no");
  EXPECT_THAT(client_got(), SizeIs(1000));
}

TEST_F(BridgeWaitingTest, RequestsOf16MiBMayWaitAndOneByteMoreIsRefused) {
  plays.start = false;
  open_session_with_start();
  const auto of_size = [](int id, std::size_t size) {
    const std::size_t empty = call(id, "echo", R"json("")json").size();
    return call(id, "echo", "\"" + std::string(size - empty, 'x') + "\"");
  };
  const std::size_t half = 8 * limits::kMiB;
  client(of_size(1, half));
  client(of_size(2, half + 1));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":2,"), HasSubstr("8388608 bytes"))));
  client(of_size(3, half));
  EXPECT_THAT(client_got(), IsEmpty());
  client(call(4, "echo"));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":4,"), HasSubstr("16777216 bytes"))));
  start_fails(2, "no");
  EXPECT_THAT(client_got(), SizeIs(2));
}

TEST_F(BridgeWaitingTest, OneRequestOfAnySizeMayWait) {
  open_session();
  down();
  const std::string big = call(1, "echo", "\"" + std::string(17 * limits::kMiB, 'x') + "\"");
  client(big);
  opens(2);
  const auto got = done();
  // A matcher would print the whole line.
  EXPECT_EQ(std::count(got.begin(), got.end(), "child 2 " + big), 1);
  child(2, result(1));
}

TEST_F(BridgeWaitingTest, NotificationsThatWaitLeaveRoomForRequests) {
  open_session();
  down();
  for (int n = 0; n < 2000; ++n) client(notification("notifications/vendor"));
  client(call(1, "echo"));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + call(1, "echo")));
  child(2, result(1));
}

TEST_F(BridgeWaitingTest, AListWaitsForARespawn) {
  open_session();
  down();
  client(request(1, "tools/list"));
  EXPECT_THAT(done(), ElementsAre("start 2", HasSubstr("initialize")));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + request(1, "tools/list")));
  child(2, result(1, R"json({"tools":[]})json"));
}

TEST_F(BridgeWaitingTest, AnswersAndProgressForADeadChildDoNotWaitForTheNext) {
  open_session();
  child(1, request(7, "sampling/createMessage", R"json({"_meta":{"progressToken":7}})json"));
  down();
  client(call(1, "echo"));
  client(progress(1, 10));
  client(result(1, R"json({"late":true})json"));
  opens(2);
  const auto got = done();
  EXPECT_THAT(got, Not(Contains(HasSubstr("late"))));
  EXPECT_THAT(got, Not(Contains(HasSubstr("notifications/progress"))));
  child(2, result(1));
}

TEST_F(BridgeWaitingTest, APingIsAnsweredAtOnceWhileTheChildHangsInItsOpening) {
  call_while_down();
  done();
  client(request(2, "ping"));
  EXPECT_THAT(done(), ElementsAre("client " + result(2)));
  opens(2);
  child(2, result(1));
}

}  // namespace
}  // namespace sitter
