#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"
#include "support/terminal.hpp"

namespace sitter::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kLastLine[] = "1 connection, 4 servers, 1 crash, 0 calls lost";

/// `mcp-sitter demo` with a folder of its own for temporary files. Nothing may be left of it.
class Demo : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_TRUE(fs::is_empty(temporary_.path()));
    EXPECT_TRUE(eventually([this] { return processes_with(environment()[0]).empty(); }));
  }

  std::vector<std::string> environment() const {
    return {"TMPDIR=" + temporary_.path(), "HOME=" + home_.path(), "NO_COLOR=", "TERM=xterm"};
  }

  Program::Start start(const std::vector<std::string>& words,
                       const std::vector<std::string>& more_environment = {}) const {
    Program::Start start{.command = {sitter_program(), "demo"}, .environment = environment()};
    start.command.insert(start.command.end(), words.begin(), words.end());
    start.environment.insert(start.environment.end(), more_environment.begin(),
                             more_environment.end());
    return start;
  }

  TemporaryDirectory temporary_, home_;
};

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

/// The titles of the steps, of which each begins with its number.
std::vector<std::string> titles_in(const std::vector<std::string>& lines) {
  std::vector<std::string> titles;
  for (const std::string& line : lines) {
    if (line.starts_with(std::to_string(titles.size() + 1) + ". ")) titles.push_back(line);
  }
  return titles;
}

std::string without_colors(std::string text) {
  for (std::size_t at = 0; (at = text.find("\033[", at)) != text.npos;) {
    text.erase(at, text.find('m', at) + 1 - at);
  }
  return text;
}

/// Everything that the demo writes to a terminal of this width, until it ends with exit code 0.
std::vector<std::string> on_terminal(Program::Start start, unsigned short columns) {
  const Terminal terminal(columns);
  start.output = terminal.program.number();
  Program program(start);
  std::string text;
  std::array<char, 4096> buffer;
  eventually([&] {
    const bool has_ended = program.has_ended();
    for (pollfd ready{terminal.person.number(), POLLIN, 0}; poll(&ready, 1, 0) > 0;) {
      const ssize_t count = read(terminal.person.number(), buffer.data(), buffer.size());
      if (count <= 0) break;
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return has_ended;
  });
  EXPECT_EQ(program.wait(), 0) << program.error_text();
  std::vector<std::string> lines = lines_of(text);
  // The terminal adds a carriage return to each line.
  for (std::string& line : lines) {
    if (line.ends_with('\r')) line.pop_back();
  }
  return lines;
}

TEST_F(Demo, TellsItsStoryInOrderAndCountsWhatHappened) {
  Program program(start({}));
  const std::vector<std::string> lines = program.read_all();
  EXPECT_EQ(program.wait(), 0) << program.error_text();
  ASSERT_THAT(titles_in(lines), SizeIs(5));
  EXPECT_EQ(lines.back(), kLastLine);
  const std::string text = joined(lines);
  std::size_t at = 0;
  for (const std::string& part : {
           std::string("$ mcp-sitter --build "),
           titles_in(lines)[0],
           std::string("model  -> list_notes {}"),
           std::string("model  <- buy milk"),
           titles_in(lines)[1],
           std::string("+  tool search_notes"),
           std::string("model  -> sitter_rebuild {}"),
           std::string("client <- notifications/tools/list_changed"),
           std::string("model  <- [mcp-sitter] the build succeeded after "),
           std::string("tools: +1 added (search_notes)"),
           titles_in(lines)[2],
           std::string("model  -> search_notes {\"query\":\"milk\"}"),
           std::string("model  <- 1:buy milk"),
           titles_in(lines)[3],
           std::string("+search_notes() { gerp "),
           std::string("model  <- [mcp-sitter] the server crashed (exit 3)"),
           std::string("Its last words on stderr:"),
           std::string("gerp: "),
           titles_in(lines)[4],
           std::string("-search_notes() { gerp "),
           std::string("+search_notes() { grep "),
           std::string("model  <- [mcp-sitter] server restarted (spawn #4, "),
           std::string("crashed (exit 3)"),
           std::string("1:buy milk"),
           std::string(kLastLine),
       }) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, text.npos) << part << " is missing in, or comes too early:\n" << text;
    at = found + part.size();
  }
  EXPECT_THAT(text, Not(HasSubstr("\033")));
}

TEST_F(Demo, IsColoredOnATerminalAndNeverWiderThanIt) {
  for (const unsigned short columns : {60, 80}) {
    const std::vector<std::string> lines = on_terminal(start({"--fast"}), columns);
    ASSERT_THAT(lines, Not(IsEmpty()));
    EXPECT_EQ(lines.back(), std::string("\033[1;32m") + kLastLine + "\033[0m");
    bool is_one_full = false;
    for (const std::string& line : lines) {
      const std::string shown = without_colors(line);
      // The warning sign is the only character of more than one byte, and has three.
      const std::size_t extra = shown.find("⚠") == shown.npos ? 0 : 2;
      EXPECT_LE(shown.size() - extra, columns) << shown;
      is_one_full |= shown.size() > columns - 15u;
    }
    EXPECT_TRUE(is_one_full);
  }
}

TEST_F(Demo, ColorsCanBeChosen) {
  const std::vector<std::string> plain = on_terminal(start({"--fast"}, {"NO_COLOR=1"}), 80);
  EXPECT_EQ(plain.back(), kLastLine);
  EXPECT_THAT(plain, Each(Not(HasSubstr("\033"))));
  Program colored(start({"--color"}, {"NO_COLOR=1"}));
  EXPECT_THAT(joined(colored.read_all()), HasSubstr("\033[1m1. "));
  EXPECT_EQ(colored.wait(), 0);
}

TEST_F(Demo, ASignalEndsItAndNothingIsLeft) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    // The first word makes it wait behind each title.
    for (const char* const words : {"--no-fast", "--fast"}) {
      Program program(start({words}));
      const std::string number = words == std::string("--fast") ? "4. " : "1. ";
      std::optional<std::string> line;
      do {
        line = program.read_line();
      } while (line && *line != Program::kNothingCame && !line->starts_with(number));
      ASSERT_THAT(line.value_or("the end"), StartsWith(number));
      EXPECT_FALSE(fs::is_empty(temporary_.path()));
      program.signal(signal);
      EXPECT_THAT(program.read_all(), Each(Not(HasSubstr(kLastLine))));
      EXPECT_EQ(program.wait(), 128 + signal);
      EXPECT_THAT(program.error_text(), IsEmpty());
      EXPECT_TRUE(fs::is_empty(temporary_.path()));
    }
  }
}

TEST_F(Demo, AReaderThatGoesAwayEndsIt) {
  Program program(start({}));
  program.close_output();
  EXPECT_EQ(program.wait(), 1);
  EXPECT_THAT(program.error_text(), StartsWith("mcp-sitter demo: stdout: "));
}

TEST_F(Demo, AStoryThatGoesWrongEndsWithASentence) {
  const TemporaryDirectory tools;
  for (const std::string path : {"/usr/bin/awk", "/bin/cat", "/usr/bin/sed"}) {
    fs::create_symlink(path, tools / fs::path(path).filename().string());
  }
  Program program(start({}, {"PATH=" + tools.path()}));
  const std::vector<std::string> lines = program.read_all();
  EXPECT_EQ(program.wait(), 1);
  ASSERT_THAT(titles_in(lines), SizeIs(2));
  EXPECT_THAT(joined(lines), HasSubstr("the build failed"));
  EXPECT_EQ(program.error_text(),
            "mcp-sitter demo: " + titles_in(lines)[1] +
                ": the answer of sitter_rebuild lacks '[mcp-sitter] the build succeeded'\n");
}

TEST_F(Demo, WithoutAFolderForTemporaryFilesItSaysSo) {
  Program program(start({}, {"TMPDIR=" + (home_ / "none")}));
  EXPECT_EQ(program.wait(), 1);
  EXPECT_THAT(program.error_text(), StartsWith("mcp-sitter demo: TMPDIR "));
}

TEST_F(Demo, WrongWordsAreNamed) {
  Program program(start({"slowly"}));
  EXPECT_EQ(program.wait(), 2);
  EXPECT_THAT(program.error_text(), AllOf(StartsWith("mcp-sitter demo: "), HasSubstr("slowly"),
                                          HasSubstr("mcp-sitter demo --help")));
  Program both(start({"--color", "--no-color"}));
  EXPECT_EQ(both.wait(), 2);
  EXPECT_THAT(both.error_text(), HasSubstr("--no-color"));
}

/// The picture in the documentation is made by `./dev picture`.
TEST_F(Demo, ThePictureTellsTheSameStory) {
  const std::string file = SITTER_EXAMPLES "/../demo.svg";
  const std::string picture = contents_of(file);
  EXPECT_GT(picture.size(), 0);
  EXPECT_LT(picture.size(), 150'000);
  Program parser({.command = {"/usr/bin/env", "python3", "-c",
                              "import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])", file}});
  EXPECT_EQ(parser.wait(), 0) << parser.error_text();
  Program demo(start({}));
  const std::vector<std::string> titles = titles_in(demo.read_all());
  ASSERT_THAT(titles, SizeIs(5));
  for (const std::string& title : titles) EXPECT_THAT(picture, HasSubstr(">" + title + "<"));
  EXPECT_THAT(picture, HasSubstr(kLastLine));
  EXPECT_THAT(picture, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("url(")),
                             Not(HasSubstr("mcp-sitter-demo-"))));
}

}  // namespace
}  // namespace sitter::testing
