#include "io/files/tree_reading.hpp"

#include <algorithm>
#include <utility>

#include "io/files/ignore_files.hpp"

namespace sitter {

TreeReading::TreeReading(WatchFilter& filter, Events events)
    : filter_(filter), events_(std::move(events)) {}

void TreeReading::add(const std::string& folder, Stamp since) {
  Stamp& from = waiting_.try_emplace(folder, since).first->second;
  from = std::min(from, since);
}

void TreeReading::forget(const std::string& folder) {
  erase_at_or_below(waiting_, folder);
  if (folder_ && is_at_or_below(folder_->path, folder, kPathStyle)) folder_.reset();
}

std::optional<TreeReading::Stamp> TreeReading::waits_since(const std::string& folder) const {
  const auto found = waiting_.find(folder);
  return found == waiting_.end() ? std::nullopt : std::optional(found->second);
}

void TreeReading::take_step() {
  if (folder_) {
    read_entry();
  } else if (!waiting_.empty()) {
    const auto next = waiting_.extract(waiting_.begin());
    open(next.key(), next.mapped());
  }
}

void TreeReading::open(const std::string& path, Stamp since) {
  if (!filter_.takes_folder(path)) return;
  const Watched watched = events_.watch(path);
  if (watched == Watched::refused) return;
  // A mark that a tool leaves from now on is seen by the watch.
  read_marks(path, filter_);
  if (!filter_.takes_folder(path)) {
    events_.on_left_out(path);
    return;
  }
  read_ignore_file(path, filter_);
  events_.on_rules(path);
  FolderEntries entries(path);
  if (!entries.is_open()) return;
  const FileFacts facts = entries.facts();
  folder_.emplace(Folder{path, since, std::move(entries), watched});
  // A folder that was moved here brings its files, and their times are older than the move.
  const bool is_moved = facts.changed > since && facts.written <= since;
  if (watched == Watched::newly && is_moved) folder_->since = kEver;
}

void TreeReading::read_entry() {
  const auto entry = folder_->entries.next();
  if (!entry) {
    finish_folder();
    return;
  }
  const std::string path = folder_->path + '/' + entry->name;
  const bool has_changed = entry->facts.changed > folder_->since;
  if (has_changed) folder_->has_changed_entry = true;
  if (entry->facts.is_folder()) {
    if (filter_.takes_folder(path)) add(path, folder_->since);
    return;
  }
  filter_.on_file(path);
  const bool was_unseen = folder_->watched == Watched::newly && has_changed;
  if (folder_->since == kEver || was_unseen) events_.on_changed(path);
  if (entry->facts.is_link()) events_.on_link(path, folder_->since);
}

void TreeReading::finish_folder() {
  // If the folder has changed but no entry is new, an entry is gone, and nobody knows its name.
  const bool has_lost_entry = folder_->watched == Watched::newly && folder_->since != kEver &&
                              !folder_->has_changed_entry &&
                              folder_->entries.facts().written > folder_->since;
  if (has_lost_entry) events_.on_lost(folder_->path);
  folder_.reset();
}

}  // namespace sitter
