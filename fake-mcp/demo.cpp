// Shows the main purpose of mcp-sitter on the screen: a client works with a server that is killed,
// rebuilt and crashes, and with a daemon that restarts.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

constexpr char kToolsBefore[] = R"json([
  {"name": "echo", "description": "Says it again",
   "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
  {"name": "crash", "description": "Divides by zero", "inputSchema": {"type": "object"}}
])json";

constexpr char kToolsAfter[] = R"json([
  {"name": "echo", "description": "Says it again",
   "inputSchema": {"type": "object", "required": ["text"],
                   "properties": {"text": {"type": "string"}, "times": {"type": "integer"}}}},
  {"name": "crash", "description": "Divides by zero", "inputSchema": {"type": "object"}},
  {"name": "search", "description": "Finds a note",
   "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}}
])json";

constexpr char kToolsLast[] = R"json([
  {"name": "echo", "description": "Says it again",
   "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
  {"name": "delete", "description": "Deletes a note",
   "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}}
])json";

void title(const std::string& text) { std::cout << "\n\033[1m" << text << "\033[0m\n"; }

void show(const char* who, const std::string& text) {
  std::string line;
  for (const char c : text + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    std::cout << "  " << who << " " << line << "\n";
    line.clear();
  }
}

[[noreturn]] void die(const std::string& what) {
  std::cerr << "demo: " << what << "\n";
  std::exit(1);
}

/// The client's side of a session. It starts mcp-sitter, and ends it by closing its stdin.
class Session {
 public:
  explicit Session(std::vector<std::string> command) {
    std::array<int, 2> in{}, out{};
    if (pipe(in.data()) != 0 || pipe(out.data()) != 0) die("no pipe could be made");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    // The demo shows the server's stderr only when the model asks for it.
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    for (const int end : {in[0], in[1], out[0], out[1]}) {
      posix_spawn_file_actions_addclose(&actions, end);
    }
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) {
      die("can't start " + command.front());
    }
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    input_ = in[1];
    output_ = fdopen(out[0], "r");
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void send(const json& message) {
    const std::string line = message.dump() + "\n";
    if (write(input_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      die("mcp-sitter does not read");
    }
  }

  /// Returns the answer, and shows notifications that arrive before it. `meanwhile` runs while the
  /// request waits for its answer.
  json request(const std::string& method, const json& params,
               const std::function<void()>& meanwhile = {}) {
    const int id = next_id_++;
    send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
    if (meanwhile) meanwhile();
    while (true) {
      const json message = hear();
      if (message.value("id", 0) == id) return message;
    }
  }

  /// Waits for this notification.
  void wait_for(const std::string& notification) {
    while (hear().value("method", std::string()) != notification) continue;
  }

  void open() {
    const json opened =
        request("initialize", {{"protocolVersion", "2025-11-25"},
                               {"capabilities", json::object()},
                               {"clientInfo", {{"name", "demo"}, {"version", "1"}}}});
    show("client  <-", "connected to " + opened["result"]["serverInfo"].dump());
    send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  }

  void call(const std::string& tool, const json& arguments,
            const std::function<void()>& meanwhile = {}) {
    show("model   ->", tool + " " + arguments.dump());
    const json answer =
        request("tools/call", {{"name", tool}, {"arguments", arguments}}, meanwhile);
    for (const json& block : answer["result"]["content"]) {
      show("model   <-", block["text"].get<std::string>());
    }
  }

  int end() {
    close(input_);
    int status = 0;
    waitpid(pid_, &status, 0);
    std::fclose(output_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  json hear() {
    char* line = nullptr;
    std::size_t capacity = 0;
    if (getline(&line, &capacity, output_) < 0) die("mcp-sitter has ended");
    json message = json::parse(line);
    std::free(line);
    if (message.contains("method")) show("client  <-", message["method"].get<std::string>());
    return message;
  }

  pid_t pid_ = 0;
  int input_ = -1;
  std::FILE* output_ = nullptr;
  int next_id_ = 1;
};

/// A temporary directory for the demo, removed at the end.
class Workshop {
 public:
  Workshop() {
    std::string name = (std::filesystem::temp_directory_path() / "sitter-demo-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) die("no directory could be made");
    directory_ = name;
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop() {
    std::error_code ignored;  // nothing depends on it
    std::filesystem::remove_all(directory_, ignored);
  }

  std::string directory() const { return directory_.string(); }
  std::string tools() const { return (directory_ / "tools.json").string(); }
  void build(const char* tools_now) const { std::ofstream(tools()) << tools_now; }
  /// Writes the source, from which the build command makes the tools.
  void edit(const char* tools_next) const {
    std::ofstream(directory_ / "source.json") << tools_next;
  }
  void lose_source() const { std::filesystem::remove(directory_ / "source.json"); }

 private:
  std::filesystem::path directory_;
};

void end(Session& session) {
  title("The client closes the connection");
  show("client    ", "exit code " + std::to_string(session.end()) + ", nothing is left behind");
}

void play_calls(const std::filesystem::path& bin, const Workshop& workshop) {
  workshop.build(kToolsBefore);
  const std::string build = "echo compiling source.json; cp source.json tools.json";
  title("A client connects: mcp-sitter --build '" + build + "' -- fake-mcp --tools tools.json");
  Session session({(bin / "mcp-sitter").string(), "--log-level", "off", "--build", build,
                   "--build-cwd", workshop.directory(), "--", (bin / "fake-mcp").string(),
                   "--tools", workshop.tools()});
  session.open();

  title("The model calls a tool");
  session.call("echo", {{"text", "hello"}});

  title("The model kills the server, because it is going to build");
  session.call("sitter_kill", json::object());

  title("The model builds a server with a new tool and a changed tool, and just goes on");
  workshop.build(kToolsAfter);
  session.call("echo", {{"text", "the same conversation, another server"}});

  title("The server crashes in the middle of a call");
  session.call("crash", {{"signal", "SEGV"}, {"stderr", "notes.cpp:112: index 7 of 5"}});

  title("The model looks for the cause");
  session.call("sitter_child_stderr", {{"lines", 5}});

  title("The model calls again, and the server is back");
  session.call("search", {{"query", "milk"}});

  title("The model edits the source, and builds and swaps in one call");
  workshop.edit(kToolsLast);
  session.call("sitter_rebuild", json::object());
  session.call("delete", {{"id", 7}});

  title("A failed build is answered with the compiler's output");
  workshop.lose_source();
  session.call("sitter_rebuild", json::object());

  title("A server that does not start leaves the old one running");
  workshop.edit("");
  session.call("sitter_rebuild", json::object());
  session.call("echo", {{"text", "still here"}});

  end(session);
}

void play_saves(const std::filesystem::path& bin, const Workshop& workshop) {
  workshop.build(kToolsBefore);
  title("Another client connects: mcp-sitter --watch tools.json -- fake-mcp --tools tools.json");
  Session session({(bin / "mcp-sitter").string(), "--log-level", "off", "--watch", workshop.tools(),
                   "--", (bin / "fake-mcp").string(), "--tools", workshop.tools()});
  session.open();
  session.call("echo", {{"text", "hello"}});

  title("A file is saved, and nobody calls anything");
  workshop.build(kToolsAfter);
  session.wait_for("notifications/tools/list_changed");

  title("The new tool is there");
  session.call("search", {{"query", "milk"}});
  end(session);
}

/// A daemon over HTTP. It ends with this object.
class Daemon {
 public:
  Daemon(const std::filesystem::path& bin, const Workshop& workshop, const std::string& port)
      : port_file_(workshop.directory() + "/port") {
    std::filesystem::remove(port_file_);
    std::vector<std::string> command{(bin / "fake-mcp").string(),
                                     "--http",
                                     port,
                                     "--http-port-file",
                                     port_file_,
                                     "--tools",
                                     workshop.tools()};
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) {
      die("can't start fake-mcp");
    }
    posix_spawn_file_actions_destroy(&actions);
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  /// Waits until the daemon listens.
  std::string port() const {
    while (!std::filesystem::exists(port_file_)) usleep(10'000);
    std::string port;
    std::ifstream(port_file_) >> port;
    return port;
  }

 private:
  std::string port_file_;
  pid_t pid_ = 0;
};

void play_daemon(const std::filesystem::path& bin, const Workshop& workshop) {
  workshop.build(kToolsBefore);
  std::optional<Daemon> daemon(std::in_place, bin, workshop, "0");
  const std::string port = daemon->port();
  const std::string url = "http://127.0.0.1:" + port + "/mcp";
  title("A client of a daemon over HTTP connects: mcp-sitter --http " + url);
  Session session({(bin / "mcp-sitter").string(), "--log-level", "off", "--http", url});
  session.open();
  session.call("echo", {{"text", "hello"}});

  title("The daemon is killed, and its next build is started; the call waits for it");
  workshop.build(kToolsAfter);
  daemon.reset();
  session.call("echo", {{"text", "another session, the same connection"}},
               [&] { daemon.emplace(bin, workshop, port); });
  end(session);
}

}  // namespace

int main(int, char** argv) {
  const std::filesystem::path bin = std::filesystem::absolute(argv[0]).parent_path();
  const Workshop workshop;
  play_calls(bin, workshop);
  play_saves(bin, workshop);
  play_daemon(bin, workshop);
}
