#pragma once

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "sitter/core/limits.hpp"
#include "sitter/core/raw_id.hpp"

namespace sitter {

/// Which progress of the child must not reach the client: values must only grow, and none may
/// follow the answer, or the end of the task (specification, basic/utilities/progress and /tasks).
/// Tokens are raw, and spellings of the same one count as one. A token that was never asked for is
/// the client's affair, and passes.
class ProgressTokens {
 public:
  /// A request asks for progress. It may use a token once more.
  void on_request(std::string_view token) {
    if (ended_.empty() && going_on_.empty()) return;
    const std::string key = id_key(token);
    std::erase(ended_, key);
    std::erase(going_on_, key);
  }

  /// The request goes to a second child, which counts from the beginning.
  void mute(std::string_view token) { muted_.insert(id_key(token)); }

  /// It was answered or cancelled. `is_over`: a task goes on under its token, and a cancelled
  /// request may still be told of.
  void on_answered(std::string_view token, bool is_over) {
    if (!muted_.empty()) muted_.erase(id_key(token));
    remember(id_key(token), is_over ? ended_ : going_on_);
  }

  /// What its successor tells under the tokens of a lost child is of nothing that the client knows.
  void on_child_lost() {
    for (std::string& key : going_on_) remember(std::move(key), ended_);
    going_on_.clear();
  }

  bool passes(std::string_view token) const {
    if (muted_.empty() && ended_.empty()) return true;
    const std::string key = id_key(token);
    return !muted_.contains(key) && std::find(ended_.rbegin(), ended_.rend(), key) == ended_.rend();
  }

 private:
  static void remember(std::string key, std::deque<std::string>& keys) {
    keys.push_back(std::move(key));
    if (keys.size() > limits::kEndedTokensMax) keys.pop_front();
  }

  std::set<std::string> muted_;
  std::deque<std::string> ended_;
  std::deque<std::string> going_on_;
};

}  // namespace sitter
