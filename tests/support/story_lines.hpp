#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

// What the stories about the core do with lines.

namespace sitter {

/// A copy of the line with nothing but the padding after it. The padding holds bytes that disturb a
/// parser that reads too far.
std::unique_ptr<char[]> padded(const std::string& line);

/// Whether the bridge has made this raw id for a request of its own.
bool is_internal(const std::string& raw_id);

/// Writes "#3" for the number of the third request of the bridge itself, and the other way round.
std::string without_numbers(std::string text);
std::string with_numbers(std::string text);

/// The line as JSON; discarded if it is none. The bridge may pass lone surrogates, which strict
/// parsers refuse. Only the top level of a large line is read, because the rest would take seconds.
nlohmann::json parsed(std::string line);

/// Fails the test unless the line is a JSON-RPC message. Returns it.
nlohmann::json expect_message(const std::string& line);

/// Which requests of the client are owed an answer.
class ClientLedger {
 public:
  void on_line_of_client(const std::string& line, bool takes_batches);
  /// Fails the test if the line is no message, or answers what nobody has asked.
  void on_line_to_client(const std::string& line, bool may_answer_unasked);
  void expect_nothing_owed() const;

 private:
  struct Open {
    int owed = 0;
    int cancelled = 0;
  };

  std::map<std::string, Open> open_;
};

}  // namespace sitter
