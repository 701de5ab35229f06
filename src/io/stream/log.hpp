#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/http/secrets.hpp"
#include "io/stream/error_output.hpp"
#include "sitter/order.hpp"

namespace sitter {

/// The bridge's own log. No other module uses the logging library.
class Log {
 public:
  struct Options {
    order::Log::Level level = order::Log::Level::warn;
    bool is_off = false;
    bool is_trace = false;
    /// Empty: stderr.
    std::string file = {};
    /// No line of the log shows them.
    Secrets secrets = {};
  };

  /// Returns null, and sets `error` to a sentence, if the file cannot be opened. If the file cannot
  /// be written later, because the disk is full, a message on stderr says so from time to time, and
  /// the bridge goes on. `stderr_output` must outlive the log.
  static std::unique_ptr<Log> open(const Options& options, ErrorOutput& stderr_output,
                                   std::string& error);
  ~Log();

  void write(order::Log::Level level, std::string_view text);
  /// Whether the log gets a line for each fact and order of the core; only with level trace.
  bool is_trace() const { return is_trace_; }
  void trace(std::string_view text);
  const Secrets& secrets() const { return secrets_; }

 private:
  struct Logger;

  Log(std::unique_ptr<Logger> logger, Secrets secrets, bool is_trace);

  std::unique_ptr<Logger> logger_;
  Secrets secrets_;
  bool is_trace_;
};

}  // namespace sitter
