#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/rebuild/watch_filter.hpp"
#include "io/files/folder_watches.hpp"
#include "io/files/ignore_files.hpp"
#include "io/files/vnode_queue.hpp"
#include "io/system/file_descriptor.hpp"
#include "io/system/file_facts.hpp"
#include "io/system/posix.hpp"
#include "io/system/startup.hpp"

namespace sitter {
namespace {

using What = FolderWatches::What;
using Added = FolderWatches::Added;
using Kind = FolderWatches::Kind;
using Id = VnodeQueue::Id;

bool is_same(const struct stat& one, const struct stat& other) {
  // Some file systems give the number of a deleted file to the next file.
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino &&
         (one.st_mode & S_IFMT) == (other.st_mode & S_IFMT);
}

/// Whether the bytes of a file may differ from those of before.
bool is_written_since(const struct stat& before, const struct stat& now) {
  const timespec then = platform::written_at(before);
  const timespec last = platform::written_at(now);
  return then.tv_sec != last.tv_sec || then.tv_nsec != last.tv_nsec ||
         before.st_size != now.st_size;
}

/// Whether an entry is still the one of before. A link that was made anew may lead elsewhere.
bool is_same_entry(const struct stat& before, const struct stat& now) {
  return is_same(before, now) && !(S_ISLNK(now.st_mode) && is_written_since(before, now));
}

}  // namespace

/// A folder reports only that its entries have changed. What has changed is found by a comparison
/// with the entries that were there before. The writes of a file are reported by the file itself.
struct FolderWatches::System {
  struct Entry {
    struct stat status {};
    /// Open for a file whose writes are looked at.
    FileDescriptor file;
    Id id = 0;
  };
  using Entries = std::map<std::string, Entry>;

  struct Folder {
    FileDescriptor descriptor;
    Id id;
    Kind kind;
    struct stat status;
    Entries entries;
    /// Whether the entries could not be read again after a change.
    bool is_unread = false;
  };
  using Folders = std::map<std::string, Folder>;

  struct Place {
    std::string folder;
    /// The file in it; empty for the folder itself.
    std::string name;
  };

  System(EventLoop& loop, FolderWatches& owner)
      : watches(owner), queue(loop, [this](const auto& changes) { on_changes(changes); }) {}

  // ---- what is watched

  Added add(const std::string& path, Kind kind) {
    struct stat status {};
    if (stat(system_path(path).c_str(), &status) != 0) return refuse(path, kind, errno);
    const auto known = folders.find(path);
    const bool is_known = known != folders.end() && !known->second.is_unread;
    if (is_known && is_same(known->second.status, status)) {
      known->second.kind = std::max(known->second.kind, kind);
      return Added::already;
    }
    if (known != folders.end()) remove(known);
    return open_folder(path, kind);
  }

  Added open_folder(const std::string& path, Kind kind) {
    if (count >= count_max) return refuse(path, kind, EMFILE);
    FileDescriptor descriptor(open(system_path(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat status {};
    if (!descriptor.is_open() || fstat(descriptor.number(), &status) != 0) {
      return refuse(path, kind, errno);
    }
    const Id id = next_id++;
    if (const int error = queue.add(descriptor.number(), id)) return refuse(path, kind, error);
    // What changes from now on is reported by the queue, or is among these entries, or both.
    std::optional<Entries> entries = read_entries(descriptor.number());
    if (!entries) return refuse(path, kind, errno);
    ++count;
    places[id] = {path, {}};
    folders[path] = {std::move(descriptor), id, kind, status, std::move(*entries)};
    return Added::newly;
  }

  /// A folder on the way may be closed to us, and is seldom needed.
  Added refuse(const std::string& path, Kind kind, int error) {
    if (kind != Kind::on_the_way && error != ENOENT && error != ENOTDIR) note_problem(path, error);
    return Added::refused;
  }

  void note_problem(const std::string& path, int error) {
    if (!watches.problem_.empty()) return;
    watches.problem_ =
        error == EMFILE
            ? fmt::format(
                  "changes in {} and other files are not seen: {} files and folders are "
                  "watched already, which is as many as the system's limit on open files "
                  "allows; leave some out with --watch '!NAME'",
                  system_path(path), count)
            : fmt::format("changes in {} are not seen: {}", system_path(path),
                          std::strerror(error));
  }

  void choose_files(const std::string& path) {
    const auto found = folders.find(path);
    if (found == folders.end()) return;
    const bool are_of_interest = found->second.kind != Kind::on_the_way;
    // Files are closed first, so that the others have room.
    std::vector<Entries::value_type*> missing;
    for (auto& file : found->second.entries) {
      auto& [name, entry] = file;
      if (!S_ISREG(entry.status.st_mode)) continue;
      if (!are_of_interest || !watches.handlers_.takes_file(path + '/' + name)) {
        close(entry);
      } else if (!entry.file.is_open()) {
        missing.push_back(&file);
      }
    }
    for (auto* const file : missing) open_file(path, file->first, file->second);
  }

  void open_file(const std::string& path, const std::string& name, Entry& entry) {
    const std::string file = path + '/' + name;
    if (count >= count_max) {
      note_problem(file, EMFILE);
      return;
    }
    entry.file = FileDescriptor(open(file.c_str(), VnodeQueue::kOpenFile));
    entry.id = next_id++;
    int error = entry.file.is_open() ? queue.add(entry.file.number(), entry.id) : errno;
    struct stat status {};
    if (error == 0 && fstat(entry.file.number(), &status) != 0) error = errno;
    if (error != 0 || !is_same(status, entry.status)) {
      entry.file.close();
      // If the file is gone or is another one, the folder reports it.
      if (error != 0 && error != ENOENT && error != ELOOP) note_problem(file, error);
      return;
    }
    entry.status = status;
    ++count;
    places[entry.id] = {path, name};
  }

  void close(Entry& entry) {
    if (!entry.file.is_open()) return;
    entry.file.close();
    places.erase(entry.id);
    --count;
  }

  void remove(Folders::iterator folder) {
    release(*folder);
    folders.erase(folder);
  }

  void release(Folders::value_type& folder) {
    for (auto& [name, entry] : folder.second.entries) close(entry);
    places.erase(folder.second.id);
    --count;
  }

  // ---- what happens

  void on_changes(const std::vector<VnodeQueue::Change>& changes) {
    std::set<std::string> changed;
    std::vector<Id> written;
    for (const VnodeQueue::Change& change : changes) {
      const auto place = places.find(change.id);
      if (place == places.end()) continue;
      if (place->second.name.empty()) {
        changed.insert(place->second.folder);
      } else if (change.is_written || has_new_time(place->second)) {
        written.push_back(change.id);
      }
    }
    // Folders come after the folders above them.
    for (const std::string& path : changed) look(path);
    for (const Id id : written) tell_written(id);
    watches.handlers_.on_pause();
  }

  /// A file may be written through a mapping, or touched, without a report of a write.
  bool has_new_time(const Place& place) {
    const Entry& entry = folders.at(place.folder).entries.at(place.name);
    struct stat now {};
    return fstat(entry.file.number(), &now) == 0 && is_written_since(entry.status, now);
  }

  void tell_written(Id id) {
    const auto found = places.find(id);
    if (found == places.end()) return;
    const Place place = found->second;
    Entry& entry = folders.at(place.folder).entries.at(place.name);
    fstat(entry.file.number(), &entry.status);
    watches.handlers_.on_event({place.folder, What::written, place.name});
  }

  /// Reports what has changed in the folder.
  void look(const std::string& path) {
    const auto found = folders.find(path);
    if (found == folders.end()) return;
    struct stat status {};
    if (stat(system_path(path).c_str(), &status) == 0 && is_same(status, found->second.status)) {
      compare(path);
      return;
    }
    // The folder above reports what has become of this one.
    if (!path.empty()) look(parent_of(path));
    if (!folders.contains(path)) return;
    compare(path);
    watches.handlers_.on_event({path, What::folder_gone, {}});
  }

  /// Compares the entries with those of before. The folder need not be at its path any more.
  void compare(const std::string& path) {
    const auto found = folders.find(path);
    if (found == folders.end()) return;
    Folder& folder = found->second;
    std::optional<Entries> read = read_entries(folder.descriptor.number());
    folder.is_unread = !read;
    if (!read) {
      watches.handlers_.on_lost();
      return;
    }
    Entries& now = *read;
    std::vector<Event> events;
    for (auto& [name, before] : folder.entries) {
      const auto next = now.find(name);
      const bool is_there = next != now.end();
      const bool is_folder = S_ISDIR(before.status.st_mode);
      if (is_there && is_same_entry(before.status, next->second.status)) {
        const bool is_written = !before.file.is_open() && !is_folder &&
                                is_written_since(before.status, next->second.status);
        if (is_written) events.push_back({path, What::written, name});
        // Of an open file, the time of the last report is kept.
        if (before.file.is_open()) next->second = std::move(before);
        continue;
      }
      close(before);
      // A file in the place of a file is new. Nothing else needs to be said of the old one.
      const bool is_file_again = is_there && !is_folder && !S_ISDIR(next->second.status.st_mode);
      if (!is_file_again) events.push_back({path, What::deleted, name, is_folder});
    }
    for (auto& [name, entry] : now) {
      const auto before = folder.entries.find(name);
      const bool is_new = before == folder.entries.end();
      if (is_new || !is_same_entry(before->second.status, entry.status)) {
        events.push_back(
            {path, is_new ? What::created : What::moved_here, name, S_ISDIR(entry.status.st_mode)});
      }
    }
    folder.entries = std::move(now);
    // A file is opened before it is reported, so that no later write is missed.
    choose_files(path);
    // The handler may remove the folder.
    for (Event& event : events) {
      const bool is_gone_folder = event.is_folder && event.what == What::deleted;
      if (is_gone_folder && has_entries_left(path + '/' + event.name))
        event.what = What::moved_away;
      watches.handlers_.on_event(event);
    }
  }

  /// Reports what was deleted in a watched folder that is gone from its path. A folder that was
  /// deleted is empty.
  bool has_entries_left(const std::string& path) {
    compare(path);
    const auto folder = folders.find(path);
    return folder != folders.end() && !folder->second.entries.empty();
  }

  /// For `errno` after a folder could not be read: a deleted folder has no entries.
  static std::optional<Entries> entries_after_failure() {
    return errno == ENOENT ? std::optional(Entries()) : std::nullopt;
  }

  /// Nothing if the entries cannot be read (errno).
  static std::optional<Entries> read_entries(int folder) {
    Entries entries;
    FileDescriptor opened(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened.is_open()) return entries_after_failure();
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(opened.number()), closedir);
    if (!stream) return entries_after_failure();
    opened.release();
    while (true) {
      errno = 0;
      const dirent* const found = readdir(stream.get());
      if (found == nullptr && errno != 0) return entries_after_failure();
      if (found == nullptr) return entries;
      const std::string name = found->d_name;
      if (name == "." || name == "..") continue;
      // An entry that is gone, or that the system hides from this user, is left out.
      Entry entry;
      if (fstatat(dirfd(stream.get()), found->d_name, &entry.status, AT_SYMLINK_NOFOLLOW) == 0) {
        entries.emplace(name, std::move(entry));
      } else if (errno != ENOENT && errno != EACCES && errno != EPERM) {
        return std::nullopt;
      }
    }
  }

  FolderWatches& watches;
  VnodeQueue queue;
  Folders folders;
  /// What the ids of the queue stand for.
  std::unordered_map<Id, Place> places;
  /// 0 is the queue's own.
  Id next_id = 1;
  /// How many files and folders are watched, and may be watched.
  std::size_t count = 0;
  std::size_t count_max = 0;
};

FolderWatches::FolderWatches(EventLoop& loop, Handlers handlers)
    : handlers_(std::move(handlers)), system_(std::make_unique<System>(loop, *this)) {}
FolderWatches::~FolderWatches() = default;

void FolderWatches::start() {
  if (const int error = system_->queue.start()) {
    problem_ = fmt::format("nothing can be watched: {}", std::strerror(error));
  }
  const std::size_t descriptors = raise_descriptor_limit(limits::kDescriptorsMax);
  system_->count_max = limits::watch_descriptors_of(std::min(descriptors, limits::kDescriptorsMax));
}

bool FolderWatches::is_started() const { return system_->queue.is_started(); }

void FolderWatches::read_pending() { system_->queue.read_pending(); }

Added FolderWatches::add(const std::string& folder, Kind kind) {
  return is_started() ? system_->add(folder, kind) : Added::refused;
}

void FolderWatches::choose_files(const std::string& folder) { system_->choose_files(folder); }

void FolderWatches::remove(const std::string& folder) {
  const auto found = system_->folders.find(folder);
  if (found != system_->folders.end()) system_->remove(found);
}

void FolderWatches::remove_at_or_below(const std::string& folder) {
  erase_at_or_below(system_->folders, folder, [this](auto& gone) { system_->release(gone); });
}

bool FolderWatches::contains(const std::string& folder) const {
  return system_->folders.contains(folder);
}

std::size_t FolderWatches::size() const { return system_->folders.size(); }

const std::string* FolderWatches::next_after(const std::string& folder) const {
  const auto next = system_->folders.upper_bound(folder);
  return next == system_->folders.end() ? nullptr : &next->first;
}

}  // namespace sitter
