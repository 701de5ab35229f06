#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/raw_id.hpp"
#include "core/http/http_link_limits.hpp"
#include "core/http/http_words.hpp"
#include "core/http/sse_parser.hpp"
#include "core/wire/answer_defect.hpp"
#include "core/wire/message.hpp"
#include "sitter/http.hpp"
#include "sitter/line.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// One line on its way to the daemon, or a stream from it, with what has come of the response.
struct HttpExchange {
  enum class Kind : std::uint8_t {
    connect,       ///< a connection is opened to see whether something listens
    probe,         ///< a tools/list of our own, which shows whether another daemon listens
    request,       ///< a request of the client or of the bridge, or the rest of its stream
    notification,  ///< a notification, or an answer to a question of the server
    stream,        ///< the GET stream of a session
    end,           ///< the DELETE of a session
  };

  /// What a request asks for, or a notification says, as far as it matters here.
  enum class Asks : std::uint8_t {
    other,
    opening,      ///< initialize
    discovery,    ///< server/discover
    stream,       ///< subscriptions/listen, whose response is open until somebody ends it
    first_tools,  ///< tools/list without a cursor
    more_tools,   ///< a further page
    initialized,  ///< the notification that comes before the requests of its session
    progress,     ///< of the client, for a question of the server
  };

  bool is_opening() const { return asks == Asks::opening; }
  bool is_listen() const { return asks == Asks::stream; }
  /// The request may be sent again even if it has been carried out.
  bool has_no_effect() const { return asks == Asks::opening || asks == Asks::discovery; }

  bool is_refused() const { return status != 0 && !is_success(status); }
  /// The daemon may take the same later.
  bool is_refused_for_now() const { return status == 429 || status == 503; }
  bool is_redirected() const { return status == 307 || status == 308; }
  /// What the body says to a person; may be empty.
  std::string words(const Secrets& secrets) const {
    return body_words(body, header_value(headers, "content-type"), secrets);
  }
  bool is_answered_by(const Message& message) const {
    return message.is_answer() && (same_id(message.id, id) || id_of_other_type(message.id) == id);
  }
  /// The response may stay open, but what may still come is of little use.
  void on_answered(Now now) {
    has_answer = true;
    deadline = now.steady + limits::kHttpUselessWait;
  }
  /// How many bytes of the response wait for the rest of it.
  std::size_t kept() const { return body.size() + (events ? events->kept() : 0); }
  /// Of a response that is over. The headers stay until those of the next one.
  void forget_response() {
    status = 0;
    body.clear();
    body_cut = 0;
    events.reset();
    has_event = false;
    is_paused = false;
  }

  Kind kind = Kind::request;
  ExchangeId number{};  ///< under which it was sent last
  /// The line that was sent; of a request until its answer has come.
  OwnedLine line;
  /// When the exchange is given up, if it has not ended by then; or when it is sent later.
  std::optional<Instant> deadline;
  std::string id;  ///< of a request, raw
  Asks asks = Asks::other;
  /// The client closes the response stream of such a request to cancel it.
  bool is_stateless = false;
  std::vector<HttpHeader> mirrored;  ///< the headers that repeat parts of such a request
  /// How often an answer to a question of the server may still be sent again. The server may get it
  /// twice, and without it the call that has asked never ends.
  int repeats_left = 0;
  /// Until when a notification or such an answer that was refused for now is sent again.
  std::optional<Instant> until;
  /// The request was refused because of its headers, and is sent with others.
  bool has_new_headers = false;
  bool is_cancelled = false;  ///< so the answer is of no use
  bool is_resumed = false;    ///< the stream of the response was broken, and is taken up again
  int redirects = 0;
  std::string target;

  int status = 0;
  std::vector<HttpHeader> headers;
  std::string body;
  std::uint64_t body_cut = 0;
  bool is_paused = false;  ///< nothing of the response is read for now
  std::unique_ptr<SseParser> events;
  bool has_answer = false;
  bool has_event = false;  ///< more than the head of this response has come
  /// What a stream is taken up from; empty if the daemon gives no ids.
  std::string last_event_id;
  std::optional<Milliseconds> retry;
  /// How often in a row the stream was taken up without an event, and how long the last wait was.
  int empty_resumes = 0;
  Milliseconds resume_wait{};
};

/// An exchange passes from queue to queue, so it stays where it is in memory.
using ExchangePtr = std::unique_ptr<HttpExchange>;

}  // namespace sitter
