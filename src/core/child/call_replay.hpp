#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/orders.hpp"
#include "core/child/list_survey.hpp"
#include "core/wire/message.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// A call that the user has named, as it has succeeded last.
struct ReplayedCall {
  std::string tool;
  /// The raw text; empty if it had none.
  std::string arguments;
  /// The child that has answered it, and the place of the call among the client's requests.
  Generation gen = kNoGeneration;
  std::uint64_t order = 0;
  /// Larger than that of any success before it.
  std::uint64_t number = 0;
};

/// Whether the raw result of a call is there, and no failure.
bool is_complete_success(std::string_view result);

/// Makes calls at a new child again, one after the other, before anything else is asked of it.
class CallReplay {
 public:
  /// `waits_for_child`: its time begins with `start_clock`.
  CallReplay(Generation gen, std::vector<ReplayedCall> calls, bool waits_for_child)
      : gen_(gen), calls_(std::move(calls)), has_clock_(!waits_for_child) {}

  void begin(const MakeId& make_id, const MakeMeta& make_meta, Now now, Orders& out);
  /// One more, behind the others or in the place of the one of the same tool that was not made yet.
  void add(ReplayedCall call, const MakeId& make_id, const MakeMeta& make_meta, Now now,
           Orders& out);
  /// The child's first message has come.
  void start_clock(Now now);

  /// Whether the answer belonged to one of them.
  bool on_answer(const Message& answer, const MakeId& make_id, const MakeMeta& make_meta,
                 Orders& out);
  /// Gives up those that are not answered in time.
  void on_timeout(Now now);
  std::optional<Instant> deadline() const { return deadline_; }

  bool is_done() const { return next_ > calls_.size(); }
  /// The tool whose answer is waited for; empty if none.
  std::string_view running() const;
  /// What became of those that did not succeed: "connect: no such host".
  std::vector<std::string> take_failures() { return std::exchange(failures_, {}); }

 private:
  void ask(const MakeId& make_id, const MakeMeta& make_meta, Orders& out);

  Generation gen_;
  std::vector<ReplayedCall> calls_;
  bool has_clock_;
  /// One more than the number of the call that runs, and one more than all at the end.
  std::size_t next_ = 0;
  std::string id_;
  std::optional<Instant> deadline_;
  std::vector<std::string> failures_;
};

}  // namespace sitter
