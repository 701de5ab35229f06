#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sitter/bridge.hpp"
#include "support/messages.hpp"
#include "support/story_lines.hpp"

namespace sitter {

// The words that nearly every story uses.
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// What the child says about itself. A story changes it before a child opens.
struct Server {
  /// The child speaks 2026-07-28 and no other revision.
  bool is_stateless = false;
  std::string protocol_version = "2025-11-25";
  std::string name = "server";
  std::string version = "1.0.0";
  std::string capabilities = R"json({"tools":{"listChanged":true}})json";
  std::string instructions = "";
  std::vector<std::string> tools = {tool("echo")};
  std::vector<std::string> prompts;
  std::vector<std::string> resources;

  std::string opening() const {
    return R"json({"protocolVersion":")json" + protocol_version + R"json(","capabilities":)json" +
           capabilities + R"json(,"serverInfo":{"name":")json" + name + R"json(","version":")json" +
           version + "\"}" +
           (instructions.empty() ? "" : ",\"instructions\":\"" + instructions + "\"") + "}";
  }

  /// A page of a list in the form in which this server answers it.
  std::string page(const std::string& key, const std::vector<std::string>& items) const {
    std::string result = list(key, items);
    if (is_stateless) {
      result.insert(1, R"json("resultType":"complete","ttlMs":60000,"cacheScope":"private",)json");
    }
    return result;
  }

  static std::string list(const std::string& key, const std::vector<std::string>& items) {
    std::string joined;
    for (const std::string& item : items) joined += (joined.empty() ? "" : ",") + item;
    return "{\"" + key + "\":[" + joined + "]}";
  }
};

/// Tells a story to a bridge: facts go in, and its orders come out of `done()` in short words. The
/// ids of the bridge's own requests are written as `#1`, `#2`, in the order in which they were
/// made. This applies to both directions.
///
/// Lines are in memory that is freed as soon as their orders are done, so the address sanitizer
/// finds a view that lives longer. At its end the story closes the client's input. It fails if a
/// request does not have its one answer, if the bridge does not end, if a line is not a JSON-RPC
/// message, or if an order is for a child that is not there.
class BridgeTest : public ::testing::Test {
 protected:
  /// Which orders the shell answers at once, so that a story need not tell the answers.
  struct Plays {
    bool start = true;
    bool signal = true;
    bool inspect = true;
    bool sweep = true;
    bool check = true;
    bool sources = true;
  };

  BridgeConfig config = [] {
    BridgeConfig chosen;
    chosen.command = "server";
    chosen.sitter_version = "9.9.9";
    return chosen;
  }();
  Plays plays;
  Server server;
  BinaryFacts binary;
  /// The processes that a kill with the scope same-executable would end.
  std::optional<SharedImage> shared;
  /// Whether the command's files have changed since the last start.
  bool files_changed = false;
  /// The source that has changed last since the start of the child; none if empty.
  std::string changed_source;
  WallTime source_changed_at;
  Now now{Instant() + std::chrono::hours(1), WallTime() + std::chrono::hours(500000)};

  /// True in stories of the revision that has batches.
  bool takes_batches = false;
  /// True in stories in which a refused line has an id.
  bool may_answer_unasked = false;
  /// The raw id in what the bridge had read of its last line to a child, or "nothing".
  std::string id_read;

  Bridge& bridge();

  // Facts from the client.
  void client(const std::string& line);
  void client_line_too_long(const std::string& head, const std::string& tail, std::uint64_t size);
  void client_closes_input() { feed(fact::ClientClosedInput{}); }
  void client_closes_output() { feed(fact::ClientClosedOutput{}); }
  void signal(int exit_code) { feed(fact::StopSignalled{exit_code}); }
  void ask_reload() { feed(fact::ReloadAsked{"SIGHUP"}); }
  void ask_status() { feed(fact::StatusAsked{}); }
  void changes(const std::string& file) { feed(fact::FilesChanged{{{file}}}); }
  void binary_changes(bool is_usable = true) {
    feed(fact::FilesChanged{{{"server", true, is_usable}}});
  }
  void control(ControlId connection, const std::string& line) {
    feed(fact::ControlLine{connection, line});
  }
  void control_closes(ControlId connection) { feed(fact::ControlClosed{connection}); }
  /// The lines that were sent to the connection since the last call.
  std::vector<std::string> control_got(ControlId connection) {
    return std::exchange(to_control_[connection], {});
  }
  void watches(std::size_t folders, const std::string& problem = "",
               std::vector<std::string> unmatched = {}) {
    feed(fact::WatchChanged{folders, problem, std::move(unmatched)});
  }

  // Facts from a child.
  void started(Generation gen);
  void start_fails(Generation gen, const std::string& reason, bool is_file_busy = false);
  void start_finds_no_command(Generation gen);
  void child(Generation gen, const std::string& line);
  /// The output of the child ends in this line.
  void child_breaks_off(Generation gen, const std::string& line);
  void child_line_too_long(Generation gen, const std::string& head, const std::string& tail,
                           std::uint64_t size);
  void child_says(Generation gen, const std::string& line);
  void exits(Generation gen, int code, const std::string& signal = "");
  void closes_stdout(Generation gen) { feed(fact::ChildOutputEnded{gen}); }
  void closes_stderr(Generation gen) { feed(fact::ChildErrorEnded{gen}); }
  void closes_output(Generation gen);
  /// The whole end of a child at once.
  void dies(Generation gen, int code, const std::string& signal = "");
  void input_full(Generation gen) { feed(fact::ChildInputFull{gen}); }
  void input_moved(Generation gen) { feed(fact::ChildInputMoved{gen}); }
  void input_drained(Generation gen) { feed(fact::ChildInputDrained{gen}); }

  // Answers of the shell, for orders that are not played.
  void unit_signalled(Generation gen, std::vector<fact::UnitSignalled::Process> processes);
  void orphan_ended() { feed(fact::OrphanEnded{}); }
  void image_swept(std::vector<fact::ImageSwept::Process> processes);
  /// Answers the oldest order to look at the binary that was not answered at once.
  void binary_inspected();
  void files_checked(bool changed) { feed(fact::CommandFilesChecked{changed}); }
  void sources_checked(Generation gen) {
    feed(fact::SourcesChecked{gen, changed_source, source_changed_at});
  }
  /// A source changes now.
  void source_changes(const std::string& file) {
    changed_source = file;
    source_changed_at = now.wall;
  }

  /// Turns the clock, and stops at each deadline on the way.
  void time_passes(Milliseconds duration);

  /// Turns the clock to the next deadline, and no further.
  void next_deadline_comes();

  /// What was ordered since the last call, in words: "client ..." and "child 1 ..." for lines,
  /// "start 1", "close 1", "terminate 1", "kill 1", "release 1", and "build 1" for a build; "sweep
  /// ...", "exit 0". Orders that only look at something are left out if they are played.
  std::vector<std::string> done() { return std::exchange(words_, {}); }

  /// Only the lines to the client from `done()`.
  std::vector<std::string> client_got();

  /// The only line that the client got, parsed.
  nlohmann::json answer();

  /// The text of the only block of the only answer.
  std::string answer_text();

  /// The log lines of the bridge above the level debug.
  const std::vector<std::string>& logs() const { return logs_; }

  // The beginnings of many stories.

  /// The child answers its opening and all list requests of the bridge, until nothing is left to
  /// answer.
  void opens(Generation gen);

  /// Opens a session with a child that serves. Ids from 1 on are free.
  void open_session(const std::string& version = "2025-11-25",
                    const std::string& client_name = "story");

  /// Does the same with a client that has listed the tools.
  void open_listed_session(const std::string& client_name = "story");

  void TearDown() override;

  static std::int64_t pid_of(Generation gen) { return 1000 + gen; }

  /// The generation of a build, as it is used in facts about the build.
  static constexpr Generation build(int number) { return -number; }

 private:
  struct ChildSeen {
    bool is_started = false;
    bool has_exited = false;
    bool is_closed = false;
    bool is_released = false;
    /// The lines to the child, and whether they were answered.
    std::vector<std::pair<std::string, bool>> inbox;
  };

  void turn_to(Instant instant);
  void fire_deadlines();
  void feed(const Fact& fact);
  void drain();
  void play(const Order& order);
  void write_down(const Order& order);
  void add_word(const std::string& word, Generation gen);
  ChildSeen& expect_living(Generation gen, const std::string& what);
  void note_line_of_child(Generation gen, const std::string& line);

  std::optional<Bridge> bridge_;
  std::vector<std::string> words_;
  std::deque<order::InspectBinary> looks_;
  std::map<ControlId, std::vector<std::string>> to_control_;
  std::vector<std::string> logs_;
  ClientLedger ledger_;
  std::map<Generation, ChildSeen> children_;
  std::vector<Order> unanswered_;
  bool is_closing_ = false;
  bool is_over_ = false;
};

}  // namespace sitter
