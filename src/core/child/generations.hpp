#pragma once

#include <algorithm>
#include <list>
#include <string>
#include <utility>

#include "core/base/orders.hpp"
#include "core/child/child.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The children that are not over, the oldest first: at most one child that serves, and one that is
/// coming or retiring. Of a command-line tool, as many children may retire as have calls. Finds
/// children by generation and by role. Only this class changes the role of a child.
class Generations {
 public:
  /// Begins the next generation. The reference stays valid until the child is over.
  Child& begin(Now now, const MakeId& make_id, const MakeMeta& make_meta,
               const std::string& sitter_version, const Secrets& secrets,
               const EndWords& words = kSignalWords);
  /// The number of the newest child, which is also the number of children so far, failed starts
  /// included; kNoGeneration before the first child.
  Generation last() const { return last_; }

  auto begin() { return children_.begin(); }
  auto end() { return children_.end(); }
  auto begin() const { return children_.begin(); }
  auto end() const { return children_.end(); }
  bool is_empty() const { return children_.empty(); }

  /// Null if the child is over or never existed.
  Child* find(Generation gen);
  /// Null if no child serves.
  Child* serving();
  /// The child that texts speak of: the child that serves, otherwise the newest child. Null if
  /// there is no child.
  const Child* shown() const;
  bool is_served() const;
  /// Whether requests can be sent to a child.
  bool takes_requests() const;
  /// Whether this child is to take the place of another child, which still serves.
  bool is_candidate(const Child& child) const;
  /// Whether there is a child that is not retiring.
  bool has_any() const;
  /// Whether a child is on its way to serving and was not taken down.
  bool is_one_coming() const;
  /// Whether a child that has served is being taken down and has no successor. Its last output may
  /// still come, and the next notice reports its end.
  bool is_one_ending() const;
  /// See `Child::has_begun` and `Child::is_past_opening`.
  bool has_one_begun() const;
  bool is_one_past_opening() const;

  /// Takes out a child whose process is another child from now on.
  Child take(Child& child);

  /// The child serves from now on. Returns false if it serves already.
  bool serve(Child& child);
  /// The client has only probed this child so far and opens it now, so the child is coming again.
  void come_again(Child& child);
  /// The child that serves makes way for a candidate. Until `by` it may finish its requests.
  void retire(Child& child, Instant by);

  /// `advance` gets each child; after it, `on_over` gets each child that is over.
  template <class Advance, class OnOver>
  void settle(Advance advance, OnOver on_over);
  /// Whether a child is over and `settle` has not given it away yet.
  bool is_one_over() const;
  void take_down_all(EndReason reason, const std::string& why, ChildLifecycle::Ladder ladder,
                     Now now, Orders& out);
  /// Stops waiting for all children.
  void release(Orders& out);

 private:
  template <class Condition>
  bool any(Condition holds) const {
    return std::any_of(children_.begin(), children_.end(), holds);
  }

  std::list<Child> children_;
  Generation last_ = kNoGeneration;
};

template <class Advance, class OnOver>
void Generations::settle(Advance advance, OnOver on_over) {
  for (auto it = children_.begin(); it != children_.end();) {
    advance(*it);
    if (!it->life.is_over()) {
      ++it;
      continue;
    }
    Child dead = std::move(*it);
    it = children_.erase(it);
    on_over(std::move(dead));
  }
}

}  // namespace sitter
