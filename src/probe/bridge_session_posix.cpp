#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <variant>

#include "io/process/launch.hpp"
#include "io/process/launch_plan.hpp"
#include "io/system/posix.hpp"
#include "probe/bridge_session.hpp"
#include "probe/json_words.hpp"

namespace sitter {
namespace {

/// Of the stderr, only the end is kept.
constexpr std::size_t kErrorTextMax = 1 << 20;

/// Longer than a bridge needs to end (10 s for open answers, and the kill ladder).
constexpr std::chrono::seconds kEndWait{30};

/// The stderr of a bridge may have another end that nobody closes, so the exit is asked for.
constexpr std::chrono::milliseconds kRound{20};

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

BridgeSession::BridgeSession(const Start& start) {
  // A write to a bridge that has ended must fail without ending this program.
  std::signal(SIGPIPE, SIG_IGN);
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
  auto& started = std::get<Launched>(launched);
  pid_ = started.pid;
  input_ = std::move(started.input);
  output_ = std::move(started.output);
  error_ = std::move(started.error);
}

BridgeSession::~BridgeSession() {
  // The listener may throw, and belongs to an object that may be gone.
  on_message = nullptr;
  end();
}

bool BridgeSession::wait_for_line(Clock::time_point deadline) {
  bool is_late = false;
  while (true) {
    if (output_text_.find('\n') != output_text_.npos) return true;
    if (!output_.is_open() || is_late) return false;
    // What has come by then was in time, however late this process looks.
    const auto left =
        std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()),
                 std::chrono::milliseconds::zero());
    is_late = left == std::chrono::milliseconds::zero();
    std::array<pollfd, 3> ends{pollfd{output_.number(), POLLIN, 0},
                               pollfd{error_.number(), POLLIN, 0},
                               pollfd{unwritten_.empty() ? -1 : input_.number(), POLLOUT, 0}};
    poll(ends.data(), ends.size(),
         static_cast<int>(std::min<std::chrono::milliseconds::rep>(left.count(), 60'000)));
    if (ends[0].revents != 0 && !read_some(output_, output_text_)) output_.close();
    if (ends[1].revents != 0) {
      if (!read_some(error_, error_text_)) error_.close();
      if (error_text_.size() > kErrorTextMax) {
        error_text_.erase(0, error_text_.size() - kErrorTextMax);
      }
    }
    if (ends[2].revents != 0) {
      const ssize_t count = ::write(input_.number(), unwritten_.data(), unwritten_.size());
      if (count > 0) unwritten_.erase(0, static_cast<std::size_t>(count));
      if (count < 0 && errno != EAGAIN && errno != EINTR) unwritten_.clear();
    }
  }
}

std::optional<BridgeSession::Json> BridgeSession::next_message(Clock::time_point deadline) {
  if (!wait_for_line(deadline)) return std::nullopt;
  const std::size_t end = output_text_.find('\n');
  Json message = parsed_json(std::string_view(output_text_).substr(0, end));
  output_text_.erase(0, end + 1);
  return message;
}

void BridgeSession::write(const Json& message) {
  unwritten_ += message.dump(-1, ' ', false, Json::error_handler_t::replace);
  unwritten_ += '\n';
}

void BridgeSession::take(const Json& message) {
  if (message.is_discarded()) {
    has_unreadable_ = true;
    return;
  }
  const bool is_answer = message.is_object() && !message.contains("method") &&
                         message.contains("id") && message["id"].is_number_integer();
  if (is_answer) {
    answers_.insert_or_assign(message["id"].get<int>(), std::make_unique<Json>(message));
    return;
  }
  if (message.contains("method") && message.contains("id")) {
    write({{"jsonrpc", "2.0"},
           {"id", message["id"]},
           {"error", {{"code", -32601}, {"message", "this client has no such method"}}}});
  }
  if (on_message) on_message(message);
}

int BridgeSession::request(std::string_view method, Json params) {
  const int id = ++last_id_;
  write({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
  return id;
}

std::optional<BridgeSession::Json> BridgeSession::answer(int request,
                                                         std::chrono::milliseconds wait) {
  // While a listener asks, the answer to an earlier request may come.
  const auto is_there = [&] { return answers_.contains(request); };
  has_unreadable_ = false;
  listen(wait, [&] { return is_there() || has_unreadable_; });
  if (has_unreadable_ && !is_there()) {
    return Json{
        {"error",
         {{"code", -32700}, {"message", "the answer is not valid JSON, or nested too deeply"}}}};
  }
  if (!is_there()) return std::nullopt;
  return std::move(*answers_.extract(request).mapped());
}

std::optional<BridgeSession::Json> BridgeSession::ask(std::string_view method, Json params,
                                                      std::chrono::milliseconds wait) {
  return answer(request(method, std::move(params)), wait);
}

void BridgeSession::tell(std::string_view method, Json params) {
  write({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

void BridgeSession::listen(std::chrono::milliseconds wait, const std::function<bool()>& is_enough) {
  const auto deadline = Clock::now() + wait;
  while (!is_enough || !is_enough()) {
    const auto message = next_message(deadline);
    if (!message) return;
    take(*message);
  }
}

int BridgeSession::end() {
  if (pid_ < 0) return exit_code_;
  const auto deadline = Clock::now() + kEndWait;
  // What was written last is sent before the end.
  while (!unwritten_.empty() && output_.is_open() && Clock::now() < deadline) {
    listen(kRound);
  }
  input_.close();
  int status = 0;
  const auto pid = static_cast<pid_t>(pid_);
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() >= deadline) kill(pid, SIGKILL);
    if (output_.is_open()) {
      listen(kRound);
    } else {
      poll(nullptr, 0, static_cast<int>(kRound.count()));
    }
  }
  pid_ = -1;
  if (error_.is_open()) read_some(error_, error_text_);
  exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return exit_code_;
}

}  // namespace sitter
