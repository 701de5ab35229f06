#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/orders.hpp"
#include "sitter/fact.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// The sources of the server are looked at after a request, and for a twentieth of the time at
/// most. So a small server is looked at after nearly each request, and a fast row of requests is
/// not slowed down.
inline constexpr int kSourceLookShare = 20;

/// How many bytes of the name of a changed file a notice shows.
inline constexpr std::size_t kSourceNameMax = 200;

}  // namespace limits

/// Whether the child that answers runs old code: when the shell looks at the sources of the child,
/// which change of them is known, and whether the model was told of that change.
///
///     resting --on_request, some time after the last look--> looking --on_checked--> resting
class OldCode {
 public:
  struct Change {
    std::string file;
    WallTime when;
  };

  /// `is_on`: whether the shell ever looks.
  explicit OldCode(bool is_on) : is_on_(is_on) {}

  /// Whether a request would lead to a look.
  bool may_look(Now now) const { return is_on_ && !is_looking_ && now.steady >= next_look_; }
  /// A request was passed to this child, which serves. Looks if it may.
  void on_request(Generation gen, Now now, Orders& out);
  /// The shell has looked. Returns whether a change was found that was not known.
  bool on_checked(const fact::SourcesChecked& fact);

  /// The newest change since the start of this child; null if there is none. Valid until the next
  /// `on_checked`.
  const Change* newest(Generation gen) const {
    return gen == gen_ && gen != kNoGeneration ? &newest_ : nullptr;
  }
  /// The newest change, if the model was not told of it.
  const Change* untold(Generation gen) const { return is_told_ ? nullptr : newest(gen); }
  void on_told() { is_told_ = true; }
  /// Nobody has read what was told last.
  void on_unread() { is_told_ = false; }

 private:
  bool is_on_;
  bool is_looking_ = false;
  Instant looked_at_;
  Instant next_look_;
  /// The newest child of which a change is known.
  Generation gen_ = kNoGeneration;
  Change newest_;
  bool is_told_ = false;
};

/// What the result of a call says if old code has answered. `next` is a clause about what to do, or
/// about what becomes of the change.
std::string old_code_text(const OldCode::Change& change, std::string_view next, WallTime now);

}  // namespace sitter
