#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/child/child_input.hpp"
#include "core/rebuild/pending_rebuild.hpp"
#include "support/rebuild_script.hpp"

namespace sitter {
namespace {

constexpr ControlId kScript = 7;

/// Which built-in tools are offered, and whether they have other names than usual.
struct Offer {
  std::string label;
  std::set<Builtin> tools;
  bool is_renamed = false;

  friend void PrintTo(const Offer& offer, std::ostream* out) { *out << offer.label; }
};

/// Stories in which the client reads the names of tools: each offer is told each of them, and reads
/// no name that it does not have.
class BridgeOfferedTest : public BridgeRebuildTest, public ::testing::WithParamInterface<Offer> {
 protected:
  BridgeOfferedTest() {
    config.tools = GetParam().tools;
    config.call_tool = BridgeConfig::CallTool::on;
    if (GetParam().is_renamed) {
      for (const Builtin builtin : kBuiltins) {
        config.tool_names[builtin] = "my_" + std::string(plain_name(builtin).substr(7));
      }
    }
  }

  bool offers(Builtin builtin) const {
    const bool is_for_builds = builtin == Builtin::rebuild || builtin == Builtin::build_log;
    return config.tools.contains(builtin) && !(is_for_builds && config.build_command.empty());
  }
  std::string name(Builtin builtin) const {
    return GetParam().is_renamed ? config.tool_names.at(builtin) : std::string(plain_name(builtin));
  }
  /// Calls the tool if it is offered.
  void call_if_offered(const Id& id, Builtin builtin, const std::string& arguments = "{}") {
    if (offers(builtin)) client(call(id, name(builtin), arguments));
  }
  /// Kills the server as the client can, or else as a person can.
  void kill(const Id& id) {
    if (offers(Builtin::kill)) {
      client(call(id, name(Builtin::kill)));
    } else {
      control(kScript, R"json({"command":"kill"})json");
    }
  }
  /// Whatever came before belongs to another story.
  void forget_what_was_heard() { done(); }

  /// What the client has heard since names tools that are offered, and no others. With all tools it
  /// names at least one. Otherwise the story has not reached the text that it is about.
  void expect_only_offered_names() {
    std::set<std::string> offered;
    for (const Builtin builtin : kBuiltins) {
      if (offers(builtin)) offered.insert(name(builtin));
    }
    std::set<std::string> named;
    for (const std::string& line : client_got()) {
      const auto flat = nlohmann::json::parse(line, nullptr, false).flatten();
      for (const auto& [path, value] : flat.items()) {
        if (value.is_string()) read(value.get<std::string>(), named, line);
      }
    }
    for (const std::string& one : named) EXPECT_TRUE(offered.contains(one)) << one;
    const bool offers_all = GetParam().tools.size() == kBuiltins.size();
    EXPECT_FALSE(offers_all && named.empty());
  }

 private:
  /// Collects the names, and sees that leaving them out has left no hole, and that the user is not
  /// asked for what a tool can do.
  void read(const std::string& text, std::set<std::string>& named, const std::string& line) const {
    static const RE2 tool(R"re((\w*sitter_\w+|my_\w+))re");
    static const RE2 hole(
        R"re(\(\s|\s\)|\(\)|\w  \w|[,;:] ?[.,;:]|\b[Cc]all([,;.] *| )(and|then|to|with)\b)re");
    re2::StringPiece rest(text);
    for (std::string name; RE2::FindAndConsume(&rest, tool, &name);) named.insert(name);
    EXPECT_FALSE(RE2::PartialMatch(text, hole)) << line;
    if (offers(Builtin::kill) || offers(Builtin::rebuild)) {
      EXPECT_THAT(text, Not(HasSubstr("ask the user to restart")));
    }
  }
};

TEST_P(BridgeOfferedTest, TheOpeningAndTheListOfTheTools) {
  client(initialize(0));
  opens(1);
  client(initialized());
  client(request(1, "tools/list"));
  child(1, result(1, Server::list("tools", {tool("echo")})));
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, TheOpeningAndTheListOfTheToolsWithoutABuild) {
  config.build_command.clear();
  client(initialize(0));
  opens(1);
  client(initialized());
  client(request(1, "tools/list"));
  child(1, result(1, Server::list("tools", {tool("echo")})));
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, AnOpeningWithoutAServer) {
  client(initialize(0));
  child_says(1, "ImportError: no module named x");
  dies(1, 7);
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, AnOpeningWithoutAServerAndWithoutABuild) {
  config.build_command.clear();
  client(initialize(0));
  dies(1, 7);
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, ASlowStart) {
  client(initialize(0));
  time_passes(config.answer_within);
  expect_only_offered_names();
  dies(1, 0);
}

TEST_P(BridgeOfferedTest, AFirstBuildThatFails) {
  plays.start = false;
  client(initialize(0));
  start_finds_no_command(1);
  started(build(1));
  child_says(build(1), "a.c:1:2: error: no");
  dies(build(1), 2);
  expect_only_offered_names();
  client(initialized());
  client(call(1, "echo"));
  start_finds_no_command(2);
  started(build(2));
  child_says(build(2), "a.c:1:2: error: no");
  dies(build(2), 2);
  call_if_offered(2, Builtin::status);
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, ACrashDuringACall) {
  open_session();
  client(call(1, "echo"));
  child_says(1, "index out of range");
  dies(1, 139, "SIGSEGV");
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, ACrashBetweenCalls) {
  open_session();
  child_says(1, "index out of range");
  dies(1, 139, "SIGSEGV");
  client(call(1, "echo"));
  opens(2);
  child(2, result(1, text_result("x")));
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, AStartThatFails) {
  open_session();
  dies(1, 0);
  client(call(1, "echo"));
  child_says(2, "ImportError: no module named x");
  dies(2, 1);
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, AKillDuringRequests) {
  open_session();
  client(call(1, "echo"));
  client(request(2, "resources/read"));
  forget_what_was_heard();
  kill(3);
  dies(1, 0);
  call_if_offered(4, Builtin::status);
  client(call(5, "echo"));
  opens(2);
  child(2, result(5, text_result("x")));
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, AKillWhileNoServerRuns) {
  open_session();
  dies(1, 0);
  plays.start = false;
  client(call(1, "echo"));
  kill(2);
  started(2);
  dies(2, 0);
  call_if_offered(3, Builtin::status);
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, MoreChangesThanANoticeHolds) {
  open_listed_session();
  server.tools.clear();
  for (int n = 0; n < 300; ++n) server.tools.push_back(tool("tool" + std::to_string(n)));
  dies(1, 0);
  client(call(1, "tool1"));
  opens(2);
  child(2, result(1, text_result("x")));
  time_passes(seconds(1));
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, MoreFindingsOfTheLintThanANoticeHolds) {
  server.tools.clear();
  for (int n = 0; n < 12; ++n) server.tools.push_back(tool("tool " + std::to_string(n)));
  open_session();
  client(call(1, "tool 1"));
  child(1, result(1, text_result("x")));
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, ARenamedToolOfTheServer) {
  open_listed_session();
  server.tools = {tool("find")};
  dies(1, 0);
  client(call(1, "echo"));
  opens(2);
  child(2, error(1, -32602, "Unknown tool: echo"));
  time_passes(seconds(1));
  call_if_offered(2, Builtin::status);
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, OldCode) {
  open_session();
  source_changes("server.py");
  client(call(1, "echo"));
  child(1, result(1, text_result("x")));
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, OldCodeWithoutABuild) {
  config.build_command.clear();
  open_session();
  source_changes("server.py");
  client(call(1, "echo"));
  child(1, result(1, text_result("x")));
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, AReloadWhoseBuildFails) {
  open_session();
  ask_reload();
  child_says(build(1), "a.c:1:2: error: no");
  dies(build(1), 2);
  client(call(1, "echo"));
  child(1, result(1, text_result("x")));
  expect_only_offered_names();
  dies(1, 3);
  client(call(2, "echo"));
  opens(2);
  child(2, result(2, text_result("x")));
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, AReloadWhoseServerFindsItsPortTaken) {
  open_session();
  ask_reload();
  dies(build(1), 0);
  child_says(2, "listen EADDRINUSE: port 80");
  dies(2, 1);
  client(call(1, "echo"));
  child(1, result(1, text_result("x")));
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, AReloadWithoutABuildWhoseServerFindsItsPortTaken) {
  config.build_command.clear();
  open_session();
  ask_reload();
  child_says(2, "listen EADDRINUSE: port 80");
  dies(2, 1);
  client(call(1, "echo"));
  child(1, result(1, text_result("x")));
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, ARebuildThatFails) {
  open_session();
  call_if_offered(1, Builtin::rebuild);
  if (!offers(Builtin::rebuild)) return;
  child_says(build(1), "a.c:1:2: error: no");
  dies(build(1), 2);
  call_if_offered(2, Builtin::rebuild);
  dies(build(2), 0);
  child_says(2, "listen EADDRINUSE: port 80");
  dies(2, 1);
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, ARebuildThatJoinsABuild) {
  open_session();
  ask_reload();
  time_passes(seconds(3));
  call_if_offered(1, Builtin::rebuild);
  dies(build(1), 0);
  opens(2);
  if (offers(Builtin::rebuild)) expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, ARebuildThatEndsBeforeItsBuild) {
  open_session();
  ask_reload();
  call_if_offered(1, Builtin::rebuild, R"json({"timeout_seconds":2})json");
  time_passes(seconds(2));
  if (offers(Builtin::rebuild)) expect_only_offered_names();
  dies(build(1), 2);
}

TEST_P(BridgeOfferedTest, ACallThatHasWaitedLongForABuild) {
  open_session();
  ask_reload();
  dies(1, 3);
  client(call(1, "echo"));
  client(request(2, "resources/read"));
  time_passes(limits::kBuildPatience);
  expect_only_offered_names();
  dies(build(1), 2);
}

TEST_P(BridgeOfferedTest, ACallThatHasWaitedLongForANewServer) {
  config.build_command.clear();
  open_session();
  ask_reload();
  dies(1, 3);
  client(call(1, "echo"));
  time_passes(limits::kBuildPatience);
  expect_only_offered_names();
  dies(2, 0);
}

TEST_P(BridgeOfferedTest, AServerThatHasStoppedReading) {
  open_session();
  input_full(1);
  time_passes(limits::kDeafAfter);
  client(call(1, "echo"));
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, AnAnswerThatCannotBeRead) {
  open_session();
  client(call(1, "echo"));
  child(1, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"\xff\"}}");
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, WrongCallsOfTheBuiltInTools) {
  open_session();
  int id = 0;
  for (const Builtin builtin : kBuiltins) {
    if (!offers(builtin)) continue;
    client(call(++id, name(builtin), R"json({"no":1})json"));
    client(call(++id, name(builtin), R"json({"lines":0,"scope":1,"mode":1})json"));
    client(call(++id, name(builtin), "[]"));
    if (builtin == Builtin::call) continue;
    client(request(++id, "tools/call", "{\"name\":\"" + name(builtin) + "\",\"task\":{}}"));
    call_if_offered(++id, Builtin::call, "{\"tool\":\"" + name(builtin) + "\"}");
  }
  call_if_offered(++id, Builtin::call, R"json({"tool":"none"})json");
  expect_only_offered_names();
}

TEST_P(BridgeOfferedTest, AServerThatNeverRanIsStartedInTheWayThatItsOpeningNames) {
  client(initialize(0));
  dies(1, 7);
  const std::string text = answer()["result"]["instructions"];
  client(initialized());
  files_changed = true;
  std::string tool;
  if (RE2::PartialMatch(text, R"re(then call (\w+): it (?:builds|starts))re", &tool)) {
    client(call(1, tool, tool == name(Builtin::call) ? R"json({"tool":"echo"})json" : "{}"));
  } else {
    EXPECT_THAT(text, HasSubstr("ask the user to start the server (mcp-sitter ctl reload)"));
    control(kScript, R"json({"command":"reload"})json");
  }
  auto got = done();
  if (std::find(got.begin(), got.end(), "start build 1") != got.end()) {
    dies(build(1), 0);
    got = done();
  }
  EXPECT_THAT(got, Contains("start 2"));
  opens(2);
  if (tool == name(Builtin::call)) child(2, result(1));
}

TEST_P(BridgeOfferedTest, AServerThatHasStoppedReadingIsRestartedInTheWayThatTheErrorNames) {
  open_session();
  input_full(1);
  time_passes(limits::kDeafAfter);
  client(call(1, "echo"));
  const std::string text = answer()["error"]["message"];
  std::string tool;
  if (RE2::PartialMatch(text, R"re(So call (\w+), and then)re", &tool)) {
    client(call(2, tool));
  } else {
    EXPECT_THAT(text, HasSubstr("ask the user to restart the server (mcp-sitter ctl kill)"));
    control(kScript, R"json({"command":"kill"})json");
  }
  if (tool == name(Builtin::rebuild)) {
    dies(build(1), 0);
    opens(2);
  } else {
    dies(1, 0);
  }
  done();
  client(call(3, "echo"));
  if (tool != name(Builtin::rebuild)) opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + call(3, "echo")));
  child(2, result(3));
}

std::vector<Offer> offers() {
  std::vector<Offer> all = {{"all", {kBuiltins.begin(), kBuiltins.end()}},
                            {"renamed", {kBuiltins.begin(), kBuiltins.end()}, true}};
  for (const Builtin builtin : kBuiltins) {
    all.push_back({"only_" + std::string(plain_name(builtin).substr(7)), {builtin}});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Each, BridgeOfferedTest, ::testing::ValuesIn(offers()),
                         [](const auto& story) { return story.param.label; });

}  // namespace
}  // namespace sitter
