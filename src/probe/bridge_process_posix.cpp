#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <utility>
#include <variant>

#include "io/process/launch.hpp"
#include "io/process/launch_plan.hpp"
#include "io/system/platform.hpp"
#include "io/system/startup.hpp"
#include "probe/bridge_process.hpp"

namespace sitter {
namespace {

/// Reads what is there. False at the end.
bool read_some(const FileDescriptor& from, std::string& to) {
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = read(from.number(), buffer.data(), buffer.size());
    if (count > 0) {
      to.append(buffer.data(), static_cast<std::size_t>(count));
    } else {
      return count < 0 && (errno == EAGAIN || errno == EINTR);
    }
  }
}

}  // namespace

struct BridgeProcess::System {
  Launched bridge;
  std::optional<int> exit_code = {};
};

BridgeProcess::BridgeProcess(const Start& start) {
  // The bridge may have ended.
  survive_failed_writes();
  LaunchRequest request;
  request.command = platform::own_program();
  request.arguments = start.words;
  request.cwd = start.cwd;
  PlannedLaunch planned = plan_launch(request);
  if (auto* const plan = std::get_if<LaunchPlan>(&planned)) {
    if (start.environment) plan->environment = *start.environment;
  }
  auto launched = launch(planned, Generation{1}, nullptr);
  if (const auto* const failure = std::get_if<LaunchFailure>(&launched)) {
    throw std::runtime_error("mcp-sitter could not be started: " + failure->reason);
  }
  system_ = std::make_unique<System>(System{std::move(std::get<Launched>(launched))});
}

BridgeProcess::~BridgeProcess() = default;

long BridgeProcess::pid() const { return system_->bridge.pid; }

void BridgeProcess::move(Texts& texts, std::chrono::milliseconds wait) {
  auto& [pid, input, output, error] = system_->bridge;
  std::array<pollfd, 3> ends{pollfd{output.number(), POLLIN, 0}, pollfd{error.number(), POLLIN, 0},
                             pollfd{texts.input.empty() ? -1 : input.number(), POLLOUT, 0}};
  poll(ends.data(), ends.size(), static_cast<int>(wait.count()));
  if (ends[0].revents != 0 && !read_some(output, texts.output)) output.close();
  if (ends[1].revents != 0 && !read_some(error, texts.error)) error.close();
  if (ends[2].revents == 0) return;
  const ssize_t count = ::write(input.number(), texts.input.data(), texts.input.size());
  if (count > 0) texts.input.erase(0, static_cast<std::size_t>(count));
  if (count < 0 && errno != EAGAIN && errno != EINTR) texts.input.clear();
}

bool BridgeProcess::may_write() const { return system_->bridge.output.is_open(); }

void BridgeProcess::close_input() { system_->bridge.input.close(); }

std::optional<int> BridgeProcess::exit_code() {
  int status = 0;
  if (!system_->exit_code && waitpid(static_cast<pid_t>(pid()), &status, WNOHANG) != 0) {
    system_->exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return system_->exit_code;
}

void BridgeProcess::kill() { ::kill(static_cast<pid_t>(pid()), SIGKILL); }

}  // namespace sitter
