#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "support/cli_examples.hpp"
#include "support/temporary_directory.hpp"

// The descriptions of docs/examples/cli, for programs that cannot describe themselves.

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

/// A program of the system, with the description from the examples.
class DescribedTool : public ::testing::Test {
 protected:
  explicit DescribedTool(std::string tool) : tool_(std::move(tool)) {}

  void SetUp() override { ASSERT_TRUE(is_installed(tool_)) << tool_ << " is missing"; }

  ScriptedClient::Setup setup() const {
    return {.options = {"--cli", tool_, "--schema-file", kExamples + tool_ + ".json"},
            .command = {},
            .cwd = directory_.path(),
            .environment = environment_};
  }

  /// Opens the session, and expects these tools, which say that they only read.
  void expect_only_reading(const std::vector<std::string>& expected) const {
    ScriptedClient client(setup());
    EXPECT_EQ(client.open()["serverInfo"]["name"], tool_);
    const Json annotations{{"readOnlyHint", true}, {"openWorldHint", false}};
    std::vector<std::string> names;
    for (const Json& tool : listed_tools(client)) {
      names.push_back(tool["name"]);
      EXPECT_EQ(tool.value("annotations", Json()), annotations) << tool;
      EXPECT_FALSE(tool["inputSchema"].value("additionalProperties", true)) << tool;
    }
    EXPECT_EQ(names, expected);
  }

  std::string tool_;
  TemporaryDirectory directory_;
  std::vector<std::string> environment_;
};

/// A repository that knows nothing of the machine's configuration.
class GitExample : public DescribedTool {
 protected:
  GitExample() : DescribedTool("git") {
    environment_ = {"HOME=" + directory_.path(),
                    "XDG_CONFIG_HOME=" + directory_.path(),
                    "GIT_CONFIG_NOSYSTEM=1",
                    "GIT_CONFIG_GLOBAL=/dev/null",
                    "GIT_CONFIG_COUNT=0",
                    "GIT_AUTHOR_NAME=Ada",
                    "GIT_AUTHOR_EMAIL=ada@example.org",
                    "GIT_AUTHOR_DATE=2026-01-02T10:00:00Z",
                    "GIT_COMMITTER_NAME=Ada",
                    "GIT_COMMITTER_EMAIL=ada@example.org",
                    "GIT_COMMITTER_DATE=2026-01-02T10:00:00Z",
                    "LC_ALL=C"};
    // A hook of git runs its tests with these.
    for (const char* const name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}) unsetenv(name);
  }

  void SetUp() override {
    DescribedTool::SetUp();
    if (HasFatalFailure()) return;
    run(R"sh(
      git init --quiet --initial-branch=main
      printf 'one\ntwo\n' >story.txt
      git add story.txt
      git commit --quiet -m 'Begin the story'
      printf 'three\n' >>story.txt
      printf -- '-x ($)\n' >grüße.txt
      git add .
      git commit --quiet -m 'Go on with "it"'
    )sh");
  }

  std::string run(const std::string& commands) const {
    return output_of({"/bin/sh", "-euc", commands}, directory_.path(), environment_);
  }
};

TEST_F(GitExample, OnlyReads) {
  expect_only_reading({"status", "log", "show", "diff", "blame", "grep", "commit"});
}

TEST_F(GitExample, ShowsTheStatus) {
  run("printf 'four\\n' >>story.txt; mkdir new; touch new/file");
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.text_of_call("status"), "## main\n M story.txt\n?? new/\n");
  EXPECT_EQ(client.text_of_call("status", {{"untracked", "all"}, {"paths", {"new"}}}),
            "## main\n?? new/file\n");
  EXPECT_EQ(client.text_of_call("status", {{"untracked", "no"}}), "## main\n M story.txt\n");
}

TEST_F(GitExample, ShowsTheHistory) {
  ScriptedClient client(setup());
  client.open();
  EXPECT_THAT(client.text_of_call("log"),
              MatchesRegex("[0-9a-f]+ 2026-01-02 Ada: Go on with \"it\"\n"
                           "[0-9a-f]+ 2026-01-02 Ada: Begin the story\n"));
  EXPECT_THAT(client.text_of_call("log", {{"rev", "HEAD~1"}}), EndsWith("Ada: Begin the story\n"));
  EXPECT_THAT(client.text_of_call("log", {{"grep", "Begin"}, {"author", "Ada"}}),
              MatchesRegex("[0-9a-f]+ 2026-01-02 Ada: Begin the story\n"));
  EXPECT_THAT(client.text_of_call("log", {{"paths", {"grüße.txt"}}, {"stat", true}}),
              AllOf(HasSubstr("Go on"), HasSubstr(" grüße.txt | 1 +"), Not(HasSubstr("Begin"))));
  EXPECT_THAT(client.text_of_call("log", {{"format", "fuller"}, {"count", 1}}),
              HasSubstr("CommitDate: Fri Jan 2 10:00:00 2026 +0000"));
  EXPECT_EQ(client.text_of_call("log", {{"since", "2026-01-03"}}), "");
}

TEST_F(GitExample, ShowsTwentyCommitsUnlessMoreAreAskedFor) {
  run("for i in $(seq 20); do git commit --quiet --allow-empty -m again; done");
  ScriptedClient client(setup());
  client.open();
  const auto count = [&](const Json& arguments) {
    return lines_of(client.text_of_call("log", arguments)).size();
  };
  EXPECT_EQ(count(Json::object()), 20);
  EXPECT_EQ(count({{"count", 3}}), 3);
  EXPECT_EQ(count({{"count", 500}}), 22);
}

TEST_F(GitExample, ShowsACommitOrAFileInIt) {
  ScriptedClient client(setup());
  client.open();
  EXPECT_THAT(client.text_of_call("show"),
              AllOf(StartsWith("commit "), HasSubstr("\n+three\n"), HasSubstr("+-x ($)")));
  EXPECT_THAT(client.text_of_call("show", {{"paths", {"story.txt"}}, {"stat", true}}),
              AllOf(HasSubstr(" 1 file changed, 1 insertion(+)"), Not(HasSubstr("+three"))));
  EXPECT_EQ(client.text_of_call("show", {{"rev", "HEAD~1:story.txt"}}), "one\ntwo\n");
}

TEST_F(GitExample, ShowsDifferences) {
  run("printf 'one\\n2\\n' >story.txt; printf 'y' >grüße.txt; git add grüße.txt");
  ScriptedClient client(setup());
  client.open();
  EXPECT_THAT(client.text_of_call("diff"), EndsWith("@@ -1,3 +1,2 @@\n one\n-two\n-three\n+2\n"));
  EXPECT_THAT(client.text_of_call("diff", {{"context", 0}}), HasSubstr("@@ -2,2 +2 @@"));
  EXPECT_THAT(client.text_of_call("diff", {{"staged", true}, {"stat", true}}),
              StartsWith(" grüße.txt | 2 +-\n 1 file changed"));
  EXPECT_THAT(client.text_of_call("diff", {{"rev", "HEAD~1..HEAD"}, {"paths", {"story.txt"}}}),
              EndsWith("@@ -1,2 +1,3 @@\n one\n two\n+three\n"));
}

TEST_F(GitExample, ShowsWhoHasWrittenALine) {
  ScriptedClient client(setup());
  client.open();
  EXPECT_THAT(client.text_of_call("blame", {{"file", "story.txt"}, {"lines", "2,+2"}}),
              MatchesRegex("\\^?[0-9a-f]+ \\(Ada 2026-01-02 2\\) two\n"
                           "[0-9a-f]+ \\(Ada 2026-01-02 3\\) three\n"));
  EXPECT_EQ(
      lines_of(client.text_of_call("blame", {{"file", "story.txt"}, {"rev", "HEAD~1"}})).size(), 2);
}

TEST_F(GitExample, Searches) {
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.text_of_call("grep", {{"pattern", "^t(wo|hree)"}}),
            "story.txt:2:two\nstory.txt:3:three\n");
  EXPECT_EQ(client.text_of_call("grep", {{"pattern", "THREE"}, {"ignore_case", true}}),
            "story.txt:3:three\n");
  EXPECT_EQ(client.text_of_call("grep", {{"pattern", "-x ($)"}, {"fixed", true}}),
            "grüße.txt:1:-x ($)\n");
  EXPECT_EQ(client.text_of_call("grep", {{"pattern", "o$"}, {"rev", "HEAD~1"}}),
            "HEAD~1:story.txt:2:two\n");
  EXPECT_EQ(client.text_of_call("grep", {{"pattern", "two"}, {"paths", {"*.c"}}}), "");
  EXPECT_THAT(failure_of(client, "grep", {{"pattern", "("}}), HasSubstr("exit 128"));
}

TEST_F(GitExample, NamesACommitInStructuredForm) {
  ScriptedClient client(setup());
  client.open();
  const std::string first = run("git rev-parse HEAD~1").substr(0, 40);
  const Json expected{{"commit", first},
                      {"tree", run("git rev-parse HEAD~1:").substr(0, 40)},
                      {"parents", ""},
                      {"committed", "2026-01-02T10:00:00+00:00"}};
  EXPECT_EQ(client.result_of("commit", {{"rev", "HEAD~1"}})["structuredContent"], expected);
  EXPECT_EQ(client.result_of("commit")["structuredContent"]["parents"], first);
}

TEST_F(GitExample, RefusesARevisionThatIsAnOption) {
  ScriptedClient client(setup());
  client.open();
  const Json calls{{"log", {{"count", 1}}},        {"show", {{"stat", true}}},
                   {"diff", {{"context", 1}}},     {"blame", {{"file", "story.txt"}}},
                   {"grep", {{"pattern", "two"}}}, {"commit", Json::object()}};
  for (const auto& [tool, arguments] : calls.items()) {
    for (const char* const rev :
         {"--output=evil", "-Otouch evil", "--open-files-in-pager=touch evil", "--"}) {
      Json all = arguments;
      all["rev"] = rev;
      EXPECT_THAT(failure_of(client, tool, all), HasSubstr("the argument `rev` begins with \"-\""));
    }
  }
  EXPECT_FALSE(exists(directory_ / "evil"));
}

TEST_F(GitExample, NeverInterpretsAnArgument) {
  ScriptedClient client(setup());
  client.open();
  for (const std::string rev :
       {"$(touch evil)", "`touch evil`", "HEAD; touch evil", "HEAD\n--output=evil"}) {
    EXPECT_THAT(failure_of(client, "log", {{"rev", rev}}), HasSubstr("fatal: bad revision"));
    EXPECT_THAT(failure_of(client, "diff", {{"rev", rev}}), HasSubstr("fatal: bad revision"));
  }
  for (const char* const tool : {"log", "show", "diff", "status"}) {
    const Json result = client.result_of(tool, {{"paths", kHostile}});
    EXPECT_FALSE(result.contains("isError")) << tool << ": " << result;
  }
  for (const std::string& text : kHostile) {
    EXPECT_FALSE(client.result_of("log", {{"author", text}}).contains("isError")) << text;
    EXPECT_FALSE(client.result_of("grep", {{"pattern", text}, {"fixed", true}}).contains("isError"))
        << text;
    EXPECT_THAT(failure_of(client, "blame", {{"file", text}}), HasSubstr("fatal: no such path"))
        << text;
  }
  EXPECT_FALSE(exists(directory_ / "evil"));
}

TEST_F(GitExample, IsNotRunWithWrongArguments) {
  ScriptedClient client(setup());
  client.open();
  for (const int count : {0, 501}) {
    EXPECT_THAT(failure_of(client, "log", {{"count", count}}), HasSubstr("`count`"));
  }
  EXPECT_THAT(failure_of(client, "log", {{"format", "format:%x00"}}),
              HasSubstr("is none of the allowed values"));
  EXPECT_THAT(failure_of(client, "log", {{"output", "evil"}}), HasSubstr("is not a known member"));
  EXPECT_THAT(failure_of(client, "blame", {{"file", "story.txt"}, {"lines", "/a/,/b/"}}),
              HasSubstr("does not match the pattern"));
  // Otherwise the next word would be the pattern.
  EXPECT_THAT(failure_of(client, "grep", {{"pattern", ""}}), HasSubstr("`pattern`"));
}

class JqExample : public DescribedTool {
 protected:
  JqExample() : DescribedTool("jq") {}
};

TEST_F(JqExample, OnlyReads) { expect_only_reading({"query", "query_file", "outline"}); }

TEST_F(JqExample, QueriesText) {
  ScriptedClient client(setup());
  client.open();
  const Json json{{"items", {{{"name", "tea"}, {"price", 4}}, {{"name", "b\"un"}, {"price", 2}}}}};
  const auto query = [&](const Json& others) {
    Json arguments{{"json", json.dump()}};
    arguments.update(others);
    return client.result_of("query", arguments);
  };
  EXPECT_EQ(text_of(query({{"filter", ".items[] | select(.price > 3) | .name"}})), "\"tea\"\n");
  EXPECT_EQ(text_of(query({{"filter", ".items[].name"}, {"raw", true}})), "tea\nb\"un\n");
  EXPECT_EQ(query({{"filter", ".items[0]"}})["structuredContent"], json["items"][0]);
  EXPECT_EQ(text_of(query({{"filter", "def half: . / 2; .items[].price | half"}})), "2\n1\n");
  EXPECT_EQ(client.text_of_call("query", {{"json", "1 2 3"}, {"filter", "add"}, {"slurp", true}}),
            "6\n");
  EXPECT_EQ(client.text_of_call("query", {{"json", ""}, {"filter", "."}}), "");
}

TEST_F(JqExample, QueriesALargeText) {
  ScriptedClient client(setup());
  client.open();
  const std::string large(1'000'000, 'x');
  EXPECT_EQ(client.text_of_call("query", {{"json", Json(large).dump()}, {"filter", "length"}}),
            "1000000\n");
}

TEST_F(JqExample, QueriesAFile) {
  directory_.write("a b.json", R"json({"a": [1, {"b": null}]})json");
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.text_of_call("query_file", {{"file", "a b.json"}, {"filter", ".a[1]"}}),
            "{\"b\":null}\n");
  EXPECT_THAT(failure_of(client, "query_file", {{"file", "none.json"}, {"filter", "."}}),
              HasSubstr("none.json: No such file or directory"));
}

TEST_F(JqExample, OutlinesAFile) {
  directory_.write("lines.json", "{\"a\": [1, \"x\"], \"b\": {\"c\": true}}\n{\"a\": null}\n");
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.result_of("outline", {{"file", "lines.json"}})["structuredContent"],
            Json::parse(R"json({"values": 2, "paths": {
              ".": ["object"], ".a": ["array", "null"], ".a[]": ["number", "string"],
              ".b": ["object"], ".b.c": ["boolean"]}})json"));
  EXPECT_EQ(
      client.result_of("outline", {{"file", "lines.json"}, {"depth", 1}})["structuredContent"],
      Json::parse(R"json({"values": 2, "paths": {
              ".": ["object"], ".a": ["array", "null"], ".b": ["object"]}})json"));
}

TEST_F(JqExample, SaysWhatIsWrong) {
  ScriptedClient client(setup());
  client.open();
  EXPECT_THAT(failure_of(client, "query", {{"json", "{}"}, {"filter", ".["}}),
              AllOf(HasSubstr("exit 3"), HasSubstr("syntax error")));
  EXPECT_THAT(failure_of(client, "query", {{"json", "{]"}, {"filter", "."}}),
              AllOf(HasSubstr("has failed: exit "), HasSubstr("parse error")));
  EXPECT_THAT(failure_of(client, "query", {{"json", "1"}, {"filter", "1, error(\"no luck\")"}}),
              AllOf(StartsWith("1\n"), HasSubstr("exit 5"), HasSubstr("no luck")));
}

TEST_F(JqExample, NeverInterpretsAnArgument) {
  ScriptedClient client(setup());
  client.open();
  std::vector<std::string> texts = kHostile;
  texts.emplace_back("a\nb");
  for (const std::string& text : texts) {
    const Json value{{"text", text}};
    EXPECT_EQ(
        client.result_of("query", {{"json", value.dump()}, {"filter", "."}})["structuredContent"],
        value);
    EXPECT_EQ(
        client.text_of_call(
            "query", {{"json", "0"}, {"filter", "$v.text"}, {"variables", value}, {"raw", true}}),
        text + "\n");
  }
  EXPECT_EQ(client.text_of_call("query", {{"json", "3"}, {"filter", "-1"}}), "-1\n");
  for (const char* const filter : {"--version", "--help", "-n", "$(touch evil)", "`touch evil`"}) {
    EXPECT_THAT(failure_of(client, "query", {{"json", "3"}, {"filter", filter}}),
                HasSubstr("exit 3"))
        << filter;
  }
  EXPECT_THAT(failure_of(client, "query_file", {{"file", "--version"}, {"filter", "."}}),
              HasSubstr("the argument `file` begins with \"-\""));
  EXPECT_FALSE(exists(directory_ / "evil"));
}

}  // namespace
}  // namespace sitter::testing
