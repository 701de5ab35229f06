#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/orders.hpp"
#include "core/child/list_survey.hpp"
#include "core/wire/method.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How long the server may take for the list that shows whether it was opened. Until then its error
/// is held, and the client waits.
inline constexpr Milliseconds kOwnRestartListWait{5'000};

/// How often in a row a server that has given no list is opened again because it refuses
/// everything. A second restart may come while the server is opened after the first. A server that
/// still refuses everything is broken.
inline constexpr int kDoubtfulRestartsMax = 2;

/// After so many restarts of the server by itself in a row, without an answer to the client between
/// them, the calls of `--replay-call` wait for such an answer. A call may write a file that a
/// watcher restarts the server for, so it would restart the server for ever. It is as many as
/// `--restart` makes in a row.
inline constexpr int kUnusedRestartsMax = 10;

/// From the words of a watcher to the opening of the new server. node writes them before it ends
/// the former server, which must not read the opening.
inline constexpr Milliseconds kOwnRestartWait{1'000};

/// How long further announcements may put that off. A server that writes a watched file whenever it
/// starts would be started anew without end, and requests would wait for ever.
inline constexpr Milliseconds kOwnRestartWaitsMax{5'000};

}  // namespace limits

/// What a watcher says on stdout (`node --watch`, nodemon) or stderr (`deno run --watch`).
enum class Announcement {
  none,
  restart,         ///< the server is started anew
  restart_within,  ///< the same in the same process, where the former server may still take a line
  start,           ///< the server is started, perhaps for the first time
};

Announcement announcement_in(std::string_view line);

/// Finds out whether the server behind a child was started anew on the same pipes, as watchers do.
/// The new server was not opened. Some servers refuse every request then; others answer, so that
/// only the watcher's own words show the restart.
///
/// A server that has given a list and refuses it now was started anew. A server that has given no
/// list may be broken instead, so its errors must name the opening. It is opened again a limited
/// number of times in a row, because it could refuse everything for ever.
///
///     none --ask--> asked --a list is refused, too--> certain
///      |  ^-----------/ |   a list is answered, or nothing in time
///      |                | expect
///      |                v
///      \--expect--> expected --a moment later--> certain
///
/// `drop` leads from each state to none.
class OwnRestart {
 public:
  OwnRestart(Generation gen, MakeId make_id) : gen_(gen), make_id_(std::move(make_id)) {}

  /// The child is the next server behind the same process. `was_used`: the former server has
  /// answered a request of the client.
  void follow(const OwnRestart& former, bool was_used) {
    follows_ = true;
    unused_in_row_ = was_used ? 0 : former.unused_in_row_ + 1;
    doubtful_in_row_ = former.is_doubtful_ ? former.doubtful_in_row_ + 1 : 0;
  }
  bool follows() const { return follows_; }
  /// How many servers before this one were started anew in a row, and had answered no request of
  /// the client.
  int unused_in_row() const { return unused_in_row_; }

  /// Lists of the server were taken, or refused.
  void note(const std::vector<ListSurvey::List>& lists);
  bool has_given(CatalogKind kind) const { return given_.contains(kind); }
  /// A request was refused with this raw error, as by a server that was not opened. A list of this
  /// kind shows whether the server refuses everything. After an announcement, the list only shows
  /// how the server refuses.
  void ask(CatalogKind kind, std::string_view error, Now now, Orders& out);
  /// A watcher has announced that it starts the server anew. The former server may still read for a
  /// moment.
  void expect(Now now);
  /// The child is no longer of interest, or somebody else replaces it.
  void drop();

  /// Returns whether the answer belonged to the list.
  bool on_answer(const Message& answer);
  /// Returns whether the list was not answered in time, so that nobody knows whether the server was
  /// started anew.
  bool on_timeout(Now now);
  std::optional<Instant> deadline() const { return deadline_; }

  /// Whether the server may have been started anew, so that it gets no requests.
  bool is_suspected() const { return state_ != State::none; }
  bool is_certain() const { return state_ == State::certain; }
  /// Whether a watcher has said so.
  bool is_announced() const { return is_announced_; }
  /// Whether it is known in which words the server refuses what it is asked.
  bool knows_refusal() const { return !refusal_.empty(); }
  /// Whether the server has refused the list in the words of this error, which it has answered to a
  /// request of this method. Otherwise the error may be that of a request which has run.
  bool explains(std::string_view error, std::string_view method) const;

 private:
  enum class State { none, asked, expected, certain };

  void be_certain();
  bool is_refusal(const Message& answer) const;

  Generation gen_;
  MakeId make_id_;
  State state_ = State::none;
  std::string list_id_;
  std::string_view list_method_;
  /// The kinds of the lists that the server has given.
  std::set<CatalogKind> given_;
  bool follows_ = false;
  int unused_in_row_ = 0;
  bool is_announced_ = false;
  /// The server has not given the list that it was asked for.
  bool is_doubtful_ = false;
  /// How many servers before this one were taken for started anew although they had not given
  /// the list.
  int doubtful_in_row_ = 0;
  /// The raw error with which the list was refused.
  std::string refusal_;
  std::optional<Instant> deadline_;
  /// Further announcements put the deadline off until then.
  Instant latest_{};
};

}  // namespace sitter
