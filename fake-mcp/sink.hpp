#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "options.hpp"

namespace sitter::fake {

/// Names a request over HTTP, and so the stream that its messages go to. Over stdio, and for work
/// that belongs to no request, this is kNoExchange.
using Exchange = std::uint64_t;
inline constexpr Exchange kNoExchange = 0;

/// Takes the messages of a session to the client.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  /// The answer to the request of the exchange. `error_code` is 0 for a result.
  virtual void answer(Exchange exchange, std::string_view text, long long error_code) = 0;

  /// Any text in place of an answer.
  virtual void raw_answer(Exchange exchange, std::string_view text) = 0;

  /// Anything else: a message or rubbish.
  virtual void message(Exchange exchange, std::string_view text) = 0;

  /// This many x in place of an answer.
  virtual void endless_answer(Exchange exchange, std::size_t bytes) = 0;

  /// Everything between the two calls leaves in one write.
  virtual void begin_burst() = 0;
  virtual void end_burst() = 0;

  /// Called when all requests of one read are handled.
  virtual void end_of_read() = 0;

  /// Takes nothing to the client from now on.
  virtual void close() = 0;
};

/// Stdout, with the faults in lines that the options request. Every line is written at once, in one
/// write, except during a burst.
///
/// If the client has closed the other end, the process exits with 0. If the options say to ignore
/// that, the process goes on and writes nothing more.
class StdoutSink : public Sink {
 public:
  /// The options must outlive this object.
  explicit StdoutSink(const Options& options) : options_(options), at_begin_(options.bom) {}

  /// With --two-per-line, an answer waits for a second answer on its line until the end of a read.
  void answer(Exchange exchange, std::string_view text, long long error_code) override;
  void raw_answer(Exchange, std::string_view text) override { line(text); }
  void message(Exchange, std::string_view text) override { line(text); }
  void endless_answer(Exchange exchange, std::size_t bytes) override;
  void begin_burst() override { in_burst_ = true; }
  void end_burst() override;
  void end_of_read() override;
  void close() override;

 private:
  void line(std::string_view text);
  void write(std::string_view bytes);

  const Options& options_;
  bool at_begin_;
  bool open_ = true;
  bool in_burst_ = false;
  std::string burst_;
  std::string half_line_;
};

}  // namespace sitter::fake
