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
  /// Of one child, by tool: the number of the success that it gave or repeated last.
  using Made = std::map<std::string, std::uint64_t>;

  /// In this order they are called again, each once.
  explicit Replays(const std::vector<std::string>& tools);

  bool repeats(std::string_view tool) const;
  bool is_empty() const { return calls_.empty(); }

  /// Whether a success of this child is the newest. What its successor has answered is newer,
  /// however late this comes.
  bool is_news(const std::string& tool, Generation gen) const;
  /// A call of the client has succeeded at a child. `order`: of the request.
  void on_success(const std::string& tool, std::string_view arguments, Generation gen,
                  std::uint64_t order, Made& made);
  /// It is not called again. Returns whether it would have been.
  bool forget(const std::string& tool) { return calls_.erase(tool) > 0; }

  /// All, for a new child.
  std::vector<ReplayedCall> all(Made& made) const;
  /// What has succeeded at the children before this one since it was asked what to call again.
  std::vector<ReplayedCall> missed(Generation gen, const Made& made) const;

 private:
  std::vector<std::string> tools_;
  std::map<std::string, ReplayedCall, std::less<>> calls_;
  std::uint64_t last_number_ = 0;
};

}  // namespace sitter
