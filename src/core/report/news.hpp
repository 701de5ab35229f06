#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/orders.hpp"
#include "core/child/ending.hpp"
#include "core/child/servers.hpp"
#include "core/client/desk.hpp"
#include "core/client/relist_wait.hpp"
#include "core/rebuild/rebuilds.hpp"
#include "core/report/catalogs.hpp"
#include "core/report/death_report.hpp"
#include "core/report/lints.hpp"
#include "core/report/list_lint.hpp"
#include "core/report/notices.hpp"
#include "core/report/old_code.hpp"
#include "core/report/status.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/message.hpp"
#include "sitter/binary_facts.hpp"
#include "sitter/bridge_config.hpp"
#include "sitter/fact.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// What the client and its model are told of the servers: notices in results, changed lists, and
/// why a request gets no answer from a server.
class News {
 public:
  /// All references must outlive this object.
  News(const BridgeConfig& config, const Ending& ending, const Now& now, Orders& out, Desk& desk,
       Servers& servers, Rebuilds& rebuilds);

  const Catalogs& catalogs() const { return catalogs_; }
  const BinaryFacts& binary() const { return binary_; }
  std::optional<Instant> relist_deadline() const { return relist_.deadline(); }
  bool has_tools() const { return catalogs_.tools().count() > 0; }

  // news.cpp: notices, and the answers that wait for them

  /// Passes on the answer of the child to a call, with the notice if there is one.
  void pass_tool_result(Child& child, ClientRequest& request, const Message& message, Edits& edits);
  /// Says in the answer about a prompt or a resource, which carries no notice, that old code has
  /// given it.
  void tell_old_code(const Child& child, const ClientRequest& request, const Message& answer,
                     Edits& edits);
  /// The answer waits until `release_held`, or until its meaning is clear.
  void hold(ClientRequest& request, std::string line);
  /// Nobody waits for the client to list again.
  void give_up_relist();
  void on_relist_timeout();
  /// Lets held errors go as soon as the bridge knows that the child is of the client's era, and
  /// open.
  void release_explained(Child& child);
  /// Takes from the servers what repeated calls have brought.
  void take_replay_remarks();
  void on_serving(const Child& child);
  /// The client has given up a call because it took too long.
  void on_timed_out() { has_timeout_news_ = true; }
  /// A child has written to stdout what is not a message.
  void on_noise() { notices_.on_news(); }
  /// The rebuild is over: tells its callers and the model, and begins the next.
  void finish_rebuild(RebuildReport report);
  /// A debugger holds the rebuild.
  void on_reload_held();
  /// The server does what clients do not take.
  void on_finding(std::string finding);
  /// The same about an opening that `lint_opening` looks at next.
  void on_opening_finding(std::string finding) { in_opening_ = std::move(finding); }

  void lint_opening(std::string_view result);
  /// Lints a result, or a notification as a whole.
  void lint_answer(const Child& child, const ClientRequest& request, std::string_view result);
  void lint_notification(const Child& child, Method method, std::string_view line);
  /// A request was passed to this child whose answer says if old code has given it. Looks at the
  /// sources now and then.
  void on_request(Generation gen);
  void on(const fact::SourcesChecked& fact);
  void on(const fact::StackRead& fact);
  /// The client has cancelled a request after its answer had left.
  void on_answered_cancelled(std::string_view raw_id);
  /// The file of the server was looked at.
  void on_binary(const BinaryFacts& facts) { binary_ = facts; }
  /// The file of the restarted child has been looked at.
  void amend_notice();
  NewsStatus status() const;

  // news_lists.cpp: the lists of the server

  /// Takes out of the lists what clients refuse.
  void on_lists(Child& child, std::vector<ListSurvey::List>& lists);
  /// A page of the child's tools. The built-in tools are appended to the first page.
  void pass_tools(Child& child, ClientRequest& request, const Message& message, Edits& edits);
  /// The line with this page of any list, without what clients refuse; nothing if it can stay as it
  /// is.
  std::optional<std::string> mended_page(const Child& child, const ClientRequest& request,
                                         std::string_view result, Line line);
  /// Passes on a page of any list. `more` are items that follow on the first page. Returns whether
  /// it is the last page for the client.
  bool amend_page(Child& child, const ClientRequest& request, std::string_view result,
                  const std::string& more, Edits& edits);
  /// Makes a result of the stateless revision without a type complete, and a list in any case.
  /// `type` is its raw `resultType`.
  void mend_type(const Child& child, const ClientRequest& request, std::string_view result,
                 std::string_view type, Edits& edits);
  /// The last known list of what the request asks for, with the built-in tools where they belong.
  void answer_last_list(ClientRequest& request);
  /// While the daemon is away, the client may use the lists that it knows.
  bool answers_lists_meanwhile() const;

  // news_failures.cpp: requests that no server answers

  void answer_opening_ourselves(ClientRequest& request, std::string_view why,
                                std::string_view stderr_tail = {},
                                std::string_view build_output = {});
  void answer_slow_opening();
  void answer_second_openings();
  void fail(ClientRequest& request, const DeathReport& report);
  /// Fails a request that no child has served.
  void fail_undone(ClientRequest& request, const DeathReport& report);
  /// Fails all requests that wait.
  void fail_waiting(const DeathReport& report);
  /// `end` is empty for a child that lives but does not read.
  DeathReport report_of(const std::optional<ChildEnd>& end, std::string stderr_tail,
                        DeathReport::Reach reach) const;
  /// All children are being taken down: answers the opening and all requests that wait.
  void answer_waiting(const ChildEnd& end, std::string stderr_tail);
  /// Answers all requests that waited for a child that did not come to serve.
  void on_start_failed(const ChildEnd& end, const std::string& stderr_tail, bool is_repeated,
                       const std::string& build_output = {});
  /// A child has ended before it has shown that it works.
  void note_failed_start() { notices_.on_failed_start(); }
  /// A build has failed that was to bring the command.
  void fail_unbuilt();
  /// The child cannot serve this client, which explains the errors that it has answered so far.
  void fail_refused(Child& child);
  /// The child is over. Returns whether an answer has told the model of its end.
  bool fail_requests_of(const Servers::Ended& ended);
  /// What the former server was asked is lost, except for requests that the new server has refused.
  void fail_requests_of(const Servers::RestartedItself& restarted);
  /// Answers the requests that have waited too long for a build. The client would soon give them
  /// up, and its model would never know why.
  void answer_build_waiters();
  /// Fails the requests that have waited too long for a daemon that cannot be reached.
  void answer_undelivered();
  void on_absent(Generation gen, const std::string& why, Milliseconds again_after);
  void on(const fact::RequestRefused& fact);
  void on(const fact::RequestLost& fact);

 private:
  void pass_retiring_result(ClientRequest& request, const Message& message, Edits& edits);
  void pass_with_notice(ClientRequest& request, const Message& message, Edits& edits);
  bool has_notice() const;
  bool has_lint_news() const { return config_.writes_notices && !lints_.news().empty(); }
  bool has_noise_news() const;
  Revision revision() const;
  static Revision revision_of(const ClientRequest& request) {
    return request.is_stateless ? Revision::stateless : Revision::session;
  }
  void lint(const Child& child, Revision revision, Method method, std::string_view message);
  void lint_result(Revision revision, std::string_view tool, std::string_view result);
  void lint_pages(ListSurvey::List& list);
  /// The lists that the client got are the baseline for the next child. Only lists of one page
  /// count.
  void note_listed(CatalogKind kind, std::string_view items, std::string_view cursor);
  bool wants_lint(const Child& child, const ClientRequest& call, const Message& answer) const;
  std::string timeout_text() const;
  std::string old_code_in(const ClientRequest& request) const;
  static std::string core_line(const ChildEnd& end);
  bool is_being_replaced(Generation gen) const;
  bool says_old_code() const;
  bool is_own_source(const std::string& file) const;
  bool runs_change(const Child& child, const std::string& file,
                   const UnservedChanges::Change& change) const;
  bool would_carry_notice(const ClientRequest& request, const Message& answer) const;
  void put_notice(const ClientRequest& request, const Message& answer, Edits& edits);
  NoticeFacts known_for_notice() const;
  void on_notice_told();
  void release_held();
  void answer_held(ClientRequest& request);
  void on_client_listed(bool is_last_page);
  void tell_rebuilt(const PendingRebuild& rebuild, RebuildReport report);
  std::string reload_text(const PendingRebuild& rebuild, RebuildReport report) const;
  void on_lists_known(std::optional<CatalogKind> kind, bool was_late);
  void amend_compared(const std::vector<ListSurvey::List>& lists);
  void announce(const CatalogComparison& comparison);
  void note_era(Child& child, const std::vector<ListSurvey::List>& lists);
  void restore_subscriptions(const Child& child);
  void make_way_for_page(std::string_view tools);
  void answer_opening_with(ClientRequest& request, std::string_view why,
                           std::string_view instructions);
  void answer_lost_opening(ClientRequest& request, std::string_view why,
                           std::string_view stderr_tail, std::string_view build_output = {});
  void answer_waiting_lists();
  void on_child_lost(const Child& dead, ClientRequest& request, const DeathReport& report,
                     bool is_deliberate);

  const BridgeConfig& config_;
  const Ending& ending_;
  const Now& now_;
  Orders& out_;
  Desk& desk_;
  Servers& servers_;
  Rebuilds& rebuilds_;

  Notices notices_;
  /// A call has timed out since the last notice.
  bool has_timeout_news_ = false;
  Catalogs catalogs_;
  Lints lints_;
  std::string in_opening_;

  FineItems fine_items_;
  bool has_list_news_ = false;
  OldCode old_code_;
  RelistWait relist_;
  BinaryFacts binary_;
};

}  // namespace sitter
