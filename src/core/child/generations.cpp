#include "core/child/generations.hpp"

#include <algorithm>

namespace sitter {

using Role = Child::Role;

Child& Generations::begin(Now now, const MakeId& make_id, const MakeMeta& make_meta,
                          const std::string& sitter_version, const Secrets& secrets,
                          const EndWords& words) {
  return children_.emplace_back(++last_, now, make_id, make_meta, sitter_version, secrets, words);
}

Child* Generations::find(Generation gen) {
  for (Child& child : children_) {
    if (child.gen() == gen) return child.life.is_over() ? nullptr : &child;
  }
  return nullptr;
}

Child* Generations::serving() {
  for (Child& child : children_) {
    if (child.serves()) return &child;
  }
  return nullptr;
}

const Child* Generations::shown() const {
  for (const Child& child : children_) {
    if (child.serves()) return &child;
  }
  return children_.empty() ? nullptr : &children_.back();
}

bool Generations::is_served() const {
  return any([](const Child& child) { return child.serves(); });
}

bool Generations::takes_requests() const {
  return any([](const Child& child) { return child.takes_requests(); });
}

bool Generations::is_candidate(const Child& child) const {
  return child.role == Role::coming &&
         any([](const Child& other) { return other.role == Role::serving; });
}

bool Generations::has_any() const {
  return any([](const Child& child) { return !child.is_retiring(); });
}

bool Generations::is_one_coming() const {
  return any([](const Child& child) {
    return child.role == Role::coming && !child.life.taken_down_for();
  });
}

bool Generations::is_one_ending() const {
  return any([](const Child& child) {
    return child.role == Role::serving && !child.life.is_up() && !child.life.is_over();
  });
}

bool Generations::has_one_begun() const {
  return any([](const Child& child) { return child.has_begun(); });
}

bool Generations::is_one_past_opening() const {
  return any([](const Child& child) { return child.is_past_opening(); });
}

Child Generations::take(Child& child) {
  const auto place = std::find_if(children_.begin(), children_.end(),
                                  [&](const Child& other) { return &other == &child; });
  Child taken = std::move(*place);
  children_.erase(place);
  return taken;
}

bool Generations::serve(Child& child) {
  if (child.role != Role::coming) return false;
  child.role = Role::serving;
  return true;
}

void Generations::come_again(Child& child) {
  child.role = Role::coming;
  child.forget_proof();
}

void Generations::retire(Child& child, Instant by) {
  child.role = Role::retiring;
  child.retire_by = by;
}

void Generations::take_down_all(EndReason reason, const std::string& why,
                                ChildLifecycle::Ladder ladder, Now now, Orders& out) {
  for (Child& child : children_) child.life.take_down(reason, why, ladder, now, out);
}

void Generations::release(Orders& out) {
  for (const Child& child : children_) out.push(order::ReleaseChild{child.gen()});
  children_.clear();
}

bool Generations::is_one_over() const {
  return any([](const Child& child) { return child.life.is_over(); });
}

}  // namespace sitter
