#include "core/child/child.hpp"
#include "support/stateless_script.hpp"

namespace sitter {
namespace {

class BridgeTasksTest : public BridgeTest {
 protected:
  static std::string about(const std::string& method, const std::string& task) {
    return request(7, method, R"json({"taskId":")json" + task + "\"}");
  }
  /// What the client reads if the child refuses this request.
  std::string refusal(Generation gen, const std::string& asked) {
    client(asked);
    EXPECT_THAT(done(), ElementsAre("child " + std::to_string(gen) + " " + asked));
    child(gen, error(7, -32602, "unknown task"));
    return answer()["error"]["message"];
  }
  void begin_task(Generation gen, const std::string& task) {
    client(request(1, "tools/call", R"json({"name":"work","task":{}})json"));
    child(gen, result(1, R"json({"task":{"taskId":")json" + task + "\"}}"));
    done();
  }
  void restart() {
    dies(1, 0);
    client(request(1, "resources/read", R"json({"uri":"a:b"})json"));
    opens(2);
    child(2, result(1));
    done();
    time_passes(milliseconds(8000));
  }
};

TEST_F(BridgeTasksTest, ARefusedTaskOfAServerThatIsGoneIsExplained) {
  open_session();
  begin_task(1, "t");
  EXPECT_EQ(refusal(1, about("tasks/get", "u")), "unknown task") << "no server is gone";
  restart();
  begin_task(2, "n");
  for (const std::string method : {"tasks/get", "tasks/result", "tasks/cancel", "tasks/update"}) {
    EXPECT_EQ(refusal(2, about(method, "t")),
              "unknown task\n\n[mcp-sitter] This task was probably begun by a server that is gone. "
              "The server that runs now (spawn #2) started 8s ago. Call the tool again to begin a "
              "new task.");
    EXPECT_EQ(refusal(2, about(method, "n")), "unknown task");
  }
  EXPECT_EQ(refusal(2, about("vendor/get", "t")), "unknown task");
}

TEST_F(BridgeTasksTest, AServerThatKeepsItsTasksAnswersForThem) {
  open_session();
  begin_task(1, "t");
  restart();
  client(about("tasks/get", "t"));
  child(2, result(7, R"json({"taskId":"t","status":"working"})json"));
  EXPECT_THAT(client_got(), ElementsAre(result(7, R"json({"taskId":"t","status":"working"})json")));
}

TEST_F(BridgeTasksTest, AboveTheBoundNoTaskIsTakenForOneThatIsGone) {
  open_session();
  restart();
  for (std::size_t n = 1; n < limits::kHandedOutMax; ++n) begin_task(2, std::to_string(n));
  EXPECT_THAT(refusal(2, about("tasks/get", "t")), HasSubstr("gone"));
  begin_task(2, "one more");
  EXPECT_EQ(refusal(2, about("tasks/get", "t")), "unknown task");
}

class BridgeStatesTest : public StatelessTest {};

TEST_F(BridgeStatesTest, ARefusedRequestStateOfAServerThatIsGoneIsExplained) {
  const auto asks = [this](Generation gen, const std::string& state) {
    client(enveloped_call(7, "ask"));
    done();
    child(gen,
          result(7, R"json({"resultType":"input_required","requestState":)json" + state + "}"));
    done();
  };
  const auto refusal = [this](Generation gen, const std::string& state) {
    client(enveloped(8, "tools/call", R"json("name":"ask","requestState":)json" + state));
    done();
    child(gen, error(8, -32602, "bad state"));
    return answer()["error"]["message"].get<std::string>();
  };
  serve_session();
  asks(1, "\"s\"");
  EXPECT_EQ(refusal(1, "\"u\""), "bad state");
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  opens(2);
  child(2, result(2, complete_text("b")));
  done();
  asks(2, R"json("\u0073")json");
  EXPECT_EQ(refusal(2, "\"s\""), "bad state");
  EXPECT_EQ(refusal(2, "\"u\""),
            "bad state\n\n[mcp-sitter] This requestState was probably given by a server that is "
            "gone. The server that runs now (spawn #2) started just now. Send the request again "
            "without requestState and inputResponses.");
  // Servers also refuse it in a result.
  client(enveloped(9, "tools/call", R"json("name":"ask","requestState":"u")json"));
  done();
  child(2, result(9, R"json({"content":[{"type":"text","text":"bad state"}],"isError":true})json"));
  EXPECT_THAT(answer()["result"]["content"][0]["text"], HasSubstr("by a server that is gone"));
}

TEST_F(BridgeStatesTest, TheNoticeOfTheRestartFollowsInTheNextResult) {
  serve_session();
  dies(1, 0);
  client(enveloped(8, "tools/call", R"json("name":"ask","requestState":"s")json"));
  opens(2);
  done();
  child(2, error(8, -32602, "bad state"));
  EXPECT_THAT(answer()["error"]["message"], Not(HasSubstr("restarted")));
  client(enveloped_call(9, "echo"));
  done();
  child(2, result(9, complete_text("b")));
  EXPECT_THAT(answer()["result"]["content"][0]["text"], HasSubstr("server restarted (spawn #2"));
}

}  // namespace
}  // namespace sitter
