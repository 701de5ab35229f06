#include "core/rebuild/late_writes.hpp"

#include <algorithm>
#include <chrono>

#include "sitter/limits.hpp"

namespace sitter {

void LateWrites::on_start(const Files& causes, Now now) {
  const auto is_late = [this](const std::string& file) {
    const auto row = rows_.find(file);
    return row != rows_.end() && row->second.start == starts_;
  };
  const bool is_by_late = std::all_of(causes.begin(), causes.end(), is_late);
  const bool was_long = now.steady - started_ > limits::kLateWriteMax;
  std::erase_if(rows_, [&](const auto& entry) {
    const auto& [file, row] = entry;
    if (row.is_own()) return was_long && row.start != starts_;
    return !is_by_late || !causes.contains(file);
  });
  started_ = now.steady;
  ++starts_;
  is_client_there_ = false;
}

LateWrites::Verdict LateWrites::on_changed(std::string_view file, bool may_begin, Now now) {
  const auto found = rows_.find(file);
  const bool is_known = found != rows_.end();
  if (is_known && found->second.is_own()) {
    if (now.steady - std::max(started_, found->second.last) <= limits::kLateWriteMax) {
      found->second.last = now.steady;
      found->second.start = starts_;
      return Verdict::own;
    }
    rows_.erase(found);
    return Verdict::saved;
  }
  const auto delay = now.steady - started_;
  if (!may_begin || is_client_there_ || delay > limits::kLateWriteMax) {
    if (is_known) rows_.erase(found);
    return Verdict::saved;
  }
  // The first change after the start is the one to compare.
  const bool is_again = is_known && found->second.start == starts_;
  if (is_again || (!is_known && rows_.size() >= limits::kChangedFilesMax)) return Verdict::saved;
  Row& row = rows_[std::string(file)];
  const bool is_regular = std::chrono::abs(delay - row.delay) <= limits::kLateWriteJitter;
  row = {is_regular ? row.count + 1 : 1, delay, now.steady, starts_};
  return row.is_own() ? Verdict::newly_own : Verdict::saved;
}

std::vector<std::string> LateWrites::own() const {
  std::vector<std::string> own;
  for (const auto& [file, row] : rows_) {
    if (row.is_own()) own.push_back(file);
  }
  return own;
}

}  // namespace sitter
