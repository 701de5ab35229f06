#include <fcntl.h>
#include <sys/event.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "io/files/vnode_queue.hpp"
#include "io/system/file_descriptor.hpp"
#include "io/system/posix.hpp"
#include "io/system/signals.hpp"

namespace sitter {
namespace {

using Change = VnodeQueue::Change;

constexpr unsigned kWritten = NOTE_WRITE | NOTE_EXTEND;
constexpr unsigned kNotes = kWritten | NOTE_DELETE | NOTE_RENAME | NOTE_ATTRIB | NOTE_REVOKE;
/// The event that ends the thread.
constexpr std::uintptr_t kEnd = 0;

bool register_event(int queue, std::uintptr_t ident, std::int16_t filter, std::uint16_t flags,
                    std::uint32_t notes, VnodeQueue::Id id) {
  struct kevent change {};
  EV_SET(&change, ident, filter, flags, notes, 0, reinterpret_cast<void*>(id));
  return kevent(queue, &change, 1, nullptr, 0, nullptr) == 0;
}

}  // namespace

// O_EVTONLY does not keep the volume of the file from being unmounted. With O_NONBLOCK, a FIFO that
// has taken the place of the file is opened without waiting for a writer.
const int VnodeQueue::kOpenFile = O_EVTONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

// A thread of its own waits for the events: a queue can't be made non-blocking (fcntl(2) refuses
// it), which Asio asks of each descriptor that it waits for.
struct VnodeQueue::System final : EventLoop::Reader {
  System(EventLoop& watching, std::function<void(const std::vector<Change>&)> told)
      : loop(watching), on_changes(std::move(told)) {}
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  ~System() {
    if (!thread.joinable()) return;
    loop.forget(*this);
    register_event(queue.number(), kEnd, EVFILT_USER, 0, NOTE_TRIGGER, 0);
    thread.join();
  }

  int start() {
    queue = FileDescriptor(kqueue());
    if (!queue.is_open()) return errno;
    auto pipe = platform::open_pipe();
    if (!pipe) return errno;
    fcntl(queue.number(), F_SETFD, FD_CLOEXEC);
    for (const FileDescriptor& end : {std::cref(pipe->read_end), std::cref(pipe->write_end)}) {
      fcntl(end.number(), F_SETFL, O_NONBLOCK);
    }
    if (!register_event(queue.number(), kEnd, EVFILT_USER, EV_ADD | EV_CLEAR, 0, 0)) return errno;
    wake = std::move(*pipe);
    const SignalsBlocked for_the_thread;
    try {
      thread = std::thread([this] { wait(); });
    } catch (const std::system_error& error) {
      return error.code().value();
    }
    loop.watch(wake.read_end.number(), *this);
    return 0;
  }

  /// The function of the thread.
  void wait() {
    while (collect(nullptr)) {
      // If the pipe is full, the loop is going to read anyway.
      [[maybe_unused]] const ssize_t written = write(wake.write_end.number(), "", 1);
    }
  }

  /// Returns false if nothing more is to be waited for. Without a timeout, waits for an event.
  bool collect(const timespec* timeout) {
    std::array<struct kevent, 64> events;
    const int count =
        kevent(queue.number(), nullptr, 0, events.data(), static_cast<int>(events.size()), timeout);
    // Without changes to register, no other reason is possible (kqueue(2)).
    if (count < 0 && errno != EINTR) return false;
    const std::lock_guard lock(mutex);
    for (int i = 0; i < count; ++i) {
      const struct kevent& event = events[static_cast<std::size_t>(i)];
      if (event.filter == EVFILT_USER) return false;
      changes[reinterpret_cast<Id>(event.udata)] |= (event.fflags & kWritten) != 0;
    }
    return true;
  }

  Seen on_readable() override {
    std::array<char, 64> ignored;
    const ssize_t count = read(wake.read_end.number(), ignored.data(), ignored.size());
    if (count <= 0) return Seen::nothing;
    report();
    return Seen::partly;
  }

  void report() {
    std::vector<Change> taken;
    {
      const std::lock_guard lock(mutex);
      for (const auto& [id, is_written] : std::exchange(changes, {})) {
        taken.push_back({id, is_written});
      }
    }
    if (!taken.empty()) on_changes(taken);
  }

  EventLoop& loop;
  std::function<void(const std::vector<Change>&)> on_changes;
  FileDescriptor queue;
  platform::Pipe wake;
  std::mutex mutex;
  /// What has come and was not reported, and whether it is a write. Guarded by the mutex.
  std::map<Id, bool> changes;
  std::thread thread;
};

VnodeQueue::VnodeQueue(EventLoop& loop, std::function<void(const std::vector<Change>&)> on_changes)
    : system_(std::make_unique<System>(loop, std::move(on_changes))) {}
VnodeQueue::~VnodeQueue() = default;

int VnodeQueue::start() { return system_->start(); }

bool VnodeQueue::is_started() const { return system_->thread.joinable(); }

void VnodeQueue::read_pending() {
  const timespec none{};
  if (is_started() && system_->collect(&none)) system_->report();
}

int VnodeQueue::add(int descriptor, Id id) {
  const auto ident = static_cast<std::uintptr_t>(descriptor);
  const bool is_added =
      register_event(system_->queue.number(), ident, EVFILT_VNODE, EV_ADD | EV_CLEAR, kNotes, id);
  return is_added ? 0 : errno;
}

}  // namespace sitter
