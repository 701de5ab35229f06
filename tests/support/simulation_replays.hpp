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

/// Checks the calls that are made again at each new child. Only tools that the user has named are
/// called, each with the arguments of its last success. The calls come one after the other, and
/// before anything else is asked of that child. Throws `Broken`.
class Replays {
 public:
  explicit Replays(const std::vector<std::string>& tools) : tools_(tools) {}

  bool are_there() const { return !tools_.empty(); }

  /// Two children live at the same time. If one of them answers a call, the bridge makes this call
  /// again at the other. Nobody outside can tell when and in which order.
  void on_overlap() { has_overlapped_ = true; }

  /// A child has answered such a call with success. `is_sure` is false if nobody outside can tell
  /// whether the bridge has taken the answer as the answer to this call.
  void on_success(Generation gen, const std::string& tool, const std::string& arguments,
                  bool is_sure);
  /// The child before `gen` has just answered such a call. `gen` serves, and the client has no such
  /// call open at it. So the bridge must make the call at `gen` at once, or as soon as `gen` has
  /// answered the call before.
  void on_late_success(Generation gen, const std::string& tool, const std::string& arguments);
  /// Called after one fact or timeout and everything that followed from it.
  void check() const;
  /// A child that is not the first may be asked something from now on.
  void on_ready(Generation gen);
  void on_called(Generation gen, const std::string& tool, const std::string& arguments,
                 const std::string& id, Instant now);
  /// The child comes after many restarts of the server by itself, which a call may cause. So the
  /// calls need not be made again.
  void on_many_restarts(Generation gen) { lives_[gen].may_skip = true; }
  /// A child gets any other request, from the client or from the bridge itself.
  void on_asked(Generation gen, bool is_own, Instant now);
  /// Returns whether this is the answer to such a call.
  bool on_answered(Generation gen, const std::string& id);
  /// `is_to_blame`: the child has crashed by itself, and nobody has killed it.
  void on_over(Generation gen, bool is_to_blame, Instant now);
  bool has_called(Generation gen) const;
  /// Whether the answer to such a call is still to come.
  bool is_calling() const;

 private:
  struct Known {
    std::string arguments;
    bool is_sure = true;
    Generation gen = kNoGeneration;
  };
  struct Life {
    bool may_skip = false;
    /// `on_ready()` was called for this child. The child did not serve before that.
    bool is_ready = false;
    /// The last successes at the moment when the child was ready. A success that comes later at the
    /// earlier child is not among them.
    std::map<std::string, Known> known;
    /// The tool that must be called first, if that is known for sure.
    std::optional<std::string> due;
    /// The place in `tools_` of the last call.
    std::optional<std::size_t> last;
    std::string running_id, running_tool;
    /// The running call came late, so the child may serve meanwhile.
    bool is_running_late = false;
    Instant begun;
    bool was_asked = false;
  };

  bool is_waited_for(const Life& life, Instant now) const;

  const std::vector<std::string>& tools_;
  std::map<std::string, Known> last_;  // by tool
  std::set<std::pair<std::string, std::string>> successes_;
  bool has_overlapped_ = false;
  /// The tools of which one must be called in this step; empty if no call is due.
  std::set<std::string> due_late_;
  std::map<Generation, Life> lives_;
};

}  // namespace sitter::sim
