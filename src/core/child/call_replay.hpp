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
#include "core/http/secrets.hpp"
#include "core/wire/message.hpp"
#include "sitter/bytes.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How long all calls that are repeated at a new child may take together. Some servers must connect
/// to something first, but the client's requests wait meanwhile. The second bound is for the
/// arguments of one such call, which are kept.
inline constexpr Milliseconds kReplayWait{20000};
inline constexpr std::size_t kReplayBytesMax = kMiB;

/// The line of such a call, which is kept until the call is answered. It also has an id and a
/// `_meta`.
inline constexpr std::size_t kReplayLineMax = 2 * kReplayBytesMax;

}  // namespace limits

/// The last success of a call that the user has named.
struct ReplayedCall {
  std::string tool;
  /// The raw text; empty if the call had no arguments.
  std::string arguments;
  /// The child that answered the call, and the place of the call among the client's requests.
  Generation gen = kNoGeneration;
  std::uint64_t order = 0;
  /// Each success has a larger number than all successes before it.
  std::uint64_t number = 0;
};

/// Whether a call has succeeded and its raw result is complete.
bool is_complete_success(std::string_view result);

/// Makes calls again at a new child, one after the other, before anything else is asked of the
/// child.
class CallReplay {
 public:
  /// With `waits_for_child`, the time for the answers begins with `start_clock`.
  CallReplay(Generation gen, std::vector<ReplayedCall> calls, bool waits_for_child, Secrets secrets)
      : gen_(gen),
        calls_(std::move(calls)),
        has_clock_(!waits_for_child),
        secrets_(std::move(secrets)) {}

  void begin(const MakeId& make_id, const MakeMeta& make_meta, Now now, Orders& out);
  /// Adds a call after the others. If a call of the same tool was not made yet, the new call
  /// replaces it.
  void add(ReplayedCall call, const MakeId& make_id, const MakeMeta& make_meta, Now now,
           Orders& out);
  /// The first message of the child has come.
  void start_clock(Now now);

  /// Returns whether the answer belonged to one of the calls.
  bool on_answer(const Message& answer, const MakeId& make_id, const MakeMeta& make_meta,
                 Orders& out);
  /// Gives up the calls that were not answered in time.
  void on_timeout(Now now);
  std::optional<Instant> deadline() const { return deadline_; }

  bool is_done() const { return next_ > calls_.size(); }
  /// The tool whose answer is awaited; empty if there is none.
  std::string_view running() const;
  /// Why calls did not succeed: "connect: no such host".
  std::vector<std::string> take_failures() { return std::exchange(failures_, {}); }

 private:
  void ask(const MakeId& make_id, const MakeMeta& make_meta, Orders& out);

  Generation gen_;
  std::vector<ReplayedCall> calls_;
  bool has_clock_;
  Secrets secrets_;
  /// One more than the index of the running call. At the end, one more than the number of calls.
  std::size_t next_ = 0;
  std::string id_;
  std::optional<Instant> deadline_;
  std::vector<std::string> failures_;
};

}  // namespace sitter
