#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/child/servers.hpp"
#include "core/child/unopened.hpp"
#include "core/wire/catalog_kind.hpp"
#include "core/wire/reply.hpp"

namespace sitter {

using Level = order::Log::Level;

namespace {

/// A list that the child has given, or at least can have. An open server without any list finds the
/// method unknown, in other words than a server that must be opened.
CatalogKind list_for_doubt(const Child& child) {
  std::optional<CatalogKind> declared;
  for (const CatalogKind kind : kCatalogKinds) {
    if (child.own_restart.has_given(kind)) return kind;
    const bool is_declared = child.handshake.opened_with().declares(catalog_name(kind));
    if (is_declared && !declared) declared = kind;
  }
  return declared.value_or(CatalogKind::tools);
}

}  // namespace

bool Servers::doubt_opening(Child& child, ClientRequest& request, std::string_view error) {
  if (traits_.has_address) return false;
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
      request.has_line() ? std::string_view() : desk_.sent_lines().find(request.order);
  if (!line.empty() && desk_.requests().may_keep(line.size()))
    desk_.requests().keep(request, OwnedLine(line));
  return true;
}

void Servers::doubt_opening(Child& child, const std::vector<ListSurvey::List>& lists) {
  child.own_restart.note(lists);
  if (traits_.has_address) return;
  if (!child.handshake.was_opened()) return;
  for (const ListSurvey::List& list : lists) {
    if (list.refusal.empty() || !may_take_own_restart(child)) continue;
    child.own_restart.ask(list.kind, list.refusal, now_, out_);
  }
}

/// Whether the server may have been started anew, so that it can be opened again where it is.
bool Servers::may_take_own_restart(const Child& child) const {
  const bool is_alone = std::none_of(generations_.begin(), generations_.end(),
                                     [&](const Child& other) { return &other != &child; });
  // The client's own opening can be sent to the new server.
  const bool is_opening_here =
      desk_.asked_opening() == nullptr || (desk_.opening().was_sent_to(child.gen()) &&
                                           child.handshake.state() == Handshake::State::opening);
  const Replacement replacement = replacement_();
  const bool is_kept = !replacement.is_on || replacement.is_far;
  return is_alone && may_await_own_restart(child) && !child.is_retiring() && is_opening_here &&
         is_kept;
}

/// Whether it is still of interest that the server is started anew. Beside another server it gets
/// no requests meanwhile, and is opened again if the other does not come to serve.
bool Servers::may_await_own_restart(const Child& child) const {
  return child.life.is_up() && !replacement_().holds_requests && !killer_.is_killing() &&
         ending_.is_none();
}

/// A watcher has announced that it starts the server anew. The first start of its server
/// is no restart.
void Servers::expect_own_restart(Child& child, Announcement announcement) {
  if (announcement == Announcement::none || traits_.has_address) return;
  const bool was_asked = child.has_begun() || child.serves();
  if (!was_asked || !may_await_own_restart(child)) return;
  const bool may_be_first = !child.own_restart.follows() && !child.is_past_opening();
  if (announcement == Announcement::start && may_be_first) return;
  out_.log(Level::info,
           fmt::format("child {} announces that its server is started anew", child.gen()));
  // The former server takes this line, and not the opening.
  if (announcement == Announcement::restart_within) {
    out_.push(order::SendToChild{child.gen(), Outgoing::own("")});
  }
  child.own_restart.expect(now_);
}

std::variant<std::monostate, Child*, Servers::RestartedItself> Servers::take_own_restart() {
  for (Child& child : generations_) {
    if (!child.own_restart.is_suspected()) continue;
    const bool may_take = may_take_own_restart(child);
    const bool is_awaited = child.own_restart.is_announced() && may_await_own_restart(child);
    if (!may_take && !is_awaited) {
      drop_doubt(child);
      return &child;
    }
    if (may_take && child.own_restart.is_certain()) return on_restarted_itself(child);
  }
  return {};
}

/// The server behind the process of the child was started anew. It is the next generation, which is
/// opened like any other.
Servers::RestartedItself Servers::on_restarted_itself(Child& child) {
  const Generation gen = child.gen();
  ChildEnd end = end_for(EndReason::restarted_itself, &child);
  const bool has_served = child.role == Child::Role::serving;
  Child& next = begin_child("it restarted itself");
  out_.push(order::RenumberChild{gen, next.gen()});
  out_.log(Level::info, fmt::format("child {}: {}; it is child {} from now on", gen,
                                    end_clause(end), next.gen()));
  next.life.go_on_from(child.life, now_);
  next.input = child.input;
  next.own_restart.follow(child.own_restart, child.has_answered());
  Child former = generations_.take(child);
  std::string tail = ring_.last_words(gen);
  ring_.child_started(next.gen(), next.life.pid());
  history_.on_over(History::Life::over(former.life, end), tail, false, now_.wall);
  if (has_served) history_.on_served_over(gen, end, {});
  on_gone(gen);
  desk_.answers().on_child_lost();
  return {std::move(former), std::move(end), std::move(tail)};
}

void Servers::on_own_restart_timeout(Child& child) {
  if (child.own_restart.on_timeout(now_)) tell_doubts(child);
}

/// The child is about to end, so nobody will know whether its server was started anew.
void Servers::drop_doubt(Child& child) {
  if (!child.own_restart.is_suspected()) return;
  child.own_restart.drop();
  tell_doubts(child);
}

/// Without an opening the child has refused nothing for the lack of one.
void Servers::tell_doubts(const Child& child) {
  if (!child.handshake.was_opened()) return;
  for (ClientRequest* request : held_refusals(child.gen())) tell_doubt(*request);
}

void Servers::tell_doubt(ClientRequest& request) {
  const Message* const answer = desk_.read_kept(request.extra->answer.line());
  if (answer == nullptr || !has_message(answer->error)) return;
  const std::string text = fmt::format(
      "[mcp-sitter] The server may have restarted itself before, and then nobody had "
      "opened it: in that case, this request had no effect.{}",
      ending_.is_none() ? " Call again." : "");
  Edits edits(request.extra->answer.line());
  append_to_error(answer->error, text, edits);
  desk_.requests().rewrite_held(request, edits.apply());
}

std::vector<ClientRequest*> Servers::held_refusals(Generation gen) {
  auto held = desk_.requests().all(ClientRequest::State::held, gen);
  std::erase_if(held, [](const ClientRequest* request) { return !request->extra->is_refusal; });
  return held;
}

}  // namespace sitter
