#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/child/absence.hpp"
#include "core/child/child_input.hpp"
#include "core/child/child_lifecycle.hpp"
#include "core/child/cursors.hpp"
#include "core/child/debugger.hpp"
#include "core/child/echo.hpp"
#include "core/child/handshake.hpp"
#include "core/child/own_restart.hpp"
#include "core/child/replays.hpp"
#include "core/child/stderr_ring.hpp"
#include "core/client/streams.hpp"
#include "core/wire/json_view.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// Tasks and request states of one child that are distinguished from those of its predecessors. A
/// client has a handful of them open. Above this bound nothing is said of them.
inline constexpr std::size_t kHandedOutMax = 1000;

}  // namespace limits

/// One generation, with all state that ends with it.
struct Child {
  /// What the child is to the client. A coming child beside a child that serves is a candidate: it
  /// is to take the place of that child.
  ///
  ///     coming --> serving --> retiring
  ///        ^----------/
  ///     the client has only probed the child, and opens it now
  enum class Role {
    coming,    ///< the child is on its way to serving
    serving,   ///< the client's requests are passed to it, unless it is being taken down
    retiring,  ///< its successor serves, and the child may finish the requests that it has
  };

  /// What is known of the lists of the child.
  enum class Lists {
    unknown,
    taken,       ///< the lists were taken at least once
    with_tools,  ///< and the list of the tools is complete
  };

  Child(Generation gen, Now now, MakeId make_id, MakeMeta make_meta,
        const std::string& sitter_version, const Secrets& secrets, const EndWords& words)
      : life(gen, now, words),
        own_restart(gen, make_id),
        handshake(gen, std::move(make_id), std::move(make_meta), sitter_version, secrets) {}

  Generation gen() const { return life.gen(); }
  bool serves() const { return role == Role::serving && life.is_up(); }
  /// Whether the child serves and is believed to be open and there.
  bool takes_requests() const {
    return serves() && !own_restart.is_suspected() && !absence.holds();
  }
  /// Whether the child works, on new requests or still on old ones.
  bool is_ready() const { return role != Role::coming && life.is_up(); }
  bool is_retiring() const { return role == Role::retiring; }
  bool has_started() const { return proof_ != Proof::none; }
  bool has_answered() const { return proof_ == Proof::answered; }
  /// The child was opened, or has answered something. This shows nothing before the child serves.
  /// Returns whether it is the first such sign.
  bool prove_start() {
    if (role == Role::coming || has_started()) return false;
    proof_ = Proof::started;
    return true;
  }
  /// The child has answered a request of the client. Returns whether it is the first answer that
  /// shows something.
  bool prove_answer() {
    return has_started() && std::exchange(proof_, Proof::answered) != Proof::answered;
  }
  /// Whether the calls of `--replay-call` are put off until the child has answered the client. Such
  /// a call may be what makes the server restart itself.
  bool waits_for_use() const {
    return own_restart.unused_in_row() >= limits::kUnusedRestartsMax && !has_answered();
  }
  void forget_proof() { proof_ = Proof::none; }
  /// The time until which a retiring child must finish; empty for any other child.
  std::optional<Instant> retires_at() const {
    return is_retiring() ? std::optional(retire_by) : std::nullopt;
  }
  /// Whether the child was asked to open, or serves without an opening. The next opening of the
  /// client is then the second one of the child.
  bool has_begun() const {
    const Handshake::State state = handshake.state();
    return life.is_up() && state != Handshake::State::idle && state != Handshake::State::unopened;
  }
  /// Whether the opening of the child is over. What the client sets up after that is not part of
  /// the opening.
  bool is_past_opening() const {
    return has_begun() && handshake.state() != Handshake::State::opening;
  }
  /// Whether the child may be asked for this. Without an opening no message says what the child
  /// lacks.
  bool may_have(std::string_view capability) const {
    return !handshake.was_opened() || handshake.opened_with().declares(capability);
  }
  /// The client got this raw task id or request state from the child. A later request names it.
  void hand_out(std::string_view raw) {
    if (raw.starts_with('"') && handed_out.size() < limits::kHandedOutMax) {
      handed_out.insert(text_key(raw));
    }
  }
  bool may_have_handed_out(std::size_t key) const {
    return handed_out.size() >= limits::kHandedOutMax || handed_out.contains(key);
  }
  /// The client answers the question of the child that has this id.
  void hear(std::string_view raw_id, const Message& answer) {
    heard_answer = answer_key(raw_id, answer);
  }
  /// Whether this is what the client has answered last, which the child may print.
  bool has_heard(const Message& answer) const {
    return heard_answer == answer_key(answer.id, answer);
  }
  /// Whether this id may have been rounded to what a double holds.
  bool may_round(std::string_view raw_id) const { return !keeps_integers || !fits_64_bits(raw_id); }

  /// The child as the sender of a message that holds this id.
  Streams::Sender sender(std::string_view raw_id) const {
    return {gen(), life.is_up(), may_round(raw_id)};
  }
  /// Asks for the list once more, unless the child is on its way out.
  void survey_again(CatalogKind kind, Now now, Orders& out) {
    if (life.is_up() && !is_retiring()) handshake.survey_again(kind, now, out);
  }

  /// Whether this answers an opening that the bridge has answered in the place of the child. The
  /// client may have used the id of that opening again.
  bool is_late_opening(const Message& answer) {
    const bool is_late = !late_opening.empty() && same_id(late_opening, answer.id) &&
                         !member(answer.result, "protocolVersion").empty();
    if (is_late) late_opening.clear();
    return is_late;
  }

  /// This line has come while the child was being taken down. It counts if it is the first.
  void note_late(std::string_view line, bool is_unfinished) {
    if (handshake.has_spoken() || !late_line.empty()) return;
    late_line = brief(line, 80);
    has_unfinished_line = is_unfinished;
  }

  static std::size_t answer_key(std::string_view raw_id, const Message& answer) {
    return std::hash<std::string>()(
        fmt::format("{} {} {}", id_key(raw_id), answer.result, answer.error));
  }

  ChildLifecycle life;
  Debugger debugger;
  /// What it did at the last look, as `fact::ProcessSeen` tells it.
  std::string activity;
  OwnRestart own_restart;
  Handshake handshake;
  /// What caused its start, in a few words: "a request", "src/a.c changed".
  std::string cause;
  Role role = Role::coming;
  Instant retire_by{};
  Lists lists = Lists::unknown;
  ChildInput input;
  Absence absence;
  /// The time from the start of the child to its serving.
  Milliseconds startup{};
  /// Errors of the child are held until it is known whether it can serve this client at all, or was
  /// started anew without an opening.
  bool has_held_errors = false;
  std::size_t heard_answer = 0;
  /// The `order` of the first request after the last notification to the child. Until the child has
  /// answered that request or a later one, an error without an id may be about the notification.
  std::optional<std::uint64_t> notified_before;

  Echo echo;
  /// The child has answered an id that no double can hold, so it keeps integers of at least 64
  /// bits.
  bool keeps_integers = false;
  /// The child has answered an id such as 7 or "7" without changing its type.
  bool keeps_id_types = false;
  /// The first line, if it has come only while the child was being taken down, and whether the
  /// output ended within it.
  std::string late_line;
  bool has_unfinished_line = false;
  /// The raw id of the last opening that the bridge has answered in the place of the child, and
  /// that the child has not answered since.
  std::string late_opening;
  Cursors cursors;
  std::set<std::size_t> handed_out;
  Replays::Made calls_made;
  /// What the child has written to stderr while another child serves.
  std::optional<StderrRing> stderr_apart;

 private:
  /// How far the child has shown that it works.
  enum class Proof {
    none,
    started,   ///< the child was opened, or has answered a request without an opening
    answered,  ///< the child has answered a request of the client
  };

  Proof proof_ = Proof::none;
};

}  // namespace sitter
