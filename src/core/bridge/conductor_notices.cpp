#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/bridge/conductor.hpp"
#include "core/child/history.hpp"
#include "core/child/starts.hpp"
#include "core/client/opening.hpp"
#include "core/client/relist_wait.hpp"
#include "core/rebuild/rebuilder.hpp"
#include "core/rebuild/watch.hpp"
#include "core/report/catalogs.hpp"
#include "core/report/lints.hpp"
#include "core/report/notices.hpp"
#include "core/report/old_code.hpp"

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
  if (has_notice() || relist_->is_waiting() || !old_code_in(request).empty()) {
    const bool carries = would_carry_notice(request, message);
    const bool has_other_output =
        message.kind == Message::Kind::result && relist_->has_other_output(request.tool);
    // Which of the held answers carries the notice is decided when they leave.
    if (relist_->is_waiting() && (carries || has_other_output)) {
      hold(request, edits.apply());
      return;
    }
    if (carries) put_notice(request, message, edits);
  }
  answer(request, edits.outgoing());
}

bool Conductor::has_notice() const {
  return notices_->has_any() || watch_->has_news() || has_lint_news();
}

/// Without notices, only the status shows what was found.
bool Conductor::has_lint_news() const { return config_.writes_notices && !lints_->news().empty(); }

void Conductor::lint_tools() {
  if (lints_->on_tools(catalogs_->tools().items())) notices_->on_news();
}

/// Whether this answer of the child to a call is to be passed to `lint_result`. Without a complete
/// list of the child, the bridge does not know the output schema.
bool Conductor::wants_lint(const Child& child, const ClientRequest& call,
                           const Message& answer) const {
  return answer.kind == Message::Kind::result && !call.wants_task &&
         child.lists == Child::Lists::with_tools &&
         lints_->wants_result(call.tool, child.gen(), now_.steady);
}

void Conductor::lint_result(std::string_view tool, std::string_view result) {
  const std::string_view definition = catalogs_->tools().find(tool);
  if (lints_->on_result(tool, result, member(definition, "outputSchema"), now_.steady)) {
    notices_->on_news();
  }
}

/// What the result of this request says if the child that serves has answered it with old code, and
/// nothing replaces that child yet. Empty if the result says nothing of the kind.
std::string Conductor::old_code_in(const ClientRequest& request) const {
  const OldCode::Change* const change = old_code_->untold(request.gen);
  if (change == nullptr || rebuilder_->is_on()) return {};
  const Child* const child = generations_.shown();
  if (child == nullptr || !child->serves() || child->gen() != request.gen) return {};
  return old_code_text(*change, names_.first_name({Builtin::rebuild, Builtin::kill}), now_.wall);
}

bool Conductor::would_carry_notice(const ClientRequest& request, const Message& answer) const {
  const bool has_any = has_notice() || !old_code_in(request).empty();
  if (!has_any || !config_.writes_notices || request.wants_task) return false;
  if (answer.kind == Message::Kind::result) return notices_->fits(answer.result);
  // A client answers this error itself, with another version, and its model never reads it.
  return Notices::fits_error(answer.error) &&
         !has_code(answer.error, ErrorCode::unsupported_version);
}

void Conductor::put_notice(const ClientRequest& request, const Message& answer, Edits& edits) {
  NoticeFacts known = known_for_notice();
  known.old_code = old_code_in(request);
  if (answer.kind == Message::Kind::error) {
    notices_->put_into_error(request.id(), answer.error, known, edits);
    on_notice_told();
  } else if (notices_->put(request.id(), answer.result, known, edits)) {
    on_notice_told();
  }
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
  known.tool_bytes_before = catalogs_->tools().told_bytes();
  known.tool_bytes = catalogs_->tools().bytes();
  known.prompts = catalogs_->of(CatalogKind::prompts).diff_since_told();
  known.resources = catalogs_->of(CatalogKind::resources).diff_since_told();
  if (const auto& failure = starts_->last_failure()) known.failed_start = failure->end;
  known.noise = history_->noise();
  if (watch_->has_news()) known.watch_problem = watch_->problem();
  if (has_lint_news()) known.lint = lints_->news();
  known.status_tool = names_.name(Builtin::status);
  known.stderr_tool = names_.name(Builtin::child_stderr);
  known.log_tool = names_.name(Builtin::build_log);
  // Somebody may have built the program in another way since.
  if (const auto& build = rebuilder_->last_result();
      build && has_failed(*build) && !(binary_.modified > build->ended)) {
    known.failed_build = build;
  }
  known.call_tool = names_.name(Builtin::call);
  return known;
}

void Conductor::on_notice_told() {
  if (notices_->shown_watch_problem() == watch_->problem()) watch_->on_told();
  lints_->on_told(notices_->shown_lint());
  if (notices_->has_shown_old_code()) old_code_->on_told();
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

/// Answers whose meaning is still open stay held.
void Conductor::release_held() {
  auto held = requests_.all(State::held);
  std::erase_if(held, [](const ClientRequest* request) { return request->extra->is_refusal; });
  // The notice is already in the answer to a rebuild, and comes only once.
  std::stable_partition(held.begin(), held.end(), [](const ClientRequest* request) {
    return request->extra->notice_of != kNoGeneration;
  });
  for (ClientRequest* request : held) answer_held(*request);
}

/// The requests whose held answer is an error of this child that may be a refusal.
std::vector<ClientRequest*> Conductor::refusals_of(Generation gen) {
  auto held = requests_.all(State::held, gen);
  std::erase_if(held, [](const ClientRequest* request) { return !request->extra->is_refusal; });
  return held;
}

void Conductor::answer_held(ClientRequest& request) {
  const OwnedLine kept = requests_.release(request);
  Edits edits(kept.line());
  const Child* const child = generations_.serving();
  // The child may have been replaced since, and then says nothing of its successor.
  const bool is_old =
      request.extra->is_refusal && (child == nullptr || child->gen() != request.gen);
  const bool has_news = !is_old && (has_notice() || !old_code_in(request).empty());
  const Message* const message = has_news ? kept_reader_.read(kept.line()) : nullptr;
  if (request.extra->notice_of != kNoGeneration) {
    const RestartNotice* const restart = notices_->restart();
    if (restart != nullptr && restart->spawn == request.extra->notice_of) tell_shown(request);
  } else if (message != nullptr && request.method == Method::tools_call &&
             would_carry_notice(request, *message)) {
    put_notice(request, *message, edits);
  }
  answer(request, Outgoing::own(edits.apply()));
}

}  // namespace sitter
