#include "help/help.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "core/base/ascii.hpp"
#include "help/commands.hpp"
#include "options/raw_options.hpp"

namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST(OptionTable, KeepsEachGroupTogether) {
  std::vector<std::string> groups;
  for (const OptionRow& option : option_table()) {
    if (groups.empty() || groups.back() != option.group) groups.push_back(option.group);
  }
  EXPECT_THAT(groups,
              ::testing::ElementsAre("Server", "Daemon over HTTP", "Command-line tool", "Reload",
                                     "What the model reads", "Limits", "Logs", "Other"));
}

TEST(OptionTable, SaysWhatEachOptionMeansOnOneLine) {
  ASSERT_THAT(option_table(), SizeIs(::testing::Ge(40u)));
  for (const OptionRow& option : option_table()) {
    EXPECT_THAT(option.about, AllOf(Not(::testing::IsEmpty()), Not(HasSubstr("\n"))));
    EXPECT_THAT(option.value, AllOf(Not(HasSubstr("{")), Not(HasSubstr(" ")))) << option.names[0];
  }
}

TEST(Help, HasEachOptionAndCommandInAtMost80Columns) {
  const std::string text = help_text();
  for (const OptionRow& option : option_table()) {
    EXPECT_THAT(text, HasSubstr("  " + option.names.front())) << option.names.front();
  }
  for (const Command& command : commands()) {
    EXPECT_THAT(text, HasSubstr("\n  " + std::string(command.name) + " "));
  }
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  EXPECT_THAT(lines, Each(SizeIs(::testing::Le(80u))));
  EXPECT_EQ(lines[3], "Examples:");
}

TEST(Help, ThePageOfTheOptionsHasEachOptionAndNoOther) {
  const auto page = std::find_if(topics().begin(), topics().end(),
                                 [](const Topic& topic) { return topic.name == "options"; });
  ASSERT_NE(page, topics().end());
  std::vector<std::string> rows, known;
  std::istringstream stream{std::string(page->markdown)};
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("| `-")) rows.push_back(line.substr(3, line.find(" |") - 4));
  }
  for (const OptionRow& option : option_table()) {
    known.push_back(option.names.front() + (option.value.empty() ? "" : " " + option.value));
  }
  for (std::string& row : rows) {
    // A bar in a cell has a backslash before it, and a short name stands first.
    std::erase(row, '\\');
    row = row.substr(0, row.find('`'));
  }
  EXPECT_THAT(rows, ::testing::UnorderedElementsAreArray(known));
}

TEST(ManPage, HasEachOptionAndCommand) {
  const std::string page = man_page();
  for (const OptionRow& option : option_table()) {
    std::string name = option.names.back();
    for (std::size_t at = 0; (at = name.find('-', at)) != name.npos; at += 2) name.insert(at, "\\");
    EXPECT_THAT(page, HasSubstr("\\fB" + name + "\\fR"));
  }
  for (const Command& command : commands()) {
    EXPECT_THAT(page, HasSubstr("\\fB" + std::string(command.name) + "\\fR"));
  }
}

TEST(Completion, HasEachOptionAndCommandInEachShell) {
  ASSERT_THAT(shells(), SizeIs(4));
  for (const Shell& shell : shells()) {
    const std::string script = shell.completion();
    for (const OptionRow& option : option_table()) {
      const std::string name =
          shell.name == "fish" ? " -l " + option.names.back().substr(2) : option.names.back();
      EXPECT_THAT(script, HasSubstr(name)) << shell.name;
    }
    for (const Command& command : commands()) {
      EXPECT_THAT(script, HasSubstr(std::string(command.name))) << shell.name;
      EXPECT_THAT(script, HasSubstr(command.words())) << shell.name;
    }
  }
}

std::string powershell_completion() {
  const auto shell = std::find_if(shells().begin(), shells().end(),
                                  [](const Shell& each) { return each.name == "powershell"; });
  return shell == shells().end() ? std::string() : shell->completion();
}

TEST(Completion, OfPowerShellSaysWhatAWordIsForAndWhatFollows) {
  const std::string script = powershell_completion();
  EXPECT_THAT(script, HasSubstr("Register-ArgumentCompleter -Native -CommandName mcp-sitter "));
  EXPECT_THAT(script, HasSubstr("\n    '--watch' = 'reload when files"));
  EXPECT_THAT(script, HasSubstr("\n    '--restart' = 'lazy on-crash eager'\n"));
  EXPECT_THAT(script, HasSubstr("\n    'doctor' = 'try a server out, and say what a client would "
                                "stumble over', ''\n"));
}

// Without regard to case, each key of a table may be there only once (about_Hash_Tables).
TEST(Completion, OfPowerShellHasEachKeyOnce) {
  std::istringstream lines(powershell_completion());
  std::set<std::string> keys;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("@{") != line.npos) keys.clear();
    if (!line.starts_with("    '")) continue;
    std::string key = line.substr(0, line.find(" ="));
    std::transform(key.begin(), key.end(), key.begin(), [](char c) { return ascii_lower(c); });
    EXPECT_TRUE(keys.insert(key).second) << key;
    // A quote within a word is doubled.
    EXPECT_EQ(std::count(line.begin(), line.end(), '\'') % 2, 0) << line;
  }
}

}  // namespace
}  // namespace sitter
