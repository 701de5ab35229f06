#include <fmt/format.h>

#include <cstddef>

#include "core/base/raw_id.hpp"
#include "core/child/own_restart.hpp"
#include "core/client/client_requests.hpp"
#include "core/client/sent_lines.hpp"
#include "support/simulation_promises.hpp"

/// Servers that were started anew behind the process of their child.
namespace sitter::sim {

void Promises::on_restart_announced(Generation gen) {
  Life& its_life = life(gen);
  its_life.announced_at = now_;
  its_life.was_asked_since = false;
}

/// The bridge opens the server again, which is another child from now on. The world has made sure
/// that the server was started anew.
void Promises::on_renumber_child(Generation from, Generation gen) {
  if (has_exited_ || stopped_at_ || closed_at_) {
    throw Broken("a server that has restarted itself is opened again at the end");
  }
  for (auto& [other, its_life] : lives_) {
    if (its_life.starts_again_by) forget_postponed(its_life);
  }
  if (gen != last_gen_ + 1) throw Broken("generations are not counted one by one");
  Life& former = life(from);
  if (!former.is_up || former.is_input_closed || former.retired_at) {
    throw Broken(fmt::format("child {}, which does not serve, is opened again", from));
  }
  if (!is_asked_ && !former.announced_at) {
    throw Broken("a server that needs no opening is opened again without an announcement");
  }
  if (is_another_up(from)) throw Broken("a server is opened again beside another");
  // The bridge may have ignored the announcement, and learned of the restart from a refused list.
  const bool was_only_announced = former.announced_at &&
                                  now_ == *former.announced_at + limits::kOwnRestartWait &&
                                  former.refused_own_list_in != step_;
  if (was_only_announced && former.was_asked_since) {
    throw Broken("a server that is to be started anew is asked something for the client");
  }
  former.is_over = true;
  former.is_up = false;
  former.restarted_itself_at = now_;
  Life& next = lives_[gen];
  next.is_up = true;
  next.is_remote_runner = former.is_remote_runner;
  next.can_be_killed = former.can_be_killed;
  next.full_since = former.full_since;
  next.started = now_;
  next.own_restarts = former.own_restarts + 1;
  if (next.own_restarts >= limits::kUnusedRestartsMax) replays_.on_many_restarts(gen);
  next.is_after_loss = has_lost_stateless_ = has_lost_stateless_ || is_stateless_;
  last_gen_ = gen;
  goes_on();
  if (replays_.has_called(from)) notices_.on_news();
  replays_.on_over(from, false, now_);
  questions_.on_over(from, now_ + kLate);
  streams_.on_lost(from);
  lose_requests(from);
}

/// What the former server was asked is lost, except for what the new server has refused.
void Promises::lose_requests(Generation from) {
  for (const int mark : std::vector(open_)) {
    Request& request = requests_.at(mark);
    if (request.sent_to.empty() || request.sent_to.back() != from) continue;
    if (request.is_cancelled) {
      forget(request);
      continue;
    }
    const ChildSaid& answer = said_.child[static_cast<std::size_t>(request.answer_read)];
    if (request.answer_read == 0 || !answer.is_unopened) continue;
    // The bridge may not know that a call was not carried out. A refusal in a batch may have been
    // let go already, when an earlier doubt ended.
    request.is_refused =
        request.batch == 0 && (request.said->is_repeatable() || life(from).has_refused_own_list);
    if (!request.is_refused) continue;
    request.answer_read = 0;
    request.waits_since = now_;
  }
}

/// When the request was lost with the former server. Empty if it was not: a read is sent again, and
/// so is a call that the new server has refused.
std::optional<Instant> Promises::lost_with_server(const Request& request) const {
  if (request.sent_to.empty() || request.answer_read != 0 || request.is_refused) return {};
  if (request.said->is_repeatable()) return {};
  return lives_.at(request.sent_to.back()).restarted_itself_at;
}

/// The client may not get a refusal that only means that the server must be opened, if the bridge
/// opens that server.
void Promises::check_refusal_passed(const ChildSaid& said, const Request& request) const {
  if (!said.is_unopened || !request.is_refused || may_be_closed()) return;
  throw Broken(
      fmt::format("request {} is answered with the refusal of a server that is opened "
                  "again",
                  request.said->id));
}

/// The bridge may not give up a refused request while the server that has refused it is opened
/// again.
void Promises::check_refused_given_up(const Request& request) const {
  if (!request.is_refused || stopped_at_ || closed_at_ || scene_.has_large_requests) return;
  // A request is sent at most twice.
  if (open_.size() >= limits::kWaitingCountMax || request.sent_to.size() > 1) return;
  const bool may_be_unkept =
      request.was_sent_in_crowd || sent_count_ - request.sent_number >= limits::kSentLinesMax;
  if (may_be_unkept && !request.said->is_repeatable()) return;
  // A cursor of the former server means nothing to the next.
  if (is_list(request.said->method) && !request.said->is_first_page) return;
  const Life& next = lives_.at(request.sent_to.back() + 1);
  if (next.is_up && !next.is_input_closed && !next.was_meant_by_kill) {
    throw Broken(
        fmt::format("request {} is given up although the server that has refused it is "
                    "opened again",
                    request.said->id));
  }
}

}  // namespace sitter::sim
