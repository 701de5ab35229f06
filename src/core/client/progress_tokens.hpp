#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "core/base/raw_id.hpp"
#include "core/base/recent_keys.hpp"

namespace sitter {

namespace limits {

/// Progress tokens of answered requests that are remembered in case the child still reports
/// progress for them. A child that reports so late does it within its last few requests.
inline constexpr std::size_t kEndedTokensMax = 64;

}  // namespace limits

/// Which progress of the child must not reach the client. Progress values must only grow, and no
/// progress may follow the answer or the end of the task (specification, basic/utilities/progress
/// and /tasks). Tokens are raw, and all spellings of a token count as the same. A token that the
/// client has never sent passes, because it is the client's affair.
class ProgressTokens {
 public:
  /// A request asks for progress. The client may use a token again.
  void on_request(std::string_view token) {
    const IdKey key(token);
    ended_.remove(key.text());
    going_on_.remove(key.text());
  }

  /// The request goes to a second child, whose progress begins again from the start.
  void mute(std::string_view token) { muted_.insert(id_key(token)); }

  /// The request was answered or cancelled. `is_over` is false if progress may still come: a task
  /// goes on under its token, and a cancelled request may still report progress.
  void on_answered(std::string_view token, bool is_over) {
    const IdKey key(token);
    if (!muted_.empty()) muted_.erase(std::string(key.text()));
    (is_over ? ended_ : going_on_).add(key.text());
  }

  /// The child has answered a cancelled request all the same. Another request may have the same
  /// token.
  void on_answered_late(std::string_view token) {
    const IdKey key(token);
    if (!going_on_.contains(key.text())) return;
    going_on_.remove(key.text());
    ended_.add(key.text());
  }

  /// If the successor of a lost child uses the same tokens, its progress belongs to something that
  /// the client does not know.
  void on_child_lost() {
    going_on_.move_to([this](std::string_view key) { ended_.add(key); });
  }

  bool passes(std::string_view token) const {
    const IdKey key(token);
    return !muted_.contains(key.text()) && !ended_.contains(key.text());
  }

 private:
  using Keys = RecentKeys<limits::kEndedTokensMax>;

  std::set<std::string, std::less<>> muted_;
  Keys ended_;
  Keys going_on_;
};

}  // namespace sitter
