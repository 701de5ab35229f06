#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "support/cli_examples.hpp"
#include "support/temporary_directory.hpp"

// The notes of docs/examples/cli in each language.

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Language {
  std::string name;
  /// Empty if there was no compiler for it.
  std::string tool;
  /// What runs a tool that is not compiled.
  std::string interpreter = {};
};

void PrintTo(const Language& language, std::ostream* out) { *out << language.name; }

class NotesExample : public ::testing::TestWithParam<Language> {
 protected:
  void SetUp() override {
    const std::string& interpreter = GetParam().interpreter;
    ASSERT_FALSE(tool().empty()) << "CMake has found no compiler for " << GetParam().name;
    ASSERT_TRUE(interpreter.empty() || is_installed(interpreter)) << interpreter << " is missing";
  }

  const std::string& tool() const { return GetParam().tool; }

  ScriptedClient::Setup setup(const std::string& notes = "notes.txt") const {
    return {.options = {"--cli", tool()},
            .command = {},
            .cwd = directory_.path(),
            .environment = {"NOTES_FILE=" + notes}};
  }

  TemporaryDirectory directory_;
};

TEST_P(NotesExample, DescribesItselfAsTheOneInBashDoes) {
  const auto description = [this](const std::string& tool) {
    return Json::parse(output_of({tool, "schema", "--json"}, directory_.path()));
  };
  EXPECT_EQ(description(tool()), description(kExamples + "notes.sh"));
}

TEST_P(NotesExample, ListsItsTools) {
  ScriptedClient client(setup());
  EXPECT_EQ(client.open()["serverInfo"]["name"], "notes");
  EXPECT_EQ(listed_tools(client), Json::parse(R"json([
    {"name": "add", "description": "Keeps a note.",
     "inputSchema": {"type": "object", "required": ["text"], "properties":
       {"text": {"type": "string", "pattern": "^[^\\n]+$", "description": "one line"}}}},
    {"name": "list", "description": "Lists the notes with their numbers.",
     "inputSchema": {"type": "object", "properties": {"filter":
       {"type": "string", "description": "what the notes must contain; all notes without it"}}}}
  ])json"));
}

TEST_P(NotesExample, KeepsNotes) {
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.text_of_call("list"), "");
  EXPECT_EQ(client.text_of_call("add", {{"text", "milk"}}), "note 1 is kept\n");
  EXPECT_EQ(client.text_of_call("add", {{"text", "bread"}}), "note 2 is kept\n");
  EXPECT_EQ(client.text_of_call("list"), "1:milk\n2:bread\n");
  EXPECT_EQ(client.text_of_call("list", {{"filter", "r"}}), "2:bread\n");
  EXPECT_EQ(client.text_of_call("list", {{"filter", "."}}), "");
  EXPECT_EQ(client.text_of_call("list", {{"filter", "-r"}}), "");
  EXPECT_EQ(client.text_of_call("list", {{"filter", ""}}), "1:milk\n2:bread\n");
  EXPECT_EQ(contents_of(directory_ / "notes.txt"), "milk\nbread\n");
}

TEST_P(NotesExample, KeepsNotesInNotesTxtByDefault) {
  ScriptedClient client(setup(""));
  client.open();
  client.text_of_call("add", {{"text", "milk"}});
  EXPECT_EQ(contents_of(directory_ / "notes.txt"), "milk\n");
}

TEST_P(NotesExample, KeepsEachNoteAsItIs) {
  ScriptedClient client(setup());
  client.open();
  std::string kept, listed;
  for (std::size_t i = 1; i <= kHostile.size(); ++i) {
    const std::string& text = kHostile[i - 1];
    EXPECT_EQ(client.text_of_call("add", {{"text", text}}),
              "note " + std::to_string(i) + " is kept\n");
    kept += text + "\n";
    listed += std::to_string(i) + ":" + text + "\n";
  }
  EXPECT_EQ(contents_of(directory_ / "notes.txt"), kept);
  EXPECT_EQ(client.text_of_call("list"), listed);
  EXPECT_EQ(client.text_of_call("list", {{"filter", "$(touch"}}), "4:$(touch evil)\n");
  EXPECT_FALSE(exists(directory_ / "evil"));
}

TEST_P(NotesExample, IsNotRunWithWrongArguments) {
  ScriptedClient client(setup());
  client.open();
  EXPECT_THAT(failure_of(client, "add", Json::object()), HasSubstr("text"));
  EXPECT_THAT(failure_of(client, "add", {{"text", 5}}), HasSubstr("is not of type string"));
  for (const char* const text : {"", "a\nb"}) {
    EXPECT_THAT(failure_of(client, "add", {{"text", text}}),
                HasSubstr("does not match the pattern"));
  }
  EXPECT_FALSE(exists(directory_ / "notes.txt"));
}

TEST_P(NotesExample, SaysWhyItFails) {
  // A folder cannot be read as a file of notes.
  ScriptedClient client(setup("."));
  client.open();
  EXPECT_THAT(
      failure_of(client, "add", {{"text", "milk"}}),
      AllOf(HasSubstr("the command of `add` has failed: exit "), HasSubstr("s a directory")));
  EXPECT_THAT(
      failure_of(client, "list", Json::object()),
      AllOf(HasSubstr("the command of `list` has failed: exit 2"), HasSubstr("s a directory")));
}

INSTANTIATE_TEST_SUITE_P(Languages, NotesExample,
                         ::testing::Values(Language{"Bash", kExamples + "notes.sh", "bash"},
                                           Language{"Python", kExamples + "notes.py", "python3"},
                                           Language{"Go", SITTER_NOTES_GO},
                                           Language{"Rust", SITTER_NOTES_RS}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace sitter::testing
