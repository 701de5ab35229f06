#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>

#include "io/control/control_folder.hpp"
#include "io/system/posix.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOnlyOurs = S_IRWXU;

/// Empty, or what is wrong with the folder.
std::string complaint_about(const std::string& folder) {
  struct stat found {};
  if (lstat(folder.c_str(), &found) != 0) return std::strerror(errno);
  if (!S_ISDIR(found.st_mode)) return "it is not a folder";
  if (found.st_uid != geteuid()) return "it belongs to another user";
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return "other users may enter it (chmod 700 prevents that)";
  return {};
}

/// Whether the path of every possible socket in the folder fits into an address (unix(7)).
bool has_room(const std::string& folder) {
  constexpr std::string_view longest_name = "/4194304.sock";
  return folder.size() + longest_name.size() < sizeof(sockaddr_un::sun_path);
}

std::string folder_in_runtime(const std::string& runtime) { return runtime + "/mcp-sitter"; }

/// Empty if the environment names no folder that exists and can be used.
std::string runtime_folder() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  std::error_code error;
  const bool is_there = runtime != nullptr && runtime[0] == '/' && fs::is_directory(runtime, error);
  return is_there && has_room(folder_in_runtime(runtime)) ? runtime : "";
}

fs::path temporary_folder() {
  const char* const named = std::getenv("TMPDIR");
  std::error_code error;
  if (named != nullptr && fs::is_directory(named, error)) return named;
  const std::string of_user = platform::temporary_folder_of_user();
  return of_user.empty() ? "/tmp" : of_user;
}

std::string folder_in(const fs::path& temporary) {
  return (temporary / fmt::format("mcp-sitter-{}", geteuid())).native();
}

std::string folder_in_temporary() { return folder_in(temporary_folder()); }

/// Many clients give their servers a short environment, so the folder of a bridge may differ from
/// the folder that a shell would use.
std::set<std::string> folders_of_others() {
  std::string runtime = runtime_folder();
  if (runtime.empty()) runtime = fmt::format("/run/user/{}", geteuid());
  std::set<std::string> folders{folder_in_runtime(runtime), folder_in_temporary()};
  const std::string of_user = platform::temporary_folder_of_user();
  if (!of_user.empty()) folders.insert(folder_in(of_user));
  return folders;
}

void add_files_in(const std::string& folder, std::string_view ending, mode_t kind,
                  std::vector<std::string>& files) {
  if (!complaint_about(folder).empty()) return;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat found {};
    const std::string path = entry->path().native();
    if (!path.ends_with(ending) || lstat(path.c_str(), &found) != 0) continue;
    if ((found.st_mode & S_IFMT) == kind && found.st_uid == geteuid()) files.push_back(path);
  }
}

std::vector<std::string> files_of(std::string_view ending, mode_t kind) {
  std::vector<std::string> files;
  for (const std::string& folder : folders_of_others()) add_files_in(folder, ending, kind, files);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string control_folder() {
  const std::string runtime = runtime_folder();
  return runtime.empty() ? folder_in_temporary() : folder_in_runtime(runtime);
}

std::string control_socket() { return fmt::format("{}/{}.sock", control_folder(), getpid()); }

void remove_control_file(const std::string& file) {
  const std::string folder = file.substr(0, file.rfind('/'));
  if (!complaint_about(folder).empty()) return;
  unlink(file.c_str());
  rmdir(folder.c_str());
}

std::string prepare_control_folder() {
  const std::string folder = control_folder();
  if (!has_room(folder)) {
    return folder + ": the path is too long for a socket; set a shorter TMPDIR";
  }
  mkdir(folder.c_str(), kOnlyOurs);
  const std::string complaint = complaint_about(folder);
  return complaint.empty() ? complaint : fmt::format("{}: {}", folder, complaint);
}

std::vector<std::string> control_sockets() { return files_of(".sock", S_IFSOCK); }

std::vector<std::string> control_files(std::string_view ending) {
  return files_of(ending, S_IFREG);
}

}  // namespace sitter
