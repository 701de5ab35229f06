#include "program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace sitter::bench {
namespace {

std::string call_with(std::size_t id, std::string_view text) {
  return fmt::format(
      R"json({{"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{1}"}},)json"
      R"json("_meta":{{"progressToken":{0}}}}},"jsonrpc":"2.0","id":{0}}})json"
      "\n",
      id, text);
}

std::size_t read_to_end(int descriptor) {
  char buffer[4096];
  std::size_t bytes = 0;
  ssize_t count = 0;
  while ((count = read(descriptor, buffer, sizeof buffer)) > 0) {
    bytes += static_cast<std::size_t>(count);
  }
  close(descriptor);
  return bytes;
}

}  // namespace

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

std::string call_line(std::size_t id, std::size_t bytes) { return call_with(id, call_text(bytes)); }

std::string call_text(std::size_t bytes) {
  return std::string(bytes - call_with(kFirstId, "").size(), 'x');
}

Started start_program(const Words& command, Errors errors) {
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
  connect(STDIN_FILENO, started.input);
  connect(STDOUT_FILENO, started.output);
  if (errors == Errors::read) connect(STDERR_FILENO, started.errors);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  if (posix_spawnp(&started.pid, argv[0], &actions, nullptr, argv.data(), environ) != 0) {
    die(fmt::format("{} can't be started", command[0]));
  }
  posix_spawn_file_actions_destroy(&actions);
  for (const int end : of_program) close(end);
  return started;
}

Program::Program(const Words& command) : started_(start_program(command, Errors::inherited)) {
  call(kInitialize, 1);
  write_all(kInitialized);
}

Program::~Program() {
  close(started_.input);
  waitpid(started_.pid, nullptr, 0);
  close(started_.output);
}

std::size_t Program::call(std::string_view lines, std::size_t count) {
  write_all(lines);
  return read_answers(count);
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

std::size_t BareStarts::call(std::string_view, std::size_t count) {
  std::vector<Started> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(start_program(command_, Errors::read));
    close(all.back().input);
  }
  std::size_t bytes = 0;
  for (const Started& started : all) {
    bytes += kAnswer.size() + read_to_end(started.output);
    int status = 0;
    if (read_to_end(started.errors) != 0 || waitpid(started.pid, &status, 0) < 0 || status != 0) {
      die("a command has failed");
    }
  }
  return bytes;
}

pid_t BareStarts::pid() const { return getpid(); }

double memory_of(pid_t pid, std::string_view field) {
  const std::string process = fmt::format("/proc/{}", pid);
  double megabytes = 0;
  std::ifstream status(process + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line == "Name:\tfake-mcp") return 0;
    if (line.starts_with(field)) {
      megabytes = std::strtod(line.c_str() + field.size() + 1, nullptr) / 1024;
    }
  }
  std::ifstream children(fmt::format("{}/task/{}/children", process, pid));
  for (pid_t child = 0; children >> child;) megabytes += memory_of(child, field);
  return megabytes;
}

double page_faults_of(pid_t pid) {
  // The name of the program in the second field may hold anything.
  constexpr int kFaultsAfterName = 8;
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string text{std::istreambuf_iterator<char>(stat), {}};
  std::istringstream rest(text.substr(text.rfind(')') + 1));
  for (int i = 0; i < kFaultsAfterName; ++i) rest >> text;
  return std::strtod(text.c_str(), nullptr);
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

}  // namespace sitter::bench
