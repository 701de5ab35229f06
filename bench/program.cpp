#include "program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sitter::bench {

const std::string_view kInitialize =
    R"json({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)json"
    R"json("capabilities":{},"clientInfo":{"name":"bench","version":"1"}}})json"
    "\n";
const std::string_view kInitialized =
    R"json({"jsonrpc":"2.0","method":"notifications/initialized"})json"
    "\n";

void die(std::string_view what) {
  fmt::print(stderr, "{}: {}\n", program_invocation_short_name, what);
  std::exit(1);
}

std::string call_line(std::size_t id) {
  std::string line = fmt::format(
      R"json({{"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{{}}"}},)json"
      R"json("_meta":{{"progressToken":{0}}}}},"jsonrpc":"2.0","id":{0}}})json"
      "\n",
      id);
  const std::string filling(kMessageBytes + 2 - line.size(), 'x');
  return line.replace(line.find("{}"), 2, filling);
}

std::vector<std::string> call_lines(std::size_t count) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < count; ++i) lines.push_back(call_line(kFirstId + i));
  return lines;
}

std::size_t small_result() {
  const std::string_view around =
      R"json({"jsonrpc":"2.0","id":100000,"result":{"content":[{"type":"text","text":""}]}})json"
      "\n";
  return kMessageBytes - around.size();
}

Started start_program(const std::vector<std::string>& command, Streams streams) {
  Started started;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  std::vector<int> of_program;
  const auto connect = [&](int stream, int& ours) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) die("no pipe");
    const bool is_input = stream == STDIN_FILENO;
    ours = ends[is_input ? 1 : 0];
    of_program.push_back(ends[is_input ? 0 : 1]);
    posix_spawn_file_actions_adddup2(&actions, of_program.back(), stream);
  };
  if (streams != Streams::errors) {
    connect(STDIN_FILENO, started.input);
    connect(STDOUT_FILENO, started.output);
  }
  if (streams != Streams::input_and_output) connect(STDERR_FILENO, started.errors);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  if (posix_spawn(&started.pid, argv[0], &actions, nullptr, argv.data(), environ) != 0) {
    die(fmt::format("{} can't be started", command[0]));
  }
  posix_spawn_file_actions_destroy(&actions);
  for (const int end : of_program) close(end);
  return started;
}

Program::Program(const std::vector<std::string>& command)
    : started_(start_program(command, Streams::input_and_output)) {
  write_all(kInitialize);
  read_answers(1);
}

Program::~Program() {
  close(started_.input);
  waitpid(started_.pid, nullptr, 0);
  close(started_.output);
}

void Program::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(started_.input, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) die("a program does not read any more");
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::size_t Program::read_answers(std::size_t lines) {
  std::size_t bytes = 0;
  while (true) {
    const std::string_view some = read_some();
    bytes += some.size();
    const auto ends = static_cast<std::size_t>(std::count(some.begin(), some.end(), '\n'));
    if (ends > lines) die("there were more answers than calls");
    lines -= ends;
    if (lines == 0) return bytes;
  }
}

bool Program::speaks_within(std::chrono::milliseconds wait) {
  pollfd output{started_.output, POLLIN, 0};
  return poll(&output, 1, static_cast<int>(wait.count())) > 0;
}

std::string_view Program::read_some() {
  const ssize_t count = read(started_.output, buffer_.data(), buffer_.size());
  if (count <= 0) die("a program has ended");
  return {buffer_.data(), static_cast<std::size_t>(count)};
}

std::size_t Program::call(std::string_view line) {
  write_all(line);
  return read_answers(1);
}

void Program::warm_up(std::size_t calls) {
  write_all(kInitialized);
  for (std::size_t i = 0; i < calls; ++i) call(call_line(kFirstId + i));
}

double memory_of(pid_t pid, std::string_view field) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field))
      return std::strtod(line.c_str() + field.size() + 1, nullptr) / 1024;
  }
  die(fmt::format("/proc/{}/status has no {}", pid, field));
}

Micros cpu_time_of(pid_t pid) {
  double nanoseconds = 0;
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    double on_core = 0;
    std::ifstream(task.path() / "schedstat") >> on_core;
    nanoseconds += on_core;
  }
  return Micros(nanoseconds / 1000);
}

void stay_on(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) die(fmt::format("there is no core {}", core));
}

int last_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  int core = CPU_SETSIZE - 1;
  while (core > 0 && !CPU_ISSET(static_cast<std::size_t>(core), &set)) --core;
  return core;
}

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

}  // namespace sitter::bench
