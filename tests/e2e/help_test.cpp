#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/short_run.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// What the script prints, line by line; its exit code must be 0.
std::vector<std::string> lines_from(const std::vector<std::string>& command) {
  Program program({.command = command});
  program.close_input();
  const std::vector<std::string> lines = program.read_all();
  EXPECT_EQ(program.wait(), 0) << program.error_text();
  EXPECT_EQ(program.error_text(), "");
  return lines;
}

TEST(Help, ListsTheTopicsAndExplainsOne) {
  EXPECT_THAT(ShortRun({"help"}).output,
              AllOf(HasSubstr("--watch PATTERN"), HasSubstr("what-the-model-reads")));
  const ShortRun run({"help", "what-the-model-reads"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.output, ::testing::StartsWith("What the model reads\n===="));
}

TEST(Help, OfACommandIsItsOwn) {
  EXPECT_EQ(ShortRun({"help", "demo"}).output, ShortRun({"demo", "--help"}).output);
}

TEST(Help, NamesAnUnknownTopic) {
  const ShortRun run({"help", "watchin"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.output, IsEmpty());
  EXPECT_THAT(lines_of(run.error),
              ElementsAre("mcp-sitter help: there is no topic 'watchin' (did you mean watching?); "
                          "mcp-sitter help lists the topics"));
}

TEST(ManPage, IsWithoutFaultForMandoc) {
  TemporaryDirectory directory;
  const std::string page = directory.write("mcp-sitter.1", ShortRun({"help", "--man"}).output);
  // A page without a date is the same for each build.
  for (const std::string& line :
       lines_from({"/bin/sh", "-c", "mandoc -T lint -W warning '" + page + "' || true"})) {
    EXPECT_THAT(line, HasSubstr("missing date"));
  }
  EXPECT_THAT(lines_from({"/bin/sh", "-c", "mandoc -T ascii '" + page + "' | col -b"}),
              Contains(HasSubstr("--watch PATTERN")));
}

/// The words that bash offers for the last of these words. Bash 3.2 lacks what is switched off
/// here.
std::vector<std::string> completed_in_bash(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += " '" + word + "'";
  return lines_from({"/bin/bash", "-c",
                     "enable -n compopt mapfile readarray 2>/dev/null\n"
                     "eval \"$('" +
                         sitter_program() +
                         "' completion bash)\"\n"
                         "COMP_WORDS=(mcp-sitter" +
                         line +
                         ") COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                         "_mcp_sitter\n"
                         "printf '%s\\n' \"${COMPREPLY[@]}\"\n"});
}

TEST(Completion, OfBashKnowsCommandsOptionsAndValues) {
  EXPECT_THAT(completed_in_bash({"compl"}), Contains("completion"));
  EXPECT_THAT(completed_in_bash({"--watch"}),
              ::testing::UnorderedElementsAre("--watch", "--watch-binary"));
  EXPECT_THAT(completed_in_bash({"--restart", ""}), ElementsAre("lazy", "on-crash", "eager"));
  EXPECT_THAT(completed_in_bash({"--cwd", "/us"}), ElementsAre("/usr"));
  EXPECT_THAT(completed_in_bash({"ctl", ""}),
              ::testing::IsSupersetOf({"list", "status", "reload", "--json"}));
}

TEST(Completion, OfBashLeavesTheServersOwnWordsAlone) {
  EXPECT_THAT(completed_in_bash({"--build", "make", "server", "--wat"}), ElementsAre(""));
  EXPECT_THAT(completed_in_bash({"--", "--wat"}), Not(Contains("--watch")));
  EXPECT_THAT(completed_in_bash({"--build", "x", "/bin/s"}), Contains("/bin/sh"));
}

std::vector<std::string> completed_in_fish(const std::string& line) {
  const TemporaryDirectory home;
  std::vector<std::string> words;
  for (const std::string& word :
       lines_from({"/bin/sh", "-c",
                   "HOME='" + home.path() + "' exec fish --no-config -c '" + sitter_program() +
                       " completion fish | source; complete -C \"mcp-sitter " + line + "\"'"})) {
    words.push_back(word.substr(0, word.find('\t')));
  }
  return words;
}

TEST(Completion, OfFishKnowsCommandsOptionsAndValues) {
  EXPECT_THAT(completed_in_fish("compl"), Contains("completion"));
  EXPECT_THAT(completed_in_fish("--watch"), IsSupersetOf({"--watch", "--watch-binary"}));
  EXPECT_THAT(completed_in_fish("--restart "), IsSupersetOf({"lazy", "on-crash", "eager"}));
  EXPECT_THAT(completed_in_fish("ctl "), IsSupersetOf({"list", "status", "reload"}));
}

/// The script is run with functions that print what zsh's own would complete.
TEST(Completion, OfZshGivesItsOptionsToArguments) {
  const auto said = lines_from({"/bin/sh", "-c",
                                "exec zsh -f -c '_arguments() { print -rl -- \"$@\"; }\n"
                                "words=(mcp-sitter --w) CURRENT=2\n"
                                "eval \"$(" +
                                    sitter_program() + " completion zsh)\"'"});
  EXPECT_THAT(said, Contains(::testing::StartsWith("*--watch[reload when files")));
  EXPECT_THAT(said, Contains(::testing::EndsWith(":word:(lazy on-crash eager)")));
}

TEST(Completion, NamesTheShells) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"completion"}, {"completion", "tcsh"}}) {
    const ShortRun run(words);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(
        lines_of(run.error),
        ElementsAre("mcp-sitter completion: name a shell, one of bash, zsh, fish, powershell"));
  }
}

}  // namespace
}  // namespace sitter::testing
