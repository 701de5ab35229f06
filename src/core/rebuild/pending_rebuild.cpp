#include "core/rebuild/pending_rebuild.hpp"

#include <algorithm>
#include <functional>

namespace sitter {
namespace {

std::optional<RequestHandle> first_of_client(const std::vector<RebuildCaller>& callers) {
  const auto found =
      std::find_if(callers.begin(), callers.end(), std::mem_fn(&RebuildCaller::is_client));
  return found == callers.end() ? std::nullopt : std::optional(found->request);
}

std::vector<RebuildCaller> take_late(std::vector<RebuildCaller>& callers, Now now) {
  return take_if(callers, [now](const auto& caller) { return is_due(caller.answer_by, now); });
}

/// How long a build is wanted that this caller no longer waits for.
Milliseconds timeout_without(const RebuildCaller& caller) {
  return std::min(caller.timeout, RebuildArguments().timeout);
}

std::vector<RebuildCaller> take_others(std::vector<RebuildCaller>& callers) {
  return take_if(callers, std::not_fn(std::mem_fn(&RebuildCaller::is_client)));
}

}  // namespace

std::optional<RequestHandle> PendingRebuild::clients_call() const {
  return first_of_client(callers);
}

std::optional<Instant> PendingRebuild::build_deadline() const {
  std::optional<Instant> first = unattended_until;
  for (const RebuildCaller& caller : callers) earlier(first, caller.deadline);
  return first;
}

void PendingRebuild::clear_deadlines() {
  quiet_until.reset();
  unattended_until.reset();
  for (RebuildCaller& caller : callers) caller.deadline.reset();
}

void PendingRebuild::join(const Next& other) {
  is_unattended |= other.is_unattended;
  if (other.is_unattended) timeout = other.wanted.how.timeout;
  callers.insert(callers.end(), other.callers.begin(), other.callers.end());
}

bool PendingRebuild::leave(RequestHandle request) {
  const auto is_its = [&](const RebuildCaller& caller) { return caller.request == request; };
  if (next && std::erase_if(next->callers, is_its) > 0 && !next->is_unattended) {
    if (next->callers.empty()) {
      next.reset();
    } else {
      next->wanted.how.mode = next->callers.front().mode;
    }
  }
  if (std::erase_if(callers, is_its) == 0) return false;
  if (state == State::cancelled && !is_unattended && !callers.empty()) mode = callers.front().mode;
  return !is_wanted();
}

std::optional<Instant> PendingRebuild::answer_due() const {
  std::optional<Instant> first;
  for (const RebuildCaller& caller : callers) earlier(first, caller.answer_by);
  if (!next) return first;
  for (const RebuildCaller& caller : next->callers) earlier(first, caller.answer_by);
  return first;
}

std::vector<RebuildCaller> PendingRebuild::leave_late(Now now) {
  std::vector<RebuildCaller> taken = take_late(callers, now);
  for (const RebuildCaller& caller : taken) {
    is_unattended = true;
    timeout = std::max(timeout, timeout_without(caller));
    if (!caller.deadline) continue;
    const Milliseconds longest = RebuildArguments().timeout;
    // A shorter limit that the caller has set is kept.
    const Instant until = caller.timeout < longest ? *caller.deadline : now.steady + longest;
    unattended_until = std::max(unattended_until.value_or(until), until);
  }
  if (!next) return taken;
  for (RebuildCaller& caller : take_late(next->callers, now)) {
    next->is_unattended = true;
    next->wanted.how.timeout = timeout_without(caller);
    taken.push_back(std::move(caller));
  }
  return taken;
}

PendingRebuild::Next& PendingRebuild::follow_with(const Reload& wanted) {
  if (!next) next.emplace();
  if (!first_of_client(next->callers)) {
    next->wanted = wanted;
  } else {
    next->wanted.how.timeout = wanted.how.timeout;
  }
  return *next;
}

std::vector<RebuildCaller> PendingRebuild::leave_to_client() {
  is_unattended = false;
  is_for_requests = false;
  std::vector<RebuildCaller> taken = take_others(callers);
  const std::vector<RebuildCaller> later = leave_next_to_client();
  taken.insert(taken.end(), later.begin(), later.end());
  return taken;
}

std::vector<RebuildCaller> PendingRebuild::leave_next_to_client() {
  if (!next) return {};
  next->is_unattended = false;
  std::vector<RebuildCaller> taken = take_others(next->callers);
  if (next->callers.empty()) next.reset();
  return taken;
}

}  // namespace sitter
