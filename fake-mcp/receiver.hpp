#pragma once

#include <string>
#include <string_view>

#include "journal.hpp"
#include "legacy.hpp"
#include "modern.hpp"
#include "options.hpp"
#include "session.hpp"

namespace sitter::fake {

/// The fields of a message that decide what becomes of it, all raw. A missing field is empty.
struct Message {
  std::string_view id;
  std::string_view method;
  std::string_view params;
  std::string_view outcome;  ///< the result or the error
};

/// Reads a message. False if the text is not a JSON object.
bool read_message(std::string_view text, Message& message);

/// The text with the raw id in each place of %ID%.
std::string with_id(std::string text, std::string_view id);

/// Takes the messages of a client, carries out the requested faults on methods, and passes the
/// other messages on to the code of an era.
class Receiver {
 public:
  /// All arguments must outlive this object.
  Receiver(const Options& options, Session& session, const Journal& journal)
      : options_(options), session_(session), journal_(journal) {}

  void on_line(std::string_view line);

  /// Reads nothing more from now on.
  void stop_reading();

 private:
  void on_request(std::string_view id, const std::string& method, std::string_view params);
  void note(std::string_view id, const std::string& method) const;
  void decide_era(const std::string& method, std::string_view params);
  bool swallowed(std::string_view id, const std::string& method);

  const Options& options_;
  Session& session_;
  const Journal& journal_;
  Legacy legacy_{session_};
  Modern modern_{session_};
  bool wrote_endless_line_ = false;
};

}  // namespace sitter::fake
