#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/client/opening.hpp"
#include "core/http/http_link_limits.hpp"
#include "core/report/catalogs.hpp"
#include "core/wire/method.hpp"

namespace sitter {

using Level = order::Log::Level;
using Reach = DeathReport::Reach;
using State = ClientRequest::State;

/// The absence of the child that is to serve next; null if it can be reached.
const Absence* Conductor::absence() const {
  const Child* const child = generations_.shown();
  return child != nullptr && child->absence.is_on() ? &child->absence : nullptr;
}

/// How the absence is told as the end of a child that nobody has reached.
ChildEnd Conductor::absence_end() const {
  ChildEnd end{EndReason::connection_lost,
               {},
               {},
               absence() != nullptr ? absence()->why() : "it has not answered its opening"};
  end.is_unseen = true;
  end.had_no_child = true;
  end.is_foreign = true;
  return end;
}

/// Whether the process behind this child is not ours. Without a child, a daemon may run all the
/// same.
bool Conductor::is_foreign(const Child* child) const {
  return !config_.url.empty() && (child == nullptr || child->life.pid() == 0);
}

/// Whether the child that serves can only be ended where it was started.
bool Conductor::serves_foreign() {
  const Child* const serving = generations_.serving();
  return serving != nullptr && is_foreign(serving);
}

/// Begins a child for a process that has none any more, so that the process ends like any other.
void Conductor::take_back_process(std::string cause) {
  if (left_process_ != kNoGeneration && !generations_.has_any()) start(std::move(cause));
}

void Conductor::on_absent(Generation gen, const std::string& why, Milliseconds again_after) {
  Child* const child = generations_.find(gen);
  if (child == nullptr || child->life.is_over()) return;
  const bool is_news = !child->absence.is_on();
  child->absence.on_refused(why, again_after, now_);
  if (is_news) out_.log(Level::warn, fmt::format("child {} can't be reached: {}", gen, why));
  if (!answers_lists_meanwhile()) return;
  for (ClientRequest* request : requests_.all(State::waiting)) {
    if (is_list(request->method) && request->is_first_page) answer_last_list(*request);
  }
}

void Conductor::try_again(Child& child) {
  child.absence.on_try();
  for (const OwnedLine& line : child.absence.take_refused()) {
    // The time of a process that was started here runs on.
    const bool is_opening = child.handshake.state() == Handshake::State::opening;
    if (is_opening && is_foreign(&child)) expect_start(child);
    out_.push(order::SendToChild{child.gen(), Outgoing::own(line.text())});
  }
}

/// While the daemon is away, the client may use the lists that it knows.
bool Conductor::answers_lists_meanwhile() const {
  return absence() != nullptr && catalogs_->tools().is_known() && !generations_.takes_requests();
}

void Conductor::on(const fact::RequestRefused& fact) {
  Child* const child = generations_.find(fact.gen);
  const Message* const message = child == nullptr ? nullptr : kept_reader_.read(fact.line);
  if (message == nullptr) return;
  ClientRequest* const request =
      message->id.empty() ? nullptr : requests_.find_sent(message->id, fact.gen);
  if (request == nullptr) {
    child->absence.keep(fact.line);
  } else if (request->state == State::cancelled) {
    requests_.take(*request);
  } else if (request->method == Method::ping) {
    answer_result(*request, "{}");
  } else if (const auto reason = child->life.taken_down_for();
             reason == EndReason::killed_by_sitter || reason == EndReason::shut_down) {
    ChildEnd end = end_for(*reason, child);
    end.why = child->life.why();
    fail_undone(*request, report_of(end, {}, Reach::not_delivered));
  } else if (fact.is_unknown_session && request->is_retried) {
    answer_failure(*request, ErrorCode::internal_error,
                   fmt::format("[mcp-sitter] {}, in a new session as well. The request was not "
                               "carried out.",
                               fact.why));
  } else if (!requests_.may_wait(fact.line.text().size())) {
    ChildEnd end = end_for(EndReason::connection_lost, child);
    end.why = fact.why;
    fail_undone(*request, report_of(end, {}, Reach::not_delivered));
  } else {
    if (!request->has_line()) requests_.keep(*request, OwnedLine(fact.line.text()));
    if (fact.is_unknown_session) {
      requests_.retry(*request, now_.steady);
    } else {
      requests_.wait_again(*request, now_.steady);
    }
  }
  if (fact.again_after) {
    on_absent(fact.gen, fact.why, *fact.again_after);
  } else {
    child->absence.on_losing();
  }
}

void Conductor::on(const fact::RequestLost& fact) {
  Child* const child = generations_.find(fact.gen);
  const Message* const message = child == nullptr ? nullptr : kept_reader_.read(fact.line);
  if (message == nullptr || message->id.empty()) return;
  ClientRequest* const request = requests_.find_sent(message->id, fact.gen);
  if (request == nullptr) {
    // The calls that are made again by themselves may have an effect, and the client's requests
    // without an entry have their answer.
    const bool is_safe = message->method != Method::tools_call && ids_.has_given(message->id);
    if (!is_safe || !child->life.is_up()) return;
    if (child->absence.may_repeat(message->id)) {
      out_.push(order::SendToChild{fact.gen, Outgoing::own(std::string(fact.line.text()))});
    } else {
      child->absence.keep(fact.line);
      on_absent(fact.gen, fact.why, limits::kHttpConnectWaitMax);
    }
    return;
  }
  ChildEnd end = end_for(EndReason::connection_lost, child);
  end.why = fact.why;
  on_child_lost(*child, *request, report_of(end, ring_.tail(fact.gen), Reach::in_flight), false);
}

/// How long a request waits for a daemon that cannot be reached. Empty if none is awaited, or if
/// the daemon was started here and still has the time of its start.
std::optional<Milliseconds> Conductor::absence_patience() const {
  const Child* const child = generations_.shown();
  if (child == nullptr || ending_.is_stopping()) return std::nullopt;
  if (!is_foreign(child) && child->handshake.startup_deadline()) return std::nullopt;
  if (child->absence.is_on()) return config_.wait_for_server;
  const bool is_unopened = is_foreign(child) && !generations_.takes_requests();
  if (!is_unopened) return std::nullopt;
  return std::max(config_.wait_for_server, limits::kHttpOpeningWaitMin);
}

/// When the request that has waited longest for an absent daemon has waited long enough.
std::optional<Instant> Conductor::absence_patience_end() const {
  const auto patience = absence_patience();
  const auto since = patience ? requests_.waits_since(true) : std::nullopt;
  return since ? std::optional(*since + *patience) : std::nullopt;
}

void Conductor::answer_undelivered() {
  const auto patience = absence_patience();
  if (!patience) return;
  const DeathReport report = report_of(absence_end(), {}, Reach::not_delivered);
  for (ClientRequest* request : requests_.waiting_since(now_.steady - *patience, true)) {
    fail_undone(*request, report);
  }
}

}  // namespace sitter
