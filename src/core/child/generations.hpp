#pragma once

#include <list>
#include <string>
#include <utility>

#include "core/base/orders.hpp"
#include "core/child/child.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The children that are not over, the oldest first: at most one child that serves, and one child
/// that is coming or retiring. Finds children by generation and by role, and alone changes the role.
class Generations {
 public:
  /// Begins the next generation. The reference stays valid until the child is over.
  Child& begin(Now now, const MakeId& make_id, const MakeMeta& make_meta,
               const std::string& sitter_version);
  /// The number of the newest; kNoGeneration before the first.
  Generation last() const { return last_; }

  auto begin() { return children_.begin(); }
  auto end() { return children_.end(); }
  auto begin() const { return children_.begin(); }
  auto end() const { return children_.end(); }
  bool is_empty() const { return children_.empty(); }

  /// Null for a child that is over, or that never was.
  Child* find(Generation gen);
  /// Null if none serves.
  Child* serving();
  /// The one to speak of: it serves, or is on its way to or from that. Null if there is none.
  const Child* shown() const;
  bool is_served() const;
  /// Whether another child serves, in whose place this one is to come.
  bool is_candidate(const Child& child) const;
  /// Whether there is one that serves or is on its way to or from that.
  bool has_any() const;
  /// Whether a child is on its way to serving and was not taken down.
  bool is_one_coming() const;
  /// One that has served goes without a successor, but its last words may still come, and its end
  /// is told as that of the one before.
  bool is_one_ending() const;
  /// See `Child::has_begun` and `Child::is_past_opening`.
  bool has_one_begun() const;
  bool is_one_past_opening() const;

  /// A child has come to serve. False if it serves already.
  bool serve(Child& child);
  /// The client, which has merely probed so far, opens this child, so that it has to come to serve
  /// once more.
  void come_again(Child& child);
  /// The one that serves makes way for a candidate, and may finish what it was asked until then.
  void retire(Child& child, Instant by);

  /// `advance` brings each child on its way; `on_over` gets each that is over then.
  template <class Advance, class OnOver>
  void settle(Advance advance, OnOver on_over);
  void take_down_all(EndReason reason, const std::string& why, ChildLifecycle::Ladder ladder,
                     Now now, Orders& out);
  /// Nothing of any of them is waited for any longer.
  void release(Orders& out);

 private:
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
