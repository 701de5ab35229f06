#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/child/call_replay.hpp"
#include "core/child/replays.hpp"
#include "core/client/opening.hpp"
#include "core/client/session.hpp"
#include "core/report/catalogs.hpp"
#include "core/report/notices.hpp"
#include "core/wire/method.hpp"
#include "core/wire/protocol.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Level = order::Log::Level;

/// A page of the child's tools. The built-in tools are appended to the first page.
void Conductor::pass_tools(Child& child, ClientRequest& request, const Message& message,
                           Edits& edits) {
  if (message.kind == Message::Kind::error) {
    if (request.is_first_page && has_code(message.error, ErrorCode::method_not_found)) {
      answer_last_list(request);
    } else {
      answer(request, edits.outgoing());
    }
    return;
  }
  const auto [tools, cursor] = members<2>(message.result, {"tools", "nextCursor"});
  if (request.is_first_page && is_array(tools)) {
    if (!child.is_retiring()) {
      if (tools.size() <= limits::kListBytesMax) make_way_for_page(tools);
      note_listed(CatalogKind::tools, tools, cursor);
    }
    edits.append(tools, fmt::format("{}", fmt::join(names_.definitions(), ",")));
  }
  if (request.is_stateless) expire(message.result, edits);
  child.keep_cursor(cursor);
  answer(request, edits.outgoing());
  if (!child.is_retiring()) on_client_listed(!cursor.starts_with('"'));
}

/// What the result of any other request means to the bridge. The result of a retiring child reaches
/// the client, but changes nothing that the bridge knows about the server.
void Conductor::on_success(Child& child, const ClientRequest& request, std::string_view result,
                           Edits& edits) {
  switch (request.method) {
    case Method::resource_templates_list:
      // Templates are not compared, so only the client's own question shows them.
      if (!child.is_retiring()) {
        catalogs_->take_templates(member(result, "resourceTemplates"), request.is_first_page);
      }
      [[fallthrough]];
    case Method::prompts_list:
    case Method::resources_list:
      for (const CatalogKind kind : kCatalogKinds) {
        if (list_method(kind) != request.method || !request.is_first_page) continue;
        if (!child.is_retiring())
          note_listed(kind, member(result, catalog_name(kind)), member(result, "nextCursor"));
      }
      child.keep_cursor(member(result, "nextCursor"));
      if (request.is_stateless) expire(result, edits);
      break;
    case Method::resources_read:
      if (request.is_stateless) expire(result, edits);
      break;
    case Method::server_discover:
      on_discovered(child, result, edits);
      break;
    case Method::logging_set_level:
    case Method::resources_subscribe:
    case Method::resources_unsubscribe:
      on_setting_accepted(child, request);
      break;
    case Method::initialize:
      if (!member(result, "protocolVersion").starts_with('"')) break;
      on_second_opening(request, result);
      amend_opening(result, names_.instructions(), edits);
      break;
    default:
      break;
  }
}

/// The lists that the client got are the baseline for the next child. Only lists of one page count.
void Conductor::note_listed(CatalogKind kind, std::string_view items, std::string_view cursor) {
  if (!is_array(items) || cursor.starts_with('"') || items.size() > limits::kListBytesMax) return;
  catalogs_->take_page(kind, items);
  if (kind == CatalogKind::tools) lint_tools();
  if (notices_->restart() == nullptr) catalogs_->mark_told(kind);
}

void Conductor::on_discovered(Child& child, std::string_view result, Edits& edits) {
  if (!is_array(member(result, "supportedVersions"))) {
    out_.log(Level::warn,
             fmt::format("child {} answered server/discover without supportedVersions, "
                         "which no client can use",
                         child.gen()));
    return;
  }
  OpeningResult discovered = OpeningResult::of_discovery(result);
  child.handshake.on_discovered(discovered);
  if (!child.is_retiring()) opening_->on_discovered(std::move(discovered));
  amend_opening(result, names_.instructions(), edits);
  expire(result, edits);
}

/// A built-in tool makes way for a tool of the server with the same name. The client may get this
/// page before the bridge has taken the list itself.
void Conductor::make_way_for_page(std::string_view tools) {
  std::vector<std::string> names = catalogs_->tools().names();
  for (const std::string_view item : json_elements(tools)) {
    names.push_back(string_value(member(item, "name")));
  }
  names_.make_way_for(names);
}

/// What a request has set up is remembered only now, since the child could have refused it.
void Conductor::on_setting_accepted(const Child& child, const ClientRequest& request) {
  const Message* const setting = kept_reader_.read(request.extra->line.line());
  if (setting == nullptr) return;
  const Message::Params& params = setting->params;
  if (setting->method == Method::logging_set_level) opening_->set_log_level(params.level);
  if (setting->method == Method::resources_subscribe && !opening_->subscribe(params.uri)) {
    out_.log(Level::warn,
             fmt::format("a subscription is not made again after a restart: at most {} are "
                         "remembered, with {} bytes of URIs",
                         limits::kSubscriptionsMax, limits::kSubscriptionBytesMax));
  }
  if (setting->method == Method::resources_unsubscribe) opening_->unsubscribe(params.uri);
  // Without a session a server keeps nothing of the kind.
  if (!opening_->session().is_asked()) return;
  const bool is_level = setting->method == Method::logging_set_level;
  for (const Child& other : generations_) {
    // A child that has taken the settings must be told a later change. A child that has not will
    // be told all of them.
    const bool was_told = other.handshake.has_told_settings();
    const bool can_be_told = is_level ? other.may_have("logging") : other.may_have("resources");
    if (other.gen() <= child.gen() || !other.life.is_up() || !was_told || !can_be_told) continue;
    out_.push(order::SendToChild{
        other.gen(), Outgoing::own(request_line(
                         ids_.next(requests_), method_name(setting->method),
                         is_level ? fmt::format(R"json({{"level":{}}})json", params.level)
                                  : fmt::format(R"json({{"uri":{}}})json", params.uri)))});
  }
}

bool Conductor::is_replayed(const ClientRequest& request) const {
  return request.method == Method::tools_call && !request.wants_task &&
         replays_->repeats(request.tool);
}

void Conductor::note_replayed(Child& child, const ClientRequest& request, std::string_view result) {
  if (!replays_->is_news(request.tool, child.gen()) || !is_complete_success(result)) return;
  const Message* const call =
      request.has_line() ? kept_reader_.read(request.extra->line.line()) : nullptr;
  const std::string_view arguments = call ? member(call->params_raw, "arguments") : "";
  if (call == nullptr || arguments.size() > limits::kReplayBytesMax) {
    out_.log(Level::warn,
             fmt::format("a call of {} is not made again: at most {} bytes of its arguments are "
                         "kept",
                         request.tool, limits::kReplayBytesMax));
    replays_->forget(request.tool);
    return;
  }
  replays_->on_success(request.tool, arguments, child.gen(), request.order, child.calls_made);
}

}  // namespace sitter
