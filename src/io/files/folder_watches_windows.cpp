#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/windows/object_handle.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/paths.hpp"
#include "io/files/folder_reading_windows.hpp"
#include "io/files/folder_watches.hpp"
#include "io/system/file_facts.hpp"
#include "io/system/windows.hpp"

namespace sitter {
namespace {

using What = FolderWatches::What;
using Added = FolderWatches::Added;
using Kind = FolderWatches::Kind;
using Change = FolderReading::Change;

What what_of(DWORD action) {
  switch (action) {
    case FILE_ACTION_ADDED:
      return What::created;
    case FILE_ACTION_REMOVED:
      return What::deleted;
    case FILE_ACTION_RENAMED_OLD_NAME:
      return What::moved_away;
    case FILE_ACTION_RENAMED_NEW_NAME:
      return What::moved_here;
    default:
      return What::written;
  }
}

bool is_gone(What what) { return what == What::deleted || what == What::moved_away; }

std::string long_path(const std::string& path) {
  const std::wstring known = windows::system_path(path);
  std::wstring whole(GetLongPathNameW(known.c_str(), nullptr, 0), L'\0');
  whole.resize(GetLongPathNameW(known.c_str(), whole.data(), static_cast<DWORD>(whole.size())));
  return windows::generic_path(whole);
}

/// The path of an entry in or below a folder. An event may have the short name of a file
/// (FILE_NOTIFY_INFORMATION), and so may the path of the folder, which stays as it is.
std::string entry_path(const std::string& folder, const std::string& entry) {
  if (entry.find('~') == entry.npos) return folder + '/' + entry;
  const std::string path = long_path(folder + '/' + entry);
  const std::string start = long_path(folder) + '/';
  return folder + '/' + (path.starts_with(start) ? path.substr(start.size()) : entry);
}

}  // namespace

/// Each read is overlapped, and all reads set one event. A read that is bound to the port of the
/// loop could not be polled: since Windows Vista, the system may complete it only when the loop
/// takes it from the port (Windows Internals, "I/O completion ports").
///
/// Nobody can rename a folder while a folder below it is open ([MS-FSA] 2.1.5.15.11,
/// FileRenameInformation). So only the topmost of the watched folders is open, and sees what
/// happens in those below it. What it sees in other folders is dropped.
struct FolderWatches::System {
  struct Entry {
    bool is_folder = false;
    FileTime written;
    std::uint64_t size = 0;
    std::uint64_t inode = 0;

    static Entry of(const FileFacts& facts) {
      const bool is_folder = facts.is_folder();
      // The time of a folder changes with its entries.
      return {is_folder, is_folder ? FileTime() : facts.written, is_folder ? 0 : facts.size,
              facts.inode};
    }
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  using Entries = std::map<std::string, Entry, PathLess>;

  struct Folder {
    FileFacts facts;
    Kind kind;
    /// Null if a folder above sees what happens here.
    std::unique_ptr<FolderReading> reading;
    /// Of an entry that is gone, the system does not say what it was, and if too much happens, not
    /// even that.
    Entries entries;
  };
  using Folders = std::map<std::string, Folder, PathLess>;

  System(EventLoop& watching, FolderWatches& owner)
      : loop(watching), watches(owner), signal(watching.executor()) {}

  // ---- what is watched

  Added add(const std::string& path, Kind kind) {
    const auto known = folders.find(path);
    if (known != folders.end()) {
      const auto now = facts_of(path);
      const bool is_as_before = now && now->is_same(known->second.facts) &&
                                (!known->second.reading || !known->second.reading->is_deleted());
      if (is_as_before) {
        known->second.kind = std::max(known->second.kind, kind);
        return Added::already;
      }
      remove(path);
    }
    return open_folder(path, kind);
  }

  Added open_folder(const std::string& path, Kind kind) {
    const auto facts = path.empty() ? std::nullopt : facts_of(path);
    if (!facts || !facts->is_folder()) return refuse(path, kind, ERROR_DIRECTORY);
    Folder folder{*facts, kind, nullptr, {}};
    const bool is_seen = !is_link(path) && deepen(top_of(parent_of(path)));
    if (!is_seen) {
      DWORD error = ERROR_SUCCESS;
      folder.reading = open_reading(path, false, error);
      if (!folder.reading) return refuse(path, kind, error);
    }
    // What changes from now on is reported, or is among these entries, or both.
    folder.entries = entries_in(path).value_or(Entries());
    folders.insert_or_assign(path, std::move(folder));
    return Added::newly;
  }

  static bool is_link(const std::string& path) {
    const auto facts = facts_of_entry(path);
    return facts && facts->is_link();
  }

  /// The open folder that sees, or could see, what happens in this folder of a watched tree.
  Folders::iterator top_of(std::string path) {
    while (true) {
      const auto found = folders.find(path);
      const bool is_in_tree = found != folders.end() && found->second.kind == Kind::tree;
      if (!is_in_tree) return folders.end();
      if (found->second.reading) return found;
      path = parent_of(path);
    }
  }

  /// Makes an open folder see what happens below it, too.
  bool deepen(Folders::iterator top) {
    if (top == folders.end()) return false;
    if (top->second.reading->is_deep()) return true;
    DWORD error = ERROR_SUCCESS;
    auto deep = open_reading(top->first, true, error);
    if (!deep) return false;
    // What has come to the first reading is reported once more, which does no harm.
    const auto before = std::exchange(top->second.reading, std::move(deep));
    if (before->has_ended()) pending.push_back({top->first, before->take()});
    return true;
  }

  std::unique_ptr<FolderReading> open_reading(const std::string& path, bool is_deep, DWORD& error) {
    windows::Handle handle(CreateFileW(
        windows::system_path(system_path(path)).c_str(), FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES,
        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
        FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OVERLAPPED, nullptr));
    error = handle.is_open() ? ERROR_SUCCESS : GetLastError();
    if (error != ERROR_SUCCESS) return nullptr;
    auto reading = std::make_unique<FolderReading>(std::move(handle), event.get(), is_deep);
    error = reading->start();
    look_soon();
    return error == ERROR_SUCCESS ? std::move(reading) : nullptr;
  }

  /// A folder on the way may be closed to us, and is seldom needed.
  Added refuse(const std::string& path, Kind kind, DWORD error) {
    const bool is_missing = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND ||
                            error == ERROR_DIRECTORY || error == ERROR_INVALID_NAME ||
                            error == ERROR_DELETE_PENDING;
    if (kind != Kind::on_the_way && !is_missing && watches.problem_.empty()) {
      watches.problem_ = fmt::format("changes in {} are not seen: {}", system_path(path),
                                     windows::error_text(error));
    }
    return Added::refused;
  }

  /// A folder that is watched no longer may be the eye of others, which then open themselves.
  void remove(const std::string& path) {
    const auto found = folders.find(path);
    if (found == folders.end()) return;
    const bool was_deep = found->second.reading && found->second.reading->is_deep();
    folders.erase(found);
    if (!was_deep) return;
    for (auto& [below, folder] : folders) {
      if (folder.reading || !is_at_or_below(below, path, kPathStyle)) continue;
      if (deepen(top_of(parent_of(below)))) continue;
      DWORD ignored = ERROR_SUCCESS;  // the folder is gone, and will be forgotten
      folder.reading = open_reading(below, false, ignored);
    }
  }

  static std::optional<Entries> entries_in(const std::string& path) {
    FolderEntries read(path);
    if (!read.is_open()) return std::nullopt;
    Entries entries;
    while (auto entry = read.next()) {
      entries.emplace(std::move(entry->name), Entry::of(entry->facts));
    }
    return entries;
  }

  // ---- what happens

  bool start() {
    event = windows::Handle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    HANDLE copy = nullptr;
    const HANDLE self = GetCurrentProcess();
    if (!event.is_open() ||
        !DuplicateHandle(self, event.get(), self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS)) {
      return false;
    }
    signal.assign(copy);
    wait();
    return true;
  }

  void wait() {
    signal.async_wait([this, is_alive = std::weak_ptr<const bool>(alive)](const auto& error) {
      if (error || is_alive.expired()) return;
      ResetEvent(event.get());
      wait();
      look();
    });
  }

  /// A read that starts resets the event, also if it was set for another read.
  void look_soon() {
    if (std::exchange(is_look_due, true)) return;
    loop.post([this, is_alive = std::weak_ptr<const bool>(alive)] {
      if (is_alive.expired()) return;
      is_look_due = false;
      look();
    });
  }

  /// Reports what has come. False if nothing has come.
  bool look() {
    std::vector<std::string> ended;
    for (const auto& [path, folder] : folders) {
      if (folder.reading && folder.reading->has_ended()) ended.push_back(path);
    }
    const auto left = std::exchange(pending, {});
    for (const auto& [path, changes] : left) tell_all(path, changes);
    for (const std::string& path : ended) read(path);
    if (ended.empty() && left.empty()) return false;
    watches.handlers_.on_pause();
    return true;
  }

  /// Reports what has come from this folder, if it is still watched.
  void read(const std::string& path) {
    const auto found = folders.find(path);
    if (found == folders.end() || !found->second.reading) return;
    FolderReading& reading = *found->second.reading;
    if (!reading.has_ended()) return;
    const auto changes = reading.take();
    const DWORD error = reading.start();
    look_soon();
    // A folder that is not deleted may be on a share that is gone.
    if (error != ERROR_SUCCESS && !reading.is_deleted()) refuse(path, found->second.kind, error);
    tell_all(path, changes);
    if (error == ERROR_SUCCESS || !folders.contains(path)) return;
    end(path);
    watches.handlers_.on_event({path, What::folder_gone, {}});
    remove(path);
  }

  void tell_all(const std::string& path, const std::optional<std::vector<Change>>& changes) {
    if (!changes) {
      compare_tree(path);
      return;
    }
    for (const Change& change : *changes) {
      const std::string entry = entry_path(path, change.path);
      tell(parent_of(entry), entry.substr(entry.rfind('/') + 1), what_of(change.action));
    }
  }

  void tell(const std::string& path, const std::string& name, What what) {
    const auto found = folders.find(path);
    if (found == folders.end()) return;
    auto& entries = found->second.entries;
    const Kind kind = found->second.kind;
    const std::string place = path + '/' + name;
    const auto known = entries.find(name);
    Entry entry = known != entries.end() ? known->second : Entry();
    if (is_gone(what)) {
      if (known != entries.end()) entries.erase(known);
      if (entry.is_folder) what = what_has_become(place, what);
    } else if (!entry.is_folder || what != What::written) {
      const auto facts = facts_of_entry(place);
      // A temporary file may have come and gone.
      if (facts) entries[name] = entry = Entry::of(*facts);
    }
    // The entries of a folder are reported themselves.
    if (what == What::written && (entry.is_folder || kind == Kind::on_the_way)) return;
    watches.handlers_.on_event({path, what, name, entry.is_folder});
  }

  /// A folder that has left its place, for another folder or for good. What had come from it and
  /// from the folders in it is reported before.
  What what_has_become(const std::string& path, What what) {
    const auto found = folders.find(path);
    if (found == folders.end()) return what;
    const auto& reading = found->second.reading;
    // A folder that was deleted has lost its entries before, and the folder above has seen it.
    if (reading ? !reading->is_deleted() : !found->second.entries.empty()) return What::moved_away;
    end(path);
    return What::deleted;
  }

  /// Reports the files of a deleted folder: the system forgets its events with the folder.
  void end(const std::string& path) {
    const auto found = folders.find(path);
    if (found == folders.end()) return;
    for (const auto& [name, entry] : std::exchange(found->second.entries, {})) {
      if (entry.is_folder) end(path + '/' + name);
      watches.handlers_.on_event({path, What::deleted, name, entry.is_folder});
    }
  }

  /// Finds what has happened in the folder, and below it, by a comparison: the system has seen more
  /// than it could keep.
  void compare_tree(const std::string& top) {
    const auto found = folders.find(top);
    if (found == folders.end() || !found->second.reading) return;
    std::vector<std::string> paths{top};
    for (const auto& [path, folder] : folders) {
      const bool is_seen = found->second.reading->is_deep() && !folder.reading;
      if (is_seen && is_at_or_below(path, top, kPathStyle)) paths.push_back(path);
    }
    for (const std::string& path : paths) compare(path);
  }

  void compare(const std::string& path) {
    const auto found = folders.find(path);
    if (found == folders.end()) return;
    const auto now = entries_in(path);
    // The folder above reports that it is gone.
    if (!now) return;
    const Entries before = found->second.entries;
    for (const auto& [name, entry] : before) {
      const auto next = now->find(name);
      if (next == now->end() || next->second.is_folder != entry.is_folder) {
        tell(path, name, What::deleted);
      } else if (next->second != entry) {
        tell(path, name, next->second.inode == entry.inode ? What::written : What::moved_here);
      }
    }
    for (const auto& [name, entry] : *now) {
      const auto old = before.find(name);
      const bool is_new = old == before.end() || old->second.is_folder != entry.is_folder;
      if (is_new) tell(path, name, What::created);
    }
  }

  EventLoop& loop;
  FolderWatches& watches;
  /// Set when a read has ended. Folders end before it.
  windows::Handle event;
  Folders folders;
  /// What folders had reported before they were opened anew.
  std::vector<std::pair<std::string, std::optional<std::vector<Change>>>> pending;
  boost::asio::windows::object_handle signal;
  bool is_look_due = false;
  std::shared_ptr<const bool> alive = std::make_shared<const bool>(true);
};

FolderWatches::FolderWatches(EventLoop& loop, Handlers handlers)
    : handlers_(std::move(handlers)), system_(std::make_unique<System>(loop, *this)) {}
FolderWatches::~FolderWatches() = default;

void FolderWatches::start() {
  if (!system_->start()) {
    problem_ = fmt::format("nothing can be watched: {}", windows::error_text(GetLastError()));
  }
}

bool FolderWatches::is_started() const { return system_->signal.is_open(); }

void FolderWatches::read_pending() {
  while (is_started() && system_->look()) {
  }
}

Added FolderWatches::add(const std::string& folder, Kind kind) {
  return is_started() ? system_->add(folder, kind) : Added::refused;
}

// A folder reports the writes of all its files.
void FolderWatches::choose_files(const std::string&) {}

void FolderWatches::remove(const std::string& folder) { system_->remove(folder); }

void FolderWatches::remove_at_or_below(const std::string& folder) {
  erase_at_or_below(system_->folders, folder);
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
