#include "core/http/session_loss.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/messages.hpp"

namespace sitter {
namespace {

HttpRefusal refusal(int status, std::string_view body, bool had_session_id = true) {
  return {status, had_session_id, body, {}};
}

TEST(SessionLossTest, NotFoundMeansThatTheSessionOfTheRequestIsGone) {
  for (const std::string& body : {std::string(), std::string("<h1>Not Found</h1>"),
                                  error("null", -32001, "Session not found")}) {
    EXPECT_EQ(session_loss(refusal(404, body)), SessionLoss::gone) << body;
  }
}

TEST(SessionLossTest, WithoutASessionNotFoundIsAWrongAddress) {
  EXPECT_EQ(session_loss(refusal(404, "", false)), SessionLoss::none);
  EXPECT_EQ(session_loss(refusal(404, error("null", -32601, "Method not found"), false)),
            SessionLoss::none);
}

TEST(SessionLossTest, SomeServersSayItWithABadRequest) {
  for (const std::string& body :
       {error("null", -32000, "Bad Request: No valid session ID provided"),
        error("null", -32000, "Bad Request: Server not initialized"),
        error("null", -32000, "Bad Request: Mcp-Session-Id header is required"),
        error("null", -32001, "Session not found"), error(3, -32001, "invalid SESSION id"),
        error(3, -32000, "Server Not Initialized")}) {
    EXPECT_EQ(session_loss(refusal(400, body)), SessionLoss::gone) << body;
    EXPECT_EQ(session_loss(refusal(400, body, false)), SessionLoss::gone) << body;
  }
}

TEST(SessionLossTest, OtherBadRequestsSayNothingAboutTheSession) {
  for (const std::string& body :
       {error("null", -32000, "Bad Request: Unsupported protocol version: 1 (session)"),
        error("null", -32000, "Bad Request: Unsupported protocol version"),
        error("null", -32000, "Connection closed"), error("null", -32600, "No session"),
        error("null", -32602, "session_id is missing"), error("null", -32700, "Parse error"),
        error("null", -32020, "the session header differs"),
        std::string("No valid session ID provided"), std::string(),
        std::string(R"json({"error":"no session"})json"),
        std::string(R"json({"error":{"code":-32000,"message":7}})json"),
        std::string(R"json({"error":{"code":-32000,"data":"session"}})json"),
        std::string(R"json({"error":{"code":-32000,"message":"no session"})json")}) {
    EXPECT_EQ(session_loss(refusal(400, body)), SessionLoss::none) << body;
  }
}

TEST(SessionLossTest, UnauthorizedMeansItOnlyIfTheBodySaysSo) {
  EXPECT_EQ(session_loss(refusal(401, R"json({"error":"Invalid session"})json")),
            SessionLoss::gone);
  EXPECT_EQ(session_loss(refusal(401, "SESSION expired")), SessionLoss::gone);
  EXPECT_EQ(session_loss(refusal(401, "")), SessionLoss::none);
  EXPECT_EQ(session_loss(refusal(401, R"json({"error":"invalid_token"})json")), SessionLoss::none);
  EXPECT_EQ(session_loss({401, true, "Invalid session", "Bearer"}), SessionLoss::none);
}

TEST(SessionLossTest, OtherStatusesAreNoLoss) {
  const std::string body = error("null", -32001, "Session not found");
  for (const int status : {200, 202, 302, 402, 403, 405, 406, 410, 415, 429, 500, 502, 503}) {
    EXPECT_EQ(session_loss(refusal(status, body)), SessionLoss::none) << status;
  }
}

TEST(SessionLossTest, AServerThatIsAlreadyInitializedSaysSo) {
  const std::string body = error("null", -32600, "Invalid Request: Server already initialized");
  for (const int status : {400, 401, 404, 409, 499}) {
    EXPECT_EQ(session_loss(refusal(status, body)), SessionLoss::already_open) << status;
  }
  EXPECT_EQ(session_loss(refusal(409, "SERVER ALREADY INITIALIZED", false)),
            SessionLoss::already_open);
  EXPECT_EQ(session_loss(refusal(500, body)), SessionLoss::none);
  EXPECT_EQ(session_loss(refusal(200, body)), SessionLoss::none);
}

}  // namespace
}  // namespace sitter
