#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "io/process/launch.hpp"
#include "io/process/process_unit.hpp"
#include "io/process/reaper.hpp"
#include "sitter/generation.hpp"
#include "support/processes.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {

template <class Process>
std::vector<long> pids(const std::vector<Process>& processes) {
  std::vector<long> result;
  for (const Process& process : processes) result.push_back(process.pid);
  return result;
}

/// Reads until `end` or the end of input. If neither comes, returns what has come so far.
inline std::string read_until(int descriptor, std::optional<char> end) {
  std::string text;
  while (!end || !text.ends_with(*end)) {
    pollfd readable{descriptor, POLLIN, 0};
    int limit = static_cast<int>(std::chrono::milliseconds(kPatience).count());
    if (poll(&readable, 1, limit) <= 0) return text + "[nothing more came]";
    char c = 0;
    ssize_t count = read(descriptor, &c, 1);
    if (count < 0 && errno == EAGAIN) continue;
    if (count <= 0) return text;
    text += c;
  }
  text.pop_back();
  return text;
}

inline std::string read_line(const FileDescriptor& from) { return read_until(from.number(), '\n'); }
inline std::string read_all(const FileDescriptor& from) {
  return read_until(from.number(), std::nullopt);
}

inline bool write_line(const FileDescriptor& to, const std::string& line) {
  std::string text = line + "\n";
  return write(to.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

inline std::vector<std::string> shell(const std::string& script) { return {"-c", script}; }

inline std::string reason(const std::variant<Launched, LaunchFailure>& result) {
  if (const auto* failure = std::get_if<LaunchFailure>(&result)) return failure->reason;
  return "[it was started]";
}

/// The generation of the first build for the request of a build, otherwise that of the first child.
inline Generation generation_of(const LaunchRequest& request) {
  return request.role == LaunchRequest::Role::build ? -1 : 1;
}

inline std::variant<Launched, LaunchFailure> launch(const LaunchRequest& request, Generation gen) {
  return sitter::launch(plan_launch(request), gen, nullptr);
}
inline std::variant<Launched, LaunchFailure> launch(const LaunchRequest& request) {
  return launch(request, generation_of(request));
}

/// A child that is started at once. It is killed and reaped at the end.
class Child {
 public:
  explicit Child(const LaunchRequest& request) : Child(request, generation_of(request)) {}
  Child(const LaunchRequest& request, Generation gen) : result_(testing::launch(request, gen)) {}
  Child(const std::string& command, std::vector<std::string> arguments, Generation gen = 1)
      : Child(LaunchRequest{command, std::move(arguments), {}, {}, {}}, gen) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (!started() || !find_process(pid())) return;
    kill(static_cast<pid_t>(-pid()), SIGKILL);
    wait();
  }

  bool started() const { return std::holds_alternative<Launched>(result_); }
  std::string failure() const { return reason(result_); }
  Launched* operator->() { return &std::get<Launched>(result_); }
  long pid() const { return std::get<Launched>(result_).pid; }

  /// Waits for the leader's exit and reaps it. The status is lost if somebody else reaps the
  /// leader.
  ExitStatus wait() {
    ExitStatus status;
    eventually([&] {
      for (const Reaped& ended : reap()) {
        if (ended.pid == pid()) status = ended.status;
      }
      return !find_process(pid());
    });
    return status;
  }

 private:
  std::variant<Launched, LaunchFailure> result_;
};

/// Tests of commands in a folder of their own.
class CommandTest : public ::testing::Test {
 protected:
  LaunchRequest request(std::string command, std::vector<std::string> arguments = {}) {
    return {std::move(command), std::move(arguments), directory_.path(), {}, {}};
  }
  /// Waits for a child whose innermost program is a copy of `cat`. That program runs once it has
  /// answered.
  static void expect_answer(Child& child) {
    ASSERT_TRUE(child.started()) << child.failure();
    ASSERT_TRUE(write_line(child->input, "there"));
    ASSERT_EQ(read_line(child->output), "there");
  }

  TemporaryDirectory directory_;
};

/// Runs `body` in a forked process. Returns its exit code, or -1 if a signal ended it.
inline int in_another_process(const std::function<int()>& body) {
  pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace sitter::testing
