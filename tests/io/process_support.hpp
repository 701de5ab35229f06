#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "sitter/io/launch.hpp"
#include "sitter/io/process_table.hpp"
#include "sitter/io/reaper.hpp"

namespace sitter::testing {

inline constexpr std::chrono::seconds kPatience{20};

/// Waits for something that shows itself in no descriptor.
inline bool eventually(const std::function<bool()>& condition) {
  auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// A directory that is gone at the end of the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sitter-XXXXXX").string();
    path_ = std::filesystem::canonical(mkdtemp(pattern.data())).string();
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;  // A file left behind is no failure of what is tested.
    std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0644) const {
    std::string file = *this / name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << text;
    chmod(file.c_str(), mode);
    return file;
  }

  /// A copy of an installed program: an executable file that nobody else runs.
  std::string copy_program(const std::string& name, const std::string& program) const {
    std::string file = *this / name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::filesystem::copy_file(std::filesystem::canonical(program), file);
    return file;
  }

 private:
  std::string path_;
};

/// What can be read until `end` or the end of input; what came so far if neither comes.
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

inline bool is_alive(long pid) {
  auto process = find_process(pid);
  return process && !process->zombie;
}

inline std::set<int> descriptors_of(long pid) {
  std::set<int> numbers;
  std::string directory = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    numbers.insert(std::stoi(entry.path().filename().string()));
  }
  return numbers;
}

inline std::vector<std::string> shell(const std::string& script) { return {"-c", script}; }

inline std::string reason(const std::variant<Launched, LaunchFailure>& result) {
  if (const auto* failure = std::get_if<LaunchFailure>(&result)) return failure->reason;
  return "[it was started]";
}

/// A child that is started at once, and killed and reaped at the end.
class Child {
 public:
  explicit Child(const LaunchRequest& request) : result_(launch(request)) {}
  Child(const std::string& command, std::vector<std::string> arguments)
      : Child(LaunchRequest{command, std::move(arguments), {}, {}, {}}) {}
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

  /// Waits for the leader's exit and reaps it. The status is lost if somebody else reaps it.
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

/// Runs `body` in a forked process and tells its exit code, -1 if a signal ended it.
inline int in_another_process(const std::function<int()>& body) {
  pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace sitter::testing
