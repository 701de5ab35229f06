#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// What has happened in a demo, counted.
struct Tally {
  std::size_t connections = 0;
  std::size_t servers = 0;
  std::size_t crashes = 0;
  std::size_t lost_calls = 0;

  bool operator==(const Tally&) const = default;
};

/// "1 connection, 4 servers, 1 crash, 0 calls lost"
std::string tally_text(const Tally& tally);

/// A place in the source of the server, and what is written there instead.
struct Change {
  std::string_view before;
  std::string_view after;
};

/// The source with these changes. Each `before` must stand in it exactly once.
std::string edited(std::string source, const std::vector<Change>& changes);

/// One step of the story: perhaps an edit, then a call.
struct Step {
  std::string_view title;
  std::vector<Change> edit;
  /// Whether mcp-sitter reloads the server on the save. Otherwise the call does it.
  bool reloads_on_save = false;
  std::string_view tool;
  /// As JSON.
  std::string_view arguments;
  /// Whether the client hears that the list of tools has changed.
  bool changes_tools = false;
  /// Whether the server crashes in the call.
  bool crashes = false;
  /// What the answer must contain.
  std::vector<std::string_view> told;
};

/// The story: a client works with a server that is edited, rebuilt, breaks and is mended.
struct Story {
  /// What a viewer must know before the first step.
  std::string_view title;
  /// The words that a user gives to mcp-sitter.
  std::vector<std::string_view> words;
  /// The server and the data that it serves. The build command in `words` makes the program from
  /// the source by a copy.
  std::string_view source_file, program_file, source;
  std::string_view data_file, data;
  std::vector<Step> steps;
  /// What has happened if the story went as told.
  Tally tally;
};

const Story& story();

/// The server of the story, which differs by system.
struct StoryServer {
  std::vector<std::string_view> words;
  std::string_view source_file, program_file, source;
  /// The changes that add the tool `search_notes`, whose text has `LINE:NOTE` for each note that is
  /// found.
  std::vector<Change> addition;
  /// Lets a call of that tool crash the server.
  Change bug;
  /// Finds notes without regard to case.
  Change fix;
  /// What the answer says about the crash.
  std::vector<std::string_view> last_words;
};

StoryServer story_server();

}  // namespace sitter
