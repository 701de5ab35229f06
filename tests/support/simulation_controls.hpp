#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/control_id.hpp"
#include "sitter/time.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// Checks the control requests (`mcp-sitter ctl`). Each request gets exactly one answer. A
/// connection that follows stderr gets each line of the children, in order, until the connection is
/// closed. Throws `Broken`.
class Controls {
 public:
  void on_asked(const ControlAsked& asked, Instant now);
  /// Returns whether the connection has waited for a reload.
  bool on_closed(ControlId connection);
  /// After a kill, the bridge may give up every reload. `must_give_up`: it must do so.
  void on_kill(bool must_give_up);
  /// A child that is not over has written a line to stderr.
  void on_error_line(const std::string& text);
  /// A reload begins: a build starts, or a child if there is no build command.
  void on_reload_begun();
  void on_line(ControlId connection, const std::string& line, bool is_ending);

  std::size_t owed_count() const { return owed_.size(); }
  /// Called after one fact or timeout and everything that followed from it. Every request from
  /// before `late` must be answered, unless a wait has begun after that, at `moved_at`.
  void check(std::optional<Instant> late, Instant moved_at) const;
  void check_end() const;

 private:
  struct Owed {
    ControlAsked asked;
    bool is_reload_begun = false;
    bool may_give_up = false, must_give_up = false;
    Instant came;
  };

  void on_followed(ControlId connection, const std::string& line);
  static bool is_at_once(const ControlAsked& asked);
  static bool fits(const Owed& owed, bool is_error, bool is_tool_error, const std::string& text);

  std::vector<Owed> owed_;
  /// The lines that each following connection has yet to get.
  std::map<ControlId, std::deque<std::string>> following_;
};

}  // namespace sitter::sim
