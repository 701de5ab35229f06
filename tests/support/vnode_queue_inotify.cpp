#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "io/files/tree_reading.hpp"
#include "io/files/vnode_queue.hpp"
#include "io/system/file_descriptor.hpp"

/// A stand-in for the queue of macOS, so that what is built on it runs on Linux: the events of each
/// folder and each file are made less exact, as kqueue(2) has them.
namespace sitter {
namespace {

constexpr std::uint32_t kOfFolder =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t kOfFile = IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t kWritten =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_Q_OVERFLOW;

}  // namespace

const int VnodeQueue::kOpenFile = O_PATH | O_NOFOLLOW | O_CLOEXEC;

struct VnodeQueue::System final : EventLoop::Reader {
  System(EventLoop& watching, std::function<void(const std::vector<Change>&)> told)
      : loop(watching), on_changes(std::move(told)) {}
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  ~System() {
    if (inotify.is_open()) loop.forget(*this);
  }

  Seen on_readable() override {
    alignas(inotify_event) std::array<char, limits::kWatchEventBytes> buffer;
    const ssize_t count = read(inotify.number(), buffer.data(), buffer.size());
    if (count <= 0) return Seen::nothing;
    std::map<Id, bool> changed;
    for (const char* at = buffer.data(); at < buffer.data() + count;) {
      inotify_event event{};
      std::memcpy(&event, at, sizeof event);
      for (const auto& [number, watched] : ids) {
        if (number != event.wd && (event.mask & IN_Q_OVERFLOW) == 0) continue;
        for (const Id id : watched) changed[id] |= (event.mask & kWritten) != 0;
      }
      at += sizeof event + event.len;
    }
    std::vector<Change> changes;
    for (const auto& [id, is_written] : changed) changes.push_back({id, is_written});
    on_changes(changes);
    return Seen::partly;
  }

  EventLoop& loop;
  std::function<void(const std::vector<Change>&)> on_changes;
  FileDescriptor inotify;
  /// The ids of each watch. A watch outlasts its descriptors here.
  std::map<int, std::set<Id>> ids;
};

VnodeQueue::VnodeQueue(EventLoop& loop, std::function<void(const std::vector<Change>&)> on_changes)
    : system_(std::make_unique<System>(loop, std::move(on_changes))) {}
VnodeQueue::~VnodeQueue() = default;

int VnodeQueue::start() {
  system_->inotify = FileDescriptor(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!is_started()) return errno;
  system_->loop.watch(system_->inotify.number(), *system_);
  return 0;
}

bool VnodeQueue::is_started() const { return system_->inotify.is_open(); }

void VnodeQueue::read_pending() {
  if (is_started()) system_->on_readable();
}

int VnodeQueue::add(int descriptor, Id id) {
  struct stat status {};
  fstat(descriptor, &status);
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const int number = inotify_add_watch(system_->inotify.number(), path.c_str(),
                                       S_ISDIR(status.st_mode) ? kOfFolder : kOfFile);
  if (number < 0) return errno;
  system_->ids[number].insert(id);
  return 0;
}

}  // namespace sitter
