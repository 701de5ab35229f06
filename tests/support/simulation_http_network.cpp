#include "support/simulation_http_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "support/simulation_said.hpp"

namespace sitter::sim {

using FailedKind = fact::HttpFailed::Kind;
using Verb = order::HttpSend::Method;

ListenerId HttpNetwork::listener() const {
  if (!scene_.shows_listener) return kNoListener;
  // The proxy listens, whatever stands behind it.
  return ListenerId{scene_.has_proxy ? 99U : 100U + static_cast<unsigned>(server_.life())};
}

void HttpNetwork::begins() {
  server_.begin();
  is_listening_ = true;
}

void HttpNetwork::dies() {
  server_.end();
  is_listening_ = false;
  for (auto& [id, exchange] : exchanges_) {
    if (exchange.stage != Exchange::Stage::arriving) exchange.stage = Exchange::Stage::broken;
  }
}

void HttpNetwork::forgets_sessions() {
  server_.forget_sessions();
  if (!scene_.has_sessions()) return;
  for (auto& [id, exchange] : exchanges_) {
    if (exchange.reply.work != 0) exchange.stage = Exchange::Stage::broken;
  }
}

void HttpNetwork::closes_idle() { tell_(fact::HttpIdleClosed{}); }

void HttpNetwork::behave() {
  is_behaving_ = true;
  server_.behave();
  for (auto& [id, exchange] : exchanges_) {
    const bool is_silent = exchange.stage == Exchange::Stage::silent;
    if (is_silent && !exchange.is_given_up()) exchange.stage = Exchange::Stage::broken;
  }
}

bool HttpNetwork::act(Instant now) {
  now_ = now;
  if (random_.chance(40) && server_.work()) return true;
  std::vector<ExchangeId> able;
  for (const auto& [id, exchange] : exchanges_) {
    const bool is_silent = exchange.stage == Exchange::Stage::silent;
    if (!is_silent || (!is_behaving_ && random_.chance(2))) able.push_back(id);
  }
  if (able.empty()) return server_.work();
  const ExchangeId id = random_.pick(able);
  Exchange& exchange = exchanges_.at(id);
  switch (exchange.stage) {
    case Exchange::Stage::arriving:
      arrives(id, exchange);
      break;
    case Exchange::Stage::answering:
      goes_on(id, exchange, now);
      break;
    case Exchange::Stage::silent:
    case Exchange::Stage::broken:
      fails(id, FailedKind::broken, "the connection was closed");
      break;
  }
  return true;
}

void HttpNetwork::arrives(ExchangeId id, Exchange& exchange) {
  const bool answers = is_listening_ || scene_.has_proxy;
  if (has_fault() && random_.chance(20)) {
    count("connections without a descriptor");
    if (exchange.is_connect) refused_at_ = now_;
    fails(id, FailedKind::no_descriptor, "no file may be opened");
    return;
  }
  if (exchange.is_connect) {
    if (!answers) {
      refused_at_ = now_;
      fails(id, FailedKind::not_connected, "nothing listens");
      return;
    }
    const ListenerId listening = listener();
    exchanges_.erase(id);
    listener_ = listening;
    tell_(fact::HttpConnected{id, listening});
    return;
  }
  // An idle connection to a former process is found closed, perhaps only after the request was
  // written to it.
  const bool was_there = exchange.life == server_.life() && server_.lives();
  if (!is_behaving_ && !was_there && !scene_.has_proxy && random_.chance(15)) {
    fails(id, FailedKind::broken, "the connection was reset");
  } else if (!answers) {
    fails(id, FailedKind::not_connected, "nothing listens");
  } else if (exchange.sent.listener != kNoListener && exchange.sent.listener != listener()) {
    fails(id, FailedKind::other_listener, "another process listens");
  } else if (!goes_wrong(id, exchange)) {
    receives(exchange);
  }
}

void HttpNetwork::answers_for(Exchange& exchange, int status, std::vector<HttpHeader> headers,
                              std::string body) {
  exchange.stage = Exchange::Stage::answering;
  exchange.reply.status = status;
  exchange.reply.headers = std::move(headers);
  exchange.pending = std::move(body);
}

/// A limit of the rate may ask for any wait. Nothing but what it has refused waits for so long.
void HttpNetwork::refuses_for_now(Exchange& exchange) {
  std::vector<HttpHeader> headers;
  if (random_.chance(50)) {
    headers.push_back({"retry-after", exchange.is_notification ? "300" : "3"});
    count("refusals for a time");
  }
  answers_for(exchange, random_.pick(std::array{429, 503}), std::move(headers));
}

/// What may happen to a request instead of an answer. Returns false if nothing does.
bool HttpNetwork::goes_wrong(ExchangeId id, Exchange& exchange) {
  if (!is_listening_) {
    count("a proxy without its daemon");
    answers_for(exchange, random_.pick(std::array{502, 503, 503, 504, 404}));
    return true;
  }
  if (scene_.has_redirects && random_.chance(10) && exchange.sent.target == "/mcp") {
    count("redirects");
    answers_for(
        exchange, random_.pick(std::array{307, 308}),
        {{"location", random_.chance(90) || is_behaving_ ? "/mcp/" : "http://other/other"}});
    return true;
  }
  if (!has_fault()) return false;
  switch (random_.below(8)) {
    case 0:
      fails(id, FailedKind::broken, "the connection was reset");
      break;
    case 1:
      // Nobody knows whether the daemon has read it.
      if (random_.chance(50)) receives(exchange);
      exchange.stage = Exchange::Stage::silent;
      count("half-open");
      break;
    case 2:
      refuses_for_now(exchange);
      break;
    case 3:
      if (random_.chance(50)) receives(exchange);
      exchange.reply = {};
      answers_for(exchange, random_.pick(std::array{502, 504}));
      break;
    case 4:
      answers_for(exchange, random_.pick(std::array{401, 403}),
                  {{"www-authenticate", "Bearer realm=\"x\""}});
      break;
    case 5:
      answers_for(exchange, random_.pick(std::array{404, 413, 500}));
      break;
    case 6:
      answers_for(exchange, 500, {{"content-type", "text/html"}}, "<html><h1>Oops</h1></html>");
      break;
    default:
      answers_for(exchange, 200, {{"content-type", "application/json"}}, "{\"x\":1}");
  }
  return true;
}

void HttpNetwork::receives(Exchange& exchange) {
  exchange.stage = Exchange::Stage::answering;
  exchange.reply = server_.receive(exchange.sent);
  exchange.pending = exchange.reply.body;
  exchange.next_event = exchange.reply.from;
}

void HttpNetwork::goes_on(ExchangeId id, Exchange& exchange, Instant) {
  if (has_fault()) {
    count("cut in an answer");
    fails(id, FailedKind::broken, "the connection was closed");
    return;
  }
  const HttpServer::Work* const work = server_.find(exchange.reply.work);
  if (exchange.reply.work != 0 && work == nullptr) {
    // The daemon has dropped what it was asked, and closes the stream.
    if (exchange.has_head && random_.chance(50)) {
      ends(id);
    } else {
      fails(id, FailedKind::broken, "the connection was closed");
    }
    return;
  }
  const bool is_json = work != nullptr && work->is_json;
  if (!exchange.has_head) {
    if (is_json && !work->has_answer) return;
    exchange.has_head = true;
    const fact::HttpHead head{id, exchange.reply.status, exchange.reply.headers};
    note_head(exchange);
    if (is_json) fetch_event(exchange);
    if (exchange.reply.status >= 300 && has_fault()) {
      count("refusals without an end");
      exchange.stage = Exchange::Stage::silent;
    }
    tell_(head);
    return;
  }
  if (!exchange.pending.empty() || (!is_json && fetch_event(exchange))) {
    deliver(id, exchange);
    return;
  }
  if (is_complete(exchange)) {
    if (random_.chance(70) || is_behaving_) ends(id);
    return;
  }
  // A daemon may close a stream whose rest can be asked for.
  if (scene_.has_event_ids && !is_behaving_ && random_.chance(3)) {
    count("streams closed before their end");
    ends(id);
  }
}

bool HttpNetwork::is_complete(const Exchange& exchange) {
  const HttpServer::Work* const work = server_.find(exchange.reply.work);
  return work == nullptr || (work->has_answer && exchange.next_event >= work->events.size());
}

/// Takes the next event of the stream, if there is one.
bool HttpNetwork::fetch_event(Exchange& exchange) {
  HttpServer::Work* const work = server_.find(exchange.reply.work);
  if (work == nullptr || exchange.next_event >= work->events.size()) return false;
  exchange.pending =
      work->is_json ? work->events[exchange.next_event] : event_text(*work, exchange.next_event);
  if (work->is_json && random_.chance(10)) exchange.pending = "[" + exchange.pending + "]";
  ++exchange.next_event;
  exchange.ends_event = true;
  return true;
}

std::string HttpNetwork::event_text(const HttpServer::Work& work, std::size_t index) {
  const std::string& data = work.events[index];
  const std::string end = random_.pick(std::array<std::string, 3>{"\n", "\r\n", "\r"});
  std::string text;
  if (random_.chance(10)) text += ": still here" + end + end;
  if (const std::string id = server_.event_id(work, index); !id.empty()) text += "id: " + id + end;
  if (scene_.retry && index == 0) text += fmt::format("retry: {}{}", scene_.retry->count(), end);
  if (data.empty()) return text + "data:" + end + end;
  const std::size_t comma = data.find(',');
  if (random_.chance(20) && comma != data.npos) {
    return text + "data: " + data.substr(0, comma + 1) + end + "data: " + data.substr(comma + 1) +
           end + end;
  }
  return text + "data: " + data + end + end;
}

void HttpNetwork::deliver(ExchangeId id, Exchange& exchange) {
  const int size = static_cast<int>(exchange.pending.size());
  const int count = random_.chance(60) ? size : random_.between(1, size);
  const std::string piece = exchange.pending.substr(0, static_cast<std::size_t>(count));
  exchange.pending.erase(0, piece.size());
  // The event may be complete without its last line feed.
  HttpServer::Work* const work = server_.find(exchange.reply.work);
  const bool is_stream =
      header_value(exchange.reply.headers, "content-type") == "text/event-stream";
  const bool is_last =
      work == nullptr ? is_stream : work->has_answer && exchange.next_event == work->events.size();
  exchange.is_answered |= is_last && exchange.pending.size() <= 1;
  if (exchange.pending.empty() && std::exchange(exchange.ends_event, false)) {
    exchange.has_event = true;
    work->heard = exchange.next_event;
    work->empty_resumes = 0;
  }
  tell_(fact::HttpBytes{id, piece});
}

void HttpNetwork::ends(ExchangeId id) {
  const Exchange exchange = std::move(exchanges_.extract(id).mapped());
  on_cut(exchange);
  note_refusal(exchange);
  tell_(fact::HttpEnded{id});
}

void HttpNetwork::fails(ExchangeId id, FailedKind kind, std::string reason) {
  const Exchange exchange = std::move(exchanges_.extract(id).mapped());
  on_cut(exchange);
  note_cut_refusal(exchange);
  tell_(fact::HttpFailed{id, kind, std::move(reason)});
}

/// The client is not connected to this stream any more.
void HttpNetwork::on_cut(const Exchange& exchange) {
  const bool is_taken = exchange.has_head && exchange.reply.status < 300;
  if (exchange.is_notification && !is_taken) sent_again_.insert(exchange.sent.body);
  HttpServer::Work* const work = server_.find(exchange.reply.work);
  if (work == nullptr) return;
  work->cut_at = now_;
  if (exchange.is_resumption && !exchange.has_event && exchange.has_head) {
    if (++work->empty_resumes > 2) throw Broken("a stream is taken up in vain again and again");
  }
  server_.on_closed(exchange.reply.work);
}

}  // namespace sitter::sim
