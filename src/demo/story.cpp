#include "demo/story.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cstddef>

#include "core/base/text.hpp"

namespace sitter {
namespace {

Story told() {
  const StoryServer server = story_server();
  Story story;
  story.title =
      "An agent keeps its connection while its MCP server is changed, crashes and is fixed";
  story.words = server.words;
  story.source_file = server.source_file;
  story.program_file = server.program_file;
  story.source = server.source;
  story.data_file = "notes.txt";
  story.data = "buy milk\nwater the plants\n";
  story.steps = {
      {.title = "The model calls a tool of your server",
       .edit = {},
       .tool = "list_notes",
       .arguments = "{}",
       .told = {"buy milk"}},
      {.title = "It adds a tool to the source, and has the server rebuilt",
       .edit = server.addition,
       .tool = "sitter_rebuild",
       .arguments = "{}",
       .changes_tools = true,
       .told = {"[mcp-sitter] the build succeeded", "+1 added (search_notes)"}},
      {.title = "It calls the new tool at once, over the same connection",
       .edit = {},
       .tool = "search_notes",
       .arguments = R"json({"query":"milk"})json",
       .told = {"1:buy milk"}},
      {.title = "A save brings a bug, and the server crashes during a call",
       .edit = {server.bug},
       .reloads_on_save = true,
       .tool = "search_notes",
       .arguments = R"json({"query":"MILK"})json",
       .crashes = true,
       .told = server.last_words},
      {.title = "The fix is saved, and the next call just works",
       .edit = {server.fix},
       .reloads_on_save = true,
       .tool = "search_notes",
       .arguments = R"json({"query":"MILK"})json",
       .told = {"[mcp-sitter] server restarted", "1:buy milk"}},
  };
  story.tally = {.connections = 1, .servers = 4, .crashes = 1, .lost_calls = 0};
  return story;
}

}  // namespace

std::string tally_text(const Tally& tally) {
  return fmt::format("{}, {}, {}, {} lost", counted(tally.connections, "connection"),
                     counted(tally.servers, "server"), counted(tally.crashes, "crash", "es"),
                     counted(tally.lost_calls, "call"));
}

std::string edited(std::string source, const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    const std::size_t at = source.find(change.before);
    assert(at != source.npos);
    assert(source.find(change.before, at + 1) == source.npos);
    source.replace(at, change.before.size(), change.after);
  }
  return source;
}

const Story& story() {
  static const Story one = told();
  return one;
}

}  // namespace sitter
