#include "setup/guess.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>

#include "io/system/file_descriptor.hpp"
#include "options/cli_options.hpp"
#include "setup/document.hpp"
#include "terminal/format.hpp"

namespace sitter::setup {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kProjectFileMax = std::size_t{1} << 20;

/// A server that is being developed, and the project around it.
struct Project {
  fs::path root;
  /// The server's own file, relative to the root.
  fs::path server;
};

/// What a project file says, with patterns relative to the root. Nothing if the server does not
/// fit.
struct Recipe {
  std::string build;
  Words watch;
};

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_below(const fs::path& path, std::string_view folder) {
  return std::find(path.begin(), path.end(), fs::path(folder)) != path.end();
}

bool ends_in(const fs::path& path, std::initializer_list<std::string_view> endings) {
  return std::find(endings.begin(), endings.end(), path.extension().native()) != endings.end();
}

/// The names that are there, of those that such a project may have.
Words present(const Project& project, std::initializer_list<const char*> names) {
  Words found;
  for (const char* const name : names) {
    if (is_there(project.root / name)) found.emplace_back(name);
  }
  return found;
}

std::optional<Recipe> cargo(const Project& project) {
  if (!is_below(project.server, "target")) return std::nullopt;
  const bool is_release = is_below(project.server, "release");
  return Recipe{is_release ? "cargo build --release" : "cargo build",
                present(project, {"src", "Cargo.toml"})};
}

std::optional<Recipe> go(const Project& project) {
  if (ends_in(project.server, {".go"})) return std::nullopt;
  const std::string program = "./" + project.server.native();
  return Recipe{"go build -o " + shell_word(program) + " .", {"*.go"}};
}

std::optional<Recipe> node(const Project& project) {
  const bool is_ours = ends_in(project.server, {".js", ".mjs", ".cjs"}) &&
                       !is_below(project.server, "node_modules") &&
                       !is_below(project.server, "src");
  std::string problem;
  const auto text =
      read_whole_file((project.root / "package.json").native(), kProjectFileMax, problem);
  if (!is_ours || !text) return std::nullopt;
  const Json package = Json::parse(*text, nullptr, false);
  const Json* const script = find(package, {"scripts", "build"});
  if (script == nullptr) return std::nullopt;
  std::string manager = "npm";
  for (const auto& [lock, other] :
       std::array<std::pair<const char*, const char*>, 4>{{{"pnpm-lock.yaml", "pnpm"},
                                                           {"yarn.lock", "yarn"},
                                                           {"bun.lock", "bun"},
                                                           {"bun.lockb", "bun"}}}) {
    if (is_there(project.root / lock)) manager = other;
  }
  return Recipe{manager + " run build", present(project, {"src"})};
}

std::optional<Recipe> cmake(const Project& project) {
  for (fs::path folder = project.server.parent_path(); !folder.empty();
       folder = folder.parent_path()) {
    if (!is_there(project.root / folder / "CMakeCache.txt")) continue;
    return Recipe{"cmake --build " + shell_word(folder.native()),
                  present(project, {"src", "include", "CMakeLists.txt"})};
  }
  return std::nullopt;
}

std::optional<Recipe> make(const Project& project) {
  if (!fs::path(project.server).extension().empty()) return std::nullopt;
  return Recipe{"make", present(project, {"src", "include", "Makefile"})};
}

std::optional<Recipe> dotnet(const Project& project) {
  if (!is_below(project.server, "bin")) return std::nullopt;
  return Recipe{"dotnet build", {"*.cs"}};
}

std::optional<Recipe> python(const Project& project) {
  if (!ends_in(project.server, {".py"})) return std::nullopt;
  return Recipe{"", {"*.py"}};
}

struct Kind {
  /// The name of the project file, or its ending.
  std::string_view file;
  std::optional<Recipe> (*recipe)(const Project&);
};

constexpr std::array<Kind, 8> kKinds = {{{"Cargo.toml", cargo},
                                         {"go.mod", go},
                                         {"package.json", node},
                                         {"CMakePresets.json", cmake},
                                         {"CMakeLists.txt", cmake},
                                         {"Makefile", make},
                                         {".csproj", dotnet},
                                         {"pyproject.toml", python}}};

/// The name of the project file of this kind in the folder.
std::string project_file(const fs::path& folder, const Kind& kind) {
  if (!kind.file.starts_with('.')) {
    return is_there(folder / kind.file) ? std::string(kind.file) : std::string();
  }
  const fs::directory_iterator end;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == kind.file) return entry->path().filename().native();
  }
  return {};
}

/// Programs that run a file which an argument names.
bool is_interpreter(const std::string& program) {
  static constexpr std::array<std::string_view, 7> kNames = {"node", "bun",    "deno", "dotnet",
                                                             "tsx",  "python", "uv"};
  return std::find(kNames.begin(), kNames.end(), program) != kNames.end() ||
         program.starts_with("python3");
}

/// Whether the server runs in another folder with this option of uv or deno.
bool moves_server(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  return name == "--directory" || name == "--project" || name == "--cwd";
}

/// The file of the server, or nothing if it is a published package or unknown.
fs::path file_of(const Words& words) {
  const std::string program = fs::path(words.front()).filename().native();
  if (is_interpreter(program)) {
    for (std::size_t at = 1; at < words.size(); ++at) {
      const std::string& word = words[at];
      if (moves_server(word)) return {};
      // Options of Node.js that take a file.
      const bool takes_file = word == "--import" || word == "--require" || word == "-r" ||
                              word == "--loader" || word == "--env-file";
      if (takes_file) ++at;
      if (!takes_file && !word.starts_with('-') && fs::path(word).has_extension()) return word;
    }
    return {};
  }
  return words.front().find('/') == std::string::npos ? fs::path() : fs::path(words.front());
}

/// The pattern for a file somewhere else.
std::string absolute(const fs::path& root, const std::string& pattern) {
  if (pattern.starts_with('*')) return (root / "**" / pattern).native();
  return pattern_of_file((root / pattern).native());
}

Guess told_by(const Project& project, const std::string& file, Recipe recipe, bool is_elsewhere) {
  Guess guess{file, std::move(recipe.build), {}, std::move(recipe.watch)};
  if (!is_elsewhere) return guess;
  if (!guess.build.empty()) guess.build_cwd = project.root.native();
  for (std::string& pattern : guess.watch) pattern = absolute(project.root, pattern);
  return guess;
}

}  // namespace

Guess guess(const Words& words, const std::string& directory, bool runs_elsewhere) {
  const fs::path file = file_of(words);
  // A variable of the client may stand for any folder.
  if (file.empty() || file.native().find("${") != std::string::npos) return {};
  const fs::path server = (fs::path(directory) / file).lexically_normal();
  for (fs::path root = server.parent_path();; root = root.parent_path()) {
    // A folder of builds has a Makefile too, which CMake has written.
    if (is_there(root / "CMakeCache.txt") && root != root.parent_path()) continue;
    const Project project{root, server.lexically_relative(root)};
    bool is_project = false;
    for (const Kind& kind : kKinds) {
      const std::string name = project_file(root, kind);
      if (name.empty()) continue;
      is_project = true;
      if (auto recipe = kind.recipe(project)) {
        return told_by(project, name, std::move(*recipe),
                       runs_elsewhere || root != fs::path(directory).lexically_normal());
      }
    }
    if (is_project || root == root.parent_path()) return {};
  }
}

}  // namespace sitter::setup
