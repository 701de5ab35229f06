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

/// Those who control the bridge from outside: each request gets exactly one answer, and whoever
/// follows gets each line of the children, in their order, for as long as he is there. Throws
/// `Broken`.
class Controls {
 public:
  /// `due`: a kill must have been answered.
  void on_asked(const ControlAsked& asked, Instant due);
  /// Whether it has waited for a reload.
  bool on_closed(ControlId connection);
  /// A reload need not come, or must not.
  void on_kill(bool must_give_up);
  /// A child that is heard has written a line to stderr.
  void on_error_line(const std::string& text);
  /// What a reload has asked for begins: a build, or a child where nothing is built.
  void on_reload_begun();
  /// There is no session yet for which a child would be started.
  void on_reload_not_wanted() { on_reload_begun(); }
  void on_line(ControlId connection, const std::string& line, bool is_ending);

  std::size_t owed_count() const { return owed_.size(); }
  bool is_reload_owed() const;
  /// After one input and all that followed from it. `is_reloading`: an answer may be waited for.
  void check(Instant now, bool is_reloading, std::optional<Milliseconds> reload_max);
  void check_end() const;

 private:
  struct Owed {
    ControlAsked asked;
    bool is_reload_begun = false;
    bool may_give_up = false, must_give_up = false;
    Instant due;
  };

  void on_followed(ControlId connection, const std::string& line);
  static bool is_at_once(const ControlAsked& asked);
  static bool fits(const Owed& owed, bool is_error, bool is_tool_error, const std::string& text);

  std::vector<Owed> owed_;
  /// The lines that are still to come.
  std::map<ControlId, std::deque<std::string>> following_;
};

}  // namespace sitter::sim
