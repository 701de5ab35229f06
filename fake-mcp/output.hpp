#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "options.hpp"

namespace sitter::fake {

/// Stdout, with the faults that the options ask for. Every line is written at once and whole, one
/// write each, unless a burst is being gathered. JSON arguments are raw.
///
/// If the client has closed the other end, the process exits with 0, or writes nothing more when it
/// is to ignore that.
class Output {
 public:
  /// The options must live as long as this.
  explicit Output(const Options& options) : options_(options), at_begin_(options.bom) {}

  void answer(std::string_view id, std::string_view result);
  void error(std::string_view id, long long code, std::string_view message,
             std::string_view data = {});
  void notify(std::string_view method, std::string_view params);
  void ask(std::string_view id, std::string_view method, std::string_view params);

  /// This text and a line end, whatever it is.
  void line(std::string_view text);

  /// So many x without a line end, then a line end.
  void endless_line(std::size_t bytes);

  /// What is said between the two goes out in one write.
  void begin_burst() { in_burst_ = true; }
  void end_burst();

  /// All requests of one read have been seen: an answer that waits for another one to share its
  /// line with goes out alone.
  void end_of_read();

  /// Closes the descriptor; nothing is written any more.
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
