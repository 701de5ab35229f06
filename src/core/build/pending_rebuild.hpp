#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/build/rebuild.hpp"
#include "sitter/generation.hpp"
#include "sitter/request_handle.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// What somebody else than the client wants.
struct Reload {
  /// In a few words: "SIGHUP", "src/a.c changed".
  std::string cause;
  RebuildArguments how = {};
};

/// A request that waits for what comes of a rebuild.
struct RebuildCaller {
  RequestHandle request{};
  /// The client asks, and not somebody over the socket of `mcp-sitter ctl`.
  bool is_client = true;
  /// How long it waits for a build.
  Milliseconds timeout{};
  RebuildMode mode = RebuildMode::swap;
  /// Until when, while one runs for it.
  std::optional<Instant> deadline = {};
  /// How long the build that it has joined had run by then.
  std::optional<Milliseconds> joined_after = {};
};

/// A new server on its way, built before where there is a build command. Calls of sitter_rebuild
/// that come meanwhile join it.
struct PendingRebuild {
  enum class State {
    finishing,  ///< kill-first: the child may finish what it was asked
    clearing,   ///< kill-first: the child is taken down
    building,
    starting,   ///< the new child is on its way
    reporting,  ///< it serves, and its file is looked at for the notice
  };

  /// What was asked for since it began, and can't be in it.
  struct Next {
    Reload wanted;
    bool is_unattended = false;
    std::vector<RebuildCaller> callers;
  };

  explicit PendingRebuild(Instant start) : begun(start) {}

  /// Or when the first one of a row began, in which each has led to the next.
  Instant begun;
  State state = State::building;
  RebuildMode mode = RebuildMode::swap;
  std::vector<RebuildCaller> callers;
  /// SIGHUP or a save has asked for it: nobody waits, and the client is told in its next result.
  bool is_unattended = false;
  /// How long that waits for the build, and until when.
  Milliseconds timeout{};
  std::optional<Instant> unattended_until;
  /// Who has asked for it first, if not the client.
  std::string cause;
  std::optional<Next> next;
  /// The end of `finishing`.
  std::optional<Instant> deadline;
  /// The new child, once it was ordered.
  Generation gen = kNoGeneration;
  /// Nobody wants it any more, and the build is being stopped. Who comes now begins anew.
  bool is_cancelled = false;

  bool is_wanted() const { return is_unattended || !callers.empty(); }
  /// The first call of the client that waits.
  std::optional<RequestHandle> clients_call() const;
  std::optional<Instant> next_deadline() const;
  void clear_deadlines();
  void join(const Next& other);
  /// The request waits no more, neither for this one nor for what comes next. What has still to
  /// begin gets the mode of the oldest call that is left. Returns whether that leaves this one to
  /// nobody.
  bool leave(RequestHandle request);
  /// What comes after it. A mode that a call of the client has chosen stays.
  Next& follow_with(const Reload& wanted);
  /// Leaves nobody but calls of the client, here and in what comes next. Returns the others.
  std::vector<RebuildCaller> leave_to_client();
  /// Only in what comes next; those who wait for this one may have been answered.
  std::vector<RebuildCaller> leave_next_to_client();
};

}  // namespace sitter
