#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sitter/bytes.hpp"

namespace sitter {

namespace limits {

/// The bytes of the answers to one batch. They are kept until the last answer has arrived, and
/// leave as one line. This is more than the official TypeScript clients accept in a line. All open
/// batches together keep no more than this either. A single answer may have any size.
inline constexpr std::size_t kBatchBytesMax = 16 * kMiB;

}  // namespace limits

/// The batches of the client that are not answered yet. Only revision 2025-03-26 has batches: a
/// server must accept an array of messages, and it answers the requests in one array (basic/index,
/// "Batching").
class Batches {
 public:
  /// `bytes_max` bounds the answers to one batch. If several batches are open, it also bounds the
  /// answers to all of them.
  explicit Batches(std::size_t bytes_max = limits::kBatchBytesMax) : bytes_max_(bytes_max) {}

  using Number = std::uint32_t;
  /// No batch has this number.
  static constexpr Number kNone = 0;

  /// Begins a batch that is owed this many answers, at least one.
  Number open(std::size_t owed);

  /// Whether an answer of this size fits in with the answers that are there.
  bool has_room(Number number, std::size_t bytes) const;
  /// Adds an answer to an open batch. Returns the whole array with the last answer.
  std::optional<std::string> add(Number number, std::string_view answer);
  /// The batch is owed one answer less. If no more answers are owed and the batch has some, returns
  /// the array.
  std::optional<std::string> drop(Number number);

 private:
  struct Batch {
    std::size_t owed = 0;
    std::string answers;
  };

  std::size_t bytes_max_;
  std::map<Number, Batch> open_;
  /// The size of all answers that are kept.
  std::size_t bytes_ = 0;
  Number last_ = kNone;
};

}  // namespace sitter
