#include "http_server.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "json.hpp"
#include "legacy.hpp"
#include "mirrored_headers.hpp"
#include "modern.hpp"
#include "process.hpp"
#include "sockets.hpp"

namespace sitter::fake {
namespace {

using std::chrono::milliseconds;

constexpr long long kParseError = -32700;
constexpr long long kInvalidRequest = -32600;
constexpr long long kBadRequest = -32000;
constexpr long long kHeaderMismatch = -32020;

std::string error_body(std::string_view id, long long code, std::string_view message) {
  return object_of({{"jsonrpc", "\"2.0\""},
                    {"id", id.empty() ? "null" : id},
                    {"error", error_object(code, message)}});
}

/// Differs between two lives of a daemon at the same port.
std::string new_session_id() {
  std::random_device random;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id = "fake-";
  for (int count = 0; count < 16; ++count) id += kDigits[random() % kDigits.size()];
  return id;
}

/// The name of a request for the options: the method of its message, or that of HTTP.
std::string name_of(const HttpRequest& request, const Message& message) {
  return message.method.empty() ? request.method : text_of(message.method);
}

std::string quoted_or_null(const HttpRequest& request, std::string_view header) {
  return request.has(header) ? json_quoted(request.header(header)) : "null";
}

bool accepts(const HttpRequest& request, std::string_view type) {
  return request.header("accept").find(type) != std::string_view::npos;
}

}  // namespace

HttpServer::HttpServer(const Options& options)
    : options_(options),
      http_(options.http),
      journal_(options.journal),
      http_journal_(options.http.journal),
      listener_(options.http),
      stateless_(options, journal_, options.era == Era::legacy ? Era::legacy : Era::modern, {}),
      shared_(options, journal_, Era::legacy, {}) {
  if (options.stop_reading_after == 0) shared_.session().reading = false;
}

int HttpServer::run() {
  while (!idle_) {
    take_requests();
    do_what_is_due();
    drop_what_is_over();
    wait();
  }
  end();
  return 0;
}

/// Waits for input, and reads and writes what is possible. Returns after the time at which
/// something is due.
void HttpServer::wait() {
  std::optional<Connection::Clock::time_point> due;
  const auto at_most = [&](Connection::Clock::time_point time) {
    due = due ? std::min(*due, time) : time;
  };
  bool reads = true;
  bool has_work = false;
  for (HttpSession* session : sessions()) {
    reads = reads && session->session().reading;
    if (const auto next = session->session().agenda.next()) {
      has_work = true;
      at_most(*next);
    }
  }
  const bool may_idle = !has_work && options_.exit_when_idle;
  if (may_idle) at_most(Connection::Clock::now() + *options_.exit_when_idle);

  std::vector<SocketWait> sockets = {
      {.socket = listener_.socket(), .reads = reads && listener_.is_open()}};
  for (const ConnectionPtr& connection : connections_) {
    sockets.push_back(
        {.socket = connection->socket(), .reads = reads, .writes = connection->has_output()});
    const auto idle_since = connection->idle_since();
    if (http_.close_idle && idle_since) at_most(*idle_since + *http_.close_idle);
  }
  std::optional<milliseconds> limit;
  if (due) {
    const auto left = std::chrono::ceil<milliseconds>(*due - Connection::Clock::now());
    limit = std::max(left, milliseconds(0));
  }
  idle_ = !wait_for(sockets, limit) && may_idle;
  for (std::size_t at = 1; at < sockets.size(); ++at) {
    Connection& connection = *connections_[at - 1];
    if (sockets[at].can_write) connection.flush();
    if (reads && sockets[at].can_read) connection.read();
  }
  if (!sockets[0].can_read) return;
  for (const Socket socket : listener_.accept()) {
    connections_.push_back(std::make_shared<Connection>(socket, http_));
  }
}

void HttpServer::take_requests() {
  for (std::size_t at = 0; at < connections_.size(); ++at) {
    const ConnectionPtr connection = connections_[at];
    while (const auto request = connection->take_request()) {
      on_request(connection, *request);
      connection->flush();
    }
  }
}

void HttpServer::do_what_is_due() {
  for (HttpSession* session : sessions()) {
    session->session().agenda.do_what_is_due();
    if (!session->is_closed()) continue;
    listener_.close();
    for (const ConnectionPtr& connection : connections_) connection->close();
  }
}

void HttpServer::drop_what_is_over() {
  const auto now = Connection::Clock::now();
  std::erase_if(connections_, [&](const ConnectionPtr& connection) {
    const auto idle_since = connection->idle_since();
    if (http_.close_idle && idle_since && *idle_since + *http_.close_idle <= now) return true;
    return !connection->is_open();
  });
}

/// Ends the streams and writes what is left.
void HttpServer::end() {
  if (!options_.graceful_end) return;
  for (HttpSession* session : sessions()) session->end();
}

void HttpServer::on_request(const ConnectionPtr& connection, const HttpRequest& request) {
  Message message;
  const bool is_message = request.method == "POST" && read_message(request.body, message);
  note(request, message);
  if (swallowed(connection, request, message)) return;
  if (request.path != "/mcp") return connection->respond(404, {}, "Not found");
  if (request.has("origin")) return connection->respond(403, {}, "Forbidden origin");
  if (request.method == "GET" && http_.get) return on_get(connection, request);
  if (request.method == "DELETE" && http_.del) return on_delete(connection, request);
  if (request.method != "POST") {
    return connection->respond(405, {{"Allow", "POST"}},
                               error_body({}, kBadRequest, "Method not allowed"));
  }
  if (!accepts(request, "application/json") || !accepts(request, "text/event-stream")) {
    return connection->respond(406, {}, error_body({}, kBadRequest, "Not acceptable"));
  }
  if (!request.header("content-type").starts_with("application/json")) {
    return connection->respond(415, {}, error_body({}, kBadRequest, "Unsupported media type"));
  }
  if (!is_message) {
    return connection->respond(400, {}, error_body({}, kParseError, "Parse error"));
  }
  on_post(connection, request, message);
}

/// Writes the line before the request is handled, so that the journal also has a request that ends
/// the process.
void HttpServer::note(const HttpRequest& request, const Message& message) const {
  if (!http_journal_.is_kept()) return;
  std::string headers = "{}";
  for (const auto& [name, value] : request.headers) {
    headers = with_members(std::move(headers), json_quoted(name) + ':' + json_quoted(value));
  }
  http_journal_.add(object_of({{"pid", std::to_string(process_id())},
                               {"http", json_quoted(request.method)},
                               {"path", json_quoted(request.path)},
                               {"session", quoted_or_null(request, "mcp-session-id")},
                               {"lastEventId", quoted_or_null(request, "last-event-id")},
                               {"version", quoted_or_null(request, "mcp-protocol-version")},
                               {"method", message.method.empty() ? "null" : message.method},
                               {"id", message.id.empty() ? "null" : message.id},
                               {"headers", headers}}));
}

/// Carries out the faults in HTTP that the options request for any request. True if the request is
/// consumed.
bool HttpServer::swallowed(const ConnectionPtr& connection, const HttpRequest& request,
                           const Message& message) {
  if (http_.mute) return true;
  if (http_.endless_header) {
    connection->begin_endless_head();
    return true;
  }
  if (++request_count_ <= http_.not_found_first) {
    connection->respond(404, {}, "404 page not found");
    return true;
  }
  const std::string name = name_of(request, message);
  for (const std::string_view key : {std::string_view(name), std::string_view("*")}) {
    const auto found = http_.answers.find(key);
    if (found == http_.answers.end()) continue;
    const HttpAnswer& answer = found->second;
    if (answer.times && answered_count_[found->first]++ >= *answer.times) continue;
    const std::string_view id = message.id.empty() ? "null" : message.id;
    connection->respond(answer.status, answer.headers, with_id(answer.body, id));
    return true;
  }
  return false;
}

void HttpServer::on_post(const ConnectionPtr& connection, const HttpRequest& request,
                         const Message& message) {
  if (is_modern(message)) {
    on_modern_post(connection, request, message);
  } else {
    on_legacy_post(connection, request, message);
  }
}

/// A dual server serves both eras side by side: each request shows its own.
bool HttpServer::is_modern(const Message& message) const {
  if (options_.era != Era::dual) return options_.era == Era::modern;
  return !envelope_version(message.params).empty() || text_of(message.method) == "server/discover";
}

void HttpServer::on_legacy_post(const ConnectionPtr& connection, const HttpRequest& request,
                                const Message& message) {
  const std::string_view version = request.header("mcp-protocol-version");
  if (!version.empty() && !is_legacy_version(version) && version != options_.protocol) {
    return connection->respond(
        400, {}, error_body({}, kBadRequest, "Bad Request: Unsupported protocol version"));
  }
  const bool opens = text_of(message.method) == "initialize";
  if (opens && http_.single_session && was_opened_) {
    return connection->respond(
        400, {}, error_body({}, kInvalidRequest, "Invalid Request: Server already initialized"));
  }
  was_opened_ = was_opened_ || opens;
  HttpSession* session = opens && http_.sessions ? &open_session() : find_session(request);
  if (session) return deliver(*session, connection, request, message);
  connection->respond(http_.lost_session.status, http_.lost_session.headers,
                      with_id(http_.lost_session.body, message.id.empty() ? "null" : message.id));
}

void HttpServer::on_modern_post(const ConnectionPtr& connection, const HttpRequest& request,
                                const Message& message) {
  const std::string method = text_of(message.method);
  // Over HTTP a request is cancelled by the end of its connection. Its id may be that of another
  // client's request.
  if (method == "notifications/cancelled") return connection->respond(202, {}, {});
  const std::string tool = text_of(member(message.params, "name"));
  const std::string mismatch =
      header_mismatch(request, message, stateless_.session().catalog.tool(tool));
  if (!mismatch.empty()) {
    return connection->respond(400, {}, error_body(message.id, kHeaderMismatch, mismatch));
  }
  deliver(stateless_, connection, request, message);
}

void HttpServer::deliver(HttpSession& session, const ConnectionPtr& connection,
                         const HttpRequest& request, const Message& message) {
  if (message.method.empty() || message.id.empty()) {
    session.on_other(request.body);
    return connection->respond(202, {}, {});
  }
  const std::string name = text_of(message.method);
  const bool closes_before_answer = prepare_cut(connection, name);
  const Exchange exchange = ++last_exchange_;
  if (&session == &stateless_) {
    connection->on_gone = [this, exchange, id = std::string(message.id)] {
      stateless_.on_gone(exchange, id);
    };
  }
  session.on_request(exchange, connection, request.body,
                     {.closes_before_answer = closes_before_answer,
                      .begins_stream = http_.sse || name == "subscriptions/listen",
                      .big_event = name == "tools/call" ? http_.big_event : 0});
}

/// Limits the body of the response if an option asks for that. True if the connection closes before
/// the answer.
bool HttpServer::prepare_cut(const ConnectionPtr& connection, const std::string& name) {
  const auto limit = http_.cut_after_bytes.find(name);
  const bool limited = limit != http_.cut_after_bytes.end();
  const bool closes = http_.close_before_answer.contains(name);
  if (!(limited || closes) || (http_.cut_once && has_cut_)) return false;
  has_cut_ = true;
  if (limited) connection->limit_body(limit->second);
  return closes;
}

void HttpServer::on_get(const ConnectionPtr& connection, const HttpRequest& request) {
  if (options_.era == Era::modern) return connection->respond(405, {{"Allow", "POST"}}, {});
  if (!accepts(request, "text/event-stream")) {
    return connection->respond(406, {}, error_body({}, kBadRequest, "Not acceptable"));
  }
  HttpSession* session = find_session(request);
  if (!session) {
    return connection->respond(http_.lost_session.status, http_.lost_session.headers,
                               with_id(http_.lost_session.body, "null"));
  }
  if (http_.event_ids && request.has("last-event-id")) {
    prepare_cut(connection, request.method);
    if (session->resume(connection, request.header("last-event-id"))) return;
    return connection->respond(400, {}, error_body({}, kBadRequest, "No such event"));
  }
  if (http_.get_conflict && session->is_listened()) {
    return connection->respond(
        409, {}, error_body({}, kBadRequest, "Conflict: Only one SSE stream is allowed"));
  }
  prepare_cut(connection, request.method);
  session->listen(connection);
}

void HttpServer::on_delete(const ConnectionPtr& connection, const HttpRequest& request) {
  if (!http_.sessions || options_.era == Era::modern) {
    return connection->respond(405, {{"Allow", "POST"}}, {});
  }
  const auto found = sessions_.find(request.header("mcp-session-id"));
  if (found == sessions_.end()) {
    return connection->respond(http_.lost_session.status, http_.lost_session.headers,
                               with_id(http_.lost_session.body, "null"));
  }
  found->second->end();
  sessions_.erase(found);
  connection->respond(200, {}, {});
}

/// The session that the request names; nullptr if there is none.
HttpSession* HttpServer::find_session(const HttpRequest& request) {
  if (!http_.sessions) return &shared_;
  const auto found = sessions_.find(request.header("mcp-session-id"));
  return found == sessions_.end() ? nullptr : found->second.get();
}

HttpSession& HttpServer::open_session() {
  const std::string id = new_session_id();
  auto& session = sessions_[id];
  session = std::make_unique<HttpSession>(options_, journal_, Era::legacy, id);
  return *session;
}

std::vector<HttpSession*> HttpServer::sessions() {
  std::vector<HttpSession*> all = {&stateless_, &shared_};
  for (const auto& [id, session] : sessions_) all.push_back(session.get());
  return all;
}

}  // namespace sitter::fake
