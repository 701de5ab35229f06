#include "io/process/runners.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/base/ascii.hpp"
#include "io/process/launch_plan.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInterpreters[] = {
    "node",   "nodejs",  "python",    "pythonw",  "pypy",   "java",       "javaw",  "dotnet",
    "ruby",   "jruby",   "bash",      "sh",       "dash",   "zsh",        "ksh",    "mksh",
    "fish",   "ash",     "busybox",   "toybox",   "deno",   "bun",        "perl",   "php",
    "lua",    "luajit",  "tclsh",     "wish",     "guile",  "racket",     "julia",  "rscript",
    "erl",    "escript", "elixir",    "mono",     "pwsh",   "powershell", "groovy", "scala",
    "kotlin", "clojure", "osascript", "wasmtime", "wasmer", "qemu",       "wine",   "electron",
    "ghci",   "runghc",  "swipl",     "sbcl",     "awk",    "gawk",       "tsx",    "ts-node",
    "cmd",    "csh",     "tcsh",      "elvish",   "nu",     "xonsh",      "r",      "rterm",
    "dart",   "dartvm",  "beam.smp",  "iex",      "ocaml",  "ocamlrun",   "utop",   "raku",
    "moar",   "bb",      "graalpy",   "janet",    "octave", "crystal",    "qjs",    "gjs",
    "hhvm",   "jshell",  "jbang",     "clisp",
};

constexpr std::string_view kWrappers[] = {
    "npx",     "npx-cli",   "npm",       "npm-cli",    "pnpm",     "pnpx",       "yarn",
    "yarnpkg", "corepack",  "bunx",      "uv",         "uvx",      "pipx",       "pipenv",
    "poetry",  "pdm",       "hatch",     "rye",        "conda",    "mamba",      "micromamba",
    "pixi",    "cargo",     "rustup",    "go",         "make",     "gmake",      "just",
    "gradle",  "gradlew",   "mvn",       "mvnw",       "bundle",   "bundler",    "rake",
    "mix",     "cabal",     "nix",       "nix-shell",  "direnv",   "mise",       "asdf",
    "nvm",     "fnm",       "volta",     "volta-shim", "env",      "nice",       "nohup",
    "timeout", "stdbuf",    "setsid",    "sudo",       "doas",     "xargs",      "strace",
    "ltrace",  "gdb",       "lldb",      "rr",         "valgrind", "caffeinate", "nodemon",
    "dotenv",  "dotenvx",   "watchexec", "entr",       "firejail", "bwrap",      "coreutils",
    "tini",    "dumb-init", "zig",       "swift",      "bazel",    "mcp-sitter", "socat",
    "perf",    "flock",     "nsenter",   "unshare",    "chroot",   "catatonit",  "rlwrap",
    "taskset", "ionice",    "chrt",      "prlimit",    "setpriv",  "runuser",    "xvfb-run",
    "proot",   "fakeroot",  "unbuffer",
};

constexpr std::string_view kRemotes[] = {
    "docker", "podman", "nerdctl", "kubectl", "ssh", "wsl", "docker-compose", "limactl", "lxc",
};

// Files that options may name, but that no interpreter runs.
constexpr std::string_view kNoPrograms[] = {
    ".json",   ".jsonc", ".toml", ".yaml", ".yml", ".lock", ".env",    ".csproj",
    ".fsproj", ".sln",   ".xml",  ".ini",  ".cfg", ".conf", ".config", ".txt",
    ".md",     ".log",   ".pem",  ".key",  ".crt", ".db",   ".sqlite", ".csv",
};

// Files that an interpreter runs.
constexpr std::string_view kPrograms[] = {
    ".js", ".mjs", ".cjs", ".ts",  ".mts", ".cts", ".tsx", ".py", ".pyz", ".rb",   ".php",
    ".pl", ".sh",  ".lua", ".jar", ".dll", ".exs", ".jl",  ".r",  ".kts", ".dart", ".ps1",
};

constexpr std::string_view kShells[] = {
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "ash", "csh", "tcsh", "busybox",
};

// Those that a build makes from another source.
constexpr std::string_view kBuilt[] = {".jar", ".dll", ".class"};

// The sources that only compilers read, and those that become JavaScript.
constexpr const char* kCompiled[] = {
    ".c",   ".cc",  ".cpp", ".cxx",  ".c++", ".h",   ".hh",    ".hpp",  ".hxx",   ".h++", ".inl",
    ".ipp", ".tpp", ".ixx", ".cppm", ".m",   ".mm",  ".cu",    ".s",    ".S",     ".asm", ".rs",
    ".go",  ".zig", ".d",   ".nim",  ".hs",  ".ml",  ".mli",   ".java", ".scala", ".kt",  ".cs",
    ".fs",  ".vb",  ".f90", ".pas",  ".adb", ".ads", ".swift", ".dart", ".vala",  ".cr",  ".proto",
};
constexpr const char* kTypeScript[] = {".ts", ".tsx", ".mts", ".cts"};
constexpr std::string_view kJavaScript[] = {".js", ".mjs", ".cjs"};

// Programs that start another program anew when files change.
constexpr std::string_view kWatchers[] = {
    "nodemon",   "node-dev", "ts-node-dev", "tsnd",  "watchexec", "entr",     "watchfiles",
    "watchmedo", "reflex",   "cargo-watch", "denon", "hupper",    "jurigged", "modd",
};
constexpr std::string_view kWatchOptions[] = {
    "watch", "--watch", "--watch-path", "--reload", "--hot", "--hmr",
};

// Options whose value is a program file, but not the file under development.
constexpr std::string_view kOptionsWithFile[] = {
    "-r", "--require", "--import", "--loader", "--experimental-loader", "--preload", "-javaagent",
};

// Options of one dash whose value is a folder, a list of files or code. Those of two dashes may
// have any value.
constexpr std::string_view kOptionsWithValue[] = {
    "-C", "-I", "-L", "-cp", "-classpath", "-p", "-t", "-ne", "-pe", "-E",
};

// Wrappers that take names such as owner/package, which are no paths.
constexpr std::string_view kFetchers[] = {
    "npx",      "npx-cli", "npm", "npm-cli", "pnpm", "pnpx",  "yarn", "yarnpkg",
    "corepack", "bunx",    "uvx", "pipx",    "go",   "cargo", "nix",  "bazel",
};

// An option of one letter may be the last of several: `sh -lc`.
bool comes_with_code(std::string_view option) {
  return option == "-e" || option == "--eval" ||
         (option.starts_with('-') && option.size() <= 4 && option.ends_with('c'));
}

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

// "/usr/bin/Python3.11.exe" gives "python".
std::string stem_of(std::string_view program) {
  std::string name = ascii_lower(program.substr(program.find_last_of("/\\") + 1));
  for (std::string_view end : {".exe", ".cmd", ".bat", ".js", ".cjs", ".mjs"}) {
    if (name.ends_with(end)) name.erase(name.size() - end.size());
  }
  // "qemu-x86_64" runs programs of another kind of machine.
  if (name.starts_with("qemu-")) return "qemu";
  // "python3.13t" is built without the global lock, and "python3.13d" is built for debugging.
  const bool is_python = name.starts_with("python3");
  std::size_t last = name.find_last_not_of(is_python ? "0123456789.-dmt" : "0123456789.-");
  // A name that consists only of digits has no stem.
  if (last != std::string::npos) name.resize(last + 1);
  return name;
}

bool has_folder(const std::string& word) { return fs::path(word).has_parent_path(); }

bool is_fetcher(std::string_view program) { return contains(kFetchers, stem_of(program)); }

/// Whether a program is still to come behind this word: a number, `run`, or another runner. Any
/// other name is that of a program from PATH, and what follows are its arguments.
bool precedes_program(const std::string& word) {
  if (word == "run" || word == "exec" || ('0' <= word.front() && word.front() <= '9')) return true;
  const Runner kind = runner_kind(word);
  return (kind == Runner::interpreter || kind == Runner::wrapper) && !is_fetcher(word);
}

std::optional<std::string> file_at(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  return path.lexically_normal().generic_string();
}

std::optional<std::string> program_file(const fs::path& base, const std::string& word,
                                        const std::string& /*before*/) {
  fs::path path = base / word;
  std::string name = ascii_lower(path.filename().string());
  if (contains(kNoPrograms, ascii_lower(path.extension().string())) || name.starts_with(".env")) {
    return std::nullopt;
  }
  if (auto file = file_at(path)) return file;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (const char* entry : {"__main__.py", "index.js"}) {
      if (auto file = file_at(path / entry)) return file;
    }
    return std::nullopt;
  }
  // node resolves `node dist/server` in this way.
  return path.has_extension() ? std::nullopt : file_at(path += ".js");
}

std::optional<std::string> python_module(const fs::path& base, std::string name) {
  std::replace(name.begin(), name.end(), '.', '/');
  for (const fs::path& root : {base, base / "src"}) {
    if (auto file = file_at(root / name / "__main__.py")) return file;
    if (auto file = file_at(root / (name + ".py"))) return file;
  }
  return std::nullopt;
}

/// What `take` returns for the first argument for which it returns anything, given the argument and
/// the one before it. A module or code ends the search.
template <class Take>
std::optional<std::string> first_program(const std::vector<std::string>& arguments,
                                         const std::string& cwd, Take take) {
  fs::path base = cwd;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    bool has_next = i + 1 < arguments.size();
    if (word == "-m" && has_next) {
      // The arguments after the module belong to the module.
      return python_module(base, arguments[i + 1]);
    } else if (word == "--directory" && has_next) {
      // uv changes to this directory.
      base /= arguments[++i];
    } else if (word == "-C" && has_next && has_folder(arguments[i + 1])) {
      // Ruby and make change to this directory.
      std::error_code error;
      base /= arguments[++i];
      if (!fs::is_directory(base, error)) return std::nullopt;
    } else if (contains(kOptionsWithFile, word) && has_next) {
      ++i;
    } else if (comes_with_code(word) && has_next) {
      // The words behind the code are its arguments. `sh -e` and `php -c` have a file instead.
      if (!file_at(base / arguments[i + 1])) return std::nullopt;
    } else if (!word.empty() && word.front() != '-') {
      if (auto file = take(base, word, i == 0 ? std::string() : arguments[i - 1])) return file;
    }
  }
  return std::nullopt;
}

}  // namespace

Runner runner_kind(std::string_view program) {
  std::string stem = stem_of(program);
  if (contains(kInterpreters, stem)) return Runner::interpreter;
  if (contains(kWrappers, stem)) return Runner::wrapper;
  if (contains(kRemotes, stem)) return Runner::remote;
  return Runner::none;
}

bool is_shell(std::string_view program) { return contains(kShells, stem_of(program)); }

bool restarts_itself(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return contains(kWatchers, stem_of(word)) ||
           contains(kWatchOptions, std::string_view(word).substr(0, word.find('=')));
  });
}

std::optional<std::string> script_of(const std::vector<std::string>& arguments,
                                     const std::string& cwd) {
  return first_program(arguments, cwd, program_file);
}

std::optional<std::string> missing_script(const std::string& program,
                                          const std::vector<std::string>& arguments,
                                          const std::string& cwd) {
  const Runner kind = runner_kind(program);
  if (kind != Runner::interpreter && kind != Runner::wrapper) return std::nullopt;
  if (script_of(arguments, cwd)) return std::nullopt;
  bool may_be_path = !is_fetcher(program);
  const auto take = [&](const fs::path& base, const std::string& word,
                        const std::string& before) -> std::optional<std::string> {
    // An assignment, an address, a list, a pattern, code, a file with arguments. The colon of a
    // drive is none of them.
    const std::size_t drive = fs::path(word).root_name().native().size();
    if (word.find_first_of("=:* ", drive) != word.npos || word.front() == '@') return std::nullopt;
    const bool has_slash = has_folder(word);
    const bool is_behind_option = before.starts_with('-') && before != "--";
    if (!has_slash && !is_behind_option) may_be_path = may_be_path && precedes_program(word);
    const fs::path path = (base / word).lexically_normal();
    const std::string ending = ascii_lower(path.extension().string());
    const bool is_outside = kind == Runner::wrapper && fs::path(word).is_absolute() &&
                            !path.generic_string().starts_with(cwd + '/');
    const bool is_value =
        (is_behind_option && before.starts_with("--")) || contains(kOptionsWithValue, before);
    const bool is_path =
        has_slash && may_be_path && !is_outside && !is_value && !contains(kNoPrograms, ending);
    std::error_code error;
    if ((!is_path && !contains(kPrograms, ending)) || fs::exists(path, error)) return std::nullopt;
    return path.generic_string();
  };
  return first_program(arguments, cwd, take);
}

bool runs_source(const std::string& command, const std::vector<std::string>& arguments,
                 const std::string& cwd) {
  const auto is_source = [](const std::string& file) {
    return contains(kPrograms, fs::path(file).extension().string()) ||
           !shebang_words(first_line_of(file)).empty();
  };
  switch (runner_kind(command)) {
    case Runner::wrapper: {
      const auto file = script_of(arguments, cwd);
      return !file || is_source(*file);
    }
    case Runner::interpreter:
      return std::none_of(arguments.begin(), arguments.end(), [](const std::string& word) {
        return comes_with_code(word) || contains(kBuilt, fs::path(word).extension().string());
      });
    case Runner::none:
      return has_folder(command) && is_source((fs::path(cwd) / command).generic_string());
    case Runner::remote:
      break;
  }
  return false;
}

std::vector<std::string> built_endings(const std::string& command,
                                       const std::vector<std::string>& arguments,
                                       const std::string& cwd) {
  const Runner kind = runner_kind(command);
  if (kind == Runner::remote) return {};
  auto program = kind == Runner::none ? command : script_of(arguments, cwd);
  if (!program) program = missing_script(command, arguments, cwd);
  const std::string file = program ? (fs::path(cwd) / *program).generic_string() : std::string();
  const std::string ending = fs::path(file).extension().string();
  if (contains(kJavaScript, ending)) return {std::begin(kTypeScript), std::end(kTypeScript)};
  const auto interpreter = shebang_words(first_line_of(file));
  const bool runs_shell = is_shell(command) || ending == ".sh" ||
                          std::any_of(interpreter.begin(), interpreter.end(), is_shell);
  const bool runs_source = file.empty() || !interpreter.empty() ||
                           (contains(kPrograms, ending) && !contains(kBuilt, ending));
  if (runs_source && !runs_shell) return {};
  return {std::begin(kCompiled), std::end(kCompiled)};
}

}  // namespace sitter
