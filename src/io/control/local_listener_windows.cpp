#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/windows/overlapped_ptr.hpp>
#include <boost/asio/windows/stream_handle.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <fstream>
#include <list>
#include <utility>

#include "io/control/control_folder.hpp"
#include "io/control/local_listener.hpp"
#include "io/stream/timer.hpp"
#include "io/system/platform.hpp"
#include "io/system/startup.hpp"
#include "io/system/user_only_windows.hpp"

namespace sitter {
namespace {

using boost::asio::windows::stream_handle;
using boost::system::error_code;

/// A client that finds no free instance of the pipe is told that it is busy.
constexpr int kFreeInstances = 4;

constexpr DWORD kBufferSize = 64 * limits::kKiB;
constexpr std::chrono::milliseconds kConnectPause{100};
constexpr int kFileTries = 3;

}  // namespace

/// Operations that are under way share this object, so that it outlives them.
struct LocalConnection::State {
  explicit State(stream_handle connected) : pipe(std::move(connected)) {}

  stream_handle pipe;
  std::string input;
  std::string output;
};

LocalConnection::LocalConnection(std::shared_ptr<State> state) : state_(std::move(state)) {}
LocalConnection::LocalConnection(LocalConnection&&) noexcept = default;
LocalConnection::~LocalConnection() {
  error_code ignored;  // the handle is closed in any case
  if (state_) state_->pipe.close(ignored);
}

void LocalConnection::read_line(std::function<void(std::optional<std::string>)> on_line) {
  boost::asio::async_read_until(
      state_->pipe, boost::asio::dynamic_buffer(state_->input, limits::kControlLineMax), '\n',
      [state = state_, on_line = std::move(on_line)](const error_code&, std::size_t size) {
        if (state->pipe.is_open()) on_line(taken_line(state->input, size));
      });
}

// A write is begun, and its end is an event.
bool LocalConnection::write(std::string& text, std::function<void(bool)> on_ready) {
  if (text.empty()) return false;
  state_->output = std::exchange(text, {});
  boost::asio::async_write(
      state_->pipe, boost::asio::buffer(state_->output),
      [state = state_, on_ready = std::move(on_ready)](error_code error, std::size_t) {
        if (state->pipe.is_open()) on_ready(!error);
      });
  return true;
}

struct LocalListener::State : std::enable_shared_from_this<State> {
  State(EventLoop& of, OnConnected told)
      : loop(of), on_connected(std::move(told)), pause(loop, [this] { fill(); }) {}

  /// Empty, or the reason why it does not listen.
  std::string listen() {
    if (user.attributes() == nullptr) return "the system does not tell the user of this process";
    // Nobody can take a name before us that nobody can guess.
    name = fmt::format(R"(\\.\pipe\mcp-sitter-{}-{:016x})", platform::own_pid(), random_seed());
    if (!wait_for_client(FILE_FLAG_FIRST_PIPE_INSTANCE)) {
      return fmt::format("{}: {}", name, windows::error_text(GetLastError()));
    }
    fill();
    path = control_socket();
    for (int i = 0; i < kFileTries; ++i) {
      if (std::string complaint = prepare_control_folder(); !complaint.empty()) return complaint;
      // Another bridge that ended may have removed the folder in the meantime.
      if (std::ofstream(std::filesystem::path(path), std::ios::binary) << name << std::flush) {
        return {};
      }
    }
    return fmt::format("{}: it cannot be written", path);
  }

  void stop() {
    is_over = true;
    pause.cancel();
    if (!path.empty()) remove_control_file(path);
    error_code ignored;  // the handles are closed in any case
    for (stream_handle& pipe : free) pipe.close(ignored);
  }

  /// Makes instances of the pipe until enough of them wait for a client.
  void fill() {
    while (free.size() < kFreeInstances) {
      if (wait_for_client(0)) continue;
      pause.set(Instant::clock::now() + kConnectPause);
      return;
    }
  }

  /// False if the system refuses another instance, with the reason in GetLastError.
  bool wait_for_client(DWORD flags) {
    windows::Handle opened(CreateNamedPipeW(
        windows::wide(name).c_str(), PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | flags,
        PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS,
        PIPE_UNLIMITED_INSTANCES, kBufferSize, kBufferSize, 0, user.attributes()));
    if (!opened.is_open()) return false;
    const auto pipe = free.emplace(free.end(), loop.executor());
    error_code error;
    pipe->assign(opened.get(), error);
    if (error) {
      free.erase(pipe);
      return false;
    }
    opened.release();
    boost::asio::windows::overlapped_ptr operation(
        loop.executor(), [self = shared_from_this(), pipe](error_code failed, std::size_t) {
          if (!self->is_over) self->take(pipe, failed);
        });
    const bool is_done = ConnectNamedPipe(pipe->native_handle(), operation.get()) != 0;
    const DWORD result = is_done ? ERROR_SUCCESS : GetLastError();
    if (result == ERROR_IO_PENDING) {
      operation.release();
    } else {
      // A client may have come before the call. One that has gone again ends the first read.
      const bool is_connected =
          is_done || result == ERROR_PIPE_CONNECTED || result == ERROR_NO_DATA;
      operation.complete(
          is_connected ? error_code()
                       : error_code(static_cast<int>(result), boost::system::system_category()),
          0);
    }
    return true;
  }

  void take(std::list<stream_handle>::iterator pipe, error_code failed) {
    stream_handle connected = std::move(*pipe);
    free.erase(pipe);
    fill();
    if (failed) return;
    on_connected(LocalConnection(std::make_shared<LocalConnection::State>(std::move(connected))));
  }

  EventLoop& loop;
  OnConnected on_connected;
  Timer pause;
  /// By default, everybody may read from a pipe (CreateNamedPipe).
  windows::UserOnly user;
  std::string name;
  /// The file with the name.
  std::string path;
  std::list<stream_handle> free;
  bool is_over = false;
};

std::unique_ptr<LocalListener> LocalListener::open(EventLoop& loop, OnConnected on_connected,
                                                   std::string& error) {
  auto state = std::make_shared<State>(loop, std::move(on_connected));
  error = state->listen();
  if (error.empty()) return std::unique_ptr<LocalListener>(new LocalListener(std::move(state)));
  state->stop();
  return nullptr;
}

LocalListener::LocalListener(std::shared_ptr<State> state) : state_(std::move(state)) {}
LocalListener::~LocalListener() { state_->stop(); }

}  // namespace sitter
