#include "setup/guess.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/rebuild/watch_filter.hpp"
#include "io/files/ignore_files.hpp"
#include "io/system/file_descriptor.hpp"
#include "io/system/path_style.hpp"
#include "io/system/user_folders.hpp"
#include "options/cli_options.hpp"
#include "probe/json_words.hpp"
#include "setup/build_tools.hpp"
#include "setup/document.hpp"
#include "setup/server_file.hpp"

namespace sitter::setup {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kProjectFileMax = std::size_t{1} << 20;

/// How many files of a project are looked at.
constexpr int kFilesMax = 20'000;

/// What a project file says, with patterns relative to the root, and with the tool that was asked
/// as its source. Nothing if the server does not fit.
using Recipe = std::optional<Guess>;

using Endings = std::vector<std::string_view>;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_below(const fs::path& path, std::string_view folder) {
  return std::find(path.begin(), path.end(), fs::path(folder)) != path.end();
}

bool ends_in(const fs::path& path, const Endings& endings) {
  const std::string ending = path.extension().generic_string();
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

/// The names that are there, of those that such a project may have.
Words present(const Project& project, std::initializer_list<const char*> names) {
  Words found;
  for (const char* const name : names) {
    if (is_there(project.root / name)) found.emplace_back(name);
  }
  return found;
}

/// Patterns for the files of these endings, if there are any in the root itself.
Words flat(const Project& project, const Endings& endings) {
  std::set<std::string> found;
  const fs::directory_iterator end;
  std::error_code error;
  for (auto entry = fs::directory_iterator(project.root, error); !error && entry != end;
       entry.increment(error)) {
    if (ends_in(entry->path(), endings))
      found.insert("*" + entry->path().extension().generic_string());
  }
  return {found.begin(), found.end()};
}

const Endings kC = {".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx"};

/// Patterns for the files of these endings anywhere in the project, without those that --watch
/// leaves out and those in `others`, which are watched already.
Words deep(const Project& project, const Endings& endings, const Words& others = {}) {
  const std::string root = project.root.generic_string();
  WatchFilter filter({"*"}, root, kPathStyle);
  read_ignore_file(root, filter);
  std::set<std::string> found;
  const fs::recursive_directory_iterator end;
  std::error_code error;
  auto entry = fs::recursive_directory_iterator(
      project.root, fs::directory_options::skip_permission_denied, error);
  for (int left = kFilesMax; !error && entry != end && left > 0; --left, entry.increment(error)) {
    const std::string path = entry->path().generic_string();
    std::error_code unknown;
    if (!entry->is_directory(unknown)) {
      if (ends_in(path, endings) && filter.takes_file(path)) {
        found.insert("*" + entry->path().extension().generic_string());
      }
      continue;
    }
    read_marks(path, filter);
    read_ignore_file(path, filter);
    const bool is_other =
        entry.depth() == 0 &&
        std::find(others.begin(), others.end(), fs::path(path).filename()) != others.end();
    if (is_other || !filter.takes_folder(path)) entry.disable_recursion_pending();
  }
  return {found.begin(), found.end()};
}

/// For each folder of the root with some of these in it, the deepest folder that holds them all.
Words common(const std::set<fs::path>& folders) {
  std::map<fs::path, fs::path> common;
  for (const fs::path& folder : folders) {
    if (folder == ".") continue;
    fs::path& held = common.try_emplace(*folder.begin(), folder).first->second;
    const auto differs =
        std::mismatch(held.begin(), held.end(), folder.begin(), folder.end()).first;
    fs::path shared;
    for (auto part = held.begin(); part != differs; ++part) shared /= *part;
    held = shared;
  }
  Words patterns;
  for (const auto& [name, folder] : common)
    patterns.push_back(pattern_of_file(folder.generic_string()));
  return patterns;
}

/// The answer of a tool. Without one, `recipe` says why.
std::optional<ToolAnswer> answer_of(Guess& recipe, const char* tool,
                                    const std::function<ToolAnswer()>& ask) {
  try {
    ToolAnswer answer = ask();
    recipe.from = tool;
    return answer;
  } catch (const Failure& failure) {
    recipe.problem = failure.what + ", so the names of files decided";
    return std::nullopt;
  }
}

Recipe cargo(const Project& project) {
  if (!is_below(project.server, "target")) return std::nullopt;
  Guess recipe;
  const auto answer = answer_of(recipe, "cargo metadata", [&] { return ask_cargo(project); });
  recipe.build = is_below(project.server, "release") ? "cargo build --release" : "cargo build";
  if (answer && !answer->package.empty()) recipe.build += " -p " + typed_word(answer->package);
  if (!answer) {
    recipe.watch = present(project, {"src", "Cargo.toml"});
    return recipe;
  }
  for (const fs::path& folder : answer->folders) {
    recipe.watch.push_back(folder == "." ? "*.rs" : pattern_of_file(folder.generic_string()));
  }
  recipe.watch = joined(recipe.watch, present(project, {"build.rs", "Cargo.toml"}));
  return recipe;
}

Recipe go(const Project& project) {
  if (is_script(project.server) || ends_in(project.server, {".go"})) return std::nullopt;
  Guess recipe;
  const auto answer = answer_of(recipe, "go list", [&] { return ask_go(project); });
  const fs::path usual = fs::path("cmd") / program_name(project.server);
  fs::path package = is_there(project.root / usual)   ? usual
                     : flat(project, {".go"}).empty() ? fs::path()
                                                      : fs::path(".");
  if (answer) package = answer->package;
  if (package.empty()) {
    recipe.problem = fmt::format("none of the programs is called {}, so --build is not guessed",
                                 program_name(project.server));
  } else {
    const std::string from = package == "." ? "." : "./" + package.generic_string();
    recipe.build = "go build -o " + typed_word("./" + project.server.generic_string()) + " " +
                   typed_word(from);
  }
  recipe.watch = {"*.go"};
  return recipe;
}

/// A file of the project, which may have comments. Discarded if there is none.
Json json_in(const Project& project, const char* name) {
  std::string problem;
  const auto text =
      read_whole_file((project.root / name).generic_string(), kProjectFileMax, problem);
  return parsed_json(text.value_or(""), true);
}

/// What a package of Node.js is built from.
Words node_sources(const Project& project) {
  const Json settings = json_in(project, "tsconfig.json");
  const Json* const found = find(settings, {"compilerOptions", "rootDir"});
  const fs::path top = found != nullptr && found->is_string()
                           ? (project.root / found->get<std::string>() / "").lexically_normal()
                           : fs::path();
  const std::string name = top.parent_path().lexically_relative(project.root).generic_string();
  Words watch;
  if (!name.empty() && !name.starts_with('.') && is_there(top)) watch = {pattern_of_file(name)};
  if (watch.empty()) watch = present(project, {"src"});
  if (watch.empty()) watch = deep(project, {".ts", ".mts", ".tsx"});
  return joined(watch, present(project, {"package.json", "tsconfig.json"}));
}

Recipe node(const Project& project) {
  const bool is_ours = ends_in(project.server, {".js", ".mjs", ".cjs"}) &&
                       !is_below(project.server, "node_modules") &&
                       !is_below(project.server, "src");
  const Json package = json_in(project, "package.json");
  if (!is_ours) return std::nullopt;
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
  return Guess{.build = manager + " run build", .watch = node_sources(project)};
}

Recipe cmake(const Project& project) {
  for (fs::path folder = project.server.parent_path(); !folder.empty();
       folder = folder.parent_path()) {
    if (!is_there(project.root / folder / "CMakeCache.txt")) continue;
    Guess recipe{.build = "cmake --build " + typed_word(folder.generic_string())};
    const auto answer =
        answer_of(recipe, "the file API of CMake", [&] { return ask_cmake(project, folder); });
    const bool is_flat = !answer || answer->folders.contains(".");
    recipe.watch = answer ? common(answer->folders) : present(project, {"src", "include"});
    if (is_flat) recipe.watch = joined(recipe.watch, flat(project, kC));
    recipe.watch = joined(recipe.watch, present(project, {"CMakeLists.txt"}));
    return recipe;
  }
  return std::nullopt;
}

Recipe make(const Project& project) {
  if (!fs::path(program_name(project.server)).extension().empty()) return std::nullopt;
  Guess recipe{.build = "make", .watch = present(project, {"src", "include"})};
  Words patterns = deep(project, kC, recipe.watch);
  // The first header may come later.
  if (!patterns.empty() && !patterns.back().starts_with("*.h")) patterns.emplace_back("*.h");
  recipe.watch = joined(recipe.watch, patterns);
  if (recipe.watch.empty()) {
    recipe.problem = "no C or C++ sources are here, so --watch names only what make reads";
  }
  Words read = present(project, {"Makefile", "makefile", "GNUmakefile"});
  read.resize(1);  // Where names have no case, one file has two of them.
  recipe.watch = joined(recipe.watch, read);
  return recipe;
}

Recipe dotnet(const Project& project) {
  if (!is_below(project.server, "bin")) return std::nullopt;
  return Guess{.build = "dotnet build", .watch = {"*.cs"}};
}

Recipe python(const Project& project) {
  if (!ends_in(project.server, {".py"})) return std::nullopt;
  return Guess{.watch = {"*.py"}};
}

/// A script that nothing builds: the files beside it, or the folder in the project that holds it.
Recipe script(const Project& project) {
  if (!is_script(project.server) || is_below(project.server, "node_modules")) return std::nullopt;
  if (project.server.has_parent_path()) {
    return Guess{.watch = {pattern_of_file(project.server.begin()->generic_string())}};
  }
  const std::string pattern = "*" + project.server.extension().generic_string();
  // What else is in a home folder is no part of the server.
  const bool is_home = project.root == path_of(kUserFolders.home);
  return Guess{.watch = {is_home ? "./" + pattern : pattern}};
}

struct Kind {
  /// The name of the project file, or its ending.
  std::string_view file;
  Recipe (*recipe)(const Project&);
};

constexpr std::array<Kind, 10> kKinds = {{{"Cargo.toml", cargo},
                                          {"go.mod", go},
                                          {"package.json", node},
                                          {"CMakePresets.json", cmake},
                                          {"CMakeLists.txt", cmake},
                                          {"Makefile", make},
                                          {"makefile", make},
                                          {"GNUmakefile", make},
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
    const fs::path& file = entry->path();
    if (file.extension() == kind.file) return file.filename().generic_string();
  }
  return {};
}

/// Why no build file fits; a clause.
std::string unfit(const Project& project, const fs::path& file) {
  const bool is_configured = is_there(project.root / project.server) ||
                             !project.server.has_parent_path() ||
                             !is_there(project.root / "CMakeLists.txt");
  if (is_configured) return fmt::format("no build file fits {}", file.generic_string());
  const bool has_presets = is_there(project.root / "CMakePresets.json");
  return fmt::format(
      "CMake has not configured the build yet; configure it first (cmake {}), then undo this setup "
      "and repeat it",
      has_presets ? "--preset NAME" : "-B " + typed_word(project.server.begin()->generic_string()));
}

/// The pattern for the same files, seen from another folder.
std::string moved(const fs::path& root, const std::string& pattern) {
  const std::string folder = pattern_of_file(root.generic_string());
  return folder + (pattern.starts_with('*') ? "/**/" : "/") + pattern;
}

/// The guess about a server that starts in `directory`.
Guess told_by(const Project& project, const std::string& file, Guess guess,
              const fs::path& directory, bool runs_elsewhere) {
  guess.from = guess.from.empty() ? file : file + " and " + guess.from;
  if (project.root == directory && !runs_elsewhere) return guess;
  const fs::path below = project.root.lexically_relative(directory);
  const bool is_below = !runs_elsewhere && !below.empty() && *below.begin() != "..";
  // A relative --build-cwd starts where the client starts mcp-sitter, a relative --watch does not.
  if (!guess.build.empty()) guess.build_cwd = project.root.generic_string();
  for (std::string& pattern : guess.watch) {
    pattern = moved(is_below ? below : project.root, pattern);
  }
  return guess;
}

/// The guess about a server with this file.
Guess by_file(const fs::path& file, const fs::path& start, bool runs_elsewhere,
              const Asking& asking) {
  // A variable of the client may stand for any folder.
  if (file.empty() || file.generic_string().find("${") != std::string::npos) {
    return {.problem = "the command names no file of a project"};
  }
  const fs::path server = (start / file).lexically_normal();
  for (fs::path root = server.parent_path();; root = root.parent_path()) {
    // A folder of builds has a Makefile too, which CMake has written.
    if (is_there(root / "CMakeCache.txt") && root != root.parent_path()) continue;
    const Project project{root, server.lexically_relative(root), asking};
    bool is_project = false;
    for (const Kind& kind : kKinds) {
      const std::string name = project_file(root, kind);
      if (name.empty()) continue;
      is_project = true;
      if (auto recipe = kind.recipe(project)) {
        if (!recipe->build.empty() && is_interpreted(file) && !is_there(server)) {
          recipe->problem = fmt::format(
              "there is no {} yet; with --build, the first start builds it", file.generic_string());
        }
        return told_by(project, name, std::move(*recipe), start, runs_elsewhere);
      }
    }
    const bool is_last = root == root.parent_path();
    if (!is_project && !is_last) continue;
    const fs::path home = is_project ? root : server.parent_path();
    const Project rest{home, server.lexically_relative(home), asking};
    auto recipe = script(rest);
    if (!recipe) return {.problem = unfit(rest, file)};
    return told_by(rest, "the folder of " + file.lexically_normal().generic_string(),
                   std::move(*recipe), start, runs_elsewhere);
  }
}

/// The nearest folder, from `start` upwards, with a project file of this kind. Empty if there is
/// none.
fs::path nearest(fs::path start, const Kind& kind) {
  while (project_file(start, kind).empty()) {
    if (start == start.parent_path()) return {};
    start = start.parent_path();
  }
  return start;
}

// Commands that build what they run.

Recipe go_run(const Project&) { return Guess{.watch = {"*.go"}}; }

Recipe cargo_run(const Project& project) {
  const Words sources = present(project, {"src"});
  return Guess{.watch = joined(sources.empty() ? Words{"*.rs"} : sources, {"Cargo.toml"})};
}

Recipe dotnet_run(const Project&) { return Guess{.watch = {"*.cs"}}; }

/// The guess about `go run` and the like. Nothing if the command is none, or runs a published
/// package.
std::optional<Guess> by_runner(const Words& words, const fs::path& start, bool runs_elsewhere) {
  const std::string program = program_name(words.front());
  const bool is_published = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.find('@') != std::string::npos;
  });
  if (words.size() < 2 || words[1] != "run" || is_published) return std::nullopt;
  const Kind kind = program == "go"       ? Kind{"go.mod", go_run}
                    : program == "cargo"  ? Kind{"Cargo.toml", cargo_run}
                    : program == "dotnet" ? Kind{".csproj", dotnet_run}
                                          : Kind{};
  if (kind.recipe == nullptr) return std::nullopt;
  const fs::path root = nearest(start, kind);
  if (root.empty()) {
    return Guess{.problem =
                     fmt::format("{} run needs a {}, and there is none", program, kind.file)};
  }
  const Project project{root, {}, {}};
  return told_by(project, project_file(root, kind), *kind.recipe(project), start, runs_elsewhere);
}

/// The guess about `npm start` and `npm run NAME`. Nothing if the command is none.
std::optional<Guess> by_package_script(const Words& words, const fs::path& start,
                                       bool runs_elsewhere, const Asking& asking) {
  const std::string program = program_name(words.front());
  const bool is_manager =
      program == "npm" || program == "pnpm" || program == "yarn" || program == "bun";
  std::string name;
  if (words.size() > 1 && words[1] == "start") name = "start";
  if (words.size() > 2 && words[1] == "run" && !is_script(words[2])) name = words[2];
  const fs::path root = nearest(start, {"package.json", node});
  if (!is_manager || name.empty() || root.empty()) return std::nullopt;
  const Project project{root, {}, asking};
  const Json package = json_in(project, "package.json");
  const Json* const script = find(package, {"scripts", name});
  if (script == nullptr || !script->is_string()) {
    return Guess{.problem = "package.json has no script " + name};
  }
  const auto command = split_words(script->get<std::string>());
  const bool is_single = command && !command->empty() &&
                         script->get<std::string>().find_first_of("&|;") == std::string::npos;
  if (!is_single) {
    return told_by(project, "package.json", Guess{.watch = node_sources(project)}, start,
                   runs_elsewhere);
  }
  const fs::path file = server_file(*command, root);
  const bool is_whole = root == start || file.empty();
  return by_file(is_whole ? file : root / file, start, runs_elsewhere, asking);
}

}  // namespace

Guess guess(const Words& words, const std::string& directory, bool runs_elsewhere,
            const Asking& asking) {
  const fs::path start = fs::path(directory).lexically_normal();
  if (auto found = by_runner(words, start, runs_elsewhere)) return *found;
  if (auto found = by_package_script(words, start, runs_elsewhere, asking)) return *found;
  return by_file(server_file(words, start), start, runs_elsewhere, asking);
}

}  // namespace sitter::setup
