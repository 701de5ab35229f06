#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "channel.hpp"
#include "connection.hpp"
#include "journal.hpp"
#include "options.hpp"
#include "receiver.hpp"
#include "session.hpp"
#include "sink.hpp"

namespace sitter::fake {

/// One session over HTTP, or all requests of an era without sessions. Each message goes to the
/// response of the request that it belongs to, and else to the GET stream. Changes of lists and
/// resources prefer the GET stream.
class HttpSession : public Sink {
 public:
  /// The options and the journal must outlive this object. `id` is empty without sessions.
  HttpSession(const Options& options, const Journal& journal, Era era, std::string id);

  /// How the response to a request differs from the usual one.
  struct Manner {
    bool closes_before_answer = false;
    bool begins_stream = false;  ///< at once, if the answer takes time
    std::size_t big_event = 0;   ///< the size of a log message before the answer
  };

  /// Handles a request. The response carries its answer, and what belongs to it.
  void on_request(Exchange exchange, const std::shared_ptr<Connection>& connection,
                  std::string_view text, const Manner& manner);
  /// Handles a notification, or the answer to a request of ours.
  void on_other(std::string_view text);
  /// Drops the work for a request of the modern era whose client has closed the connection.
  void on_gone(Exchange exchange, std::string_view id);

  /// From now on this response is the GET stream.
  void listen(const std::shared_ptr<Connection>& connection);
  bool is_listened() const;
  /// The response carries on behind an event. False if there is no such event.
  bool resume(const std::shared_ptr<Connection>& connection, std::string_view last_event_id);

  /// Ends all responses that are event streams.
  void end();

  Session& session() { return session_; }
  HttpHeaders headers() const;
  /// Whether a tool or a fault has closed the output.
  bool is_closed() const { return closed_; }

  void answer(Exchange exchange, std::string_view text, long long error_code) override;
  void raw_answer(Exchange exchange, std::string_view text) override { answer(exchange, text, 0); }
  void message(Exchange exchange, std::string_view text) override;
  void endless_answer(Exchange exchange, std::size_t bytes) override;
  void begin_burst() override { in_burst_ = true; }
  void end_burst() override { in_burst_ = false; }
  void end_of_read() override {}
  void close() override { closed_ = true; }

 private:
  Channel& channel_for(Exchange exchange, std::string_view text);
  Channel& standalone() { return channels_.at(kNoExchange); }

  const Options& options_;
  std::string id_;
  std::map<Exchange, Channel> channels_;
  Session session_;
  Receiver receiver_;
  bool in_burst_ = false;
  bool closed_ = false;
};

}  // namespace sitter::fake
