#include "core/report/news.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "core/base/text.hpp"
#include "core/report/lint.hpp"
#include "core/schema/protocol_schema.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"

namespace sitter {

using Server = RebuildReport::Server;
using State = ClientRequest::State;

namespace {

/// How many lines of the build the next result shows after a failed reload. Their bytes have the
/// bound of any excerpt.
constexpr std::size_t kReloadLinesMax = 30;

/// Stands for the notice among the contents of a resource.
constexpr std::string_view kNoticeUri = "mcp-sitter:notice";

constexpr std::string_view kTookOver =
    "This answer is still the old code's: the request came before the new server took over. The "
    "next request gets the new code.";

}  // namespace

News::News(const BridgeConfig& config, const Ending& ending, const Now& now, Orders& out,
           Desk& desk, Servers& servers, Rebuilds& rebuilds)
    : config_(config),
      ending_(ending),
      now_(now),
      out_(out),
      desk_(desk),
      servers_(servers),
      rebuilds_(rebuilds),
      lints_(config.lints),
      old_code_(config.writes_notices) {}

void News::on_serving(const Child& child) {
  lints_.on_serving(child.gen());
  // What has hindered a reload hinders no more. The errors of a build stay.
  const auto& build = rebuilds_.rebuilder().last_result();
  if (!build || !has_failed(*build)) notices_.forget_reload_failure();
}

/// Where the core dump of a crash is, for a notice; empty if there is nothing to say.
std::string News::core_line(const ChildEnd& end) {
  return end.status.core.empty() ? "" : fmt::format("[mcp-sitter] {}.", end.status.core);
}

// ---- notices

void News::pass_tool_result(Child& child, ClientRequest& request, const Message& message,
                            Edits& edits) {
  if (child.is_retiring()) {
    pass_retiring_result(request, message, edits);
    return;
  }
  // A client may reject a result with a finding, so the finding is told in a later result.
  const bool is_linted = wants_lint(child, request, message);
  const std::string tool = is_linted ? request.tool : std::string();
  const Revision revision = revision_of(request);
  pass_with_notice(request, message, edits);
  if (is_linted) lint_result(revision, tool, message.result);
}

/// What is to be told of the new server does not belong into a result of the server before it. If
/// nobody has asked for the new server, the model does not know that there are two.
void News::pass_retiring_result(ClientRequest& request, const Message& message, Edits& edits) {
  if (says_old_code() && !request.wants_task) {
    const std::string text = kTag + std::string(kTookOver);
    if (message.kind == Message::Kind::error) {
      if (has_message(message.error)) append_to_error(message.error, text, edits);
    } else if (takes_text(message.result)) {
      put_text(message.result, text, edits);
    }
  }
  desk_.answer(request, edits.outgoing());
}

void News::tell_old_code(const Child& child, const ClientRequest& request, const Message& answer,
                         Edits& edits) {
  const bool is_prompt = request.method == Method::prompts_get;
  if (!is_prompt && request.method != Method::resources_read) return;
  if (!says_old_code()) return;
  std::string text = child.is_retiring() ? std::string(kTookOver) : old_code_in(request);
  if (text.empty()) return;
  text.insert(0, kTag);
  const std::string_view items = member(answer.result, is_prompt ? "messages" : "contents");
  if (answer.kind == Message::Kind::error) {
    if (has_message(answer.error)) append_to_error(answer.error, text, edits);
  } else if (is_array(items)) {
    edits.append(items,
                 is_prompt
                     ? fmt::format(R"json({{"role":"user","content":{}}})json", text_block(text))
                     : fmt::format(R"json({{"uri":"{}","mimeType":"text/plain","text":{}}})json",
                                   kNoticeUri, json_string(text)));
  }
}

void News::pass_with_notice(ClientRequest& request, const Message& message, Edits& edits) {
  if (has_notice() || relist_.is_waiting() || !old_code_in(request).empty()) {
    const bool carries = would_carry_notice(request, message);
    const bool has_other_output =
        message.kind == Message::Kind::result && relist_.has_other_output(request.tool);
    // Which of the held answers carries the notice is decided when they leave.
    if (relist_.is_waiting() && (carries || has_other_output)) {
      hold(request, edits.apply());
      return;
    }
    if (carries) put_notice(request, message, edits);
  }
  desk_.answer(request, edits.outgoing());
}

bool News::has_notice() const {
  const Watch& watch = rebuilds_.watch();
  return notices_.has_any() || (has_list_news_ && catalogs_.has_untold()) || watch.has_news() ||
         !watch.own_news().empty() || has_lint_news() || has_noise_news() ||
         !timeout_text().empty();
}

/// What is to be told of calls that took too long for the client; empty if there is nothing.
std::string News::timeout_text() const {
  const Child* const child = servers_.generations().shown();
  if (!has_timeout_news_ || child == nullptr) return {};
  auto calls = desk_.status().given_up;
  std::erase_if(calls, [](const auto& call) { return !call.has_timed_out; });
  if (calls.empty()) return {};
  return given_up_clause(calls, child->activity, desk_.names().name(Builtin::child_stderr));
}

bool News::has_noise_news() const {
  const auto& noise = servers_.history().noise();
  return config_.writes_notices && noise && notices_.must_tell(*noise);
}

bool News::would_carry_notice(const ClientRequest& request, const Message& answer) const {
  const bool is_old = !old_code_in(request).empty();
  if (!config_.writes_notices || request.wants_task || (!has_notice() && !is_old)) return false;
  if (answer.kind == Message::Kind::result) {
    // What has not been served yet is said in each answer.
    const bool is_repeated = is_old && (config_.watches() || is_being_replaced(request.gen));
    return notices_.fits(answer.result) || (is_repeated && takes_text(answer.result));
  }
  // A client answers this error itself, with another version, and its model never reads it.
  return has_message(answer.error) && !has_code(answer.error, ErrorCode::unsupported_version);
}

void News::put_notice(const ClientRequest& request, const Message& answer, Edits& edits) {
  NoticeFacts known = known_for_notice();
  known.old_code = old_code_in(request);
  if (answer.kind == Message::Kind::error) {
    notices_.put_into_error(request.id(), answer.error, known, edits);
    on_notice_told();
  } else if (notices_.put(request.id(), answer.result, known, edits)) {
    on_notice_told();
  }
}

NoticeFacts News::known_for_notice() const {
  const BuiltinNames& names = desk_.names();
  NoticeFacts known;
  known.tools = catalogs_.tools().diff_since_told();
  known.tool_bytes_before = catalogs_.tools().told_bytes();
  known.tool_bytes = catalogs_.tools().bytes();
  known.prompts = catalogs_.of(CatalogKind::prompts).diff_since_told();
  known.resources = catalogs_.of(CatalogKind::resources).diff_since_told();
  if (const auto& failure = servers_.starts().last_failure()) known.failed_start = failure->end;
  known.noise = servers_.history().noise();
  if (rebuilds_.watch().has_news()) known.watch_problem = rebuilds_.watch().problem();
  known.own_writes = rebuilds_.watch().own_news();
  if (has_lint_news()) known.lint = lints_.news();
  known.has_list_news = has_list_news_;
  known.given_up = timeout_text();
  if (const Child* const child = servers_.generations().serving();
      child != nullptr && config_.writes_notices && desk_.opening().session().answered_by_us &&
      desk_.opening().told() == nullptr) {
    known.instructions = servers_.secrets().masked(child->handshake.opened_with().instructions);
  }
  known.status_tool = names.name(Builtin::status);
  known.stderr_tool = names.name(Builtin::child_stderr);
  known.log_tool = names.name(Builtin::build_log);
  // Somebody may have built the program in another way since, and some compilers write it in spite
  // of errors.
  if (const auto& build = rebuilds_.rebuilder().last_result();
      build && has_failed(*build) && !(binary_.modified > build->ended - build->duration)) {
    known.failed_build = build;
  }
  known.call_tool = names.name(Builtin::call);
  return known;
}

void News::on_notice_told() {
  if (notices_.shown_watch_problem() == rebuilds_.watch().problem()) rebuilds_.watch().on_told();
  rebuilds_.watch().on_own_told();
  lints_.on_told(notices_.shown_lint());
  if (notices_.has_shown_old_code()) old_code_.on_told();
  has_timeout_news_ = false;
  catalogs_.on_told();
  has_list_news_ = false;
  if (Child* const child = servers_.generations().serving())
    desk_.opening().on_told(child->handshake.opened_with());
}

void News::amend_notice() {
  if (notices_.restart() == nullptr) return;
  RestartNotice notice = *notices_.restart();
  if (binary_.path && binary_.exists) notice.path = *binary_.path;
  for (const Child& child : servers_.generations()) {
    if (child.gen() != notice.spawn) continue;
    notice.version = child.handshake.opened_with().server_version();
    if (const OpeningResult* const told = desk_.opening().told()) {
      describe_changes(*told, child.handshake.opened_with(), notice);
    }
  }
  if (binary_.modified) {
    notice.build_age = known_age(*binary_.modified, now_.wall);
    notice.is_script = binary_.interpreter.has_value();
  }
  notices_.amend_restart(std::move(notice));
}

NewsStatus News::status() const {
  NewsStatus status;
  status.binary_path = binary_.path;
  status.binary_stale = binary_.stale;
  if (const Child* const shown = servers_.generations().shown()) {
    const std::string version = shown->handshake.opened_with().server_version();
    if (!version.empty()) status.binary_version = version;
  }
  status.child_tool_count = static_cast<std::int64_t>(catalogs_.tools().count());
  status.child_tool_bytes = static_cast<std::int64_t>(catalogs_.tools().bytes());
  status.tools_diff = catalogs_.last_tools_diff();
  status.lint = lints_.all();
  return status;
}

// ---- what is found out beside the results

void News::on_finding(std::string finding) {
  if (lints_.on_finding(std::move(finding))) notices_.on_news();
}

Revision News::revision() const {
  return desk_.opening().session().is_asked() ? Revision::session : Revision::stateless;
}

void News::lint_opening(std::string_view result) {
  if (!lints_.is_on()) return;
  std::vector<std::string> findings;
  if (!in_opening_.empty()) findings.push_back(std::exchange(in_opening_, {}));
  for (const std::string& place : opening_without_nulls(result).places) {
    findings.push_back(fmt::format(
        "initialize: {} is null, so clients refuse the session; mcp-sitter leaves it out", place));
  }
  if (lints_.on_pages(Method::initialize, std::move(findings))) notices_.on_news();
}

void News::lint_answer(const Child& child, const ClientRequest& request, std::string_view result) {
  lint(child, revision_of(request), request.method, result);
}

void News::lint_notification(const Child& child, Method method, std::string_view line) {
  lint(child, revision(), method, line);
}

void News::lint(const Child& child, Revision revision, Method method, std::string_view message) {
  const std::string_view name = method_name(method);
  if (child.is_retiring() || !is_linted(method) || message.size() > limits::kLintResultMax ||
      !lints_.wants_result(name, child.gen(), now_.steady)) {
    return;
  }
  std::string finding = lint_message(revision, method, message);
  std::vector<std::string> findings;
  if (!finding.empty()) findings.push_back(std::move(finding));
  if (lints_.on_result(name, std::move(findings), now_.steady)) notices_.on_news();
}

/// Whether this answer of the child to a call is to be passed to `lint_result`. Without a complete
/// list of the child, the bridge does not know the output schema.
bool News::wants_lint(const Child& child, const ClientRequest& call, const Message& answer) const {
  return answer.kind == Message::Kind::result && !call.wants_task &&
         child.lists == Child::Lists::with_tools &&
         lints_.wants_result(call.tool, child.gen(), now_.steady);
}

void News::lint_result(Revision revision, std::string_view tool, std::string_view result) {
  const std::string_view definition = catalogs_.tools().find(tool);
  std::vector<std::string> findings;
  if (result.size() <= limits::kLintResultMax) {
    findings = sitter::lint_result(revision, tool, result, member(definition, "outputSchema"));
  }
  if (lints_.on_result(tool, std::move(findings), now_.steady)) notices_.on_news();
}

void News::on_request(Generation gen) {
  old_code_.on_request(gen, now_, out_);
  const Child* const child = has_timeout_news_ ? servers_.generations().find(gen) : nullptr;
  if (child != nullptr) servers_.look_at_process(*child);
}

void News::on(const fact::SourcesChecked& fact) {
  if (old_code_.on_checked(fact)) notices_.on_news();
}

void News::on(const fact::StackRead& fact) {
  servers_.history().on_stack(fact);
  notices_.on_crash(fmt::format("[mcp-sitter] spawn #{} crashed in: {}", fact.gen, fact.stack));
}

void News::on_answered_cancelled(std::string_view raw_id) {
  if (notices_.on_answered_cancelled(raw_id)) old_code_.on_unread();
}

void News::take_replay_remarks() {
  for (Replays::Remark& remark : servers_.replays().take_remarks()) {
    if (remark.failure.empty()) {
      notices_.forget_replay_failures(remark.tool);
    } else {
      notices_.add_replay_failure(std::move(remark.failure));
    }
  }
}

// ---- answers that wait

void News::on_client_listed(bool is_last_page) {
  const bool was_waiting = relist_.is_waiting();
  relist_.meet(desk_.client());
  relist_.on_listed(is_last_page, now_);
  if (!was_waiting || relist_.is_waiting()) return;
  // A client handles the list in a step of its own, after the read that brought it.
  desk_.answers().output().gap(now_);
  release_held();
}

void News::give_up_relist() {
  relist_.give_up();
  release_held();
}

void News::on_relist_timeout() {
  relist_.on_timeout(now_);
  release_held();
}

void News::hold(ClientRequest& request, std::string line) {
  desk_.requests().hold(request, std::move(line));
  if (desk_.requests().held_bytes() > limits::kHeldBytesMax) give_up_relist();
}

/// Answers whose meaning is still open stay held.
void News::release_held() {
  auto held = desk_.requests().all(State::held);
  std::erase_if(held, [](const ClientRequest* request) { return request->extra->is_refusal; });
  // The notice is already in the answer to a rebuild, and comes only once.
  std::stable_partition(held.begin(), held.end(), [](const ClientRequest* request) {
    return request->extra->notice_of != kNoGeneration;
  });
  for (ClientRequest* request : held) answer_held(*request);
}

void News::answer_held(ClientRequest& request) {
  const OwnedLine kept = desk_.requests().release(request);
  Edits edits(kept.line());
  const Child* const child = servers_.generations().serving();
  // The child may have been replaced since, and then says nothing of its successor.
  const bool is_old =
      request.extra->is_refusal && (child == nullptr || child->gen() != request.gen);
  const bool has_news = !is_old && (has_notice() || !old_code_in(request).empty());
  const Message* const message = has_news ? desk_.read_kept(kept.line()) : nullptr;
  if (request.extra->notice_of != kNoGeneration) {
    const RestartNotice* const restart = notices_.restart();
    if (restart != nullptr && restart->spawn == request.extra->notice_of) {
      // The answer has contained the notice since it began to wait.
      notices_.tell_shown(request.id());
      on_notice_told();
    }
  } else if (message != nullptr && request.method == Method::tools_call &&
             would_carry_notice(request, *message)) {
    put_notice(request, *message, edits);
  }
  desk_.answer(request, Outgoing::own(edits.apply()));
}

void News::release_explained(Child& child) {
  if (!child.has_held_errors || child.handshake.is_in_doubt()) return;
  if (child.own_restart.is_suspected()) return;
  child.has_held_errors = false;
  // The error of a call may carry a notice, which waits until the client has listed the tools.
  const bool waits = relist_.is_waiting() && config_.writes_notices && child.serves();
  for (ClientRequest* request : servers_.held_refusals(child.gen())) {
    if (waits && request->method == Method::tools_call) {
      request->extra->is_refusal = false;
    } else {
      answer_held(*request);
    }
  }
}

// ---- the end of a rebuild

void News::finish_rebuild(RebuildReport report) {
  PendingRebuild rebuild = rebuilds_.rebuilder().take();
  tell_rebuilt(rebuild, std::move(report));
  rebuilds_.begin_next(std::move(rebuild));
}

void News::tell_rebuilt(const PendingRebuild& rebuild, RebuildReport report) {
  const BuiltinNames& names = desk_.names();
  report.rebuild_tool = names.name(Builtin::rebuild);
  report.kill_tool = names.name(Builtin::kill);
  report.log_tool = names.name(Builtin::build_log);
  report.stderr_tool = names.name(Builtin::child_stderr);
  report.is_restart = !rebuild.builds;
  if (const Build* const build = rebuilds_.rebuilder().build();
      build != nullptr && rebuild.builds) {
    report.build = build->result();
    report.output = build->excerpt();
  }
  // If the new server serves, earlier failures no longer matter.
  if (!is_failure(report)) notices_.forget_reload_failure();
  const auto first = rebuild.clients_call();
  ClientRequest* const told = first ? desk_.requests().find(*first) : nullptr;
  const bool is_client_told = told != nullptr;
  if (!is_client_told && is_failure(report)) {
    notices_.on_reload_failed(reload_text(rebuild, report));
  }
  if (report.start_failure) notices_.on_crash_told(core_line(*report.start_failure));
  if (rebuild.callers.empty()) return;
  const bool is_restarted = report.server == Server::restarted;
  Generation notice_of = kNoGeneration;
  if (is_restarted && has_notice()) {
    const bool is_told_now = is_client_told && !relist_.is_waiting();
    const RestartNotice* const restart = notices_.restart();
    if (restart != nullptr && !is_told_now) notice_of = restart->spawn;
    report.notice = is_told_now ? notices_.tell(told->id(), known_for_notice())
                                : notices_.show(known_for_notice());
    if (is_told_now) on_notice_told();
  }
  for (const RebuildCaller& waiting : rebuild.callers) {
    ClientRequest* const caller = desk_.requests().find(waiting.request);
    if (caller == nullptr) continue;
    report.joined_after = waiting.joined_after;
    std::string text = rebuild_text(caller->is_control() ? for_person(report) : report);
    if (!waiting.kill_report.empty()) text += "\n" + waiting.kill_report;
    std::string line = desk_.tool_text_line(*caller, text, is_failure(report));
    // The model may call a new tool in its next turn.
    if (is_restarted && relist_.is_waiting() && !caller->is_control()) {
      caller->more().notice_of = notice_of;
      hold(*caller, std::move(line));
    } else {
      desk_.answer(*caller, Outgoing::own(std::move(line)));
    }
  }
}

void News::on_reload_held() {
  const std::string text = rebuilds_.held_text();
  out_.log(order::Log::Level::warn, text);
  notices_.on_reload_failed("[mcp-sitter] " + text);
}

/// The text for the next result, with fewer lines of the build's output.
std::string News::reload_text(const PendingRebuild& rebuild, RebuildReport report) const {
  report.cause = rebuild.cause;
  if (report.build) report.output = rebuilds_.rebuilder().build()->excerpt(kReloadLinesMax);
  return rebuild_text(report);
}

}  // namespace sitter
