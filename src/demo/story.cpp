#include "demo/story.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cstddef>

#include "core/base/text.hpp"

namespace sitter {
namespace {

// It runs in dash, in bash and in the sh of macOS, and uses only what POSIX says about sed and awk.
constexpr std::string_view kServer = R"sh(#!/bin/sh
# A small MCP server. It reads one message per line, and answers on stdout.

tools() {
  tool add_note "Keeps a note" text
  tool list_notes "Shows all notes"
}

list_notes() { cat notes.txt; }
add_note() { printf '%s\n' "$1" >>notes.txt && echo kept; }

# tool NAME DESCRIPTION [PARAMETER]: one entry of the list of tools.
tool() {
  parameters=
  [ $# -lt 3 ] || parameters=",\"properties\":{\"$3\":{\"type\":\"string\"}},\"required\":[\"$3\"]"
  printf '{"name":"%s","description":"%s",' "$1" "$2"
  printf '"inputSchema":{"type":"object"%s}}\n' "$parameters"
}

# found PATTERN: the part of the message that the group in the pattern matches.
found() { printf '%s\n' "$message" | sed -n "s/.*$1.*/\\1/p"; }

joined() { awk -v between="$1" '{ printf "%s%s", (NR > 1 ? between : ""), $0 }'; }

answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$(found '"id":\([^,}]*\)')" "$1"; }

# call TOOL ARGUMENT: a tool that ends with 1 has found nothing.
call() {
  result=$("$1" "$2") || [ $? = 1 ] || exit 3
  text=$(printf '%s\n' "$result" | sed 's/[\\"]/\\&/g' | joined '\\n')
  answer "{\"content\":[{\"type\":\"text\",\"text\":\"$text\"}]}"
}

session='"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}}'
while IFS= read -r message; do
  case $message in
    *'"method":"initialize"'*)
      answer "{$session,\"serverInfo\":{\"name\":\"notes\",\"version\":\"1\"}}" ;;
    *'"method":"tools/list"'*)
      answer "{\"tools\":[$(tools | joined ,)]}" ;;
    *'"method":"tools/call"'*)
      call "$(found '"name":"\([a-z_]*\)"')" "$(found '"arguments":{"[a-z]*":"\([^"]*\)"')" ;;
  esac
done
)sh";

constexpr std::string_view kList = "  tool list_notes \"Shows all notes\"\n";
constexpr std::string_view kListAndSearch =
    "  tool list_notes \"Shows all notes\"\n"
    "  tool search_notes \"Finds notes\" query\n";
constexpr std::string_view kListed = "list_notes() { cat notes.txt; }\n";
constexpr std::string_view kSearched =
    "list_notes() { cat notes.txt; }\n"
    "search_notes() { grep -n \"$1\" notes.txt; }\n";

Story told() {
  Story story;
  story.title =
      "An agent keeps its connection while its MCP server is changed, crashes and is fixed";
  story.words = {"--build", "sh -n notes.sh && install notes.sh notes", "--watch", "notes.sh", "--",
                 "./notes"};
  story.source_file = "notes.sh";
  story.program_file = "notes";
  story.source = kServer;
  story.data_file = "notes.txt";
  story.data = "buy milk\nwater the plants\n";
  story.steps = {
      {.title = "The model calls a tool of your server",
       .edit = {},
       .tool = "list_notes",
       .arguments = "{}",
       .told = {"buy milk"}},
      {.title = "It adds a tool to the source, and has the server rebuilt",
       .edit = {{kList, kListAndSearch}, {kListed, kSearched}},
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
       .edit = {{"grep -n", "gerp -in"}},
       .reloads_on_save = true,
       .tool = "search_notes",
       .arguments = R"json({"query":"MILK"})json",
       .crashes = true,
       .told = {"gerp", "not found"}},
      {.title = "The fix is saved, and the next call just works",
       .edit = {{"gerp -in", "grep -in"}},
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
