// Measures the built program from outside: the benchmark plays the client, and compares mcp-sitter
// with other ways to the same server. All run in turn on one core, so that a ratio within a round
// is meaningful even on a machine that does other work.

#include <fmt/format.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "curl.hpp"
#include "machine.hpp"
#include "measures.hpp"
#include "run.hpp"

namespace sitter::bench {
namespace {

/// The path of a program that was built beside the benchmark.
std::string built(const std::string& program) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / program;
}

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// A child that costs almost nothing.
Words fast_server(std::size_t result_bytes) {
  return {built("fake-mcp"), "--fast", "--result-bytes", fmt::format("{}", result_bytes)};
}

std::function<Server()> child(std::size_t result_bytes, std::size_t call_bytes = kMessageBytes) {
  return [=] {
    return Server{.words = joined({"--"}, fast_server(result_bytes)),
                  .answer_bytes = kAnswer.size() + result_bytes,
                  .call_bytes = call_bytes};
  };
}

std::string local_url(std::string_view scheme, std::uint16_t port) {
  return fmt::format("{}://127.0.0.1:{}/mcp", scheme, port);
}

std::function<Server()> daemon(const Words& flags = {}) {
  return [=] {
    const auto daemon = std::make_shared<Daemon>(joined(fast_server(kSmallResult), flags));
    return Server{.words = {"--http", local_url("http", daemon->port())},
                  .answer_bytes = kMessageBytes,
                  .daemon = daemon};
  };
}

std::function<Server()> daemon_with_tls() {
  return [] {
    Server server = daemon()();
    server.front = std::make_shared<Front>(server.daemon->port(), Front::Speaks::tls);
    server.words = {"--http", local_url("https", server.front->port()), "--cacert",
                    server.front->cacert()};
    return server;
  };
}

std::function<Server()> daemon_that_goes_away(double absence) {
  return [=] {
    Server server = daemon()();
    server.front = std::make_shared<Front>(server.daemon->port(), Front::Speaks::plainly);
    server.words = {"--http", local_url("http", server.front->port()), "--wait-for-server",
                    fmt::format("{}", absence + 60)};
    return server;
  };
}

/// A command of the system with a description. Its last word may be {text}.
std::function<Server()> tool(const Words& command) {
  return [=] {
    Server server{.words = {}, .answer_bytes = kAnswer.size(), .bare = command};
    server.files = std::make_shared<testing::TemporaryDirectory>();
    const std::string description = server.files->write(
        "tools.json",
        fmt::format(
            R"json({{"tools":[{{"name":"echo","parameters":{{"type":"object",)json"
            R"json("properties":{{"text":{{"type":"string"}}}}}},"cli_command":["{}"]}}]}})json",
            fmt::join(command, "\",\"")));
    server.words = {"--cli", command.front(), "--schema-file", description};
    if (command.back() == "{text}") {
      server.bare.back() = call_text();
      server.answer_bytes += call_text().size();
    }
    return server;
  };
}

/// `cat` writes the description as a tool does that describes itself.
std::function<Server()> tool_that_describes_itself() {
  return [] {
    Server server = tool({"/bin/true"})();
    server.words = {"--cli", "/bin/cat", "--schema-args", server.words.back()};
    return server;
  };
}

Middle program(const std::string& name, const Words& before) {
  return {name, [=](const Server& server) { return joined(before, server.words); }};
}

std::vector<Case> cases_of(const Options& options) {
  using enum Compare;
  using namespace std::literals;

  Middle direct{"direct", [](const Server& child) {
                  return Words(child.words.begin() + 1, child.words.end());
                }};
  direct.is_between = false;
  const Middle relay = program("relay", {built("relay")});
  const Middle sitter = program("mcp-sitter", {options.sitter});
  const Middle bare{
      "bare", {}, [](const Server& tool) { return std::make_unique<BareStarts>(tool.bare); }};
  // With a watch of a file and of the server's program, which is what --cli watches by itself.
  const Middle with_server{
      "with server", [&options](const Server& tool) {
        return joined({options.sitter, "--watch", tool.words.back(), "--watch-binary", "--"},
                      fast_server(kSmallResult));
      }};
  const Middle launcher = program("launcher", {options.node, options.launcher});
  const Middle stays =
      program("launcher", {options.node, "--import",
                           "data:text/javascript,process.execve=undefined", options.launcher});
  const Middle curl{
      "libcurl", {}, [](const Server& daemon) { return call_with_curl(daemon.words.back()); }};
  const std::vector<Middle> to_child = {direct, relay, sitter};
  const std::vector<Middle> to_daemon =
      has_curl() ? std::vector{curl, relay, sitter} : std::vector{relay, sitter};
  const std::vector<Middle> to_tool = {bare, sitter};
  const auto small = child(kSmallResult);
  const auto echo = tool({"/bin/echo", "-n", "{text}"});
  const auto gone = daemon_that_goes_away(options.absence);
  const auto resident = [](std::string_view after_call) {
    return std::vector{after_call, {}, ""sv, {}, "as after one call"sv, {}, "as after one call"sv};
  };

  const auto of_large = [&](std::string_view what, const std::function<Server()>& server) {
    return Case{fmt::format("program/large/{}", what),
                to_child,
                server,
                large,
                ratio,
                {"<= 1.50 x relay", "<= 5", "<= 14 (static)", "as when idle"}};
  };

  std::vector<Case> cases = {
      {"program/round-trip",
       to_child,
       small,
       round_trip,
       ratio,
       {"<= 0.95 x relay", "<= 1.15 x relay"}},
      {"program/at-once", to_child, small, pipelined, ratio, {">= 0.70 x relay"}},
      {"program/start", to_child, small, start_to_initialize, difference, {"<= relay + 0.50"}},
      of_large("1-mb-result", child(1'000'000)),
      of_large("10-mb-result", child(10'000'000)),
      of_large("1-mb-request", child(kSmallResult, 1'000'000)),
      of_large("10-mb-request", child(kSmallResult, 10'000'000)),
      {"program/memory", {relay, sitter}, small, memory, difference, resident("< 4.00 (static)")},
      {"http/round-trip",
       to_daemon,
       daemon(),
       round_trip,
       ratio,
       {"<= 1.20 x libcurl, 1.15 x relay", "", "<= 1.30 x relay"}},
      {"http/events", {sitter}, daemon({"--http-sse"}), round_trip, ratio},
      {"http/memory", {sitter}, daemon(), memory, ratio, resident("< 4.00 (static)")},
      {"http/memory-tls", {sitter}, daemon_with_tls(), memory, ratio, resident("< 8.00 (static)")},
      {"http/comeback", {sitter}, gone, comeback, ratio, {"", "<= 100"}},
      {"http/absence", {sitter}, gone, absence, ratio, {"0", "0"}},
      {"cli/true", to_tool, tool({"/bin/true"}), round_trip, difference, {"<= bare + 500"}, 50},
      {"cli/echo", to_tool, echo, round_trip, difference, {"<= bare + 500"}, 50},
      {"cli/at-once",
       to_tool,
       tool({"/bin/sleep", "0.05"}),
       at_once,
       difference,
       {"<= bare + 0.50", "<= bare + 4.00"}},
      {"cli/memory", {with_server, sitter}, echo, memory, difference, resident("as with a server")},
      {"cli/start", {with_server, sitter}, echo, start_to_list, difference},
      {"cli/start-run",
       {with_server, sitter},
       tool_that_describes_itself(),
       start_to_list,
       difference},
      {"launcher/start", {sitter, launcher}, small, start_to_initialize, ratio},
      {"launcher/memory", {sitter, launcher}, small, memory, difference},
      {"launcher/start-stays", {sitter, stays}, small, start_to_initialize, ratio},
      {"launcher/memory-stays", {sitter, stays}, small, memory, difference},
  };
  if (options.launcher.empty()) {
    std::erase_if(cases, [](const Case& one) { return one.name.starts_with("launcher/"); });
  }
  return cases;
}

/// Those of the named groups, and those that are named themselves.
std::vector<Case> chosen(const std::vector<Case>& cases, const Words& names) {
  if (names.empty()) return cases;
  std::vector<Case> some;
  for (const std::string& name : names) {
    const std::size_t before = some.size();
    for (const Case& one : cases) {
      if (one.name == name || one.name.starts_with(name + "/")) some.push_back(one);
    }
    if (some.size() > before) continue;
    std::string all;
    for (const Case& one : cases) all += " " + one.name;
    die(fmt::format("there is no {} among{}", name, all));
  }
  return some;
}

int last_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  int core = CPU_SETSIZE - 1;
  while (core > 0 && !CPU_ISSET(static_cast<std::size_t>(core), &set)) --core;
  return core;
}

/// Pins this process, and all processes that it starts from now on, to this core.
void stay_on(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) die(fmt::format("there is no core {}", core));
}

int run(int argc, char** argv) {
  Options options{.sitter = built("mcp-sitter"), .core = last_core()};
  Words names;
  CLI::App app(
      "Measures mcp-sitter between a client and a server, and compares it with other ways.");
  app.add_option("case", names, "groups or single cases: program, http, cli/start; default all");
  app.add_option("--sitter", options.sitter, "the mcp-sitter to measure")->capture_default_str();
  app.add_option("--launcher", options.launcher, "the script of the npm package, for its cases");
  app.add_option("--node", options.node, "what runs the script")->capture_default_str();
  app.add_option("--rounds", options.rounds, "rounds of each figure")->capture_default_str();
  app.add_option("--calls", options.calls, "calls in each block of a round trip");
  app.add_option("--core", options.core, "the core that all processes run on")
      ->capture_default_str();
  app.add_option("--absence", options.absence, "for how many seconds a daemon is away")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const std::vector<Case> cases = chosen(cases_of(options), names);
  std::signal(SIGPIPE, SIG_IGN);
  // The launcher runs this program, even if no package is installed.
  setenv("MCP_SITTER_BINARY", options.sitter.c_str(), 1);
  stay_on(options.core);
  fmt::print("{}\ncore {}: {}\n{}, {} rounds\n", machine(), options.core, speed_of_core(),
             options.sitter, options.rounds);
  if (!has_curl()) fmt::print("this program was built without libcurl\n");
  for (const Case& one : cases) {
    Run run(one, options);
    one.measure(run);
  }
  return 0;
}

}  // namespace
}  // namespace sitter::bench

int main(int argc, char** argv) { return sitter::bench::run(argc, argv); }
