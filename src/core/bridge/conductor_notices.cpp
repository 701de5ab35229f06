#include <algorithm>
#include <utility>

#include "core/bridge/conductor.hpp"
#include "core/build/watch.hpp"
#include "core/child/history.hpp"
#include "core/child/starts.hpp"
#include "core/client/opening.hpp"
#include "core/client/relist_wait.hpp"
#include "core/tell/catalogs.hpp"
#include "core/tell/notices.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using State = ClientRequest::State;

/// Tells the client which lists have changed, by their kinds.
void Conductor::announce(const CatalogComparison& comparison) {
  const ClientRequest* const cause = requests_.first_waiting_request();
  const bool is_listing =
      cause != nullptr && cause->method == Method::tools_list && cause->is_first_page;
  for (const CatalogKind kind : kCatalogKinds) {
    if (!comparison.changed[static_cast<std::size_t>(kind)]) continue;
    // The client is listing the tools already, so it learns of the change from the answer.
    if (kind == CatalogKind::tools && is_listing) continue;
    const bool was_told = tell_changed(kind);
    // A client that has closed our input lists nothing again.
    if (was_told && kind == CatalogKind::tools && ending_.is_none()) {
      relist_->on_announced(now_, comparison.output_changed, streams_.wants(CatalogKind::tools));
    }
  }
}

void Conductor::pass_tool_result(ClientRequest& request, const Message& message, Edits& edits) {
  if (message.kind == Message::Kind::result && (has_notice() || relist_->is_waiting())) {
    const bool carries = would_carry_notice(request, message.result);
    // Which of the held results carries the notice is decided when they leave.
    if (relist_->is_waiting() && (carries || relist_->has_other_output(request.tool))) {
      hold(request, edits.apply());
      return;
    }
    if (carries) put_notice(request, message.result, edits);
  }
  answer(request, edits.outgoing());
}

bool Conductor::has_notice() const { return notices_->has_any() || watch_->has_news(); }

bool Conductor::would_carry_notice(const ClientRequest& request, std::string_view result) const {
  return has_notice() && config_.writes_notices && !request.wants_task && notices_->fits(result);
}

void Conductor::put_notice(const ClientRequest& request, std::string_view result, Edits& edits) {
  if (notices_->put(request.id(), result, known_for_notice(), edits)) on_notice_told();
}

/// The answer to this request has contained the notice since it began to wait.
void Conductor::tell_shown(const ClientRequest& request) {
  notices_->tell_shown(request.id());
  on_notice_told();
}

/// Returns the notice for the answer to this request. It counts as told.
std::string Conductor::tell_notice(const ClientRequest& request) {
  std::string text = notices_->tell(request.id(), known_for_notice());
  on_notice_told();
  return text;
}

NoticeFacts Conductor::known_for_notice() const {
  NoticeFacts known;
  known.tools = catalogs_->tools().diff_since_told();
  known.prompts = catalogs_->of(CatalogKind::prompts).diff_since_told();
  known.resources = catalogs_->of(CatalogKind::resources).diff_since_told();
  if (const auto& failure = starts_->last_failure()) known.failed_start = failure->end;
  known.noise = history_->noise();
  if (watch_->has_news()) known.watch_problem = watch_->problem();
  known.status_tool = names_.name(Builtin::status);
  if (names_.offers(Builtin::call)) known.call_tool = names_.name(Builtin::call);
  return known;
}

void Conductor::on_notice_told() {
  if (notices_->shown_watch_problem() == watch_->problem()) watch_->on_told();
  catalogs_->mark_told();
  if (Child* const child = generations_.serving())
    opening_->on_told(child->handshake.opened_with());
}

/// The file of the restarted child has been looked at.
void Conductor::amend_notice() {
  if (notices_->restart() == nullptr) return;
  RestartNotice notice = *notices_->restart();
  if (binary_.path && binary_.exists) notice.path = *binary_.path;
  for (const Child& child : generations_) {
    if (child.gen() != notice.spawn) continue;
    notice.version = version_of(child.handshake.opened_with());
    if (const OpeningResult* const told = opening_->told()) {
      describe_changes(*told, child.handshake.opened_with(), notice);
    }
  }
  if (binary_.modified) {
    notice.build_age = std::chrono::duration_cast<Milliseconds>(now_.wall - *binary_.modified);
  }
  notices_->amend_restart(std::move(notice));
}

std::string Conductor::version_of(const OpeningResult& opened) const {
  if (binary_.version && !binary_.version->product_version.empty()) {
    return binary_.version->product_version;
  }
  return opened.server_version();
}

void Conductor::on_client_listed(bool is_last_page) {
  const bool was_waiting = relist_->is_waiting();
  relist_->on_listed(is_last_page, now_);
  if (!was_waiting || relist_->is_waiting()) return;
  // A client handles the list in a step of its own, after the read that brought it.
  answers_.output().gap(now_);
  release_held();
}

void Conductor::hold(ClientRequest& request, std::string line) {
  requests_.hold(request, std::move(line));
  if (requests_.held_bytes() <= limits::kHeldBytesMax) return;
  relist_->give_up();
  release_held();
}

void Conductor::release_held() {
  auto held = requests_.all(State::held);
  // The notice is already in the answer to a rebuild, and comes only once.
  std::stable_partition(held.begin(), held.end(), [](const ClientRequest* request) {
    return request->extra->notice_of != kNoGeneration;
  });
  for (ClientRequest* request : held) {
    const OwnedLine kept = requests_.release(*request);
    Edits edits(kept.line());
    const Message* const message = has_notice() ? kept_reader_.read(kept.line()) : nullptr;
    if (request->extra->notice_of != kNoGeneration) {
      const RestartNotice* const restart = notices_->restart();
      if (restart != nullptr && restart->spawn == request->extra->notice_of) tell_shown(*request);
    } else if (message != nullptr && message->kind == Message::Kind::result &&
               would_carry_notice(*request, message->result)) {
      put_notice(*request, message->result, edits);
    }
    answer(*request, Outgoing::own(edits.apply()));
  }
}

}  // namespace sitter
