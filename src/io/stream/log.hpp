#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/stream/error_output.hpp"
#include "sitter/order.hpp"

namespace sitter {

/// The bridge's own log. The only place that knows the logging library.
class Log {
 public:
  struct Options {
    order::Log::Level level = order::Log::Level::warn;
    bool is_off = false;
    bool is_trace = false;
    /// Empty: stderr.
    std::string file = {};
  };

  /// Null and a sentence in `error` when the file cannot be opened. A file that can't be written
  /// later, because the disk is full, is told on stderr once in a while, and nothing stops.
  /// `stderr_output` must outlive the log.
  static std::unique_ptr<Log> open(const Options& options, ErrorOutput& stderr_output,
                                   std::string& error);
  ~Log();

  void write(order::Log::Level level, std::string_view text);
  /// One line for each fact and order of the core; only with level trace.
  bool is_trace() const { return is_trace_; }
  void trace(std::string_view text);

 private:
  struct Logger;

  Log(std::unique_ptr<Logger> logger, bool is_trace);

  std::unique_ptr<Logger> logger_;
  bool is_trace_;
};

}  // namespace sitter
