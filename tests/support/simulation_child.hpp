#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/exit_status.hpp"
#include "support/simulation_character.hpp"
#include "support/simulation_random.hpp"
#include "support/simulation_said.hpp"
#include "support/simulation_unit.hpp"

namespace sitter::sim {

inline constexpr std::string_view kToolsChanged = "notifications/tools/list_changed";
inline constexpr std::array<std::string_view, 3> kListChanges = {
    kToolsChanged, "notifications/prompts/list_changed", "notifications/resources/list_changed"};

/// One server process and the contents of its pipes. The child decides what it does. The world
/// decides when the bridge hears of it.
class Child : public Unit {
 public:
  /// A line in the pipe, with the messages that the bridge should find in it.
  struct Written {
    std::string text;
    std::vector<int> numbers;
    /// The size of a line that is too long. `text` is then its beginning. 0 for any other line.
    std::uint64_t size = 0;
  };

  /// `own` decides about restarts of the server behind the process. So a child without them does
  /// the same as ever.
  Child(Generation gen, Character character, Random& random, Random& own, Said& said);

  /// A line has arrived. A deaf child does not read it until it reads again.
  void hears(const std::string& line);
  bool is_deaf() const { return lines_read_ >= character.deaf_after; }

  /// Does one thing that fits its character.
  void act();

  /// The line with which a watcher announces that it starts the server anew.
  static constexpr std::string_view kAnnouncement = "Restarting 'server.mjs'";
  /// The process starts the server anew. The new server knows nothing of the former one: not the
  /// session, not what was asked, and not what the client has answered.
  void start_anew();
  /// Whether the server was started anew under its number. An opening of the client may have
  /// reached it since, before the bridge knew of the restart.
  bool was_started_anew() const { return was_started_anew_; }
  /// The bridge knows the server under another number from now on.
  void renumber(Generation number);

  Character character;
  std::deque<Written> output;
  /// What the child has just decided. The world takes it from here and carries it out.
  std::optional<ExitStatus> exits;
  bool closes_output = false;

 private:
  struct Stream {
    std::string id;
    int mark = 0;
    Filter wanted;
    bool is_acknowledged = false;
  };

  bool is_stateless() const { return character.era != Character::Era::legacy; }
  void read();
  void act_unopened();
  void act_on_opening(const Asked& asked);
  void answer();
  void result(const Asked& asked, std::string_view members);
  void error(const Asked& asked, int code, std::string_view words = "no");
  void refuse_unopened(const Asked& asked);
  bool may_start_anew() const;
  bool may_refuse(const Asked& asked) const;
  void show_progress(const Asked& asked);
  void ask();
  void cancel_question();
  void notify(std::string_view method);
  void make_noise();
  void flood();
  std::string answer_to(const Asked& asked);
  std::string answer_to_call(const Asked& asked);
  std::string capabilities() const;
  std::string page_of(std::string_view key, const std::vector<std::string>& items,
                      const std::string& cursor) const;
  std::vector<std::string> tool_items() const;

  // simulation_child_streams.cpp
  void act_on_listen(const Asked& asked);
  void acknowledge(Stream& stream);
  void tell_change();
  void tell_change(std::string about, const std::string& stream_id);
  void end_stream(Stream stream);
  void end_streams();

  ChildSaid& add(ChildSaid::Kind kind);
  void write(const ChildSaid& said);
  std::string respelled(const std::string& id) const;

  Random& random_;
  Random& own_random_;
  Said& said_;
  bool is_open_;
  /// The server was started anew, and not opened since.
  bool is_anew_ = false;
  bool was_started_anew_ = false;
  /// The announcement was written. The former server may still read and answer for a moment.
  bool is_announced_ = false;
  int lines_read_ = 0;
  std::string last_heard_;
  int next_question_ = 0;
  std::deque<Asked> inbox_;
  std::deque<Asked> todo_;
  std::vector<int> questions_;
  std::vector<Stream> streams_;
};

}  // namespace sitter::sim
