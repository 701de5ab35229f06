#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Mistake {
  std::vector<std::string> words;
  /// How the sentence begins.
  std::string said;

  friend void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.said; }
};

class CliOptionMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(CliOptionMistake, IsOneSentenceAndExit2) {
  std::vector<std::string> words = GetParam().words;
  words.insert(words.begin(), sitter_program());
  Program program({.command = std::move(words)});
  program.close_input();
  EXPECT_THAT(program.read_all(), ElementsAre());
  EXPECT_EQ(program.wait(), 2);
  EXPECT_THAT(lines_of(program.error_text()),
              ElementsAre(AllOf(StartsWith("mcp-sitter: " + GetParam().said),
                                HasSubstr("; see mcp-sitter --help"))));
}

std::vector<std::string> with_tool(std::vector<std::string> options) {
  options.insert(options.begin(), {"--cli", "notes"});
  return options;
}

const std::string kNoCommand =
    "--cli names the tool itself, and no command may follow; an argument";

INSTANTIATE_TEST_SUITE_P(
    Value, CliOptionMistake,
    ::testing::Values(
        Mistake{{"--cli"}, "--cli needs a value"},
        Mistake{{"--cli", ""}, "--cli: '' names no tool: name one, as in --cli ./notes"},
        Mistake{{"--cli", "it's"}, "--cli: 'it's' has a quote that does not end: add"},
        Mistake{with_tool({"--schema-args", ""}), "--schema-args: '' has no words"},
        Mistake{with_tool({"--schema-args", "'a"}), "--schema-args: ''a' has a quote"},
        Mistake{with_tool({"--schema-file", ""}), "--schema-file: '' names no file"},
        Mistake{with_tool({"--max-calls", "0"}),
                "--max-calls: '0' is not a whole number from 1 to 256"},
        Mistake{with_tool({"--max-calls", "257"}),
                "--max-calls: '257' is not a whole number from 1 to 256"},
        Mistake{with_tool({"--max-calls", "abc"}),
                "--max-calls: 'abc' is not a whole number from 1 to 256"},
        Mistake{with_tool({"--max-calls", "1.5"}), "--max-calls: '1.5' is not a whole number"},
        Mistake{with_tool({"--call-timeout", "0"}),
                "--call-timeout: '0' is not a number from 0.001"},
        Mistake{with_tool({"--call-timeout", "0.0009"}),
                "--call-timeout: '0.0009' is not a number from 0.001"},
        Mistake{with_tool({"--call-timeout", "86401"}),
                "--call-timeout: '86401' is not a number from 0.001 to 86400"},
        Mistake{with_tool({"--call-timeout", "nan"}), "--call-timeout: 'nan' is not a number"}));

INSTANTIATE_TEST_SUITE_P(
    Combination, CliOptionMistake,
    ::testing::Values(
        Mistake{with_tool({"notes"}), kNoCommand}, Mistake{with_tool({"--", "notes"}), kNoCommand},
        Mistake{with_tool({"--http", "http://127.0.0.1:3000/mcp"}),
                "--http and --cli name two servers: leave out one of them"},
        Mistake{with_tool({"--schema-args", "schema", "--schema-file", "tools.json"}),
                "--schema-args and --schema-file name two descriptions: leave out one of them"},
        Mistake{with_tool({"--header", "A=b"}), "--header is for a daemon"},
        Mistake{with_tool({"--own-daemon"}), "--own-daemon is for a daemon"},
        Mistake{with_tool({"--wait-for-server", "1"}), "--wait-for-server is for a daemon"},
        Mistake{{"--schema-args", "schema", "x"}, "--schema-args is for a command-line tool"},
        Mistake{{"--schema-file", "tools.json", "x"}, "--schema-file is for a command-line tool"},
        Mistake{{"--max-calls", "2", "x"}, "--max-calls is for a command-line tool"},
        Mistake{{"--call-timeout", "2"},
                "--call-timeout is for a command-line tool: name it, as in "
                "--cli ./notes"}));

TEST(CliOptions, AcceptsTheLimitsThemselves) {
  TemporaryDirectory directory;
  directory.write("tools.json", R"json({"tools":[]})json");
  for (const auto& [calls, seconds] : {std::pair("1", "0.001"), std::pair("256", "86400")}) {
    ScriptedClient client({.options = {"--cli", "sh", "--schema-file", "tools.json", "--max-calls",
                                       calls, "--call-timeout", seconds},
                           .command = {},
                           .cwd = directory.path()});
    client.open();
    EXPECT_EQ(client.end(), 0);
  }
}

/// What the session says of a tool that cannot be used.
std::string instructions(std::vector<std::string> options, const std::string& cwd) {
  ScriptedClient client({.options = std::move(options), .command = {}, .cwd = cwd});
  std::string said = client.open()["instructions"];
  EXPECT_EQ(client.end(), 0);
  return said;
}

TEST(CliOptions, AToolOrADescriptionThatIsNotThereIsToldInTheSession) {
  TemporaryDirectory directory;
  directory.write("folder/file", "");
  directory.write("plain", "");
  directory.write("empty.json", "");
  EXPECT_THAT(instructions({"--cli", "./none"}, directory.path()),
              AllOf(HasSubstr("./none"), HasSubstr("no such file")));
  EXPECT_THAT(instructions({"--cli", "./folder"}, directory.path()),
              AllOf(HasSubstr("./folder"), HasSubstr("directory")));
  EXPECT_THAT(instructions({"--cli", "./plain"}, directory.path()),
              AllOf(HasSubstr("./plain"), HasSubstr("executable")));
  const auto with_file = [](const std::string& name) {
    return std::vector<std::string>{"--cli", "sh", "--schema-file", name};
  };
  EXPECT_THAT(instructions(with_file("none.json"), directory.path()),
              HasSubstr("none.json could not be read: no such file"));
  EXPECT_THAT(instructions(with_file("folder"), directory.path()),
              HasSubstr("folder could not be read: "));
  EXPECT_THAT(instructions(with_file("empty.json"), directory.path()),
              HasSubstr("the description of empty.json cannot be used: it is empty"));
}

}  // namespace
}  // namespace sitter::testing
