#pragma once

#include <optional>
#include <set>
#include <string>

#include "core/client/client_facts.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How long an answer waits for the client to list again. The official TypeScript clients wait for
/// 300 ms before they list.
inline constexpr Milliseconds kRelistWait{750};

/// After this many announcements without a new list, the bridge no longer waits for the client.
inline constexpr int kUnheededMax = 2;

}  // namespace limits

/// Whether an answer must wait until the client has listed the tools again after a change. A model
/// that reads about a new tool calls it in its next turn, and a client that has not listed by then
/// does not have the tool. Official clients also check results against the output schema that they
/// listed last.
///
///     idle --announced--> waiting --last page listed--> idle
///                            |  \--last page listed--> pausing --deadline--> idle
///                            \--deadline--> idle, and one more announcement was not heeded
///
/// Only some clients need the pause.
class RelistWait {
 public:
  /// The client has said its name.
  void meet(const ClientFacts& client) { client_ = client; }

  /// The client got a page of its list. With any page the client has heeded the announcement, even
  /// if it never asks for the last page. But only after the last page does it know all tools.
  void on_listed(bool is_last_page, Now now) {
    has_listed_ = true;
    if (state_ == State::idle) return;
    unheeded_ = 0;
    if (!is_last_page || state_ == State::pausing) return;
    if (client_.pause_after_list == Milliseconds::zero()) {
      give_up();
    } else {
      state_ = State::pausing;
      deadline_ = now.steady + client_.pause_after_list;
    }
  }

  /// The client was told that the tools have changed. `output_changed` names the tools with a new
  /// output schema. `listens`: the client has asked to be told, so it will list. An announcement
  /// does not prolong a wait that has begun.
  void on_announced(Now now, std::set<std::string> output_changed, bool listens = false) {
    if (!client_.lists_again) return;
    if (!(has_listed_ || listens) || unheeded_ >= limits::kUnheededMax) return;
    if (state_ == State::idle) {
      state_ = State::waiting;
      deadline_ = now.steady + limits::kRelistWait;
      output_changed_.clear();
    }
    output_changed_.merge(output_changed);
  }

  void on_timeout(Now now) {
    if (!is_due(deadline(), now)) return;
    if (state_ == State::waiting) ++unheeded_;
    give_up();
  }

  /// Ends the wait, because the client won't list any more.
  void give_up() { state_ = State::idle; }

  bool is_waiting() const { return state_ != State::idle; }
  bool has_other_output(const std::string& tool) const { return output_changed_.contains(tool); }
  std::optional<Instant> deadline() const {
    return is_waiting() ? std::optional(deadline_) : std::nullopt;
  }

 private:
  enum class State {
    idle,
    waiting,  ///< until the client has listed, or the deadline
    pausing,  ///< the client has listed, and makes its tools of the list until the deadline
  };

  ClientFacts client_;
  bool has_listed_ = false;
  int unheeded_ = 0;  // announcements in a row
  State state_ = State::idle;
  Instant deadline_{};
  std::set<std::string> output_changed_;
};

}  // namespace sitter
