#include "core/rebuild/unserved_changes.hpp"

#include <algorithm>

#include "sitter/limits.hpp"

namespace sitter {

void UnservedChanges::on_changed(std::string_view file, WallTime when, Now now) {
  if (!seen_at_ || !has_unread() || now.steady > *seen_at_ + options_.debounce) {
    waits_until_ = now.steady + options_.wait;
  }
  seen_at_ = now.steady;
  ++newest_;
  if (changes_.size() >= limits::kChangedFilesMax && !changes_.contains(file)) file = "(others)";
  const bool is_built_elsewhere =
      !options_.has_build &&
      std::any_of(options_.built_endings.begin(), options_.built_endings.end(),
                  [&](const std::string& ending) { return file.ends_with(ending); });
  changes_.insert_or_assign(std::string(file), Change{newest_, when, is_built_elsewhere});
}

void UnservedChanges::on_built_elsewhere() {
  for (auto& [file, change] : changes_) change.is_built_elsewhere = false;
}

void UnservedChanges::on_start(Generation gen) {
  for (auto& [file, change] : changes_) {
    const bool is_known = options_.shows_builds || change.number > read_;
    change.is_built_elsewhere = change.is_built_elsewhere && is_known;
  }
  if (!options_.has_build) read_ = runnable_ = newest_;
  started_ = runnable_;
  started_gen_ = gen;
}

void UnservedChanges::on_serving(Generation gen) {
  if (gen == started_gen_) erase_up_to(started_);
}

void UnservedChanges::forget_unread() {
  std::erase_if(changes_, [this](const auto& change) { return change.second.number > read_; });
  read_ = newest_;
}

Instant UnservedChanges::wait_end(std::optional<Instant> since) const {
  return since ? std::min(waits_until_, *since + options_.wait) : waits_until_;
}

void UnservedChanges::erase_up_to(Number last) {
  std::erase_if(changes_, [last](const auto& change) {
    return !change.second.is_built_elsewhere && change.second.number <= last;
  });
}

}  // namespace sitter
