#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "io/files/ignore_files.hpp"
#include "io/files/tree_reading.hpp"
#include "io/system/posix.hpp"

namespace sitter {
namespace {

using Stamp = TreeReading::Stamp;

Stamp stamp(const timespec& time) {
  return Stamp(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

Stamp changed_at(const struct stat& status) { return stamp(platform::changed_at(status)); }
Stamp written_at(const struct stat& status) { return stamp(platform::written_at(status)); }

struct stat status_of(DIR* folder) {
  struct stat status {};
  fstat(dirfd(folder), &status);
  return status;
}

}  // namespace

TreeReading::TreeReading(WatchFilter& filter, Events events)
    : filter_(filter), events_(std::move(events)) {}

void TreeReading::add(const std::string& folder, Stamp since) {
  Stamp& from = waiting_.try_emplace(folder, since).first->second;
  from = std::min(from, since);
}

void TreeReading::forget(const std::string& folder) {
  erase_at_or_below(waiting_, folder);
  if (folder_ && is_at_or_below(folder_->path, folder)) folder_.reset();
}

std::optional<Stamp> TreeReading::waits_since(const std::string& folder) const {
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
  // Without the slash, the root of the file system would be an empty path.
  const std::string start = path + '/';
  folder_.emplace(Folder{path, since, {opendir(start.c_str()), closedir}, watched});
  if (!folder_->entries) {
    folder_.reset();
    return;
  }
  // A folder that was moved here brings its files, and their times are older than the move.
  const struct stat status = status_of(folder_->entries.get());
  const bool is_moved = changed_at(status) > since && written_at(status) <= since;
  if (watched == Watched::newly && is_moved) folder_->since = kEver;
}

void TreeReading::read_entry() {
  DIR* const entries = folder_->entries.get();
  const dirent* const entry = readdir(entries);
  if (entry == nullptr) {
    finish_folder();
    return;
  }
  const std::string_view name = entry->d_name;
  struct stat status {};
  if (name == "." || name == ".." ||
      fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return;
  }
  const std::string path = folder_->path + '/' + std::string(name);
  const bool has_changed = changed_at(status) > folder_->since;
  if (has_changed) folder_->has_changed_entry = true;
  if (S_ISDIR(status.st_mode)) {
    if (filter_.takes_folder(path)) add(path, folder_->since);
    return;
  }
  filter_.on_file(path);
  const bool was_unseen = folder_->watched == Watched::newly && has_changed;
  if (folder_->since == kEver || was_unseen) events_.on_changed(path);
  if (S_ISLNK(status.st_mode)) events_.on_link(path, folder_->since);
}

void TreeReading::finish_folder() {
  // If the folder has changed but no entry is new, an entry is gone, and nobody knows its name.
  const bool has_lost_entry = folder_->watched == Watched::newly && folder_->since != kEver &&
                              !folder_->has_changed_entry &&
                              written_at(status_of(folder_->entries.get())) > folder_->since;
  if (has_lost_entry) events_.on_lost(folder_->path);
  folder_.reset();
}

}  // namespace sitter
