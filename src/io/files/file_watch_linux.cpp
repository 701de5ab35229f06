#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "io/files/file_watch.hpp"
#include "io/system/file_descriptor.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kEvents = IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_DELETE |
                                  IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF | IN_ONLYDIR |
                                  IN_EXCL_UNLINK;
/// The events of a folder that only leads to a watched path. Because of IN_MASK_ADD, a folder that
/// is already watched for more events keeps them.
constexpr std::uint32_t kEventsOnTheWay = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                                          IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK | IN_MASK_ADD;
constexpr std::uint32_t kAdded = IN_CREATE | IN_MOVED_TO;
constexpr std::uint32_t kRemoved = IN_DELETE | IN_MOVED_FROM;

constexpr std::string_view kIgnoreFile = ".gitignore";

/// A folder on the way to a root may be created just while the watcher looks for it.
constexpr int kAnchorTries = 10;

std::string parent_of(const std::string& path) {
  return path.substr(0, std::min(path.rfind('/'), path.size()));
}

/// In this file, the root of the file system is an empty path.
const char* name_of(const std::string& path) { return path.empty() ? "/" : path.c_str(); }

bool is_same_or_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool is_folder(const std::string& path) {
  struct stat found {};
  return stat(name_of(path), &found) == 0 && S_ISDIR(found.st_mode);
}

bool is_filled_file(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0;
}

/// Empty if there is no such file. A file above the size limit is cut.
std::optional<std::string> ignore_file_in(const std::string& folder) {
  const std::string path = folder + '/' + std::string(kIgnoreFile);
  std::error_code error;
  // Opening a FIFO would block.
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(limits::kIgnoreFileBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::string number_in(const char* path) {
  std::string text;
  std::ifstream(path) >> text;
  return text;
}

}  // namespace

class FileWatch::Watcher final : private EventLoop::Reader {
 public:
  Watcher(EventLoop& loop, WatchFilter filter, Events events)
      : loop_(loop), filter_(std::move(filter)), events_(std::move(events)) {}
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher() {
    if (inotify_.is_open()) loop_.forget(*this);
  }

  void start() {
    inotify_ = FileDescriptor(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (inotify_.is_open()) {
      loop_.watch(inotify_.number(), *this);
    } else {
      problem_ =
          fmt::format("nothing can be watched: {} (fs.inotify.max_user_instances is {})",
                      std::strerror(errno), number_in("/proc/sys/fs/inotify/max_user_instances"));
    }
    find_roots(Files::known);
    tell();
  }

  void set_binary(const std::string& path) {
    std::error_code error;
    std::string target = fs::canonical(path, error).native();
    if (!path.starts_with('/') || (path == binary_ && target == binary_target_)) return;
    binary_ = path;
    binary_target_ = std::move(target);
    if (!inotify_.is_open()) return;
    find_roots(Files::known);
    tell();
  }

 private:
  /// Whether a scan reports the files that it finds as changed: `known` files are not reported,
  /// `new_ones` are.
  enum class Files { known, new_ones };

  // ---- what there is to watch

  /// The paths that the user has named, whether they exist or not.
  std::vector<std::string> roots() const {
    std::vector<std::string> roots = filter_.roots();
    for (const std::string& file : {binary_, binary_target_}) {
      if (!file.empty()) roots.push_back(file);
    }
    return roots;
  }

  /// Watches the roots, and the folders in which missing roots would appear.
  void find_roots(Files files) {
    anchors_.clear();
    for (const std::string& root : roots()) {
      watch_anchor(root);
      const bool is_there = access(name_of(root), F_OK) == 0;
      const bool is_new = is_there && found_roots_.insert(root).second;
      if (!is_there) found_roots_.erase(root);
      if (is_folder(root)) {
        if (watches_.contains(root) || !takes_folder(root)) continue;
        read_ignore_files_above(root);
        scan(root, files);
      } else if (is_new && files == Files::new_ones && takes_file(root)) {
        note(root);
      }
    }
  }

  /// Watches the nearest existing folder above the root, and the folder above that one. The second
  /// is needed because a folder reports nothing itself if it is deleted while a process runs a
  /// program in it (inotify(7): IN_DELETE_SELF).
  void watch_anchor(const std::string& root) {
    for (int i = 0; i < kAnchorTries; ++i) {
      std::string folder = root;
      do {
        folder = parent_of(folder);
      } while (!watch(folder) && !folder.empty());
      anchors_.insert(folder);
      if (!folder.empty() && watch(parent_of(folder), kEventsOnTheWay)) {
        anchors_.insert(parent_of(folder));
      }
      const std::string next = root.substr(0, root.find('/', folder.size() + 1));
      if (next == root || !is_folder(next)) return;
    }
  }

  /// Reads the ignore files above the root: up to the top of the repository or, without a
  /// repository, up to the base of the patterns.
  void read_ignore_files_above(const std::string& root) {
    std::vector<std::string> folders;
    bool is_in_repository = false;
    for (std::string folder = root; !folder.empty() && !is_in_repository;) {
      folder = parent_of(folder);
      folders.push_back(folder);
      is_in_repository = access((folder + "/.git").c_str(), F_OK) == 0;
    }
    for (const std::string& folder : folders) {
      if (!is_in_repository && !is_same_or_below(folder, filter_.base())) return;
      filter_.set_ignore_file(folder, ignore_file_in(folder));
    }
  }

  /// Watches a folder and all folders in it that the filter accepts.
  void scan(const std::string& top, Files files) {
    std::vector<std::string> folders{top};
    while (!folders.empty()) {
      const std::string folder = std::move(folders.back());
      folders.pop_back();
      if (!watch(folder)) continue;
      filter_.set_ignore_file(folder, ignore_file_in(folder));
      std::error_code error;
      for (fs::directory_iterator entry(name_of(folder), error), end; !error && entry != end;
           entry.increment(error)) {
        std::string path = folder + '/' + entry->path().filename().native();
        if (!entry->is_symlink(error) && entry->is_directory(error)) {
          if (takes_folder(path)) folders.push_back(std::move(path));
        } else if (files == Files::new_ones && takes_file(path)) {
          note(path);
        }
      }
    }
  }

  bool takes_folder(const std::string& path) const { return filter_.takes_folder(path); }
  bool takes_file(const std::string& path) const {
    return is_binary(path) || filter_.takes_file(path);
  }
  bool is_binary(const std::string& path) const {
    return path == binary_ || path == binary_target_;
  }

  bool watch(const std::string& folder, std::uint32_t events = kEvents) {
    const int number = inotify_add_watch(inotify_.number(), name_of(folder), events);
    if (number < 0) {
      // A folder on the way to a root may be closed to us, and is seldom needed.
      const bool is_needed = events == kEvents && errno != ENOENT && errno != ENOTDIR;
      if (is_needed) note_problem(folder, errno);
      return false;
    }
    if (const auto before = watches_.find(folder);
        before != watches_.end() && before->second != number) {
      drop(before->second, folder);
    }
    watches_[folder] = number;
    folders_[number].insert(folder);
    return true;
  }

  void note_problem(const std::string& folder, int error) {
    if (!problem_.empty()) return;
    problem_ =
        error == ENOSPC
            ? fmt::format(
                  "changes in {} and other folders are not seen: the system's limit "
                  "on watches is reached (fs.inotify.max_user_watches is {}); raise "
                  "it, or leave folders out with --watch '!NAME'",
                  name_of(folder), number_in("/proc/sys/fs/inotify/max_user_watches"))
            : fmt::format("changes in {} are not seen: {}", name_of(folder), std::strerror(error));
  }

  void drop(int number, const std::string& folder) {
    const auto found = folders_.find(number);
    if (found == folders_.end()) return;
    found->second.erase(folder);
    if (!found->second.empty()) return;
    inotify_rm_watch(inotify_.number(), number);
    folders_.erase(found);
  }

  /// The folder no longer exists, and neither do the folders in it.
  void forget(const std::string& folder) {
    for (auto watch = watches_.lower_bound(folder); watch != watches_.end();) {
      if (!watch->first.starts_with(folder)) break;
      if (!is_same_or_below(watch->first, folder)) {
        ++watch;
        continue;
      }
      drop(watch->second, watch->first);
      filter_.set_ignore_file(watch->first, std::nullopt);
      watch = watches_.erase(watch);
    }
    are_roots_unsure_ = are_roots_unsure_ || leads_to_root(folder);
  }

  bool leads_to_root(std::string_view path) const {
    const auto all = roots();
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& root) { return is_same_or_below(root, path); });
  }

  /// An ignore file has changed, or events were lost.
  void look_again() {
    problem_.clear();
    for (const std::string& root : roots()) {
      if (!is_folder(root) || !takes_folder(root)) continue;
      read_ignore_files_above(root);
      scan(root, Files::known);
    }
    std::vector<std::string> gone;
    for (const auto& [folder, number] : watches_) {
      if (!takes_folder(folder) && !anchors_.contains(folder)) gone.push_back(folder);
    }
    for (const std::string& folder : gone) forget(folder);
  }

  // ---- what happens

  Seen on_readable() override {
    alignas(inotify_event) std::array<char, 64 * limits::kKiB> buffer;
    const ssize_t count = read(inotify_.number(), buffer.data(), buffer.size());
    if (count <= 0) return Seen::nothing;
    for (const char* at = buffer.data(); at < buffer.data() + count;) {
      inotify_event event{};
      std::memcpy(&event, at, sizeof event);
      on_event(event, event.len > 0 ? at + sizeof event : "");
      at += sizeof event + event.len;
    }
    if (std::exchange(are_roots_unsure_, false)) find_roots(Files::new_ones);
    if (std::exchange(are_rules_unsure_, false)) {
      look_again();
      // The paths that the user has named are watched whatever the ignore files say.
      find_roots(Files::known);
      are_roots_unsure_ = false;
    }
    tell();
    return Seen::partly;
  }

  void on_event(const inotify_event& event, const std::string& name) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
      note("(more files than the system reported)");
      are_rules_unsure_ = are_roots_unsure_ = true;
      return;
    }
    const auto found = folders_.find(event.wd);
    if (found == folders_.end()) return;
    for (const std::string& folder : std::set<std::string>(found->second)) {
      on_event_in(folder, event, name);
    }
  }

  void on_event_in(const std::string& folder, const inotify_event& event, const std::string& name) {
    if ((event.mask & (IN_IGNORED | IN_MOVE_SELF)) != 0) {
      forget(folder);
      return;
    }
    const std::string path = folder + '/' + name;
    if ((event.mask & kAdded) != 0 && leads_to_root(path)) are_roots_unsure_ = true;
    if ((event.mask & IN_ISDIR) != 0) {
      on_folder(event.mask, path);
      return;
    }
    if (name == kIgnoreFile) are_rules_unsure_ = true;
    // A link that was created anew may lead elsewhere.
    if ((event.mask & (kAdded | kRemoved)) != 0 && watches_.contains(path)) forget(path);
    if (takes_file(path)) note(path);
  }

  void on_folder(std::uint32_t mask, const std::string& path) {
    const bool is_taken = takes_folder(path);
    if ((mask & kRemoved) != 0) {
      // For a deleted folder, the deletion of each file was reported already.
      if (is_taken && (mask & IN_MOVED_FROM) != 0) note(path);
      found_roots_.erase(path);
      forget(path);
    } else if ((mask & kAdded) != 0 && is_taken) {
      scan(path, Files::new_ones);
    }
  }

  /// The core keeps no more files apart than this bound, so further files are dropped.
  void note(const std::string& path) {
    if (changed_.size() <= limits::kChangedFilesMax || is_binary(path)) changed_.insert(path);
  }

  void tell() {
    if (!changed_.empty()) {
      fact::FilesChanged fact;
      for (const std::string& path : std::exchange(changed_, {})) {
        fact.files.push_back({path, is_binary(path), !is_binary(path) || is_filled_file(path)});
      }
      events_.on_changed(std::move(fact));
    }
    const auto others = std::count_if(anchors_.begin(), anchors_.end(), [this](const auto& folder) {
      return !takes_folder(folder) && watches_.contains(folder);
    });
    const fact::WatchChanged extent{watches_.size() - static_cast<std::size_t>(others), problem_};
    if (told_ && told_->folder_count == extent.folder_count && told_->problem == extent.problem) {
      return;
    }
    told_ = extent;
    events_.on_extent(extent);
  }

  EventLoop& loop_;
  WatchFilter filter_;
  Events events_;
  FileDescriptor inotify_;
  std::string binary_, binary_target_;

  std::map<std::string, int> watches_;
  /// Maps the number of a watch to its paths. A folder that can be reached through links has
  /// several paths, but only one number.
  std::unordered_map<int, std::set<std::string>> folders_;
  /// Folders that are watched because a root is in them, or would appear in them.
  std::set<std::string> anchors_;
  std::set<std::string> found_roots_;
  bool are_roots_unsure_ = false;
  bool are_rules_unsure_ = false;

  /// The files that the events of one read have changed.
  std::set<std::string> changed_;
  std::string problem_;
  std::optional<fact::WatchChanged> told_;
};

FileWatch::FileWatch(EventLoop& loop, WatchFilter filter, Events events)
    : watcher_(std::make_unique<Watcher>(loop, std::move(filter), std::move(events))) {}
FileWatch::~FileWatch() = default;
void FileWatch::start() { watcher_->start(); }
void FileWatch::set_binary(const std::string& path) { watcher_->set_binary(path); }

}  // namespace sitter
