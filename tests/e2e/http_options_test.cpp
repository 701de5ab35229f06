#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/scripted_client.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kUrl = "http://127.0.0.1:3000/mcp";

struct Mistake {
  std::vector<std::string> words;
  /// What the sentence contains.
  std::string said;

  friend void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.said; }
};

class HttpOptionMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(HttpOptionMistake, IsOneSentenceAndExit2) {
  std::vector<std::string> words = GetParam().words;
  words.insert(words.begin(), sitter_program());
  Program program({.command = std::move(words),
                   .environment = {"SITTER_TEST_LINES=sesame\ropen", "SITTER_TEST_EMPTY="}});
  program.close_input();
  EXPECT_THAT(program.read_all(), ElementsAre());
  EXPECT_EQ(program.wait(), 2);
  EXPECT_THAT(lines_of(program.error_text()),
              ElementsAre(AllOf(StartsWith("mcp-sitter: "), HasSubstr(GetParam().said),
                                Not(HasSubstr("sesame")))));
}

std::vector<std::string> with_url(std::vector<std::string> options) {
  options.insert(options.begin(), {"--http", kUrl});
  return options;
}

INSTANTIATE_TEST_SUITE_P(
    Url, HttpOptionMistake,
    ::testing::Values(Mistake{{"--http"}, "--http"}, Mistake{{"--http", ""}, "--http"},
                      Mistake{{"--http", "somewhere"}, "--http"},
                      Mistake{{"--http", "127.0.0.1:3000"}, "--http"},
                      Mistake{{"--http", "ftp://127.0.0.1/mcp"}, "http"},
                      Mistake{{"--http", "http://user:sesame@127.0.0.1/mcp"},
                              "a user name or a password"},
                      Mistake{{"--http", "http://127.0.0.1:99999/mcp"}, "port"},
                      Mistake{{"--http", "http:///mcp"}, "host"},
                      Mistake{{"--http", "http://[::1/mcp"}, "--http"},
                      Mistake{{"--http", "http://a b/mcp"}, "--http"},
                      Mistake{{"--http-env", "SITTER_TEST_MISSING"},
                              "--http-env: the variable 'SITTER_TEST_MISSING' is not set"},
                      Mistake{{"--http-env", "http://sesame"}, "the variable is not set"},
                      Mistake{{"--http-env", "SITTER_TEST_EMPTY"}, "is empty"},
                      Mistake{{"--http-env", "SITTER_TEST_LINES"}, "--http-env: the URL has"},
                      Mistake{{"--http", kUrl, "--http-env", "PATH"}, "name two servers"},
                      Mistake{{"--http", kUrl + "\r\nX: y"}, "--http"}));

INSTANTIATE_TEST_SUITE_P(
    Header, HttpOptionMistake,
    ::testing::Values(
        Mistake{with_url({"--header", "sesame"}), "not NAME=VALUE"},
        Mistake{with_url({"--header", "X-Team: sesame"}), "not NAME=VALUE"},
        Mistake{with_url({"--header", "=sesame"}), "the text before = is not the name of a header"},
        Mistake{with_url({"--header", "X Team=sesame"}),
                "the text before = is not the name of a header"},
        Mistake{with_url({"--header", "X-Team=sesame\r\nX-Other: y"}),
                "the value of 'X-Team' has characters that no header may have"},
        Mistake{with_url({"--header", "X-Team=sesame\nopen"}), "characters"},
        Mistake{with_url({"--header", "Host=sesame"}), "sets the header 'Host' itself"},
        Mistake{with_url({"--header", "content-length=5"}), "sets the header 'content-length'"},
        Mistake{with_url({"--header", "MCP-Session-Id=sesame"}), "sets the header"},
        Mistake{with_url({"--header", "Mcp-Param-Region=sesame"}), "sets the header"},
        Mistake{with_url({"--header-env", "sesame"}), "not NAME=VARIABLE"},
        Mistake{with_url({"--header-env", "Authorization="}), "not NAME=VARIABLE"},
        Mistake{with_url({"--header-env", "Authorization=SITTER_TEST_MISSING"}),
                "the variable 'SITTER_TEST_MISSING' is not set"},
        Mistake{with_url({"--header-env", "Accept=PATH"}), "sets the header"},
        Mistake{with_url({"--header-env", "Authorization=sesame"}), "the variable is not set"},
        Mistake{with_url({"--header-env", "Authorization=SITTER_TEST_EMPTY"}), "is empty"},
        Mistake{with_url({"--header-env", "Authorization=SITTER_TEST_LINES"}),
                "the value of 'Authorization' has characters"}));

INSTANTIATE_TEST_SUITE_P(
    Combination, HttpOptionMistake,
    ::testing::Values(
        Mistake{{"--header", "A=b", "--", "x"}, "--header is for a daemon"},
        Mistake{{"--header-env", "A=PATH", "--", "x"}, "--header-env is for a daemon"},
        Mistake{{"--wait-for-server", "3", "--", "x"}, "--wait-for-server is for a daemon"},
        Mistake{{"--cacert", "x", "--", "x"}, "--cacert is for a daemon"},
        Mistake{{"--keep-session", "--", "x"}, "--keep-session is for a daemon"},
        Mistake{{"--own-daemon", "--", "x"}, "--own-daemon is for a daemon"},
        Mistake{{"--own-daemon"}, "--own-daemon is for a daemon"},
        Mistake{with_url({"--build", "true"}), "--build needs a command"},
        Mistake{with_url({"--watch", "src", "--"}), "--watch needs a command"},
        Mistake{with_url({"--watch-binary"}), "--watch-binary needs a command"},
        Mistake{with_url({"--own-daemon"}), "--own-daemon needs a command"},
        Mistake{with_url({"--cwd", "/"}), "--cwd needs a command"},
        Mistake{with_url({"--env", "A=b"}), "--env needs a command"},
        Mistake{with_url({"--env-file", "x"}), "--env-file needs a command"}));

INSTANTIATE_TEST_SUITE_P(
    Value, HttpOptionMistake,
    ::testing::Values(Mistake{with_url({"--wait-for-server", "soon"}), "--wait-for-server"},
                      Mistake{with_url({"--wait-for-server", "nan"}), "--wait-for-server"},
                      Mistake{with_url({"--wait-for-server", "-1"}), "--wait-for-server"},
                      Mistake{with_url({"--wait-for-server"}), "--wait-for-server"},
                      Mistake{with_url({"--own-daemon=yes"}), "--own-daemon"},
                      Mistake{with_url({"--keep-session=yes"}), "--keep-session"}));

TEST(HttpOptions, HelpListsThem) {
  Program program({.command = {sitter_program(), "--help"}});
  program.close_input();
  std::string text;
  for (const std::string& line : program.read_all()) text += line + "\n";
  EXPECT_EQ(program.wait(), 0);
  for (const char* const option :
       {"--http URL", "--http-env VARIABLE", "--header NAME=VALUE", "--header-env NAME=VARIABLE",
        "--wait-for-server SECONDS", "--cacert FILE", "--own-daemon", "--keep-session"}) {
    EXPECT_THAT(text, HasSubstr(option));
  }
}

}  // namespace
}  // namespace sitter::testing
