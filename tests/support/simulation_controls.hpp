#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
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
  void on_closed(ControlId connection);
  /// A child that is not over has written a line to stderr.
  void on_error_line(const std::string& text);
  void on_line(ControlId connection, const std::string& line);

  std::size_t owed_count() const;
  /// Called after one fact or timeout and everything that followed from it. Every request from
  /// before `late` must be answered, unless a wait has begun after that, at `moved_at`.
  void check(std::optional<Instant> late, Instant moved_at) const;
  void check_end() const;

 private:
  /// The requests of one connection that are owed an answer. Only a reload and a kill take time.
  /// An answer does not say which of several requests it is for.
  struct Owed {
    std::size_t quick = 0;
    std::vector<Instant> slow;  ///< when they came
  };

  void on_followed(ControlId connection, const std::string& line);

  std::map<ControlId, Owed> owed_;
  /// The lines that each following connection has yet to get.
  std::map<ControlId, std::deque<std::string>> following_;
};

}  // namespace sitter::sim
