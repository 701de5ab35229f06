#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/client_script.hpp"

namespace sitter {

/// Tells a story to a bridge whose children are processes on pipes.
///
/// Lines are in memory that is freed as soon as their orders are done, so the address sanitizer
/// finds a view that lives longer. The story also fails if a line to a child is not a JSON-RPC
/// message, or if an order is for a child that is not there.
class BridgeTest : public ClientScript {
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

  /// How long the shell looks at the sources.
  static constexpr Milliseconds kLookTime{50};

  Plays plays;
  BinaryFacts binary;
  /// The processes that a kill with the scope same-executable would end.
  std::optional<SharedImage> shared;
  /// The debugger that is attached to each child; empty if there is none.
  std::string debugger;
  /// What each child does.
  std::string activity;
  /// What the bridge has remembered of the era, in order.
  std::vector<order::RememberEra::Sign> era_signs;
  /// How often the bridge has looked at a process.
  int process_looks = 0;
  /// Whether the command's files have changed since the last start.
  bool files_changed = false;
  /// The source that has changed last since the start of the child; none if empty.
  std::string changed_source;
  WallTime source_changed_at;
  /// The raw id in what the bridge had read of its last line to a child, or "nothing".
  std::string id_read;

  // Facts from the client, and from outside.
  void client_line_too_long(const std::string& head, const std::string& tail, std::uint64_t size);
  void client_closes_output() { tell(fact::ClientClosedOutput{}); }
  void ask_reload() { tell(fact::ReloadAsked{"SIGHUP"}); }
  void ask_status() { tell(fact::StatusAsked{}); }
  void changes(const std::string& file, std::optional<WallTime> modified = std::nullopt,
               bool is_new = false) {
    tell(fact::FilesChanged{{{.path = file, .modified = modified, .is_new = is_new}}});
  }
  void binary_changes(bool is_usable = true) {
    tell(fact::FilesChanged{{{"server", true, is_usable}}});
  }
  void control(ControlId connection, const std::string& line) {
    tell(fact::ControlLine{connection, line});
  }
  void control_closes(ControlId connection) { tell(fact::ControlClosed{connection}); }
  /// The lines that were sent to the connection since the last call.
  std::vector<std::string> control_got(ControlId connection) {
    return std::exchange(to_control_[connection], {});
  }
  void watches(std::size_t folders, const std::string& problem = "",
               std::vector<std::string> unmatched = {}) {
    tell(fact::WatchChanged{folders, problem, std::move(unmatched)});
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
  /// The child crashes, and its core dump is there.
  void crashes(Generation gen, const std::string& core);
  void reads_stack(Generation gen, const std::string& stack) { tell(fact::StackRead{gen, stack}); }
  void closes_stdout(Generation gen) { tell(fact::ChildOutputEnded{gen}); }
  void closes_stderr(Generation gen) { tell(fact::ChildErrorEnded{gen}); }
  void closes_output(Generation gen);
  /// The whole end of a child at once.
  void dies(Generation gen, int code, const std::string& signal = "");
  void dies(Generation gen, const ExitStatus& status);
  void input_full(Generation gen) { tell(fact::ChildInputFull{gen}); }
  void input_moved(Generation gen) { tell(fact::ChildInputMoved{gen}); }
  void input_drained(Generation gen) { tell(fact::ChildInputDrained{gen}); }

  // Answers of the shell, for orders that are not played.
  void unit_signalled(Generation gen, std::vector<fact::UnitSignalled::Process> processes);
  void orphan_ended() { tell(fact::OrphanEnded{}); }
  void image_swept(std::vector<fact::ImageSwept::Process> processes);
  /// Answers the oldest order to look at the binary that was not answered at once.
  void binary_inspected();
  void files_checked(bool changed) { tell(fact::CommandFilesChecked{changed}); }
  void sources_checked(Generation gen) {
    tell(fact::SourcesChecked{gen, changed_source, source_changed_at, kLookTime});
  }
  /// A source changes now.
  void source_changes(const std::string& file) {
    changed_source = file;
    source_changed_at = now.wall;
  }

  // The words of the orders are "client ..." and "child 1 ..." for lines, "start 1", "close 1",
  // "terminate 1", "kill 1", "release 1", and "build 1" for a build; "sweep ...", "exit 0". Orders
  // that only look at something are left out if they are played.

  // The beginnings of many stories.

  /// The child answers its opening and all list requests of the bridge, until nothing is left to
  /// answer.
  void opens(Generation gen);

  /// Opens a session with a child that serves. Ids from 1 on are free.
  void open_session(const std::string& version = "2025-11-25",
                    const std::string& client_name = "story");

  /// Does the same with a client that has listed the tools.
  void open_listed_session(const std::string& client_name = "story");

  std::optional<Instant> next_timeout() override { return bridge().next_timeout(); }
  void TearDown() override;

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

  void handle_timeout() override;
  void tell(const Fact& fact) override;
  void drain();
  void play(const Order& order);
  void write_down(const Order& order);
  using Script::add_word;
  void add_word(const std::string& word, Generation gen);
  ChildSeen& expect_living(Generation gen, const std::string& what);
  void note_line_of_child(Generation gen, const std::string& line);

  std::deque<order::InspectBinary> looks_;
  std::map<ControlId, std::vector<std::string>> to_control_;
  std::map<Generation, ChildSeen> children_;
  std::vector<Order> unanswered_;
};

}  // namespace sitter
