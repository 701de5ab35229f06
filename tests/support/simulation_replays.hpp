#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sitter/generation.hpp"
#include "sitter/time.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// Calls that are made again at each new child: only of the tools that the user has named, each as
/// it has succeeded last, one after the other, and before anything else is asked of that child.
/// Throws `Broken`.
class Replays {
 public:
  explicit Replays(const std::vector<std::string>& tools) : tools_(tools) {}

  bool are_there() const { return !tools_.empty(); }

  /// Two children live at the same time. What the one answers while the other is called is made
  /// there at a moment, and in an order, that nobody outside can tell.
  void on_overlap() { has_overlapped_ = true; }

  /// A child has answered such a call. `is_sure` is false where nobody outside can tell whether the
  /// bridge has taken the answer for that of this call.
  void on_success(Generation gen, const std::string& tool, const std::string& arguments,
                  bool is_sure);
  /// The server before it has just answered such a call: `gen`, which serves and of which the
  /// client wants no such call, is told at once, or as soon as it has answered the call before.
  void on_late_success(Generation gen, const std::string& tool, const std::string& arguments);
  /// After one input and all that followed from it.
  void check() const;
  /// A child is about to be asked something, and there were others before it.
  void on_ready(Generation gen);
  void on_called(Generation gen, const std::string& tool, const std::string& arguments,
                 const std::string& id, Instant now);
  /// Anything else that a child gets, of the client or of the bridge itself.
  void on_asked(Generation gen, bool is_own, Instant now);
  /// Whether it answers one of them.
  bool on_answered(Generation gen, const std::string& id);
  /// `is_to_blame`: it has ended by itself, and nobody else has had to do with it.
  void on_over(Generation gen, bool is_to_blame, Instant now);
  bool has_called(Generation gen) const;
  /// An answer is still to come, or a time limit.
  bool is_calling() const;

 private:
  struct Known {
    std::string arguments;
    bool is_sure = true;
    Generation gen = kNoGeneration;
    int number = 0;
  };
  struct Life {
    /// It did not serve before.
    bool is_ready = false;
    /// As they had succeeded when it was ready. What succeeds later at the child before it is too
    /// late for it.
    std::map<std::string, Known> known;
    /// What it must be called first, where that is known for sure.
    std::optional<std::string> due;
    /// The place in `tools_` of the last call.
    std::optional<std::size_t> last;
    std::string running_id, running_tool;
    /// It may serve meanwhile.
    bool is_running_late = false;
    Instant begun;
    bool was_asked = false;
    /// The numbers of the successes that it was called again, by tool.
    std::map<std::string, int> made;
  };

  bool is_late(const Life& life, Generation gen, const std::string& tool,
               const std::string& arguments) const;

  bool is_waited_for(const Life& life, Instant now) const;

  const std::vector<std::string>& tools_;
  std::map<std::string, Known> last_;  // by tool
  std::set<std::pair<std::string, std::string>> successes_;
  int last_number_ = 0;
  bool has_overlapped_ = false;
  /// The tool that must be called in this moment; empty if there is none.
  std::string due_late_;
  std::map<Generation, Life> lives_;
};

}  // namespace sitter::sim
