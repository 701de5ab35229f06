#include "soak/mischief.hpp"

#include <signal.h>

#include <array>
#include <filesystem>
#include <utility>

#include "support/processes.hpp"

namespace sitter::soak {
namespace {

using testing::Program;
using testing::TemporaryDirectory;

constexpr char kName[] = "soak";
constexpr std::size_t kCtlsMax = 8;

constexpr char kGoodBuild[] = "echo compiling; cp src/tools.json out/tools.json";

std::string tools(sim::Random& random) {
  std::string list = R"json([{"name":"echo","inputSchema":{"type":"object"}})json";
  for (int i = random.below(6); i > 0; --i) {
    list += R"json(,{"name":"extra_)json" + std::to_string(i) +
            R"json(","inputSchema":{"type":"object","properties":{"p)json" +
            std::to_string(random.below(3)) + R"json(":{"type":"string"}}}})json";
  }
  return list + "]";
}

/// The commands of a build. Most builds do their work, at once or after a moment.
std::string recipe(sim::Random& random) {
  switch (random.weighted({60, 20, 10, 5, 5})) {
    case 0:
      return kGoodBuild;
    case 1:
      return "sleep 0." + std::to_string(random.between(1, 9)) + "; " + kGoodBuild;
    case 2:
      return "echo 'soak.cpp:7: error: no' >&2; exit 1";
    case 3:
      return "kill -9 $$";
    // This build leaves a server that does not start.
    default:
      return "echo no >out/tools.json";
  }
}

}  // namespace

Mischief::Mischief(Client& client, const Household& household, const TemporaryDirectory& place,
                   std::string program, std::vector<std::string> environment, Findings& findings)
    : client_(client),
      household_(household),
      place_(place),
      program_(std::move(program)),
      environment_(std::move(environment)),
      findings_(findings) {}

void Mischief::furnish(const TemporaryDirectory& place) {
  sim::Random any(0);
  place.write("src/tools.json", tools(any));
  place.write("out/tools.json", tools(any));
  place.write("src/recipe", kGoodBuild);
}

std::vector<std::string> Mischief::options(const TemporaryDirectory& place) {
  return {"--cwd",   place.path(), "--name",     kName, "--build",     "sh src/recipe",
          "--watch", "src",        "--debounce", "50",  "--call-tool", "on"};
}

std::vector<std::string> Mischief::server_flags() {
  return {"--tools", "out/tools.json", "--everything"};
}

void Mischief::do_something(sim::Random& random) {
  ++count_;
  switch (random.weighted({30, 10, 15, 20, 10, 15})) {
    case 0:
      return end_server(random);
    case 1:
      client_.call("sitter_kill", {{"scope", random.chance(30) ? "auto" : "child"}});
      return;
    case 2:
      return rebuild(random);
    case 3:
      return save(random);
    case 4:
      return client_.program().signal(SIGHUP);
    default:
      return ctl(random);
  }
}

void Mischief::end_server(sim::Random& random) {
  constexpr std::array<int, 6> kSignals = {SIGKILL, SIGKILL, SIGKILL, SIGTERM, SIGTERM, SIGSEGV};
  const std::vector<long> pids = household_.servers();
  if (!pids.empty()) kill(static_cast<pid_t>(random.pick(pids)), random.pick(kSignals));
}

void Mischief::rebuild(sim::Random& random) {
  Json arguments = Json::object();
  if (random.chance(30)) arguments["mode"] = "kill-first";
  if (random.chance(30)) arguments["timeout_seconds"] = random.between(1, 2);
  const long id = client_.call("sitter_rebuild", arguments);
  if (random.chance(10)) client_.cancel(id);
}

void Mischief::save(sim::Random& random) {
  for (int times = random.chance(20) ? random.between(2, 5) : 1; times > 0; --times) {
    if (random.chance(50)) place_.write("src/recipe", recipe(random));
    // Some editors save like this: they write a new file and rename it.
    place_.write("src/.tools.swp", tools(random));
    std::filesystem::rename(place_ / "src/.tools.swp", place_ / "src/tools.json");
  }
}

void Mischief::ctl(sim::Random& random) {
  static const std::array<std::vector<std::string>, 6> kWords = {
      {{"reload"}, {"kill"}, {"status", "--json"}, {"stderr"}, {"list"}, {"stderr", "--follow"}}};
  take_leave_of_ctl();
  if (ctls_.size() >= kCtlsMax) return;
  // Ctrl-C sends this signal.
  if (!ctls_.empty() && random.chance(20)) return ctls_.back().program.signal(SIGINT);
  const std::vector<std::string>& words =
      kWords[static_cast<std::size_t>(random.weighted({6, 3, 2, 2, 1, 1}))];
  std::vector<std::string> command = {program_, "ctl"};
  command.insert(command.end(), words.begin(), words.end());
  if (words.front() != "list") command.push_back(kName);
  ctls_.emplace_back(Program::Start{.command = std::move(command), .environment = environment_},
                     words.back() == "--follow");
}

void Mischief::take_leave_of_ctl() {
  for (Ctl& ctl : ctls_) ctl.program.lines_so_far(std::chrono::milliseconds(0));
  std::erase_if(ctls_, [this](Ctl& ctl) {
    if (!ctl.program.has_ended()) return false;
    // Exit code 1 means a failure that `ctl` has reported, such as a failed build.
    const int code = ctl.program.wait();
    if (code != 0 && code != 1 && code != 128 + SIGINT) {
      findings_.add(Promise::bridge_stays,
                    "ctl ended with " + std::to_string(code) + ": " + ctl.program.error_text());
    }
    return true;
  });
}

bool Mischief::try_to_end_ctl() {
  for (const Ctl& ctl : ctls_) {
    if (ctl.follows) ctl.program.signal(SIGINT);
  }
  take_leave_of_ctl();
  return ctls_.empty();
}

void Mischief::give_up_ctl() {
  for (Ctl& ctl : ctls_) {
    findings_.add(Promise::every_request_answered,
                  "ctl does not end: " + testing::command_line_of(ctl.program.pid()));
  }
  ctls_.clear();
}

}  // namespace sitter::soak
