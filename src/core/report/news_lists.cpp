#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/report/lint.hpp"
#include "core/report/list_lint.hpp"
#include "core/report/news.hpp"
#include "core/wire/method.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Level = order::Log::Level;
using Lists = Child::Lists;

void News::on_lists(Child& child, std::vector<ListSurvey::List>& lists) {
  for (ListSurvey::List& list : lists) lint_pages(list);
  const Opening& opening = desk_.opening();
  const History& history = servers_.history();
  const bool is_first = child.lists == Lists::unknown;
  const bool is_respawn = is_first && !opening.was_sent_to(child.gen()) &&
                          (child.handshake.was_opened() || opening.next_child_is_replacement());
  CatalogComparison comparison = catalogs_.take(lists, is_respawn);
  child.lists =
      std::max(child.lists, comparison.are_tools_known ? Lists::with_tools : Lists::taken);
  desk_.names().make_way_for(catalogs_.tools().names());
  if (!opening.session().is_asked()) note_era(child, lists);
  if (!is_respawn) {
    const bool was_late = std::any_of(lists.begin(), lists.end(),
                                      [](const ListSurvey::List& list) { return list.was_late; });
    if (was_late) announce(comparison);
    if (was_late && notices_.restart() != nullptr) amend_compared(lists);
    return on_lists_known(std::nullopt, was_late);
  }

  catalogs_.forget_told_removals();
  has_list_news_ = false;
  announce(comparison);
  restore_subscriptions(child);
  desk_.streams().tell_updated(desk_.turn());

  RestartNotice notice;
  notice.is_first = !history.last_told();
  notice.is_description = !servers_.traits().has_process;
  notice.spawn = child.gen();
  notice.pid = child.life.pid();
  if (!child.handshake.was_opened()) servers_.note_startup(child);
  notice.startup = child.startup;
  notice.previous = history.last_told();
  notice.previous_pid = history.last_told_pid();
  notice.last_words = history.last_words();
  notice.not_compared = std::move(comparison.not_compared);
  for (const std::string& uri : child.handshake.lost_subscriptions()) {
    notice.subscriptions_lost.push_back(string_value(uri));
  }
  notices_.on_restart(std::move(notice));
  servers_.inspect(Look::Purpose::notice);
}

/// What has changed joins the notice about the restart if that has not left. Otherwise the child
/// has told the client itself, or the client has not listed yet; but what the model was told is put
/// right, and so is what it was not told because the list had not come (`was_late`).
void News::on_lists_known(std::optional<CatalogKind> kind, bool was_late) {
  if (notices_.restart() != nullptr || has_list_news_) return;
  has_list_news_ = (was_late && catalogs_.has_untold()) || catalogs_.brings_back();
  if (has_list_news_) return notices_.on_news();
  if (kind) {
    catalogs_.mark_told(*kind);
  } else {
    catalogs_.mark_told();
  }
}

void News::amend_compared(const std::vector<ListSurvey::List>& lists) {
  RestartNotice notice = *notices_.restart();
  std::erase_if(notice.not_compared, [&](CatalogKind kind) {
    return std::any_of(lists.begin(), lists.end(), [&](const ListSurvey::List& list) {
      return list.kind == kind && list.state == ListSurvey::List::State::complete;
    });
  });
  notices_.amend_restart(std::move(notice));
}

/// Finds what clients refuse in a list, and takes it out.
void News::lint_pages(ListSurvey::List& list) {
  const bool is_complete = list.state == ListSurvey::List::State::complete;
  if (!lints_.is_on() || (!is_complete && list.frame.empty())) return;
  const Method method = list_method(list.kind);
  std::vector<std::string> around;
  if (list.is_endless) around.push_back(endless_finding(method, list.repeated_cursor));
  if (!list.frame.empty()) {
    for (std::string& finding : lint_page(method, revision(), list.frame)) {
      around.push_back(std::move(finding));
    }
  }
  std::vector<std::string> within;
  for (std::string& page : list.pages) {
    ListLint lint = lint_list(method, revision(), page, fine_items_);
    within.insert(within.end(), lint.findings.begin(), lint.findings.end());
    if (lint.kept) page = std::move(*lint.kept);
  }
  const bool has_more = lints_.on_pages(method, std::move(around));
  if ((is_complete && lints_.on_items(method, std::move(within))) || has_more) {
    notices_.on_news();
  }
}

/// Tells the client which lists have changed, by their kinds.
void News::announce(const CatalogComparison& comparison) {
  const ClientRequest* const cause = desk_.requests().first_waiting_request();
  const bool is_listing =
      cause != nullptr && cause->method == Method::tools_list && cause->is_first_page;
  for (const CatalogKind kind : kCatalogKinds) {
    if (!comparison.changed[static_cast<std::size_t>(kind)]) continue;
    // The client is listing the tools already, so it learns of the change from the answer.
    if (kind == CatalogKind::tools && is_listing) continue;
    const bool was_told = desk_.tell_changed(kind);
    // A client that has closed our input lists nothing again.
    if (was_told && kind == CatalogKind::tools && ending_.is_none()) {
      relist_.meet(desk_.client());
      relist_.on_announced(now_, comparison.output_changed,
                           desk_.streams().wants(CatalogKind::tools));
    }
  }
}

/// Notes what the answer to our tools/list tells of a child that has no opening.
void News::note_era(Child& child, const std::vector<ListSurvey::List>& lists) {
  for (const ListSurvey::List& list : lists) {
    if (list.kind != CatalogKind::tools) continue;
    child.handshake.on_named(list.server_info);
    if (list.is_stateless || list.state == ListSurvey::List::State::complete) continue;
    out_.log(Level::warn,
             fmt::format("child {} did not list its tools as a server of the stateless "
                         "revision does, which this client speaks; perhaps it has to be "
                         "opened with initialize",
                         child.gen()));
  }
}

void News::restore_subscriptions(const Child& child) {
  for (const std::string& uri : child.handshake.lost_subscriptions())
    desk_.opening().unsubscribe(uri);
  // No child tells the client what changed while none served.
  for (const std::string& uri : child.handshake.restored_subscriptions()) {
    desk_.to_client(Outgoing::own(notification_line(method_name(Method::resources_updated),
                                                    fmt::format(R"json({{"uri":{}}})json", uri))));
  }
}

// ---- the lists that the client gets

void News::pass_tools(Child& child, ClientRequest& request, const Message& message, Edits& edits) {
  if (message.kind == Message::Kind::error) {
    if (request.is_first_page && has_code(message.error, ErrorCode::method_not_found)) {
      answer_last_list(request);
    } else {
      desk_.answer(request, edits.outgoing());
    }
    return;
  }
  const std::string_view tools = member(message.result, "tools");
  if (request.is_first_page && !child.is_retiring() && tools.size() <= limits::kListBytesMax) {
    make_way_for_page(tools);
  }
  const bool is_last =
      amend_page(child, request, message.result,
                 fmt::format("{}", fmt::join(desk_.names().definitions(), ",")), edits);
  desk_.answer(request, edits.outgoing());
  if (!child.is_retiring()) on_client_listed(is_last);
}

std::optional<std::string> News::mended_page(const Child& child, const ClientRequest& request,
                                             std::string_view result, Line line) {
  const Method method = request.method;
  const Revision revision = revision_of(request);
  const auto [items, cursor, type] =
      members<3>(result, {items_name(method), "nextCursor", "resultType"});
  if (!lints_.is_on() || !is_object(result) || items.size() > limits::kListBytesMax) {
    return std::nullopt;
  }
  // It is no list yet.
  if (request.is_stateless && is_known_type(type) && !is_complete(type)) return std::nullopt;
  Edits edits(line);
  std::vector<std::string> around = mend_page(method, result, edits);
  ListLint lint = lint_list(method, revision, items, fine_items_);
  const bool is_mended = !around.empty() || lint.kept;
  if (lint.kept) edits.replace(items, std::move(*lint.kept));
  if (!child.is_retiring()) {
    const bool is_whole = request.is_first_page && is_array(items) && !cursor.starts_with('"');
    if (is_whole && lints_.on_items(method, std::move(lint.findings))) notices_.on_news();
    if (method == Method::resource_templates_list) {
      if (lints_.on_pages(method, lint_page(method, revision, result))) notices_.on_news();
    } else {
      for (std::string& finding : around) on_finding(std::move(finding));
    }
  }
  return is_mended ? std::optional(edits.apply()) : std::nullopt;
}

bool News::amend_page(Child& child, const ClientRequest& request, std::string_view result,
                      const std::string& more, Edits& edits) {
  const Method method = request.method;
  const auto [items, cursor] = members<2>(result, {items_name(method), "nextCursor"});
  const std::size_t asked = request.extra ? request.extra->cursor : 0;
  const Cursors::Step step = child.cursors.add(method, asked, items, cursor);
  const bool is_endless = !step.leads_onward() && lints_.is_on() && is_array(items);
  if (is_endless) {
    edits.remove(result, cursor);
    if (step.repeats) edits.replace(items, "[]");
  }
  if (!child.is_retiring()) {
    if (is_endless) on_finding(endless_finding(method, step.leads_back ? cursor : ""));
    for (const CatalogKind kind : kCatalogKinds) {
      if (request.is_first_page && list_method(kind) == method) note_listed(kind, items, cursor);
    }
    // Templates are not compared, so only the client's own question shows them.
    if (method == Method::resource_templates_list) {
      catalogs_.take_templates(items, request.is_first_page);
    }
  }
  if (request.is_first_page && is_array(items)) edits.append(items, more);
  if (request.is_stateless) {
    expire(result, edits);
    mend_type(child, request, result, member(result, "resultType"), edits);
  }
  return is_endless || !cursor.starts_with('"');
}

void News::mend_type(const Child& child, const ClientRequest& request, std::string_view result,
                     std::string_view type, Edits& edits) {
  const Method method = request.method;
  // Clients take a probe without it.
  if (!lints_.is_on() || method == Method::server_discover || is_known_type(type)) return;
  if (is_type_mended(method, type)) {
    constexpr char kComplete[] = R"json("complete")json";
    if (type.empty()) {
      edits.prepend(result, fmt::format(R"json("resultType":{})json", kComplete));
    } else {
      edits.replace(type, kComplete);
    }
  }
  if (!child.is_retiring()) on_finding(type_finding(method, type));
}

/// A built-in tool makes way for a tool of the server with the same name. The client may get this
/// page before the bridge has taken the list itself.
void News::make_way_for_page(std::string_view tools) {
  std::vector<std::string> names = catalogs_.tools().names();
  for (const std::string_view item : json_elements(tools)) {
    names.push_back(string_value(member(item, "name")));
  }
  desk_.names().make_way_for(names);
}

void News::note_listed(CatalogKind kind, std::string_view items, std::string_view cursor) {
  if (!is_array(items) || cursor.starts_with('"') || items.size() > limits::kListBytesMax) return;
  catalogs_.take_page(kind, items);
  on_lists_known(kind, false);
}

void News::answer_last_list(ClientRequest& request) {
  const Method method = request.method;
  const bool is_tools = method == Method::tools_list;
  desk_.answer_list(request, catalogs_.last_list(method, is_tools ? desk_.names().definitions()
                                                                  : std::vector<std::string>()));
  if (is_tools) on_client_listed(true);
}

bool News::answers_lists_meanwhile() const {
  return servers_.absence() != nullptr && catalogs_.tools().is_known() &&
         !servers_.generations().takes_requests();
}

}  // namespace sitter
