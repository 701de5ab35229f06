#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/orders.hpp"
#include "core/wire/catalog_kind.hpp"
#include "core/wire/message.hpp"
#include "sitter/generation.hpp"
#include "sitter/line.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Makes the raw id for a request of the bridge's own.
using MakeId = std::function<std::string()>;
/// Makes its raw `_meta`, which is empty in a session that was opened with `initialize`.
using MakeMeta = std::function<std::string()>;

/// Takes the lists of one child, all pages, with requests of the bridge's own. Pages and time are
/// bounded, since a server may page in a circle or never answer.
class ListSurvey {
 public:
  struct List {
    enum class State { asking, complete, failed };

    CatalogKind kind = CatalogKind::tools;
    State state = State::asking;
    /// The raw text of the array of each page.
    std::vector<std::string> pages;
    std::string id;
    std::optional<Instant> deadline;
    std::set<std::string> cursors;
    std::size_t bytes = 0;  // of the pages
    int restarts = 0;
    /// It changed once more than it may begin anew.
    bool is_outdated = false;
    bool is_answered = false;
    /// It was answered as a server of the stateless revision does.
    bool is_stateless = false;
    /// It was answered as by a server that has no such things.
    bool has_none = false;
    /// It was answered as a server may do that has to be opened first.
    bool is_refused = false;
    /// Raw, where the answer names the server.
    std::string server_info;
  };

  /// `waits_for_child`: the time of the lists begins with `start_clock`.
  ListSurvey(Generation gen, MakeId make_id, MakeMeta make_meta, bool waits_for_child = false)
      : gen_(gen),
        make_id_(std::move(make_id)),
        make_meta_(std::move(make_meta)),
        has_clock_(!waits_for_child) {}

  /// A list that is already being taken begins anew, within the time that it had, and not for ever.
  void begin(CatalogKind kind, Now now, Orders& out);

  /// The child is there.
  void start_clock(Now now);

  /// Whether the answer belonged to the survey.
  bool on_answer(const Message& answer, Orders& out);
  void on_timeout(Now now);
  std::optional<Instant> deadline() const;

  bool is_done() const;
  const std::vector<List>& lists() const { return lists_; }

 private:
  void ask(List& list, std::string_view cursor, Orders& out);

  Generation gen_;
  MakeId make_id_;
  MakeMeta make_meta_;
  bool has_clock_;
  std::vector<List> lists_;
};

}  // namespace sitter
