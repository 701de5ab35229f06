#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "connection.hpp"
#include "options.hpp"
#include "sink.hpp"

namespace sitter::fake {

/// The messages of one exchange on their way to the client, or those that belong to no exchange.
/// The response that carries them is one JSON value if the answer is the first message. Otherwise
/// it is an event stream, which the answer ends.
///
/// With --http-event-ids every message is kept, and a later response can carry on from any event.
class Channel {
 public:
  /// The options must outlive this object. The headers are sent with each response.
  Channel(const HttpOptions& options, Exchange number, HttpHeaders headers)
      : options_(options), number_(number), headers_(std::move(headers)) {}

  /// From now on this response carries the messages: as an event stream that begins at once behind
  /// the event with this number, or in the form that the first message asks for. An earlier
  /// response ends.
  void carry_as_stream(const std::shared_ptr<Connection>& connection, std::size_t behind = 0);
  void carry(const std::shared_ptr<Connection>& connection);

  /// Closes the connection before the answer.
  void close_before_answer() { closes_before_answer_ = true; }

  /// If `now` is false, the bytes may leave later.
  void message(std::string_view text, bool now);
  /// The status counts only if no event stream has begun.
  void answer(std::string_view text, int status, bool now);

  /// Called when the request is handled, whether there is an answer or not.
  void on_handled(bool begins_stream);

  /// Ends the response.
  void end();

  bool is_carried() const { return carrier() != nullptr; }
  bool is_over() const { return over_; }
  /// Whether an event with this number may have been sent.
  bool has(std::size_t event) const { return event <= first_ + events_.size(); }

 private:
  struct Event {
    std::string text;
    bool is_answer;
    int status;
  };

  std::shared_ptr<Connection> carrier() const;
  void begin_stream(Connection& connection);
  void send_what_is_due(bool now);
  std::string spelt(const std::string& text, std::size_t number) const;

  const HttpOptions& options_;
  Exchange number_;
  HttpHeaders headers_;
  std::weak_ptr<Connection> carrier_;
  bool streams_ = false;  ///< the response that carries the messages is an event stream
  bool closes_before_answer_ = false;
  bool over_ = false;  ///< the answer has come
  std::deque<Event> events_;
  std::size_t first_ = 0;  ///< how many events were sent and forgotten
  std::size_t sent_ = 0;   ///< how many events were sent; the next one has this number plus one
};

}  // namespace sitter::fake
