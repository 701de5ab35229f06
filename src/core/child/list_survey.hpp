#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/orders.hpp"
#include "core/wire/catalog_kind.hpp"
#include "core/wire/message.hpp"
#include "sitter/bytes.hpp"
#include "sitter/generation.hpp"
#include "sitter/line.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// If a list changes while it is taken, the bridge takes it again, so that it sees all tools of a
/// server that is still registering them. The bound is for servers that announce a change whenever
/// they are listed.
inline constexpr int kListRestartsMax = 3;

/// For the same reason, lists are not taken again sooner than this.
inline constexpr Milliseconds kSurveyInterval{1000};

/// What stands around the items of a page is a cursor, and what a server wants to say of the list.
inline constexpr std::size_t kFrameBytesMax = 16 * kKiB;

/// A longer error is no refusal of an unopened server, and is passed on at once. It would have to
/// be held.
inline constexpr std::size_t kRefusalBytesMax = 4 * kKiB;

}  // namespace limits

/// Makes the raw id of a request of the bridge.
using MakeId = std::function<std::string()>;
/// Makes the raw `_meta` of a request of the bridge. It is empty in a session that was opened with
/// `initialize`.
using MakeMeta = std::function<std::string()>;

/// Takes the lists of one child, with all pages, by requests of the bridge. The number of pages is
/// bounded, because a server may page without end, and so is the time until a list counts as late,
/// because a server may never answer.
class ListSurvey {
 public:
  struct List {
    enum class State {
      asking,
      late,  ///< it did not come in time, and is still awaited
      complete,
      failed,
    };
    /// What the child has last answered.
    enum class Answer {
      none,     ///< nothing yet
      usual,    ///< a list, or an error that any server may answer
      absent,   ///< that it has nothing of this kind
      refused,  ///< an error as of a server that has to be opened first
    };

    CatalogKind kind = CatalogKind::tools;
    State state = State::asking;
    Answer answer = Answer::none;
    /// The raw text of the array of each page.
    std::vector<std::string> pages;
    /// The last raw result, with an empty array if it has one. Empty if that has more than
    /// `limits::kFrameBytesMax` bytes.
    std::string frame;
    std::string id;
    std::optional<Instant> deadline;
    std::set<std::string> cursors;
    /// Hashes.
    std::set<std::size_t> items;
    std::size_t bytes = 0;  // of `pages`
    int restarts = 0;
    /// The pages began to repeat, and the list ends there.
    bool is_endless = false;
    /// The raw cursor that the child has given twice. Empty if it makes up a new one each time.
    std::string repeated_cursor;
    /// It was taken as a list that is not there.
    bool was_late = false;
    /// The list changed again after it had been restarted as often as it may be.
    bool is_outdated = false;
    /// The answer was that of a server of the stateless revision.
    bool is_stateless = false;
    /// The raw error, if the list was refused in words that name the opening.
    std::string refusal;
    /// The raw value, if the answer names the server.
    std::string server_info;
  };

  /// With `waits_for_child`, the time of the lists begins with `start_clock`.
  ListSurvey(Generation gen, MakeId make_id, MakeMeta make_meta, bool waits_for_child = false)
      : gen_(gen),
        make_id_(std::move(make_id)),
        make_meta_(std::move(make_meta)),
        has_clock_(!waits_for_child) {}

  /// Takes a list. If the list is already being taken, it begins anew, for a limited number of
  /// times and within the time that it had.
  void begin(CatalogKind kind, Now now, Orders& out);

  /// The child has come up.
  void start_clock(Now now);

  /// Returns whether the answer belonged to the survey.
  bool on_answer(const Message& answer, Orders& out);
  void on_timeout(Now now);
  std::optional<Instant> deadline() const;

  /// Nothing is awaited but what is late.
  bool is_done() const;
  const std::vector<List>& lists() const { return lists_; }
  /// Once it is done: what has come since the last call. A list that is late comes twice, first as
  /// a failed one.
  std::vector<List> take();
  bool is_empty() const { return lists_.empty(); }

 private:
  void ask(List& list, std::string_view cursor, Orders& out);

  Generation gen_;
  MakeId make_id_;
  MakeMeta make_meta_;
  bool has_clock_;
  std::vector<List> lists_;
};

}  // namespace sitter
