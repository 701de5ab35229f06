#include "setup/build_tools.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/text.hpp"
#include "io/system/file_descriptor.hpp"
#include "probe/json_words.hpp"
#include "setup/client_program.hpp"
#include "setup/document.hpp"
#include "setup/server_file.hpp"

namespace sitter::setup {
namespace {

namespace fs = std::filesystem;

/// The description of one target is far smaller.
constexpr std::size_t kReplyMax = std::size_t{16} << 20;

/// All descriptions of a project with some thousand targets fit.
constexpr std::size_t kRepliesMax = std::size_t{128} << 20;

/// What CMake has written about a build, which is read within bounds.
class Replies {
 public:
  Replies(const fs::path& build, std::chrono::milliseconds time)
      : folder_(build / ".cmake/api/v1/reply"), deadline_(Clock::now() + time) {}

  const fs::path& folder() const { return folder_; }

  /// Null if there is no such reply. Throws Failure when those before were too much.
  Json read(const fs::path& name) {
    if (size_ > kRepliesMax || Clock::now() >= deadline_) throw Failure{"cmake says too much"};
    std::string problem;
    const auto text = read_whole_file((folder_ / name).generic_string(), kReplyMax, problem);
    if (!text) return {};
    size_ += text->size();
    return parsed_json(*text);
  }

 private:
  using Clock = std::chrono::steady_clock;

  fs::path folder_;
  Clock::time_point deadline_;
  std::size_t size_ = 0;
};

/// The elements of a list in an object, or none.
const Json& list_in(const Json& object, const char* key) {
  static const Json none = Json::array();
  const Json* const found = find(object, {key});
  return found != nullptr && found->is_array() ? *found : none;
}

/// The path relative to the root. Empty for a path elsewhere.
fs::path inside(const fs::path& path, const fs::path& root) {
  const fs::path relative = (root / path).lexically_normal().lexically_relative(root);
  return relative.empty() || *relative.begin() == ".." ? fs::path() : relative;
}

/// The folder of a file, where the root is `.`.
fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// Calls `visit` with a name and with all that it leads to, once each. `visit` returns the names
/// that follow.
void visit_all(const std::string& first,
               const std::function<std::vector<std::string>(const std::string&)>& visit) {
  std::set<std::string> seen = {first};
  std::vector<std::string> waiting = {first};
  while (!waiting.empty()) {
    const std::string name = waiting.back();
    waiting.pop_back();
    for (std::string& next : visit(name)) {
      if (seen.insert(next).second) waiting.push_back(std::move(next));
    }
  }
}

/// The model of the build in the newest reply of CMake. An index that is later in the order of
/// names is newer.
Json code_model(Replies& replies) {
  fs::path newest;
  std::error_code error;
  const fs::directory_iterator end;
  for (auto entry = fs::directory_iterator(replies.folder(), error); !error && entry != end;
       entry.increment(error)) {
    const bool is_index = entry->path().filename().generic_string().starts_with("index-");
    if (is_index && entry->path() > newest) newest = entry->path();
  }
  const Json index = replies.read(newest);
  for (const Json& object : list_in(index, "objects")) {
    if (text_in(object, "kind") == "codemodel") return replies.read(text_in(object, "jsonFile"));
  }
  return {};
}

/// The model of the build. If nobody has asked CMake before, it has to configure the build again.
/// The question stays, so that a later answer is as new as the build.
Json asked_model(const Project& project, const fs::path& folder, Replies& replies) {
  Json model = code_model(replies);
  if (!model.is_null()) return model;
  if (project.asking.is_dry_run) {
    throw Failure{"cmake is asked only without --dry-run, since it writes files"};
  }
  const fs::path query = folder / ".cmake/api/v1/query/client-mcp-sitter";
  std::error_code ignored;  // Without the query there is no reply.
  fs::create_directories(query, ignored);
  std::ofstream(query / "codemodel-v2").close();
  output_of({"cmake", "."}, folder.generic_string(), project.asking.time);
  replies = Replies(folder, project.asking.time);
  return code_model(replies);
}

/// The names of the replies about the targets of a configuration, by the ids of the targets.
std::map<std::string, std::string> targets_of(const Json& configuration) {
  std::map<std::string, std::string> targets;
  for (const Json& target : list_in(configuration, "targets")) {
    targets[text_in(target, "id")] = text_in(target, "jsonFile");
  }
  return targets;
}

/// Whether the target makes this file. Both are in the folder of the build.
bool makes(const Json& target, const fs::path& file, const fs::path& folder) {
  const Json& artifacts = list_in(target, "artifacts");
  return std::any_of(artifacts.begin(), artifacts.end(), [&](const Json& artifact) {
    return (folder / text_in(artifact, "path")).lexically_normal() == file;
  });
}

/// The folders from which the target is compiled. `top` is where relative paths start.
std::vector<fs::path> folders_of(const Json& target, const fs::path& top) {
  std::vector<fs::path> folders;
  for (const Json& file : list_in(target, "sources")) {
    folders.push_back((top / text_in(file, "path")).parent_path());
  }
  for (const Json& group : list_in(target, "compileGroups")) {
    for (const Json& include : list_in(group, "includes")) {
      folders.emplace_back(text_in(include, "path"));
    }
  }
  return folders;
}

}  // namespace

ToolAnswer ask_cmake(const Project& project, const fs::path& build) {
  const fs::path folder = project.root / build;
  Replies replies(folder, project.asking.time);
  const Json model = asked_model(project, folder, replies);
  const fs::path top = text_in(member(model, "paths"), "source");
  for (const Json& configuration : list_in(model, "configurations")) {
    const auto targets = targets_of(configuration);
    const auto ours = std::find_if(targets.begin(), targets.end(), [&](const auto& target) {
      return makes(replies.read(target.second), project.root / project.server, folder);
    });
    if (ours == targets.end()) continue;
    ToolAnswer answer;
    visit_all(ours->first, [&](const std::string& id) {
      std::vector<std::string> needed;
      const auto found = targets.find(id);
      if (found == targets.end()) return needed;
      const Json target = replies.read(found->second);
      for (const fs::path& each : folders_of(target, top)) {
        fs::path relative = inside(each, project.root);
        // What the build makes comes from other files.
        const bool is_made = !inside(each, folder).empty();
        if (!relative.empty() && !is_made) answer.folders.insert(std::move(relative));
      }
      for (const Json& other : list_in(target, "dependencies")) {
        needed.push_back(text_in(other, "id"));
      }
      return needed;
    });
    return answer;
  }
  throw Failure{"cmake does not know this program"};
}

ToolAnswer ask_cargo(const Project& project) {
  const Json metadata = parsed_json(
      output_of({"cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"},
                project.root.generic_string(), project.asking.time));
  // The packages by their folders.
  std::map<std::string, Json> packages;
  std::string ours;
  for (const Json& package : list_in(metadata, "packages")) {
    const std::string folder =
        fs::path(text_in(package, "manifest_path")).parent_path().generic_string();
    packages[folder] = package;
    for (const Json& target : list_in(package, "targets")) {
      const Json& kinds = list_in(target, "kind");
      const bool is_program = std::find(kinds.begin(), kinds.end(), "bin") != kinds.end();
      if (is_program && text_in(target, "name") == program_name(project.server)) ours = folder;
    }
  }
  if (ours.empty()) throw Failure{"cargo does not know this program"};
  ToolAnswer answer;
  if (packages.size() > 1) answer.package = text_in(packages[ours], "name");
  visit_all(ours, [&](const std::string& folder) {
    std::vector<std::string> needed;
    // The root holds more than its package.
    const bool is_root = fs::path(folder) == project.root;
    if (!is_root) answer.folders.insert(fs::path(folder).lexically_relative(project.root));
    for (const Json& target : list_in(packages[folder], "targets")) {
      const Json& kinds = list_in(target, "kind");
      const bool is_needed = std::any_of(kinds.begin(), kinds.end(), [](const Json& kind) {
        return kind == "bin" || kind == "lib" || kind == "proc-macro";
      });
      if (!is_root || !is_needed) continue;
      const fs::path file = inside(text_in(target, "src_path"), project.root);
      if (!file.empty()) answer.folders.insert(folder_of(file));
    }
    for (const Json& dependency : list_in(packages[folder], "dependencies")) {
      const std::string path = text_in(dependency, "path");
      if (!path.empty()) needed.push_back(path);
    }
    return needed;
  });
  return answer;
}

ToolAnswer ask_go(const Project& project) {
  const std::string listed =
      output_of({"go", "list", "-mod=readonly", "-e", "-find", "-f", "{{.Name}} {{.Dir}}", "./..."},
                project.root.generic_string(), project.asking.time);
  std::vector<fs::path> programs;
  for (const std::string_view line : text_lines(listed)) {
    if (line.starts_with("main ")) programs.push_back(inside(line.substr(5), project.root));
  }
  const auto first = [&](const auto& fits) {
    return std::find_if(programs.begin(), programs.end(), fits);
  };
  auto found =
      first([&](const fs::path& each) { return each.filename() == program_name(project.server); });
  if (found == programs.end()) found = first([](const fs::path& each) { return each == "."; });
  if (found == programs.end() && programs.size() == 1) found = programs.begin();
  return {{}, found == programs.end() ? std::string() : found->generic_string()};
}

}  // namespace sitter::setup
