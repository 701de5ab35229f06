#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/child/servers.hpp"
#include "core/wire/method.hpp"
#include "core/wire/reply.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Level = order::Log::Level;

void Servers::on_child_request(Child& child, const Message& message, Line line) {
  if (!desk_.opening().session().is_asked()) {
    // No client of the stateless revision would answer.
    out_.log(Level::warn, fmt::format("child {} sent a request ({}) outside of a session that was "
                                      "opened with initialize; it was dropped",
                                      child.gen(), brief(message.method_text, 100)));
    return;
  }
  const std::string_view token = message.params.meta_progress_token;
  if (!questions_.has_room(message.id, token)) {
    // A child that asks and does not read would fill its queue with these errors.
    if (!child.life.is_up() || !child.input.is_open()) return;
    out_.push(order::SendToChild{
        child.gen(),
        Outgoing::own(error_line(
            message.id, ErrorCode::internal_error,
            fmt::format("the client has {} requests of the server unanswered, and mcp-sitter "
                        "passes on at most {}, with {} bytes of ids and progress tokens",
                        questions_.count(), limits::kChildRequestsMax,
                        limits::kChildRequestBytesMax)))});
    return;
  }
  const std::string id = questions_.add(child.gen(), message.id, token);
  Edits edits(line);
  edits.replace(message.id, id);
  if (!token.empty()) edits.replace(token, id);
  desk_.to_client(edits.outgoing());
}

ClientRequest* Servers::find_sent(const Child& child, std::string_view raw_id) {
  ClientRequests& requests = desk_.requests();
  ClientRequest* const request = requests.find_sent(raw_id, child.gen());
  if (request != nullptr || !child.may_round(raw_id)) return request;
  if (desk_.streams().find(raw_id, child.gen()) != nullptr) return nullptr;
  return requests.find_rounded(raw_id, child.gen());
}

bool Servers::add_noise(Child& child, std::string_view text) {
  constexpr std::size_t kept = limits::kStderrLineMax;
  const std::string shown = secrets_.masked(text.substr(0, kept), text.size() > kept);
  ring_of(child).add_stdout(child.gen(), shown, text.size() - std::min(text.size(), kept));
  if (const Announcement announcement = announcement_in(text); announcement != Announcement::none) {
    expect_own_restart(child, announcement);
    return false;
  }
  if (!history_.add_noise(child.gen(), shown)) return false;
  out_.log(Level::warn, fmt::format("child {} {} what is not a message: {}", child.gen(),
                                    traits_.wrote_noise, history_.noise()->first_line));
  return true;
}

void Servers::on_sent(Generation gen, const Outgoing& line) {
  if (Child* const child = generations_.find(gen)) child->echo.on_sent(line);
}

/// An echo that has other bytes, as from a terminal that cuts long lines, shows itself by a request
/// that only clients send.
bool Servers::is_echo(Child& child, const Message& message, std::string_view line) {
  if (child.echo.hears(line)) return true;
  const bool may_be_servers = message.method == Method::other || message.method == Method::ping;
  if (message.kind != Message::Kind::request || may_be_servers) return false;
  const ClientRequest* const sent = desk_.requests().find_sent(message.id, child.gen());
  return (sent != nullptr && sent->method == message.method) ||
         (message.method == Method::initialize &&
          same_id(message.id, child.handshake.opening_id())) ||
         desk_.has_given_id(message.id);
}

bool Servers::add_echo(Child& child, std::string_view line) {
  constexpr std::size_t kept = limits::kStderrLineMax;
  child.echo.on_seen();

  if (!history_.add_noise(child.gen(), secrets_.masked(line.substr(0, kept), line.size() > kept),
                          true)) {
    return false;
  }
  out_.log(Level::warn, fmt::format("child {} sends back what it is sent", child.gen()));
  return true;
}

void Servers::on_setting_accepted(const Child& child, const ClientRequest& request) {
  const Message* const setting = desk_.read_kept(request.extra->line.line());
  if (setting == nullptr) return;
  const Message::Params& params = setting->params;
  Opening& opening = desk_.opening();
  if (setting->method == Method::logging_set_level) opening.set_log_level(params.level);
  if (setting->method == Method::resources_subscribe && !opening.subscribe(params.uri)) {
    out_.log(Level::warn,
             fmt::format("a subscription is not made again after a restart: at most {} are "
                         "remembered, with {} bytes of URIs",
                         limits::kSubscriptionsMax, limits::kSubscriptionBytesMax));
  }
  if (setting->method == Method::resources_unsubscribe) opening.unsubscribe(params.uri);
  // Without a session a server keeps nothing of the kind.
  if (!opening.session().is_asked()) return;
  const bool is_level = setting->method == Method::logging_set_level;
  for (const Child& other : generations_) {
    // A child that has taken the settings must be told a later change. A child that has not will
    // be told all of them.
    const bool was_told = other.handshake.has_told_settings();
    const bool can_be_told = is_level ? other.may_have("logging") : other.may_have("resources");
    if (other.gen() <= child.gen() || !other.life.is_up() || !was_told || !can_be_told) continue;
    out_.push(order::SendToChild{
        other.gen(), Outgoing::own(request_line(
                         desk_.next_id(), method_name(setting->method),
                         is_level ? fmt::format(R"json({{"level":{}}})json", params.level)
                                  : fmt::format(R"json({{"uri":{}}})json", params.uri)))});
  }
}

}  // namespace sitter
