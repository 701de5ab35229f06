#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "options.hpp"

namespace sitter::fake {

/// Stdout, with the faults that the options request. Every line is written at once, in one write,
/// except during a burst. JSON arguments are raw.
///
/// If the client has closed the other end, the process exits with 0. If the options say to ignore
/// that, the process goes on and writes nothing more.
class Output {
 public:
  /// The options must outlive this object.
  explicit Output(const Options& options) : options_(options), at_begin_(options.bom) {}

  void answer(std::string_view id, std::string_view result);
  void error(std::string_view id, long long code, std::string_view message,
             std::string_view data = {});
  void notify(std::string_view method, std::string_view params);
  void ask(std::string_view id, std::string_view method, std::string_view params);

  /// Writes any text and a line end.
  void line(std::string_view text);

  /// Writes this many x, and only then a line end.
  void endless_line(std::size_t bytes);

  /// Everything between the two calls leaves in one write.
  void begin_burst() { in_burst_ = true; }
  void end_burst();

  /// Called when all requests of one read are handled. An answer that waits for a second answer on
  /// its line is then written alone.
  void end_of_read();

  /// Closes the descriptor. Nothing is written afterwards.
  void close();

 private:
  void finish_answer(std::string_view id, std::string_view outcome);
  void write(std::string_view bytes);

  const Options& options_;
  bool at_begin_;
  bool open_ = true;
  bool in_burst_ = false;
  std::string burst_;
  std::string half_line_;
};

}  // namespace sitter::fake
