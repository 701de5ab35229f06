#include <fmt/format.h>

#include <utility>

#include "core/base/home_sign.hpp"
#include "core/base/text.hpp"
#include "core/child/servers.hpp"
#include "core/wire/reply.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Level = order::Log::Level;
using Role = Child::Role;

Servers::Step Servers::advance(Child& child, bool has_tools) {
  using State = Handshake::State;
  Handshake& handshake = child.handshake;
  Opening& opening = desk_.opening();
  if (!child.life.is_up()) return Step::none;
  if (child.is_retiring()) return Step::retires;
  if (handshake.state() == State::idle || handshake.state() == State::unopened) {
    if (desk_.asked_opening() != nullptr || opening.session().is_asked()) {
      open(child);
      return Step::none;
    }
    if (child.own_restart.is_suspected()) return Step::none;
    // The first child may well be silent for as long as the client's first request takes.
    if (opening.next_child_is_replacement()) expect_start(child);
    return advance_unopened(child, has_tools);
  }
  if (handshake.state() == State::refused) {
    const bool serves_already = opening.was_sent_to(child.gen()) &&
                                desk_.asked_opening() != nullptr && opening.envelope().is_known() &&
                                handshake.is_of_stateless_era();
    if (!serves_already) return Step::refused;
    // The child serves this client already, without a session.
    ClientRequest& request = *desk_.asked_opening();
    opening.on_refused();
    desk_.answer(request, Outgoing::own(error_line(request.id(), handshake.refusal_error())));
    return advance_unopened(child, has_tools);
  }
  if (handshake.state() == State::opened && opening.session().is_initialized()) {
    replays_.give_first(child);
    handshake.settle(opening.session(), !opening.was_sent_to(child.gen()), now_, out_);
  }
  if (child.role == Role::coming && generations_.is_one_ending()) return Step::none;
  if (generations_.is_candidate(child)) {
    if (!handshake.is_there()) return Step::none;
    take_over();
  }
  // The child may have come to serve because the child before it has ended.
  show_stderr(child);
  replays_.add_failures(handshake.take_call_failures());
  return Step::goes_on;
}

/// A child for a client that has not opened a session: it speaks the stateless revision, or only
/// probes so far.
Servers::Step Servers::advance_unopened(Child& child, bool has_tools) {
  child.handshake.leave_unopened();
  if (!desk_.opening().next_child_is_replacement()) return Step::unopened;
  replays_.give_first(child);
  child.handshake.list(true, has_tools, now_, out_);
  // Otherwise `begin_serving` asks for the streams.
  if (!child.handshake.is_calling_again()) ask_for_streams(child);
  return Step::none;
}

void Servers::open(Child& child) {
  // A client that has probed opens the same child, which has to come to serve once more.
  generations_.come_again(child);
  expect_start(child);
  if (const ClientRequest* const asked = desk_.asked_opening()) {
    desk_.opening().on_sent(child.gen());
    child.handshake.open_with_clients(asked->extra->line.text(), asked->id(), out_);
  } else {
    child.handshake.open_again(desk_.opening().session(), out_);
  }
}

void Servers::expect_start(Child& child) {
  if (config_.startup_timeout == Milliseconds::zero()) return;
  child.handshake.expect_start(now_.steady + config_.startup_timeout);
}

void Servers::catch_up() {
  for (Child& child : generations_) replays_.catch_up(child, desk_.requests(), now_, out_);
}

bool Servers::begin_serving(Child& child) {
  const bool is_new = generations_.serve(child);
  if (is_new) {
    if (!child.handshake.was_opened()) note_startup(child);
    // Only a running child shows which file is behind a wrapper.
    if (config_.watches_binary) inspect(Look::Purpose::remember);
  }
  ask_for_streams(child);
  return is_new;
}

void Servers::note_served(Child& child) {
  if (!child.prove_start() || child.is_retiring()) return;
  starts_.on_proved();
  history_.on_proved();
}

void Servers::note_startup(Child& child) {
  child.startup =
      std::chrono::duration_cast<Milliseconds>(now_.steady - child.life.started().steady);
  history_.on_startup(child.startup);
}

void Servers::on_opened(Child& child) {
  const OpeningResult& result = child.handshake.opened_with();
  note_startup(child);
  out_.log(Level::info, fmt::format("child {} is open after {}: {}, protocol {}", child.gen(),
                                    duration_text(child.startup),
                                    one_line(result.server_name() + " " + result.server_version()),
                                    one_line(result.protocol_version)));
}

void Servers::ask_for_streams(Child& child) {
  if (child.is_retiring() || generations_.is_candidate(child)) return;
  desk_.streams().ask(child.gen(), child.has_answered(), desk_.turn());
}

void Servers::on_streams_timeout() {
  const auto is_up = [this](Generation gen) {
    const Child* const child = generations_.find(gen);
    return child != nullptr && child->life.is_up();
  };
  desk_.streams().on_timeout(is_up, desk_.turn());
}

bool Servers::cancel_stream(std::string_view raw_id, Line line) {
  Streams::Stream* const stream = desk_.streams().find(raw_id);
  if (stream == nullptr) return false;
  const Child* const child = generations_.find(stream->gen);
  const bool is_heard = child != nullptr && child->life.is_up() && !child->input.is_deaf();
  desk_.streams().cancel(*stream, line, is_heard, desk_.turn());
  return true;
}

// ---- the way out

/// The candidate serves from now on. The child before it may finish its requests.
void Servers::take_over() {
  Child& before = *generations_.serving();
  ChildEnd end = end_for(EndReason::replaced, &before);
  if (const Replacement replacement = replacement_(); replacement.is_on) {
    end.why = replacement.cause;
  }
  history_.on_served_over(before.gen(), std::move(end), {});
  // Each call of a tool has its own limit, which ends it.
  const bool has_own_limits = !traits_.has_process && config_.on_busy_wait != Milliseconds::zero();
  generations_.retire(
      before, now_.steady + (has_own_limits ? limits::kCallTimeoutMax : config_.on_busy_wait));
  desk_.streams().on_child_lost(before.gen(), desk_.turn());
  desk_.answers().on_child_lost();
  finish_retiring(before);
}

/// Moves the stderr of a former candidate into the common ring.
void Servers::show_stderr(Child& child) {
  if (!child.stderr_apart) return;
  ring_.child_started(child.gen(), child.life.pid());
  ring_.append(*std::exchange(child.stderr_apart, std::nullopt));
}

void Servers::finish_retiring(Child& child) {
  const bool is_gone = child.own_restart.is_certain();
  const bool may_finish = !is_gone && !is_due(child.retire_by, now_);
  if (desk_.requests().in_flight_count(child.gen()) > 0 && may_finish) return;
  if (!may_end(child)) return;
  child.life.take_down(EndReason::replaced, {}, ladder(), now_, out_);
}

/// What is likely to be behind a failed start.
std::string Servers::start_hint(const Child& child, const ChildEnd& end) const {
  const bool was_silent =
      end.reason == EndReason::opening_timed_out || end.reason == EndReason::said_nothing;
  if (was_silent && child.has_unfinished_line) {
    return "its stdout held a line without an end, and over stdio a newline ends each message: " +
           child.late_line;
  }
  if (was_silent && child.late_line.starts_with('{')) {
    return "its answer came only when its stdin was closed: either it needs more time "
           "(--startup-timeout), or the server or a program behind it keeps the output in a buffer "
           "(flush each message: python3 -u, sed -u, stdbuf -oL)";
  }
  if (end.reason != EndReason::not_executed && end.reason != EndReason::ended_in_opening) return {};
  const auto& noise = history_.noise();
  if (noise && noise->gen == child.gen() && noise->has_headers) return framing_clause(child);
  std::vector<std::string> words = config_.arguments;
  words.insert(words.begin(),
               config_.daemon_command.empty() ? config_.command : config_.daemon_command);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    // sh -c, bash -lc
    const bool is_code = i > 0 && words[i - 1].starts_with('-') && words[i - 1].ends_with('c');
    if (!has_home_sign(word, is_code)) continue;
    return fmt::format(
        "no shell has expanded the ~ in '{}': write the path of the home directory in its place",
        brief(word, 200));
  }
  return {};
}

Servers::Ended Servers::on_over(Child dead) {
  const Generation gen = dead.gen();
  show_stderr(dead);
  const bool was_candidate = generations_.is_candidate(dead);
  ChildEnd end = dead.life.end(dead.handshake.is_past_opening());
  if (end.is_foreign && dead.life.pid() != 0) left_process_ = gen;
  end.is_foreign = traits_.has_process && (end.is_foreign || is_foreign(&dead));
  end.has_no_process = !traits_.has_process;
  end.may_be_of_other_era = dead.handshake.is_era_unproven() &&
                            (end.reason == EndReason::exited || end.reason == EndReason::crashed);
  end.hint = start_hint(dead, end);
  const bool is_deliberate =
      end.reason == EndReason::killed_by_sitter || end.reason == EndReason::shut_down;
  const bool is_replaced = end.reason == EndReason::replaced;
  // A server of an earlier revision may well exit when it is only probed.
  const bool was_probed = !desk_.opening().is_open() && !dead.has_started();
  std::string tail = ring_.last_words(gen);
  if (dead.handshake.has_spoken() && !is_deliberate && !is_replaced) {
    replays_.blame(dead, end, desk_.requests());
  }
  if (was_probed) {
    if (end.reason == EndReason::exited || end.reason == EndReason::crashed) {
      remember(order::RememberEra::Sign::fails_probe);
    }
    out_.log(Level::info, fmt::format("child {} has ended; it was only probed", gen));
  } else {
    out_.log(is_deliberate || is_replaced ? Level::info : Level::warn,
             fmt::format("child {}: {}", gen, end_clause(end)));
  }
  if (was_candidate) {
    // The newest lines on stderr are again those of the child that serves.
    ring_.child_started(generations_.shown()->gen(), generations_.shown()->life.pid());
  }
  if (!end.status.core.empty()) out_.push(order::ReadStack{gen});
  history_.on_over(History::Life::over(dead.life, end), tail, was_candidate, now_.wall);
  drop_doubt(dead);
  return {std::move(dead), std::move(end), std::move(tail),
          was_candidate,   was_probed,     is_deliberate};
}

void Servers::on_end_told(const Ended& ended, bool is_told) {
  const ChildEnd& end = ended.end;
  if (ended.was_awaited()) desk_.answers().on_child_lost();
  if (end.reason == EndReason::killed_by_sitter) killer_.add(ended.child.life.killed());
  if (end.reason == EndReason::given_up)
    killer_.add_note("The kill has failed: " + end_clause(end) + ".");
  if (ended.had_requests() && !ended.child.is_retiring()) {
    history_.on_served_over(ended.gen(), end, is_told || !is_failure(end.reason) ? "" : ended.tail);
  }
}

void Servers::on_gone(Generation gen) {
  cancel_child_requests(gen);
  desk_.streams().on_child_lost(gen, desk_.turn());
  desk_.opening().on_another_child();
}

/// The client may still show the questions of a child that is gone.
void Servers::cancel_child_requests(Generation gen) {
  for (const std::string& id : questions_.drop(gen)) {
    desk_.to_client(Outgoing::own(cancelled_line(id, "the server that asked is gone")));
  }
}

}  // namespace sitter
