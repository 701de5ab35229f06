#include "io/stream/transfer_windows.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/windows/object_handle.hpp>
#include <boost/asio/windows/stream_handle.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <thread>
#include <utility>

#include "sitter/bytes.hpp"

namespace sitter {

using boost::system::error_code;

/// The operation that is under way shares this object, and may outlast the transfer.
struct Transfer::State : std::enable_shared_from_this<State> {
  virtual ~State() = default;
  virtual void read(std::span<char> bytes, Done done) = 0;
  virtual std::optional<std::size_t> write(std::string_view bytes, bool is_last, Done done) = 0;
  virtual std::optional<std::size_t> written() { return std::nullopt; }
  virtual void watch(std::function<void()>) {}
  virtual void close() = 0;
};

struct Transfer::Overlapped final : State {
  explicit Overlapped(EventLoop& loop) : stream(loop.executor()), write_end(loop.executor()) {}

  void read(std::span<char> bytes, Done then) override {
    stream.async_read_some(boost::asio::buffer(bytes.data(), bytes.size()), told(std::move(then)));
  }

  std::optional<std::size_t> write(std::string_view bytes, bool, Done then) override {
    if (!write_end.is_open()) write_end.assign(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    operation = {};
    // With its lowest bit set, the event tells of the end in the place of the completion port
    // (GetQueuedCompletionStatus).
    operation.hEvent =
        reinterpret_cast<HANDLE>(reinterpret_cast<std::uintptr_t>(write_end.native_handle()) | 1);
    const auto size = static_cast<DWORD>(bytes.size());
    if (WriteFile(stream.native_handle(), bytes.data(), size, nullptr, &operation)) return taken();
    is_writing = GetLastError() == ERROR_IO_PENDING;
    if (!is_writing) {
      boost::asio::post(stream.get_executor(),
                        [end = told(std::move(then))] { end(boost::asio::error::broken_pipe, 0); });
      return std::nullopt;
    }
    write_end.async_wait([this, end = told(std::move(then))](error_code) {
      if (!std::exchange(is_writing, false)) return;
      const auto count = taken();
      end(count ? error_code() : boost::asio::error::broken_pipe, count.value_or(0));
    });
    return std::nullopt;
  }

  /// By the write that has ended.
  std::optional<std::size_t> taken() {
    DWORD count = 0;
    if (!GetOverlappedResult(stream.native_handle(), &operation, &count, FALSE))
      return std::nullopt;
    return count;
  }

  // A pipe that we have made is not read otherwise. Nothing comes, so the read ends with the pipe.
  void watch(std::function<void()> closed) override {
    DWORD flags = 0;
    const BOOL is_pipe =
        GetNamedPipeInfo(stream.native_handle(), &flags, nullptr, nullptr, nullptr);
    if (!is_pipe || (flags & PIPE_SERVER_END) == 0) return;
    stream.async_read_some(boost::asio::buffer(&unread, 1),
                           [self = shared_from_this(), this, closed = std::move(closed)](
                               error_code error, std::size_t) {
                             if (!is_over && error == boost::asio::error::broken_pipe) closed();
                           });
  }

  void close() override {
    is_over = true;
    if (std::exchange(is_writing, false)) {
      CancelIoEx(stream.native_handle(), &operation);
      WaitForSingleObject(write_end.native_handle(), INFINITE);
    }
    error_code ignored;  // the handle is closed in any case
    stream.close(ignored);
  }

  std::function<void(error_code, std::size_t)> told(Done done) {
    return [self = shared_from_this(), this, done = std::move(done)](error_code error,
                                                                     std::size_t count) {
      if (!is_over) done(!error, count);
    };
  }

  boost::asio::windows::stream_handle stream;
  OVERLAPPED operation{};  // the write
  boost::asio::windows::object_handle write_end;
  bool is_writing = false;  // and the system has not let go of the bytes
  char unread = 0;
  bool is_over = false;
};

/// Those of the standard library take calls of the system for each use in the runtime of mingw.
class Lock {
 public:
  explicit Lock(SRWLOCK& lock) : lock_(lock) { AcquireSRWLockExclusive(&lock_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { ReleaseSRWLockExclusive(&lock_); }

 private:
  SRWLOCK& lock_;
};

/// A thread that ends soon.
struct Ending {
  explicit Ending(windows::Handle ends) : thread(std::move(ends)) {}
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending() { WaitForSingleObject(thread.get(), INFINITE); }

  windows::Handle thread;
};

struct Transfer::Threaded final : State {
  Threaded(EventLoop& of, windows::Handle owned) : loop(of), handle(std::move(owned)) {}

  void read(std::span<char> bytes, Done then) override {
    begin(
        [this, bytes](DWORD& count) {
          // No bytes are the end, or somebody has written none to a pipe that is still open
          // (ReadFile).
          return ReadFile(handle.get(), bytes.data(), static_cast<DWORD>(bytes.size()), &count,
                          nullptr) != 0 &&
                 (count > 0 || PeekNamedPipe(handle.get(), nullptr, 0, nullptr, nullptr, nullptr));
        },
        std::move(then));
  }

  std::optional<std::size_t> write(std::string_view bytes, bool is_last, Done then) override {
    // A console takes no more at once (WriteConsole).
    constexpr std::size_t kWriteMax = 32 * limits::kKiB;
    const auto size = static_cast<DWORD>(std::min(bytes.size(), kWriteMax));
    begin(
        [this, bytes, size](DWORD& count) {
          return WriteFile(handle.get(), bytes.data(), size, &count, nullptr) != 0;
        },
        std::move(then), !is_last || size < bytes.size());
    return std::nullopt;
  }

  std::optional<std::size_t> written() override {
    const Lock held(lock);
    is_awaited = true;
    if (over) done = nullptr;
    return std::exchange(over, std::nullopt);
  }

  void begin(std::function<bool(DWORD&)> next, Done then, bool awaited = true) {
    const Lock held(lock);
    operation = std::move(next);
    done = std::move(then);
    is_awaited = awaited;
    if (!std::exchange(is_started, true)) {
      std::thread([self = std::static_pointer_cast<Threaded>(shared_from_this())] {
        self->work();
      }).detach();
    }
    WakeConditionVariable(&changed);
  }

  /// The function of the thread.
  void work() {
    const Lock held(lock);
    thread_id = GetCurrentThreadId();
    DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(), &thread_handle, 0,
                    FALSE, DUPLICATE_SAME_ACCESS);
    thread = windows::Handle(thread_handle);
    while (true) {
      while (!is_over && !operation) wait(INFINITE);
      if (is_over) break;
      const auto now = std::exchange(operation, nullptr);
      is_at_work = true;
      ReleaseSRWLockExclusive(&lock);
      DWORD count = 0;
      const bool is_open = now(count);
      AcquireSRWLockExclusive(&lock);
      is_at_work = false;
      if (is_over) break;
      if (is_open && !is_awaited) {
        over = count;
        continue;
      }
      const auto tell = [self = shared_from_this(), this, is_open, count] {
        Done told;
        {
          const Lock guard(lock);
          if (is_over) return;
          told = std::exchange(done, nullptr);
        }
        told(is_open, count);
      };
      ReleaseSRWLockExclusive(&lock);
      if (!loop.call_in_turn(tell)) loop.post(tell);
      AcquireSRWLockExclusive(&lock);
    }
    is_gone = true;
    WakeAllConditionVariable(&changed);
  }

  void close() override {
    const Lock held(lock);
    is_over = true;
    WakeAllConditionVariable(&changed);
    if (!is_started) return;
    if (GetCurrentThreadId() == thread_id) {
      // The thread ends before the loop does.
      loop.post([ending = std::make_shared<Ending>(std::move(thread))] {});
      return;
    }
    // A cancellation has no effect on a thread that has not begun to wait yet
    // (CancelSynchronousIo). One that cannot be cancelled ends with the process.
    constexpr int kTriesMax = 20;
    for (int tries = 0; !is_gone && tries < kTriesMax; ++tries) {
      if (is_at_work && thread.is_open()) CancelSynchronousIo(thread.get());
      wait(5);
    }
    if (!is_gone) return;
    ReleaseSRWLockExclusive(&lock);
    WaitForSingleObject(thread.get(), INFINITE);
    AcquireSRWLockExclusive(&lock);
  }

  void wait(DWORD milliseconds) { SleepConditionVariableSRW(&changed, &lock, milliseconds, 0); }

  EventLoop& loop;
  windows::Handle handle;
  SRWLOCK lock = SRWLOCK_INIT;
  CONDITION_VARIABLE changed = CONDITION_VARIABLE_INIT;
  std::function<bool(DWORD&)> operation;
  Done done;
  DWORD thread_id = 0;
  HANDLE thread_handle = nullptr;
  windows::Handle thread;
  bool is_awaited = true;
  std::optional<std::size_t> over;  // by how many bytes, if nobody has awaited the end
  bool is_started = false;
  bool is_at_work = false;
  bool is_over = false;
  bool is_gone = false;
};

Transfer::Transfer(EventLoop& loop, windows::Handle handle) {
  auto overlapped = std::make_shared<Overlapped>(loop);
  // A handle that was not opened for overlapped operations is refused (CreateIoCompletionPort).
  error_code refused;
  overlapped->stream.assign(handle.get(), refused);
  if (!refused) {
    handle.release();
    state_ = std::move(overlapped);
  } else {
    state_ = std::make_shared<Threaded>(loop, std::move(handle));
  }
}

Transfer::~Transfer() { state_->close(); }

void Transfer::read(std::span<char> bytes, Done done) { state_->read(bytes, std::move(done)); }
std::optional<std::size_t> Transfer::write(std::string_view bytes, bool is_last, Done done) {
  return state_->write(bytes, is_last, std::move(done));
}
std::optional<std::size_t> Transfer::written() { return state_->written(); }
void Transfer::watch(std::function<void()> closed) { state_->watch(std::move(closed)); }

}  // namespace sitter
