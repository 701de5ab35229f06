#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sitter/limits.hpp"

namespace sitter {

/// The batches of the client that are not answered yet. Only revision 2025-03-26 has them: a server
/// must take an array of messages, and answers its requests in one array (basic/index, "Batching").
class Batches {
 public:
  /// `bytes_max`: of the answers to one batch, and of those to all open ones, if there is more than
  /// one.
  explicit Batches(std::size_t bytes_max = limits::kBatchBytesMax) : bytes_max_(bytes_max) {}

  using Number = std::uint32_t;
  /// No batch has it.
  static constexpr Number kNone = 0;

  /// Begins one with so many entries owed, at least one.
  Number open(std::size_t owed);

  /// Whether an answer of this size fits in with those that are there.
  bool has_room(Number number, std::size_t bytes) const;
  /// Adds an answer to one that is open. Returns the whole array with the last of them.
  std::optional<std::string> add(Number number, std::string_view answer);
  /// One is owed no answer any more. Returns the array if it was the last, and any other was given.
  std::optional<std::string> drop(Number number);

 private:
  struct Batch {
    std::size_t owed = 0;
    std::string answers;
  };

  std::size_t bytes_max_;
  std::map<Number, Batch> open_;
  /// Of all answers that are kept.
  std::size_t bytes_ = 0;
  Number last_ = kNone;
};

}  // namespace sitter
