#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/raw_id.hpp"
#include "core/child/child_input.hpp"
#include "core/child/child_lifecycle.hpp"
#include "core/child/handshake.hpp"
#include "core/child/replays.hpp"
#include "core/child/stderr_ring.hpp"
#include "core/wire/json_view.hpp"
#include "sitter/generation.hpp"
#include "sitter/limits.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// One generation, with all that ends with it.
struct Child {
  /// What it is to the client. A coming child beside one that serves is a candidate: it is to take
  /// that one's place.
  ///
  ///     coming --> serving --> retiring
  ///        ^----------/
  ///     a client that has merely probed it opens it
  enum class Role {
    coming,    ///< on its way to serving
    serving,   ///< the client's requests are passed to it, unless it is on its way out
    retiring,  ///< its successor serves, and it may finish what it was asked before
  };

  /// How far it has shown that it works.
  enum class Proof {
    none,
    started,   ///< it was opened, or has answered something without that
    answered,  ///< it has answered a request of the client
  };

  /// What is known of its lists.
  enum class Lists {
    unknown,
    taken,       ///< at least once
    with_tools,  ///< and that of its tools is complete
  };

  Child(Generation gen, Now now, MakeId make_id, MakeMeta make_meta,
        const std::string& sitter_version)
      : life(gen, now), handshake(gen, std::move(make_id), std::move(make_meta), sitter_version) {}

  Generation gen() const { return life.gen(); }
  bool serves() const { return role == Role::serving && life.is_up(); }
  /// It works, for new requests or still for those that it has.
  bool is_ready() const { return role != Role::coming && life.is_up(); }
  bool is_retiring() const { return role == Role::retiring; }
  bool has_started() const { return proof != Proof::none; }
  /// When it has to have finished; only while it retires.
  std::optional<Instant> retires_at() const {
    return is_retiring() ? std::optional(retire_by) : std::nullopt;
  }
  /// It was asked to open, or serves without that. The client's next opening is its second one.
  bool has_begun() const {
    const Handshake::State state = handshake.state();
    return life.is_up() && state != Handshake::State::idle && state != Handshake::State::unopened;
  }
  /// What the client has set up since then was not told to it.
  bool is_past_opening() const {
    return has_begun() && handshake.state() != Handshake::State::opening;
  }
  /// Whether it may be asked for this. Without an opening nobody has said that it lacks anything.
  bool may_have(std::string_view capability) const {
    return !handshake.was_opened() || handshake.opened_with().declares(capability);
  }
  /// The client got this raw cursor from it, or nothing where it is no string.
  void keep_cursor(std::string_view cursor) {
    if (cursor.starts_with('"') && cursors.size() < limits::kCursorsMax) {
      cursors.insert(string_value(cursor));
    }
  }
  /// A cursor means something to the child that gave it, and may mean something else to the next.
  bool may_have_given(std::string_view cursor) const {
    return cursors.size() >= limits::kCursorsMax || cursors.contains(string_value(cursor));
  }
  /// Whether this id may have been rounded to what a double holds.
  bool may_round(std::string_view raw_id) const { return !keeps_integers || !fits_64_bits(raw_id); }

  ChildLifecycle life;
  Handshake handshake;
  Role role = Role::coming;
  Instant retire_by{};
  Proof proof = Proof::none;
  Lists lists = Lists::unknown;
  ChildInput input;
  /// Until when it must have answered its opening or, if it has none and is a respawn, have said
  /// anything.
  std::optional<Instant> startup_deadline;
  /// How long it took to serve.
  Milliseconds startup{};
  /// Errors of it are held until it is known whether it can serve this client at all.
  bool has_held_errors = false;
  /// It has answered an id that no double has, so it keeps integers, of 64 bits at least.
  bool keeps_integers = false;
  /// The first of the cursors that the client got from it.
  std::set<std::string> cursors;
  Replays::Made calls_made;
  /// What it has written to stderr while another child serves.
  std::optional<StderrRing> stderr_apart;
};

}  // namespace sitter
