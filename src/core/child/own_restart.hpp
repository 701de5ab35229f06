#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/orders.hpp"
#include "core/child/list_survey.hpp"
#include "core/wire/method.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Whether this raw error may be the answer of a server that was not opened. The protocol has no
/// code for it, and servers differ: some name the initialization in the message, others find the
/// request or its params invalid. The errors of a server that was opened may read the same.
bool reads_as_unopened(std::string_view error);

/// Whether this line on stdout is that of a watcher (`node --watch`, nodemon) which starts the
/// server anew.
bool announces_restart(std::string_view line);

/// Finds out whether the server behind a child was started anew on the same pipes, as watchers do.
/// The new server was not opened. Some servers refuse every request then; others answer, so that
/// only the watcher's own words show the restart.
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

  /// A request was refused as by a server that was not opened. A list of this kind shows whether
  /// the server refuses everything. The server had answered it before. After an announcement, the
  /// list only shows how the server refuses.
  void ask(CatalogKind kind, Now now, Orders& out);
  /// A watcher has announced that it starts the server anew. The former server may still read for a
  /// moment.
  void expect(Now now);
  /// The child is no longer of interest, or somebody else replaces it.
  void drop();

  /// Returns whether the answer belonged to the list.
  bool on_answer(const Message& answer);
  void on_timeout(Now now);
  std::optional<Instant> deadline() const { return deadline_; }

  /// Whether the server may have been started anew, so that it gets no requests.
  bool is_suspected() const { return state_ != State::none; }
  bool is_certain() const { return state_ == State::certain; }
  /// Whether the server has refused the list in the words of this error, which it has answered to a
  /// request of this method. Otherwise the error may be that of a request which has run.
  bool explains(std::string_view error, std::string_view method) const;

 private:
  enum class State { none, asked, expected, certain };

  void be_certain();

  Generation gen_;
  MakeId make_id_;
  State state_ = State::none;
  std::string list_id_;
  std::string_view list_method_;
  /// The raw error with which the list was refused.
  std::string refusal_;
  std::optional<Instant> deadline_;
  /// Further announcements put the deadline off until then.
  Instant latest_{};
};

}  // namespace sitter
