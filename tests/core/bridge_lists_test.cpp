#include "core/bridge/tools.hpp"
#include "core/report/catalogs.hpp"
#include "support/bridge_script.hpp"

namespace sitter {
namespace {

class BridgeListsTest : public BridgeTest {
 protected:
  static std::string builtins() {
    std::string joined;
    for (const std::string& definition : Tools::names({}).definitions()) joined += "," + definition;
    return joined;
  }
  static std::string resource_template(const std::string& name) {
    return R"json({"name":")json" + name + R"json(","uriTemplate":"x:{a}"})json";
  }
  static std::vector<std::string> names(const nlohmann::json& line) {
    std::vector<std::string> names;
    for (const auto& item : line["result"]["tools"]) names.push_back(item["name"]);
    return names;
  }
};

TEST_F(BridgeListsTest, TheBuiltinToolsComeBehindTheChildsInAFixedOrder) {
  const std::string tools = tool("b") + ", " + tool("a");
  open_session();
  client(request(1, "tools/list"));
  done();
  child(1, R"json({"id":1,"result":{ "tools" : [ )json" + tools +
               R"json( ] ,"_meta":{"x":1.0}},"jsonrpc":"2.0"})json");
  EXPECT_THAT(done(),
              ElementsAre(R"json(client {"id":1,"result":{ "tools" : [ )json" + tools + " " +
                          builtins() + R"json(] ,"_meta":{"x":1.0}},"jsonrpc":"2.0"})json"));
}

TEST_F(BridgeListsTest, ALoneSurrogateInADescriptionPasses) {
  open_session();
  client(request(1, "tools/list"));
  done();
  child(
      1,
      result(
          1,
          R"json({"tools":[{"name":"a","inputSchema":{"type":"object"},"description":"\ud83d"}]})json"));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr(R"json("\ud83d")json"), HasSubstr("sitter_kill"))));
}

TEST_F(BridgeListsTest, TheyComeOnTheFirstPageOnly) {
  open_session();
  client(request(1, "tools/list", "{}"));
  done();
  child(1, result(1, R"json({"tools":[)json" + tool("a") + R"json(],"nextCursor":"2"})json"));
  const auto first = answer();
  EXPECT_THAT(names(first), ElementsAre("a", "sitter_status", "sitter_kill", "sitter_binary_info",
                                        "sitter_child_stderr"));
  EXPECT_EQ(first["result"]["nextCursor"], "2");
  client(request(2, "tools/list", R"json({"cursor":"2"})json"));
  done();
  const std::string second = result(2, Server::list("tools", {tool("b")}));
  child(1, second);
  EXPECT_THAT(done(), ElementsAre("client " + second));
}

TEST_F(BridgeListsTest, AListToWhichNoToolIsAddedStaysAsItIs) {
  config.tools = {Builtin::rebuild};
  open_session();
  client(request(1, "tools/list"));
  done();
  const std::string list = result(1, Server::list("tools", {tool("a")}));
  child(1, list);
  EXPECT_THAT(done(), ElementsAre("client " + list));
}

TEST_F(BridgeListsTest, ACursorThatIsNullIsLeftOut) {
  open_session();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"json({"prompts":[], "nextCursor" : null ,"n":1})json", R"json({"prompts":[], "n":1})json"},
      {R"json({"prompts":[], "next\u0043ursor":null })json", R"json({"prompts":[] })json"},
      {R"json({"nextCursor":null,"prompts":[]})json", R"json({"prompts":[]})json"},
      {R"json({"nextCursor":null})json", R"json({"prompts":[]})json"},
      {R"json({"nextCursor":null,"prompts":[],"nextCursor":null})json",
       R"json({"nextCursor":null,"prompts":[],"nextCursor":null})json"}};
  int id = 0;
  for (const auto& [written, passed] : cases) {
    client(request(++id, "prompts/list"));
    child(1, result(id, written));
    EXPECT_THAT(client_got(), ElementsAre(result(id, passed)));
  }
}

TEST_F(BridgeListsTest, ACursorOfNullIsTheFirstPage) {
  open_session();
  client(request(1, "tools/list", R"json({"cursor":null})json"));
  child(1, result(1, R"json({"tools":[]})json"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("sitter_status")));
}

TEST_F(BridgeListsTest, PrefixesABuiltinToolWhoseNameTheChildUses) {
  server.tools = {tool("sitter_status"), tool("outer_sitter_status")};
  open_session();
  client(request(1, "tools/list"));
  done();
  child(1, result(1, Server::list("tools", server.tools)));
  EXPECT_THAT(names(answer()),
              ElementsAre("sitter_status", "outer_sitter_status", "outer_outer_sitter_status",
                          "sitter_kill", "sitter_binary_info", "sitter_child_stderr"));
  client(call(2, "sitter_status"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(2, "sitter_status")));
  child(1, result(2));
  done();
  client(call(3, "outer_outer_sitter_status"));
  EXPECT_THAT(answer_text(), HasSubstr("childCommand"));
}

TEST_F(BridgeListsTest, PrefixesABuiltinToolAlsoIfTheClientIsAnsweredFirst) {
  server.tools = {tool("sitter_kill")};
  client(initialize(0));
  child(1, result(0, server.opening()));
  client(initialized());
  client(request(1, "tools/list"));
  done();
  child(1, result(1, Server::list("tools", server.tools)));
  EXPECT_THAT(names(answer()), ElementsAre("sitter_kill", "sitter_status", "outer_sitter_kill",
                                           "sitter_binary_info", "sitter_child_stderr"));
  opens(1);
}

TEST_F(BridgeListsTest, RestoresTheNameOfABuiltinToolOnceItIsFree) {
  server.tools = {tool("sitter_status")};
  open_session();
  dies(1, 0);
  server.tools = {tool("echo")};
  client(request(1, "tools/list"));
  opens(2);
  done();
  child(2, result(1, Server::list("tools", server.tools)));
  EXPECT_THAT(names(answer()), ElementsAre("echo", "sitter_status", "sitter_kill",
                                           "sitter_binary_info", "sitter_child_stderr"));
}

TEST_F(BridgeListsTest, AChildWithoutToolsStillHasOurs) {
  server.capabilities = R"json({"prompts":{}})json";
  open_session();
  client(request(1, "tools/list"));
  EXPECT_THAT(names(answer()), ElementsAre("sitter_status", "sitter_kill", "sitter_binary_info",
                                           "sitter_child_stderr"));
}

TEST_F(BridgeListsTest, AChildThatDoesNotKnowToolsListStillHasOurs) {
  client(initialize(0));
  child(1, result(0, server.opening()));
  client(initialized());
  child(1, error("#1", -32601, "Method not found"));
  client(request(1, "tools/list"));
  done();
  child(1, error(1, -32601, "Method not found"));
  EXPECT_THAT(names(answer()), ElementsAre("sitter_status", "sitter_kill", "sitter_binary_info",
                                           "sitter_child_stderr"));
}

TEST_F(BridgeListsTest, OtherErrorsOfAListPass) {
  open_session();
  client(request(1, "tools/list"));
  done();
  child(1, error(1, -32603, "database is locked"));
  EXPECT_THAT(done(), ElementsAre("client " + error(1, -32603, "database is locked")));
}

TEST_F(BridgeListsTest, PassesOtherListsOnThoughTheChildHasNone) {
  open_session();
  client(request(1, "prompts/list"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + request(1, "prompts/list")));
  child(1, error(1, -32601, "Method not found"));
  EXPECT_THAT(done(), ElementsAre("client " + error(1, -32601, "Method not found")));
}

TEST_F(BridgeListsTest, TakingTheFirstListsDelaysNoCall) {
  client(initialize(0));
  child(1, result(0, server.opening()));
  client(initialized());
  done();
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(1, "echo")));
  child(1, result(1));
  opens(1);
}

TEST_F(BridgeListsTest, AllPagesAreTaken) {
  client(initialize(0));
  child(1, result(0, server.opening()));
  client(initialized());
  done();
  child(1, result("#1", R"json({"tools":[)json" + tool("a") + R"json(],"nextCursor":""})json"));
  EXPECT_THAT(done(),
              ElementsAre("child 1 " + request("#2", "tools/list", R"json({"cursor":""})json")));
  child(1,
        result("#2", R"json({"tools":[)json" + tool("b") + R"json(],"nextCursor":"\u00e9"})json"));
  EXPECT_THAT(done(), ElementsAre("child 1 " +
                                  request("#3", "tools/list", R"json({"cursor":"\u00e9"})json")));
  child(1, result("#3", R"json({"tools":[)json" + tool("c") + R"json(],"nextCursor":null})json"));
  EXPECT_THAT(done(), IsEmpty());
  client(call(1, "sitter_status"));
  EXPECT_THAT(answer_text(), HasSubstr(R"json("childToolCount": 3)json"));
}

TEST_F(BridgeListsTest, AnUnchangedListIsNotAnnounced) {
  server.tools = {R"json({"name":"a","inputSchema":{"type":"object","x":1}})json"};
  open_session();
  dies(1, 0);
  server.tools = {R"json({ "inputSchema":{"x":1.0,"type":"object"}, "name":"\u0061"})json"};
  client(request(1, "vendor/x"));
  opens(2);
  EXPECT_THAT(client_got(), IsEmpty());
  child(2, result(1));
}

TEST_F(BridgeListsTest, AListThatCausedTheRespawnIsNotAnnounced) {
  open_session();
  dies(1, 0);
  server.tools = {tool("new")};
  client(request(1, "tools/list"));
  opens(2);
  EXPECT_THAT(client_got(), IsEmpty());
  child(2, result(1, Server::list("tools", server.tools)));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"new\"")));
}

TEST_F(BridgeListsTest, APageThatCausedAStartDoesNotCarryTheNewList) {
  plays.start = false;
  client(initialize(0));
  start_fails(1, "no");
  client(initialized());
  plays.start = true;
  client(request(1, "tools/list", R"json({"cursor":"2"})json"));
  done();
  opens(2);
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/tools/list_changed")));
  child(2, error(1, -32602, "Invalid cursor"));
}

TEST_F(BridgeListsTest, AChildThatLostAFeatureHasAnEmptyList) {
  server.capabilities = R"json({"tools":{},"prompts":{}})json";
  server.prompts = {R"json({"name":"p"})json"};
  open_session();
  dies(1, 0);
  server.capabilities = R"json({"tools":{}})json";
  client(call(1, "echo"));
  opens(2);
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/prompts/list_changed")));
  child(2, result(1, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("prompts: -1 removed (p)"));
}

TEST_F(BridgeListsTest, DoesNotAnnounceAnUndeclaredFeature) {
  // The bridge may use only features that the opening has declared.
  open_session();
  dies(1, 0);
  server.capabilities = R"json({"tools":{},"prompts":{}})json";
  server.prompts = {R"json({"name":"p"})json"};
  client(request(1, "vendor/x"));
  opens(2);
  child(2, result(1));
  dies(2, 0);
  server.prompts = {R"json({"name":"q"})json"};
  client(request(2, "vendor/x"));
  opens(3);
  child(3, result(2));
  EXPECT_THAT(client_got(), Not(Contains(HasSubstr("prompts/list_changed"))));
}

TEST_F(BridgeListsTest, StopsReadingPagesThatRepeat) {
  open_session();
  dies(1, 0);
  client(call(1, "echo"));
  child(2, result("#2", server.opening()));
  child(2, result("#3", R"json({"tools":[],"nextCursor":"a"})json"));
  child(2, result("#4", R"json({"tools":[],"nextCursor":"b"})json"));
  done();
  child(2, result("#5", R"json({"tools":[],"nextCursor":"a"})json"));
  EXPECT_THAT(done(), Contains("child 2 " + call(1, "echo")));
  child(2, result(1, text_result("x")));
  EXPECT_THAT(
      answer_text(),
      AllOf(HasSubstr("-1 removed (echo)"),
            HasSubstr(
                "lint: tools/list gives the cursor \"a\" again, and clients would list "
                "without end: leave nextCursor out of the last page; mcp-sitter leaves it out")));
}

TEST_F(BridgeListsTest, AChangeThatTheChildAnnouncesPassesAndIsTaken) {
  open_session();
  child(1, notification("notifications/tools/list_changed"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + request("#2", "tools/list", "{}"),
                                  "client " + notification("notifications/tools/list_changed")));
  server.tools.push_back(tool("more"));
  opens(1);
  EXPECT_THAT(done(), IsEmpty());
  dies(1, 0);
  client(call(1, "echo"));
  opens(2);
  EXPECT_THAT(client_got(), IsEmpty());
  child(2, result(1));
}

TEST_F(BridgeListsTest, TheStatusShowsWhatTheLastRestartHasChangedAndNoOtherChange) {
  const auto last_diff = [&] {
    done();
    client(call("\"status\"", "sitter_status"));
    return nlohmann::json::parse(answer_text())["lastToolsDiff"];
  };
  open_session();
  server.tools.push_back(tool("more"));
  child(1, notification("notifications/tools/list_changed"));
  opens(1);
  EXPECT_TRUE(last_diff().is_null());
  dies(1, 0);
  server.tools = {tool("echo")};
  client(call(1, "echo"));
  opens(2);
  child(2, result(1));
  EXPECT_THAT(last_diff(), "-1 removed (more)");
}

TEST_F(BridgeListsTest, AListThatTheBridgeHasAnsweredAsEmptyIsKnownToTheClient) {
  server.capabilities = R"json({"tools":{},"prompts":{}})json";
  client(initialize(0));
  child(1, result(0, server.opening()));
  client(initialized());
  dies(1, 0);
  plays.start = false;
  client(request(1, "prompts/list"));
  start_fails(2, "no such file");
  EXPECT_THAT(client_got(), Contains(result(1, R"json({"prompts":[]})json")));
  server.prompts = {R"json({"name":"new"})json"};
  client(call(2, "echo"));
  started(3);
  opens(3);
  EXPECT_THAT(client_got(), Contains(notification("notifications/prompts/list_changed")));
  child(3, result(2));
}

TEST_F(BridgeListsTest, FetchesAgainAfterAChangeDuringTheFetch) {
  open_session();
  child(1, notification("notifications/tools/list_changed"));
  child(1, notification("notifications/tools/list_changed"));
  EXPECT_THAT(done(), SizeIs(4));
  child(1, result("#3", Server::list("tools", {tool("echo"), tool("newest")})));
  child(1, result("#2", Server::list("tools", {tool("echo")})));
  dies(1, 0);
  server.tools = {tool("echo"), tool("newest")};
  client(call(1, "echo"));
  opens(2);
  EXPECT_THAT(client_got(), IsEmpty());
  child(2, result(1));
}

TEST_F(BridgeListsTest, FetchesAgainAfterAChangeDuringARespawn) {
  open_session();
  dies(1, 0);
  client(call(1, "echo"));
  child(2, result("#2", server.opening()));
  done();
  child(2, notification("notifications/tools/list_changed"));
  EXPECT_THAT(done(), ElementsAre("child 2 " + request("#4", "tools/list", "{}"),
                                  "client " + notification("notifications/tools/list_changed")));
  child(2, result("#3", Server::list("tools", {})));
  child(2, result("#4", Server::list("tools", server.tools)));
  EXPECT_THAT(done(), ElementsAre("child 2 " + call(1, "echo")));
  child(2, result(1));
}

TEST_F(BridgeListsTest, TemplatesAreAnsweredFromTheLastListWhenAStartFails) {
  open_session();
  // A first page replaces what was listed before.
  for (const std::string name : {"old", "a"}) {
    client(request(1, "resources/templates/list"));
    child(1, result(1, R"json({"resourceTemplates":[)json" + resource_template(name) +
                           R"json(],"nextCursor":"c"})json"));
  }
  client(request(2, "resources/templates/list", R"json({"cursor":"c"})json"));
  child(1, result(2, Server::list("resourceTemplates", {resource_template("b")})));
  dies(1, 0);
  plays.start = false;
  client(request(3, "resources/templates/list"));
  done();
  start_fails(2, "no such file");
  EXPECT_THAT(client_got(),
              ElementsAre(result(3, Server::list("resourceTemplates", {resource_template("a"),
                                                                       resource_template("b")}))));
}

TEST_F(BridgeListsTest, TheNumberOfTemplatesThatAreKeptIsBounded) {
  open_session();
  const std::vector<std::string> items(limits::kTemplatesMax + 1, resource_template("a"));
  client(request(1, "resources/templates/list"));
  child(1, result(1, Server::list("resourceTemplates", items)));
  dies(1, 0);
  plays.start = false;
  client(request(3, "resources/templates/list"));
  done();
  start_fails(2, "no such file");
  EXPECT_THAT(answer()["result"]["resourceTemplates"], SizeIs(limits::kTemplatesMax));
}

TEST_F(BridgeListsTest, ACallMayReuseTheIdOfAListAfterACrash) {
  open_session();
  client(request(1, "tools/list"));
  dies(1, 3);
  opens(2);
  child(2, result(1, Server::list("tools", server.tools)));
  done();
  client(call(1, "echo"));
  const std::string with_tools = R"json({"content":[],"tools":[]})json";
  child(2, result(1, with_tools));
  const auto lines = client_got();
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0], AllOf(HasSubstr(R"json("tools":[])json"), Not(HasSubstr("sitter_kill"))));
}

TEST_F(BridgeListsTest, AChildThatLostItsToolsIsNotAskedForThem) {
  server.capabilities = R"json({"tools":{},"prompts":{}})json";
  open_session();
  dies(1, 0);
  server.capabilities = R"json({"prompts":{}})json";
  client(call(1, "echo"));
  opens(2);
  const auto got = done();
  EXPECT_THAT(got, Contains("client " + notification("notifications/tools/list_changed")));
  EXPECT_THAT(got, Not(Contains(HasSubstr("\"tools/list\""))));
  child(2, error(1, -32601, "Method not found"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("-1 removed (echo)")));
}

TEST_F(BridgeListsTest, ARespawnedChildIsComparedByAllItsPages) {
  server.tools = {tool("a"), tool("b")};
  open_session();
  dies(1, 0);
  client(call(1, "a"));
  child(2, result("#2", server.opening()));
  done();
  child(2, result("#3", R"json({"tools":[)json" + tool("a") + R"json(],"nextCursor":""})json"));
  EXPECT_THAT(done(),
              ElementsAre("child 2 " + request("#4", "tools/list", R"json({"cursor":""})json")));
  child(2, result("#4", Server::list("tools", {tool("b")})));
  EXPECT_THAT(done(), ElementsAre("child 2 " + call(1, "a")));
  child(2, result(1));
}

TEST_F(BridgeListsTest, AListThatIsNotTheFirstOfThoseThatWaitIsAnnounced) {
  open_session();
  dies(1, 0);
  server.tools.push_back(tool("more"));
  client(call(1, "echo"));
  client(request(2, "tools/list"));
  opens(2);
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/tools/list_changed")));
  child(2, result(1));
  child(2, result(2, Server::list("tools", server.tools)));
}

}  // namespace
}  // namespace sitter
