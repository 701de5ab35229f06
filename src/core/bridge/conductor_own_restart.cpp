#include <fmt/format.h>

#include <algorithm>

#include "core/bridge/conductor.hpp"
#include "core/child/history.hpp"
#include "core/child/killer.hpp"
#include "core/child/unopened.hpp"
#include "core/client/opening.hpp"
#include "core/rebuild/rebuilder.hpp"
#include "core/report/notices.hpp"
#include "core/wire/catalog_kind.hpp"

namespace sitter {

using Level = order::Log::Level;
using Reach = DeathReport::Reach;

/// If the error may mean that the server was started anew and not opened, the child is asked for a
/// list, which shows it. Returns whether the error must be held until then.
bool Conductor::doubt_opening(Child& child, ClientRequest& request, std::string_view error) {
  if (!may_restart_itself()) return false;
  const bool may_be = request.state == ClientRequest::State::sent &&
                      request.method != Method::initialize && child.handshake.was_opened() &&
                      reads_as_unopened(error) && child.life.is_up();
  if (!may_be) return false;
  // Another server takes the place of the child. The error goes to the client in any case.
  if (!may_take_own_restart(child)) return names_opening(error);
  const bool was_open = child.serves() && child.handshake.state() == Handshake::State::done;
  if (was_open) child.own_restart.ask(list_for_doubt(child), error, now_, out_);
  if (!child.own_restart.is_suspected()) return false;
  const std::string_view line =
      request.has_line() ? std::string_view() : sent_lines_.find(request.order);
  if (!line.empty() && requests_.may_keep(line.size())) requests_.keep(request, OwnedLine(line));
  return true;
}

/// A server that was started anew before its lists were taken has refused them.
void Conductor::doubt_opening(Child& child, const std::vector<ListSurvey::List>& lists) {
  child.own_restart.note(lists);
  if (!may_restart_itself()) return;
  if (!child.handshake.was_opened()) return;
  for (const ListSurvey::List& list : lists) {
    if (list.refusal.empty() || !may_take_own_restart(child)) continue;
    child.own_restart.ask(list.kind, list.refusal, now_, out_);
  }
}

/// A daemon that is started anew behind its address says so in terms of HTTP.
bool Conductor::may_restart_itself() const { return config_.url.empty(); }

/// Whether the server may have been started anew, so that it can be opened again where it is.
bool Conductor::may_take_own_restart(const Child& child) const {
  const bool is_alone = std::none_of(generations_.begin(), generations_.end(),
                                     [&](const Child& other) { return &other != &child; });
  // The client's own opening can be sent to the new server.
  const bool is_opening_here =
      opening() == nullptr ||
      (opening_->was_sent_to(child.gen()) && child.handshake.state() == Handshake::State::opening);
  // A rebuild may still be far from a new server, and the server is used until then.
  using State = Rebuilder::State;
  const bool is_kept = !rebuilder_->is_on() || rebuilder_->waits_for(State::build) ||
                       rebuilder_->waits_for(State::room);
  return is_alone && may_await_own_restart(child) && !child.is_retiring() && is_opening_here &&
         is_kept;
}

/// Whether it is still of interest that the server is started anew. Beside another server it gets
/// no requests meanwhile, and is opened again if the other does not come to serve.
bool Conductor::may_await_own_restart(const Child& child) const {
  return child.life.is_up() && !rebuilder_->holds_requests() && !killer_->is_killing() &&
         ending_.is_none();
}

/// A list that the child has given, or at least can have. An open server without any list finds the
/// method unknown, in other words than a server that must be opened.
CatalogKind Conductor::list_for_doubt(const Child& child) {
  std::optional<CatalogKind> declared;
  for (const CatalogKind kind : kCatalogKinds) {
    if (child.own_restart.has_given(kind)) return kind;
    const bool is_declared = child.handshake.opened_with().declares(catalog_name(kind));
    if (is_declared && !declared) declared = kind;
  }
  return declared.value_or(CatalogKind::tools);
}

/// A watcher has announced on stdout that it starts the server anew. The first start of its server
/// is no restart.
void Conductor::expect_own_restart(Child& child, Announcement announcement) {
  if (!may_restart_itself()) return;
  const bool was_asked = child.has_begun() || child.serves();
  if (!was_asked || !may_await_own_restart(child)) return;
  const bool may_be_first = !child.own_restart.follows() && !child.is_past_opening();
  if (announcement == Announcement::start && may_be_first) return;
  out_.log(Level::info,
           fmt::format("child {} announces that its server is started anew", child.gen()));
  child.own_restart.expect(now_);
}

/// Returns whether a child must be led on: a new child, or one that gets requests again.
bool Conductor::take_own_restarts() {
  for (Child& child : generations_) {
    if (!child.own_restart.is_suspected()) continue;
    const bool may_take = may_take_own_restart(child);
    const bool is_awaited = child.own_restart.is_announced() && may_await_own_restart(child);
    if (!may_take && !is_awaited) {
      drop_doubt(child);
      release_explained(child);
      return true;
    }
    if (may_take && child.own_restart.is_certain()) {
      on_restarted_itself(child);
      return true;
    }
  }
  return false;
}

void Conductor::on_own_restart_timeout(Child& child) {
  if (child.own_restart.on_timeout(now_)) tell_doubts(child);
}

/// The child is about to end, so nobody will know whether its server was started anew.
void Conductor::drop_doubt(Child& child) {
  if (!child.own_restart.is_suspected()) return;
  child.own_restart.drop();
  tell_doubts(child);
}

/// Without an opening the child has refused nothing for the lack of one.
void Conductor::tell_doubts(const Child& child) {
  if (!child.handshake.was_opened()) return;
  for (ClientRequest* request : refusals_of(child.gen())) tell_doubt(*request);
}

/// Nobody knows whether the held error is that of a server that was not opened.
void Conductor::tell_doubt(ClientRequest& request) {
  const Message* const answer = kept_reader_.read(request.extra->answer.line());
  if (answer == nullptr || !Notices::fits_error(answer->error)) return;
  const std::string text = fmt::format(
      "[mcp-sitter] The server may have restarted itself before, so that nobody had opened it: "
      "then this request had no effect.{}",
      ending_.is_none() ? " Call again." : "");
  Edits edits(request.extra->answer.line());
  Notices::append_to_error(answer->error, text, edits);
  requests_.rewrite_held(request, edits.apply());
}

/// The server behind the process of the child was started anew. It is the next generation, which is
/// opened like any other. What the former server was asked is lost, except for requests that the
/// new server has refused.
void Conductor::on_restarted_itself(Child& child) {
  const Generation gen = child.gen();
  const ChildEnd end = end_for(EndReason::restarted_itself, &child);
  const bool has_served = child.role == Child::Role::serving;
  Child& next = begin_child("it restarted itself");
  out_.push(order::RenumberChild{gen, next.gen()});
  out_.log(Level::info, fmt::format("child {}: {}; it is child {} from now on", gen,
                                    end_clause(end), next.gen()));
  next.life.go_on_from(child.life, now_);
  next.input = child.input;
  next.own_restart.follow(child.own_restart, child.has_answered());
  const Child former = generations_.take(child);
  std::string tail = ring_.tail(gen);
  ring_.child_started(next.gen(), next.life.pid());
  history_->on_over(History::Life::over(former.life, end), tail, false, now_.wall);
  if (has_served) history_->on_served_over(gen, end, {});
  cancel_child_requests(gen);
  streams_.on_child_lost(gen, turn());
  opening_->on_another_child();
  answers_.on_child_lost();
  for (ClientRequest* request : refusals_of(gen)) {
    const std::string_view error = member(request->extra->answer.text(), "error");
    if (!former.handshake.was_opened()) {
      answer_held(*request);
    } else if (!request->is_repeatable() &&
               !former.own_restart.explains(error, method_name(request->method))) {
      if (!former.own_restart.knows_refusal()) tell_doubt(*request);
      answer_held(*request);
    } else if (request->has_line() && !request->is_retried &&
               requests_.may_wait(request->extra->line.size())) {
      answers_.on_retried(*request);
      requests_.retry(*request, now_.steady);
    } else {
      fail_undone(*request, report_of(end, tail, Reach::refused));
    }
  }
  const DeathReport report = report_of(end, tail, Reach::in_flight);
  for (ClientRequest* request : requests_.at_child(gen)) {
    on_child_lost(former, *request, report, false);
  }
}

}  // namespace sitter
