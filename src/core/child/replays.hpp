#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/child/call_replay.hpp"
#include "sitter/generation.hpp"

namespace sitter {

/// The last success of each tool that is called again at each new child (`--replay-call`).
class Replays {
 public:
  /// For one child, by tool: the number of the last success that the child gave or repeated.
  using Made = std::map<std::string, std::uint64_t>;

  /// The tools are called again in this order, each of them once.
  explicit Replays(const std::vector<std::string>& tools);

  bool repeats(std::string_view tool) const;
  bool is_empty() const { return calls_.empty(); }

  /// Whether a success of this child is the newest. A success of a later child is newer, even if
  /// this answer comes after it.
  bool is_news(const std::string& tool, Generation gen) const;
  /// A call of the client has succeeded at a child. `order`: the place of the request among the
  /// client's requests.
  void on_success(const std::string& tool, std::string_view arguments, Generation gen,
                  std::uint64_t order, Made& made);
  /// The tool is not called again. Returns whether it would have been.
  bool forget(const std::string& tool) { return calls_.erase(tool) > 0; }

  /// All calls, for a new child.
  std::vector<ReplayedCall> all(Made& made) const;
  /// The calls that have succeeded at other children since this child was given its calls.
  std::vector<ReplayedCall> missed(const Made& made) const;
  /// The call is made again at the child.
  static void mark(const ReplayedCall& call, Made& made) { made[call.tool] = call.number; }

 private:
  std::vector<std::string> tools_;
  std::map<std::string, ReplayedCall, std::less<>> calls_;
  std::uint64_t last_number_ = 0;
};

}  // namespace sitter
