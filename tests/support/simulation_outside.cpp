#include "support/simulation_outside.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "core/rebuild/rebuild.hpp"

namespace sitter::sim {

using Kind = ControlAsked::Kind;

Outside::Act Outside::next() {
  switch (random_.weighted({scene_.has_reloads ? 10 : 0, 2, scene_.has_watch ? 14 : 0,
                            scene_.has_watch ? 2 : 0, scene_.is_controlled ? 14 : 0,
                            connections_.empty() ? 0 : 5})) {
    case 0:
      return Act::asks_for_reload;
    case 1:
      return Act::asks_for_status;
    case 2:
      return Act::saves;
    case 3:
      return Act::watch_changes;
    case 4:
      return Act::asks;
    default:
      return Act::leaves;
  }
}

/// Most editors write a file in several steps, and some save all files that are open.
fact::FilesChanged Outside::saved() {
  static constexpr std::array<std::string_view, 3> names = {"src/a.c", "src/b.c", "src/c.c"};
  fact::FilesChanged fact;
  for (int count = random_.chance(80) ? 1 : 2; count > 0; --count) {
    fact.files.push_back({std::string(random_.pick(names)), false, !random_.chance(10)});
  }
  if (random_.chance(15)) fact.files.push_back({"/srv/server", true, !random_.chance(40)});
  return fact;
}

fact::FilesChanged Outside::written(bool is_by_build) {
  fact::FilesChanged fact;
  const std::string_view name = is_by_build ? "src/gen" : "src/cache";
  const std::string number = scene_.writes_new_names ? fmt::format("-{}", ++names_) : "";
  fact.files.push_back({fmt::format("{}{}.h", name, number), false, true});
  if (is_by_build && random_.chance(30)) fact.files.push_back({"/srv/server", true, true});
  return fact;
}

fact::WatchChanged Outside::watched() {
  static constexpr std::array<std::string_view, 4> problems = {"", "", "the limit is reached",
                                                               "src is not there"};
  return {static_cast<std::size_t>(random_.between(1, 9)), std::string(random_.pick(problems))};
}

ControlAsked Outside::asks() {
  ControlAsked asked;
  if (connections_.empty() || random_.chance(70)) {
    connections_.push_back(++last_connection_);
    asked.connection = last_connection_;
  } else {
    asked.connection = random_.pick(connections_);
  }
  switch (random_.weighted({20, 30, 10, 25, 10})) {
    case 0:
      asked.kind = Kind::status;
      asked.text = R"json({"command":"status"})json";
      break;
    case 1:
      reload(asked);
      break;
    case 2:
      kill(asked);
      break;
    case 3:
      show_stderr(asked);
      break;
    default:
      asked.text = broken();
  }
  return asked;
}

ControlId Outside::leaves() {
  if (connections_.empty()) return 0;
  return random_.take(connections_);
}

void Outside::reload(ControlAsked& asked) {
  struct Way {
    std::string_view arguments;
    bool is_kill_first = false;
    int seconds = limits::kBuildSecondsDefault;
    bool is_wrong = false;
  };
  static constexpr std::array<Way, 7> ways = {
      Way{""},
      Way{R"json(,"arguments":{"mode":"swap"})json"},
      Way{R"json(,"arguments":{"mode":"swap","timeout_seconds":1})json", false, 1},
      Way{R"json(,"arguments":{"mode":"kill-first"})json", true},
      Way{R"json(,"arguments":{"mode":"kill-first","timeout_seconds":20})json", true, 20},
      Way{R"json(,"arguments":{"mode":"now"})json", false, 1, true},
      Way{R"json(,"arguments":[])json", false, 1, true}};
  const Way& way = random_.pick(ways);
  asked.kind = Kind::reload;
  asked.text = fmt::format(R"json({{"command":"reload"{}}})json", way.arguments);
  asked.is_kill_first = way.is_kill_first;
  asked.is_wrong = way.is_wrong;
  asked.build_timeout = std::chrono::seconds(way.seconds);
}

void Outside::kill(ControlAsked& asked) {
  static constexpr std::array<std::string_view, 4> scopes = {"child", "same-executable", "auto",
                                                             "all"};
  const std::size_t scope = static_cast<std::size_t>(random_.below(4));
  asked.kind = Kind::kill;
  asked.text =
      fmt::format(R"json({{"command":"kill","arguments":{{"scope":"{}"}}}})json", scopes[scope]);
  asked.is_wrong = scope == 3 || (scope == 1 && scene_.is_interpreted);
}

void Outside::show_stderr(ControlAsked& asked) {
  asked.kind = Kind::child_stderr;
  asked.follows = random_.chance(60);
  asked.is_wrong = random_.chance(10);
  asked.text = fmt::format(R"json({{"command":"stderr"{}{}}})json",
                           asked.is_wrong ? R"json(,"arguments":{"lines":-1})json" : "",
                           asked.follows ? R"json(,"follow":true)json" : "");
}

std::string Outside::broken() {
  static constexpr std::array<std::string_view, 7> lines = {"",
                                                            "rubbish",
                                                            "[]",
                                                            "{}",
                                                            R"json({"command":7})json",
                                                            R"json({"command":"sleep"})json",
                                                            "\xff\xfe"};
  if (random_.chance(10)) return R"json({"command":)json" + std::string(200, '[');
  return std::string(random_.pick(lines));
}

}  // namespace sitter::sim
