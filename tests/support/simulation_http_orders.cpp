#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/http/http_link_limits.hpp"
#include "support/sent_headers.hpp"
#include "support/simulation_http_network.hpp"
#include "support/simulation_said.hpp"

/// What the link orders over HTTP, and what must hold for each order.
namespace sitter::sim {

using nlohmann::json;
using Verb = order::HttpSend::Method;

namespace {

/// How often a session may be asked for at one moment.
constexpr int kOpeningsMax = 5;

/// The number of the client's request; 0 for any other message.
int mark_of(const json& message) {
  const bool is_request =
      message.is_object() && message.contains("method") && message.contains("id");
  const bool is_of_client =
      is_request && message["id"].is_number_integer() && message["id"] < kMarkMax;
  return is_of_client ? message["id"].get<int>() : 0;
}

}  // namespace

void HttpNetwork::take(const order::HttpConnect& order, Instant now) {
  now_ = now;
  check_connect();
  Exchange exchange;
  exchange.is_connect = true;
  exchanges_.emplace(order.exchange, std::move(exchange));
}

void HttpNetwork::take(const order::HttpSend& order, Instant now) {
  now_ = now;
  if (order.exchange <= last_) throw Broken("an exchange comes again");
  last_ = order.exchange;
  Exchange exchange;
  exchange.sent = order;
  exchange.life = server_.life();
  const json message =
      order.method == Verb::post ? json::parse(order.body, nullptr, false) : json();
  const std::string method = message.is_object() ? message.value("method", "") : "";
  exchange.is_request = !method.empty() && message.contains("id");
  exchange.is_notification = order.method == Verb::post && !exchange.is_request;
  exchange.is_opening = method == "initialize";
  exchange.is_listen = method == "subscriptions/listen";
  exchange.is_resumption = !sent_value(order, "Last-Event-ID").empty();
  exchange.mark = mark_of(message);
  exchange.is_probe = exchange.is_request && message["id"] == "mcp-sitter-probe";
  if (method == "notifications/initialized") is_open_ = true;
  check(exchange);
  check_session(exchange);
  if (order.method == Verb::post) check_turn(exchange);
  if (exchange.is_resumption) {
    check_resumption(exchange);
    const HttpServer::Work* const work = work_after(exchange);
    exchange.is_resumed_request = work != nullptr && !work->id.empty();
  }
  waiting_.erase(exchange.mark);
  if (exchange.mark != 0) ++said_.requests.at(exchange.mark).sent;
  exchanges_.emplace(order.exchange, std::move(exchange));
}

void HttpNetwork::take(const order::HttpAbort& order, Instant now) {
  now_ = now;
  const auto found = exchanges_.find(order.exchange);
  if (found == exchanges_.end()) throw Broken("an exchange is given up that is over");
  const Exchange exchange = std::move(found->second);
  exchanges_.erase(found);
  on_cut(exchange);
  note_cut_refusal(exchange);
}

void HttpNetwork::on_child_ordered(Generation gen) {
  if (std::exchange(gen_, gen) != gen) refused_at_ = {};
  sessions_.open.clear();
  is_open_ = false;
}

/// A daemon that was not there is not tried again at once, and nothing of the former child is left.
void HttpNetwork::check_connect() {
  if (std::exchange(asks_after_exit_, false)) return;
  if (!exchanges_.empty()) throw Broken("an exchange of the former child is open");
  if (now_ == refused_at_ && !scene_.is_started_here) {
    throw Broken("a daemon that does not listen is tried again at once");
  }
}

/// The headers that every request has.
void HttpNetwork::check(const Exchange& exchange) const {
  const order::HttpSend& sent = exchange.sent;
  if (sent.method != Verb::post && !sent.body.empty()) throw Broken("a body without a POST");
  if (!scene_.is_stateless() && is_open_ && !exchange.is_opening &&
      sent_value(sent, "MCP-Protocol-Version") != kVersion) {
    throw Broken("the version of the session is not named");
  }
  if (sent.listener != listener_) throw Broken("any process that listens would be sent this");
  const bool has_stream = std::any_of(exchanges_.begin(), exchanges_.end(), [&](const auto& entry) {
    return entry.second.is_session_stream();
  });
  if (has_stream && exchange.is_session_stream()) throw Broken("a session gets a second stream");
  if (sent.target == "/other") throw Broken("a request for another server");
  if (sent_value(sent, "X-Secret") != "s") throw Broken("the header of the user is not sent");
}

void HttpNetwork::check_session(const Exchange& exchange) {
  const std::string named = sent_value(exchange.sent, "Mcp-Session-Id");
  if (exchange.is_opening) {
    if (!named.empty()) throw Broken("an opening names a session");
    if (std::exchange(opening_.at, now_) != now_) opening_.count = 0;
    if (++opening_.count > kOpeningsMax) throw Broken("a session is asked for again and again");
  } else if (named != sessions_.open) {
    throw Broken("a request names the session '" + named + "' instead of '" + sessions_.open + "'");
  }
  // The refusal of a request that was given up is not read.
  const bool is_end = exchange.sent.method == Verb::del;
  if (is_end) sessions_.ended.insert(named);
  if (!named.empty() && named == sessions_.lost && !is_end)
    throw Broken("a lost session is used again");
}

/// Notifications and answers hold what follows them.
bool HttpNetwork::is_held() const {
  return std::any_of(exchanges_.begin(), exchanges_.end(), [](const auto& entry) {
    const Exchange& other = entry.second;
    const int status = other.has_head ? other.reply.status : 0;
    const bool is_first = other.sent.body.find("notifications/initialized") != std::string::npos;
    const bool waits_alone = (status == 429 || status == 503) && !is_first;
    return other.is_notification && !waits_alone && (status == 0 || status >= 300);
  });
}

void HttpNetwork::on_given(std::string_view line, Instant now) {
  const int mark = mark_of(json::parse(line, nullptr, false));
  if (mark != 0 && !said_.requests.at(mark).is_builtin) waiting_.emplace(mark, now);
}

void HttpNetwork::on_given_back(std::string_view line) {
  waiting_.erase(mark_of(json::parse(line, nullptr, false)));
}

/// What may wait for the rest of its answer takes a place too, and so may requests of the bridge.
bool HttpNetwork::has_room() const {
  const auto takes_place = [](const auto& entry) {
    const HttpSaid::Request& asked = entry.second;
    return asked.sent > 0 && !asked.is_answered && !asked.is_cancelled;
  };
  const auto is_of_bridge = [](const auto& entry) { return entry.second.mark == 0; };
  const auto count = std::count_if(said_.requests.begin(), said_.requests.end(), takes_place) +
                     std::count_if(exchanges_.begin(), exchanges_.end(), is_of_bridge);
  return static_cast<std::size_t>(count) < limits::kHttpRequestsMax;
}

void HttpNetwork::check_waits(Instant now) {
  // A process that starts has a time of its own.
  if (scene_.is_started_here) return;
  const bool is_probing = std::any_of(exchanges_.begin(), exchanges_.end(),
                                      [](const auto& entry) { return entry.second.is_probe; });
  const bool was_free = std::exchange(is_free_, !is_held() && !is_probing && has_room());
  if (!was_free || !is_free_) free_since_ = now;
  const Milliseconds limit = std::max(said_.patience, limits::kHttpLaunchPatience);
  std::erase_if(waiting_, [&](const auto& entry) {
    const HttpSaid::Request& asked = said_.requests.at(entry.first);
    return asked.is_answered || asked.is_cancelled;
  });
  for (const auto& [mark, since] : waiting_) {
    if (now > std::max(since, free_since_) + limit) {
      throw Broken(fmt::format("request {} waits, and nothing holds it", mark));
    }
  }
}

/// There is room for so many requests.
void HttpNetwork::check_turn(const Exchange& exchange) {
  // What is redirected keeps the turn that it had, and what was not taken waits alone.
  if (const auto found = sent_again_.find(exchange.sent.body); found != sent_again_.end()) {
    sent_again_.erase(found);
    return;
  }
  if (is_held() && !exchange.is_listen) {
    throw Broken("a line was sent before a notification was taken");
  }
  std::size_t under_way = 0;
  for (const auto& [id, other] : exchanges_) {
    const bool is_asked = (other.is_request && !other.is_probe) || other.is_resumed_request;
    const bool takes_no_place = other.mark != 0 && (said_.requests.at(other.mark).is_cancelled ||
                                                    said_.requests.at(other.mark).is_builtin);
    if (is_asked && !other.is_listen && !other.is_answered && !takes_no_place) ++under_way;
  }
  if (!exchange.is_request || exchange.is_probe) return;
  const bool is_ping = exchange.mark != 0 && said_.requests.at(exchange.mark).is_builtin;
  if (!exchange.is_listen && !is_ping && under_way >= limits::kHttpRequestsMax) {
    throw Broken("too many requests are under way");
  }
  // A ping passes the requests that wait.
  if (exchange.mark == 0 || exchange.is_listen || is_ping) return;
  if (said_.requests.at(exchange.mark).sent > 0) return;
  for (const auto& [mark, earlier] : said_.requests) {
    if (mark >= exchange.mark) break;
    const bool waits = earlier.sent == 0 && !earlier.is_answered && !earlier.is_cancelled;
    const bool is_list = earlier.method == "subscriptions/listen" || earlier.method == "tools/list";
    const bool may_be_failed = earlier.was_meant_by_kill || now_ >= earlier.patient_until;
    if (waits && !earlier.is_builtin && !may_be_failed && !is_list) {
      throw Broken(fmt::format("request {} was sent before request {}", exchange.mark, mark));
    }
  }
}

/// What the daemon has begun to answer, and has not forgotten.
const HttpServer::Work* HttpNetwork::work_after(const Exchange& exchange) {
  const std::string after = sent_value(exchange.sent, "Last-Event-ID");
  if (std::atoi(after.c_str()) != server_.life()) return nullptr;
  return server_.find(std::atoi(after.substr(after.find('.') + 1).c_str()));
}

void HttpNetwork::check_resumption(const Exchange& exchange) {
  count("streams taken up");
  const HttpServer::Work* const work = work_after(exchange);
  if (work == nullptr) return;
  if (!work->id.empty() && work->has_answer && work->heard == work->events.size()) {
    throw Broken("a stream is taken up that is answered");
  }
  const Milliseconds wait =
      std::min(scene_.retry.value_or(limits::kHttpStreamWaitMin), limits::kHttpStreamWaitMin);
  if (now_ < work->cut_at + wait) throw Broken("a stream is taken up too early");
}

/// The daemon has opened a session.
void HttpNetwork::note_head(const Exchange& exchange) {
  if (!exchange.is_opening || exchange.reply.status >= 300) return;
  sessions_.open = header_value(exchange.reply.headers, "mcp-session-id");
  is_open_ = false;
  is_stream_refused_ = false;
}

void HttpNetwork::note_refusal(const Exchange& exchange) {
  const int status = exchange.reply.status;
  if (status == 307 || status == 308) sent_again_.insert(exchange.sent.body);
  const bool is_busy = status == 409 || status == 429 || status >= 500;
  const bool is_stream =
      header_value(exchange.reply.headers, "content-type") == "text/event-stream";
  if (exchange.is_session_stream() && !is_stream && !is_busy) is_stream_refused_ = true;
  const std::string named = sent_value(exchange.sent, "Mcp-Session-Id");
  const bool may_tell = exchange.is_request || exchange.is_notification || exchange.is_resumption;
  if (named.empty() || !may_tell) return;
  if (status != 404 && !exchange.reply.is_session_lost) return;
  count("sessions lost");
  sessions_.lost = named;
  if (exchange.mark != 0) ++said_.requests.at(exchange.mark).refusals;
}

/// The response ends early. What has come of it counts.
void HttpNetwork::note_cut_refusal(const Exchange& exchange) {
  const int status = exchange.reply.status;
  const bool says_all = status == 404 || status == 307 || status == 308 || exchange.pending.empty();
  if (exchange.has_head && status >= 300 && says_all) note_refusal(exchange);
}

std::string HttpNetwork::live_session() const {
  return is_listening_ && server_.knows(sessions_.open) ? sessions_.open : "";
}

bool HttpNetwork::has_stream() {
  const bool is_due = is_open_ && scene_.gives_stream && !is_stream_refused_;
  if (!is_due || live_session().empty()) return true;
  return std::any_of(exchanges_.begin(), exchanges_.end(), [this](const auto& entry) {
    const HttpServer::Work* const work = server_.find(entry.second.reply.work);
    return work != nullptr && work->id.empty() && entry.second.has_head;
  });
}

/// A request of the stateless revision is cancelled by closing its stream.
void HttpNetwork::check_cancelled(int mark) const {
  if (!scene_.is_stateless() || !is_listening_) return;
  for (const auto& [id, exchange] : exchanges_) {
    if (exchange.mark == mark && !exchange.is_answered && exchange.life == server_.life()) {
      throw Broken("a cancelled request is still under way");
    }
  }
}

}  // namespace sitter::sim
