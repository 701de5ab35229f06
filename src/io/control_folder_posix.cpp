#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "sitter/io/control_folder.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOnlyOurs = S_IRWXU;

/// Empty, or what is wrong with it.
std::string complaint_about(const std::string& folder) {
  struct stat found {};
  if (lstat(folder.c_str(), &found) != 0) return std::strerror(errno);
  if (!S_ISDIR(found.st_mode)) return "it is no folder";
  if (found.st_uid != geteuid()) return "it belongs to another user";
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return "others may enter it (chmod 700 mends that)";
  return {};
}

}  // namespace

std::string control_folder() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') return std::string(runtime) + "/mcp-sitter";
  std::error_code error;
  fs::path temporary = fs::temp_directory_path(error);
  if (error) temporary = "/tmp";
  return (temporary / fmt::format("mcp-sitter-{}", geteuid())).native();
}

std::string control_socket() { return fmt::format("{}/{}.sock", control_folder(), getpid()); }

std::string prepare_control_folder() {
  const std::string folder = control_folder();
  mkdir(folder.c_str(), kOnlyOurs);
  const std::string complaint = complaint_about(folder);
  return complaint.empty() ? complaint : fmt::format("{}: {}", folder, complaint);
}

std::vector<std::string> control_sockets() {
  const std::string folder = control_folder();
  if (!complaint_about(folder).empty()) return {};
  std::vector<std::string> sockets;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat found {};
    const std::string path = entry->path().native();
    if (!path.ends_with(".sock") || lstat(path.c_str(), &found) != 0) continue;
    if (S_ISSOCK(found.st_mode) && found.st_uid == geteuid()) sockets.push_back(path);
  }
  std::sort(sockets.begin(), sockets.end());
  return sockets;
}

}  // namespace sitter
