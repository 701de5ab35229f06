#include "io/files/daemon_record.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "io/control/control_folder.hpp"
#include "io/process/process_table.hpp"
#include "io/system/file_descriptor.hpp"
#include "io/system/file_facts.hpp"
#include "io/system/private_file.hpp"

namespace sitter {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kRecordEnding = ".daemon";
constexpr std::string_view kSocketEnding = ".take";
constexpr std::size_t kRecordMax = 1024 * 1024;

std::string folder_of(const LaunchRequest& request) {
  const std::string whole = real_path(request.cwd.empty() ? "." : request.cwd);
  return whole.empty() ? request.cwd : whole;
}

std::string path_of(long pid, std::string_view ending) {
  return fmt::format("{}/{}{}", control_folder(), pid, ending);
}

std::int64_t number_of(WallTime time) { return time.time_since_epoch().count(); }
WallTime time_of(std::int64_t number) { return WallTime(WallTime::duration(number)); }

}  // namespace

bool DaemonRecord::is_of(const LaunchRequest& request) const {
  return url == request.daemon_url && command == request.command &&
         arguments == request.arguments && cwd == folder_of(request);
}

DaemonRecord DaemonRecord::of(const LaunchRequest& request, long pid, WallTime started,
                              const BinaryInfo& binary) {
  const auto process = find_process(pid);
  return {.url = request.daemon_url,
          .command = request.command,
          .arguments = request.arguments,
          .cwd = folder_of(request),
          .pid = pid,
          .start = process ? process->start : 0,
          .started = started,
          .binary = binary};
}

bool DaemonRecord::write(const std::string& path) const {
  const Json json = {{"url", url},
                     {"command", command},
                     {"arguments", arguments},
                     {"cwd", cwd},
                     {"pid", pid},
                     {"start", start},
                     {"started", number_of(started)},
                     {"file",
                      {{"path", binary.path},
                       {"exists", binary.exists},
                       {"size", binary.size},
                       {"modified", number_of(binary.mtime)},
                       {"device", binary.device},
                       {"inode", binary.inode}}}};
  return write_private_file(path, json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

DaemonRecord DaemonRecord::read(const std::string& path) {
  std::string problem;
  const auto text = read_whole_file(path, kRecordMax, problem);
  const Json json = text ? Json::parse(*text, nullptr, false) : Json();
  DaemonRecord record;
  try {
    const Json& file = json.at("file");
    json.at("url").get_to(record.url);
    json.at("command").get_to(record.command);
    json.at("arguments").get_to(record.arguments);
    json.at("cwd").get_to(record.cwd);
    json.at("start").get_to(record.start);
    record.started = time_of(json.at("started").get<std::int64_t>());
    file.at("path").get_to(record.binary.path);
    file.at("exists").get_to(record.binary.exists);
    file.at("size").get_to(record.binary.size);
    record.binary.mtime = time_of(file.at("modified").get<std::int64_t>());
    file.at("device").get_to(record.binary.device);
    file.at("inode").get_to(record.binary.inode);
    json.at("pid").get_to(record.pid);
  } catch (const Json::exception&) {
    // Another version of mcp-sitter may write other records.
    return {};
  }
  return record;
}

std::string daemon_record_path(long pid) { return path_of(pid, kRecordEnding); }
std::string daemon_socket_path(long pid) { return path_of(pid, kSocketEnding); }

std::string daemon_socket_of(const std::string& record_path) {
  return record_path.substr(0, record_path.rfind('.')).append(kSocketEnding);
}

std::vector<std::string> daemon_records() { return control_files(kRecordEnding); }

}  // namespace sitter
