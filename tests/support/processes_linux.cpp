#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "support/proc_status.hpp"
#include "support/processes.hpp"

namespace sitter::testing {
namespace {

namespace fs = std::filesystem;

std::string file_of(long pid, const std::string& name) {
  const std::ifstream file("/proc/" + std::to_string(pid) + "/" + name, std::ios::binary);
  // Reading fails if the process ends meanwhile, and an iterator would then throw.
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// One field of a file whose lines are "name: value"; empty if the process or the field is gone.
std::string field_of(long pid, const std::string& file, const std::string& name) {
  const std::string all = '\n' + file_of(pid, file);
  std::size_t at = all.find('\n' + name + ':');
  if (at == std::string::npos) return {};
  at = all.find_first_not_of(" \t", at + name.size() + 2);
  return all.substr(at, all.find('\n', at) - at);
}

/// wine starts these for a program, with the environment of that program, and they end after it.
bool is_of_wine(long pid) {
  const std::string command = command_line_of(pid);
  return command.find(R"(\system32\conhost.exe)") != command.npos ||
         command.find(R"(\system32\explorer.exe)") != command.npos;
}

std::size_t kilobytes(const std::string& field) {
  return static_cast<std::size_t>(std::atoll(field.c_str())) * 1024;
}

}  // namespace

bool is_alive(long pid) {
  const std::string state = status_field(pid, "State");
  return !state.empty() && state.front() != 'Z' && state.front() != 'X';
}

std::vector<long> processes_with(const std::string& environment_entry) {
  std::vector<long> pids;
  const std::string wanted = environment_entry + '\0';
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const long pid = std::atol(entry.path().filename().c_str());
    // A process that ends meanwhile has an empty environment, and so has a zombie.
    const std::string all = pid > 0 ? '\0' + file_of(pid, "environ") : std::string();
    if (all.find('\0' + wanted) == std::string::npos) continue;
    if (is_alive(pid) && !is_of_wine(pid)) pids.push_back(pid);
  }
  return pids;
}

std::string command_line_of(long pid) {
  std::string line = file_of(pid, "cmdline");
  std::replace(line.begin(), line.end(), '\0', ' ');
  return line;
}

std::set<int> descriptors_of(long pid) {
  std::set<int> numbers;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
    numbers.insert(std::atoi(entry.path().filename().c_str()));
  }
  return numbers;
}

std::string title_of(long pid) { return status_field(pid, "Name"); }

std::vector<long> children_of(long pid) {
  std::istringstream pids(file_of(pid, "task/" + std::to_string(pid) + "/children"));
  std::vector<long> children;
  for (long child = 0; pids >> child;) children.push_back(child);
  return children;
}

Activity activity_of(long pid) {
  Activity activity{.sleeps = status_field(pid, "State").starts_with('S')};
  const BytesMoved moved = bytes_moved(pid);
  if (moved.read + moved.written > 0) activity.counts = {moved.read, moved.written};
  return activity;
}

std::size_t resident_bytes(long pid) { return kilobytes(status_field(pid, "VmRSS")); }
std::size_t resident_bytes_max(long pid) { return kilobytes(status_field(pid, "VmHWM")); }

std::size_t kept_bytes_max() { return std::size_t{4} << 20; }

std::string status_field(long pid, const std::string& name) {
  return field_of(pid, "status", name);
}

BytesMoved bytes_moved(long pid) {
  const auto count = [pid](const char* name) {
    return static_cast<std::uint64_t>(std::atoll(field_of(pid, "io", name).c_str()));
  };
  return {count("rchar"), count("wchar")};
}

std::size_t own_resident_bytes(long pid) { return kilobytes(status_field(pid, "RssAnon")); }

}  // namespace sitter::testing
