#include "core/child/list_survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/base/raw_id.hpp"
#include "core/child/unopened.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/method.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Answer = ListSurvey::List::Answer;
using State = ListSurvey::List::State;

namespace {

/// The pages of each list that is compared after a respawn. A server may make up a new cursor each
/// time.
constexpr int kListPagesMax = 100;

Milliseconds wait_of(CatalogKind kind) {
  return kind == CatalogKind::tools ? limits::kToolsListWait : limits::kOtherListWait;
}

}  // namespace

void ListSurvey::begin(CatalogKind kind, Now now, Orders& out) {
  const auto known = std::find_if(lists_.begin(), lists_.end(),
                                  [&](const List& list) { return list.kind == kind; });
  if (known != lists_.end()) {
    if (known->restarts == limits::kListRestartsMax) {
      known->is_outdated = true;
      return;
    }
    ++known->restarts;
    if (known->state != State::late) known->state = State::asking;
    known->is_endless = false;
    known->repeated_cursor.clear();
    known->items.clear();
    known->pages.clear();
    known->bytes = 0;
    known->cursors.clear();
    ask(*known, {}, out);
    return;
  }
  List& list = lists_.emplace_back();
  list.kind = kind;
  if (has_clock_) list.deadline = now.steady + wait_of(kind);
  ask(list, {}, out);
}

void ListSurvey::start_clock(Now now) {
  if (std::exchange(has_clock_, true)) return;
  for (List& list : lists_) list.deadline = now.steady + wait_of(list.kind);
}

void ListSurvey::ask(List& list, std::string_view cursor, Orders& out) {
  list.id = make_id_();
  const std::string meta = make_meta_();
  const std::string params =
      fmt::format("{{{}{}{}}}", cursor.empty() ? "" : fmt::format(R"json("cursor":{})json", cursor),
                  cursor.empty() || meta.empty() ? "" : ",",
                  meta.empty() ? "" : fmt::format(R"json("_meta":{})json", meta));
  out.push(order::SendToChild{
      gen_, Outgoing::own(request_line(list.id, method_name(list_method(list.kind)), params))});
}

bool ListSurvey::on_answer(const Message& answer, Orders& out) {
  const auto list = std::find_if(lists_.begin(), lists_.end(),
                                 [&](const List& l) { return same_id(l.id, answer.id); });
  if (list == lists_.end()) return false;
  if (list->state != State::asking && list->state != State::late) return true;
  list->answer = Answer::usual;
  if (answer.kind == Message::Kind::error) {
    // Without a handshake, only the answer shows that a server has nothing of this kind.
    if (has_code(answer.error, ErrorCode::method_not_found) && !make_meta_().empty()) {
      list->answer = Answer::absent;
    } else if (may_mean_unopened(answer.error)) {
      list->answer = Answer::refused;
    } else if (!has_code(answer.error, ErrorCode::internal_error)) {
      list->is_stateless = true;
    }
    list->state = list->answer == Answer::absent ? State::complete : State::failed;
    const bool is_short = answer.error.size() <= limits::kRefusalBytesMax;
    if (is_short && names_opening(answer.error)) list->refusal = answer.error;
    return true;
  }
  const auto [items, cursor, type, meta] =
      members<4>(answer.result, {catalog_name(list->kind), "nextCursor", "resultType", "_meta"});
  list->is_stateless = !type.empty();
  list->server_info = member(meta, kMetaServerInfo);
  if (!is_array(items)) {
    list->state = State::failed;
    if (answer.result.size() <= limits::kFrameBytesMax) list->frame = answer.result;
    return true;
  }
  list->bytes += items.size();
  if (list->bytes > limits::kListBytesMax) {
    list->state = State::failed;
    list->pages.clear();
    return true;
  }
  list->pages.emplace_back(items);
  list->frame.clear();
  if (answer.result.size() - items.size() <= limits::kFrameBytesMax) {
    const auto before = static_cast<std::size_t>(items.data() - answer.result.data());
    list->frame = fmt::format("{}[]{}", answer.result.substr(0, before),
                              answer.result.substr(before + items.size()));
  }
  const std::size_t item_count = list->items.size();
  const auto elements = json_elements(items);
  for (const std::string_view item : elements) {
    list->items.insert(std::hash<std::string_view>()(item));
  }
  const bool is_known = !elements.empty() && list->items.size() == item_count;
  if (!cursor.starts_with('"')) {
    list->state = State::complete;
  } else if (const bool is_new = list->cursors.emplace(cursor).second; !is_new || is_known) {
    // Names that come twice count once, so the page may be one that has come before.
    list->is_endless = true;
    if (!is_new) list->repeated_cursor = cursor;
    list->state = State::complete;
  } else if (list->pages.size() == kListPagesMax) {
    list->state = State::failed;
  } else {
    ask(*list, cursor, out);
  }
  return true;
}

void ListSurvey::on_timeout(Now now) {
  for (List& list : lists_) {
    if (list.state == State::asking && is_due(list.deadline, now)) list.state = State::late;
  }
}

std::optional<Instant> ListSurvey::deadline() const {
  std::optional<Instant> first;
  for (const List& list : lists_) {
    if (list.state == State::asking) earlier(first, list.deadline);
  }
  return first;
}

std::vector<ListSurvey::List> ListSurvey::take() {
  std::vector<List> taken;
  for (List& list : lists_) {
    const bool is_late = list.state == State::late;
    if (is_late && list.was_late) continue;
    taken.push_back(list);
    if (!is_late) continue;
    taken.back().state = State::failed;
    list.was_late = true;
  }
  std::erase_if(lists_, [](const List& list) { return list.state != State::late; });
  return taken;
}

bool ListSurvey::is_done() const {
  return std::none_of(lists_.begin(), lists_.end(),
                      [](const List& list) { return list.state == State::asking; });
}

}  // namespace sitter
