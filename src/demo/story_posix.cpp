#include "demo/story.hpp"

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

}  // namespace

StoryServer story_server() {
  return {
      .words = {"--build", "sh -n notes.sh && install notes.sh notes", "--watch", "notes.sh", "--",
                "./notes"},
      .source_file = "notes.sh",
      .program_file = "notes",
      .source = kServer,
      .addition = {{"all notes\"\n", "all notes\"\n  tool search_notes \"Finds notes\" query\n"},
                   {"cat notes.txt; }\n",
                    "cat notes.txt; }\nsearch_notes() { grep -n \"$1\" notes.txt; }\n"}},
      .bug = {"grep -n", "gerp -in"},
      .fix = {"gerp -in", "grep -in"},
      .last_words = {"gerp", "not found"}};
}

}  // namespace sitter
