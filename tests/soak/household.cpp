#include "soak/household.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "support/processes.hpp"

namespace sitter::soak {
namespace {

namespace fs = std::filesystem;

std::vector<long> everybody_else() {
  std::vector<long> pids;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const long pid = std::atol(entry.path().filename().c_str());
    if (pid > 0 && pid != getpid() && testing::is_alive(pid)) pids.push_back(pid);
  }
  return pids;
}

}  // namespace

Household::Household(std::string program, std::string mark, bool has_namespace)
    : program_(fs::canonical(program)), mark_(std::move(mark)), has_namespace_(has_namespace) {}

std::vector<long> Household::all() const {
  return has_namespace_ ? everybody_else() : testing::processes_with(mark_);
}

std::vector<long> Household::servers() const {
  std::vector<long> pids;
  const fs::path itself = fs::read_symlink("/proc/self/exe");
  for (const long pid : all()) {
    std::error_code gone;
    const fs::path image = fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", gone);
    // A process between fork and exec still shows the program of the bridge, or this program.
    if (!gone && image != program_ && image != itself) pids.push_back(pid);
  }
  return pids;
}

}  // namespace sitter::soak
