#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/client/opening.hpp"
#include "core/tell/catalogs.hpp"
#include "core/wire/method.hpp"
#include "sitter/limits.hpp"

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
ChildEnd Conductor::absence_end(const Absence& absence) const {
  ChildEnd end{EndReason::connection_lost, {}, {}, absence.why()};
  end.is_unseen = true;
  end.had_no_child = true;
  end.is_foreign = true;
  return end;
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
    if (child.handshake.state() == Handshake::State::opening) expect_start(child);
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
    const bool is_call = message->method == Method::tools_call;
    if (!is_call && child->life.is_up() && child->absence.may_repeat(message->id)) {
      out_.push(order::SendToChild{fact.gen, Outgoing::own(std::string(fact.line.text()))});
    }
    return;
  }
  ChildEnd end = end_for(EndReason::connection_lost, child);
  end.why = fact.why;
  on_child_lost(*child, *request, report_of(end, {}, Reach::in_flight), false);
}

/// When the request that has waited longest for an absent daemon has waited long enough.
std::optional<Instant> Conductor::absence_patience_end() const {
  if (absence() == nullptr || ending_.is_stopping()) return std::nullopt;
  const auto since = requests_.waits_since(true);
  return since ? std::optional(*since + config_.wait_for_server) : std::nullopt;
}

void Conductor::answer_undelivered() {
  const DeathReport report = report_of(absence_end(*absence()), {}, Reach::not_delivered);
  for (ClientRequest* request :
       requests_.waiting_since(now_.steady - config_.wait_for_server, true)) {
    fail_undone(*request, report);
  }
}

}  // namespace sitter
