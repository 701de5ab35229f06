#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sitter {

/// The batches of the client that are not answered yet. Only revision 2025-03-26 has them: a server
/// must take an array of messages, and answers its requests in one array (basic/index, "Batching").
class Batches {
 public:
  using Number = std::uint32_t;
  /// No batch has it.
  static constexpr Number kNone = 0;

  /// Begins one with so many entries owed, at least one.
  Number open(std::size_t owed);

  /// Adds an answer. Returns the whole array with the last of them.
  std::optional<std::string> add(Number number, std::string_view answer);
  /// One is owed no answer any more. Returns the array if it was the last, and any other was given.
  std::optional<std::string> drop(Number number);

 private:
  struct Batch {
    std::size_t owed = 0;
    std::string answers;
  };

  std::map<Number, Batch> open_;
  Number last_ = kNone;
};

}  // namespace sitter
