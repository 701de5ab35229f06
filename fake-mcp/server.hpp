#pragma once

#include <string>
#include <string_view>

#include "legacy.hpp"
#include "modern.hpp"
#include "options.hpp"
#include "session.hpp"

namespace sitter::fake {

/// Reads lines from stdin, carries out the requested faults on methods, and passes the other
/// messages on.
class Server {
 public:
  /// The options must outlive this object.
  explicit Server(const Options& options);

  /// Serves until the end of input, or for ever if the options say so. Returns the exit code. Many
  /// faults end the process instead.
  int run();

 private:
  bool read_input();
  void on_line(std::string_view line);
  void on_request(std::string_view id, const std::string& method, std::string_view params);
  void note(std::string_view id, const std::string& method) const;
  void decide_era(const std::string& method, std::string_view params);
  bool swallowed(std::string_view id, const std::string& method);
  void stop_reading();
  int end();

  const Options& options_;
  Session session_;
  Legacy legacy_{session_};
  Modern modern_{session_};
  std::string input_;
  bool at_end_ = false;
  bool wrote_endless_line_ = false;
  int journal_ = -1;
};

}  // namespace sitter::fake
