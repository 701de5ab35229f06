#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "options.hpp"
#include "sink.hpp"

namespace sitter::fake {

/// Writes the messages of a session, with the faults in answers that the options request. JSON
/// arguments are raw. Everything goes to the exchange that the current work belongs to.
class Output {
 public:
  /// Both arguments must outlive this object.
  Output(const Options& options, Sink& sink) : options_(options), sink_(sink) {}

  void answer(std::string_view id, std::string_view result);
  void error(std::string_view id, long long code, std::string_view message,
             std::string_view data = {});
  void notify(std::string_view method, std::string_view params);
  void ask(std::string_view id, std::string_view method, std::string_view params);

  /// Writes any text, in place of an answer or in addition to it.
  void raw_answer(std::string_view text) { sink_.raw_answer(exchange_, text); }
  void line(std::string_view text) { sink_.message(exchange_, text); }

  /// Writes this many x in place of an answer.
  void endless_answer(std::size_t bytes) { sink_.endless_answer(exchange_, bytes); }

  /// See Sink.
  void begin_burst() { sink_.begin_burst(); }
  void end_burst() { sink_.end_burst(); }
  void end_of_read() { sink_.end_of_read(); }
  void close() { sink_.close(); }

  Exchange exchange() const { return exchange_; }

 private:
  friend class Within;

  void finish_answer(std::string_view id, std::string_view outcome, long long error_code);

  const Options& options_;
  Sink& sink_;
  Exchange exchange_ = kNoExchange;
};

/// As long as this object lives, the current work belongs to this exchange.
class Within {
 public:
  Within(Output& output, Exchange exchange)
      : output_(output), before_(std::exchange(output.exchange_, exchange)) {}
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;
  ~Within() { output_.exchange_ = before_; }

 private:
  Output& output_;
  Exchange before_;
};

}  // namespace sitter::fake
