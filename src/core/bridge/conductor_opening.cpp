#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/client/client_facts.hpp"
#include "core/client/opening.hpp"
#include "core/client/relist_wait.hpp"
#include "core/wire/method.hpp"
#include "core/wire/protocol.hpp"

namespace sitter {

using Reach = DeathReport::Reach;
using State = ClientRequest::State;

ClientRequest* Conductor::opening() const {
  return opening_->first() ? requests_.find(*opening_->first()) : nullptr;
}

void Conductor::on_initialize(ClientRequest& request, const Message& message, Line line) {
  Child* const child = generations_.serving();
  const bool was_opened =
      child != nullptr && child->handshake.state() != Handshake::State::unopened;
  // A server that may have been started anew would lose this opening, too.
  const bool is_suspected = child != nullptr && child->own_restart.is_suspected();
  if (was_opened && !is_suspected && requests_.waiting_count() == 0) {
    expect_answer(request, line);
    if (child->input.is_deaf()) {
      fail(request, report_of({}, {}, Reach::not_delivered));
    } else {
      forward(request, line, Outgoing::passed(line), *child);
    }
    return;
  }
  if (opening() != nullptr || generations_.has_one_begun()) {
    expect_answer(request, line);
    wait(request, line);
    return;
  }
  // A client that opens a session does not wait for its probes any more.
  for (ClientRequest* sent : requests_.all(State::sent)) {
    if (sent->method == Method::server_discover) requests_.waive(*sent);
  }
  meet(member(message.params_raw, "clientInfo"));
  ids_.match_id_style(message.id);
  request.more().line = OwnedLine(line.text());
  requests_.mark_ours(request);
  opening_->begin(message, request.handle(), now_.steady + config_.answer_within);
}

/// A second opening is answered after the same time as the first.
void Conductor::expect_answer(ClientRequest& second_opening, Line line) {
  second_opening.more().line = OwnedLine(line.text());
  if (config_.answer_within == Milliseconds::zero()) return;
  second_opening.more().answer_by = now_.steady + config_.answer_within;
  opening_->expect_second(*second_opening.extra->answer_by);
}

void Conductor::answer_second_openings() {
  opening_->on_second_due();
  for (const State state : {State::waiting, State::sent}) {
    for (ClientRequest* request : requests_.all(state)) {
      if (request->method != Method::initialize || !request->extra->answer_by) continue;
      if (!is_due(request->extra->answer_by, now_)) {
        opening_->expect_second(*request->extra->answer_by);
        continue;
      }
      Child* const child = state == State::sent ? generations_.find(request->gen) : nullptr;
      if (child != nullptr) child->late_opening = request->id();
      const std::string why = fmt::format("it has not answered initialize after {}",
                                          duration_text(config_.answer_within));
      answer_lost_opening(*request, why, {});
    }
  }
}

/// The client has told its name.
void Conductor::meet(std::string_view client_info) {
  using CallTool = BridgeConfig::CallTool;
  const ClientFacts facts = facts_of_client(string_value(member(client_info, "name")));
  relist_->meet(facts);
  if (config_.call_tool == CallTool::automatic && !facts.lists_again) names_.offer(Builtin::call);
}

/// The client has opened a second time, and is being answered now.
void Conductor::begin_session_again(const Message& opening) {
  meet(member(opening.params_raw, "clientInfo"));
  opening_->begin_again(opening);
}

/// A child has answered `initialize`: the client's own, or a replay that the client never sees.
void Conductor::on_opening_answer(Child& child, const Message& message, Line line) {
  if (child.handshake.state() != Handshake::State::opened) return;
  on_opened(child);
  const OpeningResult& result = child.handshake.opened_with();
  if (!opening_->was_sent_to(child.gen()) || opening() == nullptr) {
    if (!is_legacy_version(result.protocol_version) &&
        result.protocol_version != opening_->session().negotiated_version) {
      child.life.take_down(
          EndReason::opening_refused,
          fmt::format("it answered initialize with protocol version {}, and the "
                      "session has {}",
                      brief(result.protocol_version, 40), opening_->session().negotiated_version),
          ladder(), now_, out_);
    }
    return;
  }
  ClientRequest& request = *opening();
  opening_->on_answered(result);
  Edits edits(line);
  if (const auto id = request.id(); id != message.id) {
    edits.replace(message.id, std::string(id));
  }
  amend_opening(message.result, names_.instructions(), edits);
  answer(request, edits.outgoing());
}

void Conductor::on_second_opening(const ClientRequest& request, std::string_view result) {
  // The client has sent a newer `initialize`, and only the newer one changes the session.
  if (opening() != nullptr) return;
  const Message* const opening = kept_reader_.read(request.extra->line.line());
  if (opening == nullptr) return;
  begin_session_again(*opening);
  opening_->on_answered(OpeningResult::of(result));
}

}  // namespace sitter
