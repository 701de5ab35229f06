
#include <utility>
#include <variant>

#include "core/bridge/conductor.hpp"

namespace sitter {

using Step = Servers::Step;

/// Does what the child needs next on its way from started to serving.
void Conductor::advance(Child& child) {
  const Step step = servers_.advance(child, news_.has_tools());
  news_.take_replay_remarks();
  switch (step) {
    case Step::none:
      return;
    case Step::retires:
      if (child.handshake.state() == Handshake::State::refused) news_.fail_refused(child);
      news_.release_explained(child);
      servers_.finish_retiring(child);
      return;
    case Step::refused:
      refuse(child);
      return;
    case Step::unopened:
      begin_serving(child);
      release_waiting(child);
      // The lists are asked for after the client's first request, so that a server of both eras
      // takes the client's era.
      if (desk_.opening().envelope().is_known()) child.handshake.list(false, false, now_, out_);
      return;
    case Step::goes_on:
      break;
  }
  if (auto lists = child.handshake.take_lists(now_)) {
    news_.on_lists(child, *lists);
    servers_.doubt_opening(child, *lists);
  }
  news_.release_explained(child);
  if (child.role == Child::Role::coming && child.handshake.is_there()) {
    begin_serving(child);
    // Lists that did not come in time show nothing of a child that needs no opening.
    if (child.handshake.has_spoken()) servers_.note_served(child);
  }
  release_waiting(child);
}

void Conductor::begin_serving(Child& child) {
  if (servers_.begin_serving(child)) news_.on_serving(child);
  rebuilds_.on_serving(child);
}

/// The child has refused the opening.
void Conductor::refuse(Child& child) {
  const std::string& why = child.handshake.refusal();
  servers_.remember(order::RememberEra::Sign::opens_nothing);
  if (ClientRequest* const asked = desk_.asked_opening()) {
    news_.answer_opening_ourselves(*asked, why, servers_.ring_of(child).last_words(child.gen()));
  }
  news_.fail_refused(child);
  child.life.take_down(EndReason::opening_refused, why, servers_.ladder(), now_, out_);
}

void Conductor::on_over(Child dead) {
  Servers::Ended ended = servers_.on_over(std::move(dead));
  news_.take_replay_remarks();
  servers_.on_end_told(ended, news_.fail_requests_of(ended));
  const bool is_of_rebuild = rebuilds_.rebuilder().is_new_child(ended.gen());
  if (is_of_rebuild) {
    news_.finish_rebuild(rebuilds_.on_new_child_over(ended.end, ended.tail));
  }
  if (ended.was_awaited() && !ended.was_probed && !servers_.killer().is_killing()) {
    servers_.restart_later(ended.end);
  }
  if (!ended.was_awaited() || ended.child.has_started()) return;
  if (ended.is_deliberate || ended.is_replaced()) return;
  // The next start waits until the daemon is back. A session that is lost at once is a failed
  // start.
  if (ended.end.reason == EndReason::connection_lost) return;
  if (!is_of_rebuild && rebuilds_.build_first()) return;
  if (is_of_rebuild && servers_.is_unbuilt()) ended.end = servers_.note_still_missing();
  // The child has not shown that it works, so all waiting requests fail. Otherwise a child that
  // always dies on its way would be started for ever.
  if (!ended.was_probed) {
    servers_.starts().on_failed({ended.end, ended.tail});
    if (!ended.had_requests()) news_.note_failed_start();
  }
  news_.on_start_failed(ended.end, ended.tail, false);
}

/// Returns whether a child must be led on: a new child, or one that gets requests again.
bool Conductor::take_own_restart() {
  const auto taken = servers_.take_own_restart();
  if (Child* const* const explained = std::get_if<Child*>(&taken)) {
    news_.release_explained(**explained);
  } else if (const auto* const restarted = std::get_if<Servers::RestartedItself>(&taken)) {
    news_.fail_requests_of(*restarted);
  } else {
    return false;
  }
  return true;
}

void Conductor::on_build_over() {
  auto report = rebuilds_.on_build_over();
  if (!report) return;
  news_.finish_rebuild(*std::move(report));
  // Otherwise the requests that wait would start the same build again and again.
  if (servers_.is_unbuilt() && !rebuilds_.is_on()) news_.fail_unbuilt();
}

/// Passes on what waits, unless the child takes no requests or a rebuild holds them.
void Conductor::release_waiting(Child& child) {
  if (desk_.requests().waiting_count() == 0 || !child.takes_requests()) return;
  if (rebuilds_.holds_requests()) return;
  while (desk_.requests().waiting_count() > 0) {
    auto [request, order, line, since] = desk_.requests().next_waiting();
    if (request == nullptr) {
      notify(child, Outgoing::own(line.text()));
      continue;
    }
    const Message* const message = desk_.read_kept(line.line());
    if (message != nullptr && (answer_ourselves(*request, &child, message->params) ||
                               tools_.refuse_waiting_call(*request, *message))) {
      continue;
    }
    forward(*request, line.line(), Outgoing::own(line.text()), child);
  }
}

}  // namespace sitter
