#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/rebuild/watch_filter.hpp"
#include "io/files/folder_watches.hpp"
#include "io/files/tree_reading.hpp"
#include "io/system/file_descriptor.hpp"
#include "io/system/file_facts.hpp"

namespace sitter {
namespace {

using What = FolderWatches::What;
using Added = FolderWatches::Added;

constexpr std::uint32_t kEvents = IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_DELETE |
                                  IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF | IN_ONLYDIR |
                                  IN_EXCL_UNLINK;
/// Because of IN_MASK_ADD, a folder that is already watched for more events keeps them.
constexpr std::uint32_t kEventsOnTheWay = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                                          IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK | IN_MASK_ADD;

std::string number_in(const char* path) {
  std::string text;
  std::ifstream(path) >> text;
  return text;
}

What what_of(std::uint32_t mask) {
  if ((mask & IN_CREATE) != 0) return What::created;
  if ((mask & IN_MOVED_TO) != 0) return What::moved_here;
  if ((mask & IN_DELETE) != 0) return What::deleted;
  if ((mask & IN_MOVED_FROM) != 0) return What::moved_away;
  return What::written;
}

std::string words_of(const std::string& folder, int error) {
  if (error != ENOSPC) {
    return fmt::format("changes in {} are not seen: {}", system_path(folder), std::strerror(error));
  }
  return fmt::format(
      "changes in {} and other folders are not seen: the system's limit on watches is reached "
      "(fs.inotify.max_user_watches is {}); raise it, or leave folders out with --watch '!NAME'",
      system_path(folder), number_in("/proc/sys/fs/inotify/max_user_watches"));
}

}  // namespace

struct FolderWatches::System final : EventLoop::Reader {
  System(EventLoop& watching, const Handlers& told) : loop(watching), handlers(told) {}
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  ~System() {
    if (inotify.is_open()) loop.forget(*this);
  }

  Seen on_readable() override {
    alignas(inotify_event) std::array<char, limits::kWatchEventBytes> buffer;
    const ssize_t count = read(inotify.number(), buffer.data(), buffer.size());
    if (count <= 0) return Seen::nothing;
    for (const char* at = buffer.data(); at < buffer.data() + count;) {
      inotify_event event{};
      std::memcpy(&event, at, sizeof event);
      on_event(event, event.len > 0 ? at + sizeof event : "");
      at += sizeof event + event.len;
    }
    handlers.on_pause();
    return Seen::partly;
  }

  void on_event(const inotify_event& event, const std::string& name) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
      handlers.on_lost();
      return;
    }
    const auto found = folders.find(event.wd);
    if (found == folders.end()) return;
    const bool is_gone = (event.mask & (IN_IGNORED | IN_MOVE_SELF)) != 0;
    for (const std::string& folder : std::set<std::string>(found->second)) {
      if (is_gone) {
        handlers.on_event({folder, What::folder_gone, {}});
      } else {
        handlers.on_event({folder, what_of(event.mask), name, (event.mask & IN_ISDIR) != 0});
      }
    }
  }

  void drop(int number, const std::string& folder) {
    const auto found = folders.find(number);
    if (found == folders.end()) return;
    found->second.erase(folder);
    if (!found->second.empty()) return;
    inotify_rm_watch(inotify.number(), number);
    folders.erase(found);
  }

  EventLoop& loop;
  const Handlers& handlers;
  FileDescriptor inotify;
  std::map<std::string, int> numbers;
  /// Maps the number of a watch to its paths. A folder that can be reached through links has
  /// several paths, but only one number.
  std::unordered_map<int, std::set<std::string>> folders;
};

FolderWatches::FolderWatches(EventLoop& loop, Handlers handlers)
    : handlers_(std::move(handlers)), system_(std::make_unique<System>(loop, handlers_)) {}
FolderWatches::~FolderWatches() = default;

void FolderWatches::start() {
  system_->inotify = FileDescriptor(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (is_started()) {
    system_->loop.watch(system_->inotify.number(), *system_);
  } else {
    problem_ =
        fmt::format("nothing can be watched: {} (fs.inotify.max_user_instances is {})",
                    std::strerror(errno), number_in("/proc/sys/fs/inotify/max_user_instances"));
  }
}

bool FolderWatches::is_started() const { return system_->inotify.is_open(); }

void FolderWatches::read_pending() {
  while (is_started() && system_->on_readable() != EventLoop::Reader::Seen::nothing) {
  }
}

Added FolderWatches::add(const std::string& folder, Kind kind) {
  const std::uint32_t events = kind == Kind::on_the_way ? kEventsOnTheWay : kEvents;
  const int number =
      inotify_add_watch(system_->inotify.number(), system_path(folder).c_str(), events);
  if (number < 0) {
    // A folder on the way may be closed to us, and is seldom needed.
    const bool is_needed = kind != Kind::on_the_way && errno != ENOENT && errno != ENOTDIR;
    if (is_needed && problem_.empty()) problem_ = words_of(folder, errno);
    return Added::refused;
  }
  const auto [known, is_first] = system_->numbers.try_emplace(folder, number);
  const bool is_another = !is_first && known->second != number;
  if (is_another) system_->drop(std::exchange(known->second, number), folder);
  system_->folders[number].insert(folder);
  return is_first || is_another ? Added::newly : Added::already;
}

// A folder reports the writes of all its files.
void FolderWatches::choose_files(const std::string&) {}

void FolderWatches::remove(const std::string& folder) {
  const auto found = system_->numbers.find(folder);
  if (found == system_->numbers.end()) return;
  system_->drop(found->second, folder);
  system_->numbers.erase(found);
}

void FolderWatches::remove_at_or_below(const std::string& folder) {
  erase_at_or_below(system_->numbers, folder,
                    [this](const auto& watch) { system_->drop(watch.second, watch.first); });
}

bool FolderWatches::contains(const std::string& folder) const {
  return system_->numbers.contains(folder);
}

std::size_t FolderWatches::size() const { return system_->numbers.size(); }

const std::string* FolderWatches::next_after(const std::string& folder) const {
  const auto next = system_->numbers.upper_bound(folder);
  return next == system_->numbers.end() ? nullptr : &next->first;
}

}  // namespace sitter
