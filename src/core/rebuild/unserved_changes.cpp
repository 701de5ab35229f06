#include "core/rebuild/unserved_changes.hpp"

#include <algorithm>

#include "sitter/limits.hpp"

namespace sitter {

void UnservedChanges::on_changed(const fact::FilesChanged::File& changed, WallTime when, Now now) {
  std::string file = changed.path;
  const auto before = changes_.find(file);
  const bool is_known = before != changes_.end();
  const auto came = is_known         ? before->second.came
                    : changed.is_new ? std::optional(when)
                                     : std::nullopt;
  if (is_known && came && !changed.modified && before->second.number > read_) {
    // A file that came and went without being read is no change.
    changes_.erase(before);
    return;
  }
  if (!seen_at_ || !has_unread() || now.steady > *seen_at_ + options_.debounce) {
    waits_until_ = now.steady + options_.wait;
  }
  seen_at_ = now.steady;
  ++newest_;
  if (changes_.size() >= limits::kChangedFilesMax && !is_known) file = "(others)";
  const bool is_gone = !changed.modified;
  const Change change{newest_, when, is_source_built_elsewhere(file, is_gone),
                      false,   came, is_gone};
  changes_.insert_or_assign(std::move(file), change);
}

/// Any source may be gone with a folder. The files of a folder that is there are reported
/// themselves.
bool UnservedChanges::is_source_built_elsewhere(std::string_view file, bool is_gone) const {
  const auto& endings = options_.built_endings;
  if (options_.has_build || endings.empty()) return false;
  return (is_gone && file.ends_with('/')) ||
         std::any_of(endings.begin(), endings.end(),
                     [&](const auto& ending) { return file.ends_with(ending); });
}

void UnservedChanges::on_built_elsewhere() {
  if (!options_.is_binary_built) return;
  for (auto& [file, change] : changes_) change.is_built_elsewhere = false;
}

void UnservedChanges::on_start(Generation gen) {
  for (auto& [file, change] : changes_) change.has_two_starts = change.number <= read_;
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

void UnservedChanges::erase_up_to(std::uint64_t last) {
  std::erase_if(changes_, [last](const auto& change) {
    return !change.second.is_built_elsewhere && change.second.number <= last;
  });
}

}  // namespace sitter
