#include "core/client/batches.hpp"

#include <cassert>
#include <utility>

namespace sitter {

Batches::Number Batches::open(std::size_t owed) {
  open_[++last_].owed = owed;
  return last_;
}

bool Batches::has_room(Number number, std::size_t bytes) const {
  const Batch& batch = open_.at(number);
  const bool goes_out = batch.owed == 1;
  const std::size_t present = goes_out ? batch.answers.size() : bytes_;
  // Two bytes are added for a comma or bracket on both sides.
  return present == 0 || present + bytes + 2 <= bytes_max_;
}

std::optional<std::string> Batches::add(Number number, std::string_view answer) {
  std::string& answers = open_.at(number).answers;
  answers += answers.empty() ? '[' : ',';
  answers += answer;
  bytes_ += answer.size() + 1;
  return drop(number);
}

std::optional<std::string> Batches::drop(Number number) {
  const auto found = open_.find(number);
  assert(found != open_.end());
  if (--found->second.owed > 0) return std::nullopt;
  std::string answers = std::move(found->second.answers);
  bytes_ -= answers.size();
  open_.erase(found);
  if (answers.empty()) return std::nullopt;
  return answers += ']';
}

}  // namespace sitter
