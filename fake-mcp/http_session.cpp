#include "http_session.hpp"

#include <charconv>
#include <utility>

#include "json.hpp"
#include "streams.hpp"

namespace sitter::fake {
namespace {

constexpr long long kMethodNotFound = -32601;
constexpr long long kHeaderMismatch = -32020;
constexpr long long kMissingCapability = -32021;
constexpr long long kUnsupportedVersion = -32022;

/// The status of the response that carries this error in the modern era.
int modern_status(long long error_code) {
  switch (error_code) {
    case kMethodNotFound:
      return 404;
    case kHeaderMismatch:
    case kMissingCapability:
    case kUnsupportedVersion:
      return 400;
    default:
      return 200;
  }
}

}  // namespace

HttpSession::HttpSession(const Options& options, const Journal& journal, Era era, std::string id)
    : options_(options),
      id_(std::move(id)),
      session_(options, *this),
      receiver_(options, session_, journal) {
  session_.era = era;
  channels_.try_emplace(kNoExchange, options_.http, kNoExchange, headers());
}

HttpHeaders HttpSession::headers() const {
  if (id_.empty()) return {};
  return {{"Mcp-Session-Id", id_}};
}

void HttpSession::on_request(Exchange exchange, const std::shared_ptr<Connection>& connection,
                             std::string_view text, const Manner& manner) {
  Channel& channel =
      channels_.try_emplace(exchange, options_.http, exchange, headers()).first->second;
  channel.carry(connection);
  if (manner.closes_before_answer) channel.close_before_answer();
  {
    const Within within(session_.output, exchange);
    if (manner.big_event > 0) {
      const std::string data = json_quoted(std::string(manner.big_event, 'x'));
      session_.output.notify("notifications/message",
                             object_of({{"level", "\"info\""}, {"data", data}}));
    }
    receiver_.on_line(text);
  }
  if (const auto found = channels_.find(exchange); found != channels_.end()) {
    found->second.on_handled(manner.begins_stream);
  }
}

void HttpSession::on_other(std::string_view text) { receiver_.on_line(text); }

void HttpSession::on_gone(Exchange exchange, std::string_view id) {
  session_.cancel(exchange, id);
  channels_.erase(exchange);
}

void HttpSession::listen(const std::shared_ptr<Connection>& connection) {
  standalone().carry_as_stream(connection);
}

bool HttpSession::is_listened() const { return channels_.at(kNoExchange).is_carried(); }

bool HttpSession::resume(const std::shared_ptr<Connection>& connection,
                         std::string_view last_event_id) {
  Exchange exchange = 0;
  std::size_t event = 0;
  const char* end = last_event_id.data() + last_event_id.size();
  const auto [dash, fault] = std::from_chars(last_event_id.data(), end, exchange);
  if (fault != std::errc{} || dash == end || *dash != '-') return false;
  if (std::from_chars(dash + 1, end, event).ptr != end) return false;
  const auto found = channels_.find(exchange);
  if (found == channels_.end() || !found->second.has(event)) return false;
  found->second.carry_as_stream(connection, event);
  return true;
}

void HttpSession::end() {
  session_.streams.end();
  for (auto& [exchange, channel] : channels_) channel.end();
}

void HttpSession::answer(Exchange exchange, std::string_view text, long long error_code) {
  const auto found = channels_.find(exchange);
  if (found == channels_.end()) return;
  found->second.answer(text, session_.era == Era::legacy ? 200 : modern_status(error_code),
                       !in_burst_);
  if (!options_.http.event_ids) channels_.erase(found);
}

void HttpSession::message(Exchange exchange, std::string_view text) {
  channel_for(exchange, text).message(text, !in_burst_);
}

void HttpSession::endless_answer(Exchange exchange, std::size_t bytes) {
  answer(exchange, std::string(bytes, 'x'), 0);
}

/// The channel that takes this message, which is no answer.
Channel& HttpSession::channel_for(Exchange exchange, std::string_view text) {
  const auto found = channels_.find(exchange);
  if (found == channels_.end() || found->second.is_over()) return standalone();
  Message message;
  const bool prefers_get = session_.era == Era::legacy && is_listened() &&
                           read_message(text, message) && is_change(text_of(message.method));
  return prefers_get ? standalone() : found->second;
}

}  // namespace sitter::fake
