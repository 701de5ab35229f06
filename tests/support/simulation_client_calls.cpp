#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/rebuild/rebuild.hpp"
#include "support/simulation_client.hpp"

/// The calls of tools: tools of the server and built-in tools.
namespace sitter::sim {

using Kind = ClientSaid::Kind;

int Client::call() {
  static constexpr std::array<std::string_view, 5> names = {"echo", "add", "extra", "sitter_status",
                                                            "sitter_kill"};
  const std::string_view name = names[static_cast<std::size_t>(
      random_.below(scene_.has_outer_tools && random_.chance(10) ? 5 : 3))];
  const bool wants_task = random_.chance(4);
  std::string arguments = fmt::format(R"json({{"x":{}}})json", random_.below(100));
  if (scene_.has_numbered_calls) {
    arguments.insert(1, fmt::format(R"json("n":{},)json", said_.client.size()));
  }
  const std::string called = fmt::format(R"json("name":"{}","arguments":{})json", name, arguments);
  const bool is_passed_on =
      scene_.offers_call_tool() && !name.starts_with("sitter_") && random_.chance(30);
  const std::string asked =
      is_passed_on
          ? fmt::format(
                R"json("name":"sitter_call","arguments":{{"tool":"{}","arguments":{}}})json", name,
                arguments)
          : called;
  const int mark =
      request("tools/call", fmt::format(",{}{}", asked, wants_task ? R"json(,"task":{})json" : ""));
  ClientSaid& said = said_.client.back();
  said.tool = name;
  said.arguments = arguments;
  said.wants_task = wants_task;
  said.has_wrong_arguments = name.starts_with("sitter_");
  if (is_passed_on) {
    said.passed = said.text;
    said.passed.replace(said.passed.find(asked), asked.size(), called);
  }
  return mark;
}

/// Calls sitter_call with arguments that the bridge must refuse.
int Client::call_wrongly() {
  static constexpr std::array<std::string_view, 4> arguments = {
      R"json({})json", R"json({"tool":"sitter_kill"})json",
      R"json({"tool":"echo","arguments":[1]})json", R"json({"tool":"echo","more":1})json"};
  const int mark = request(
      "tools/call",
      fmt::format(R"json(,"name":"sitter_call","arguments":{})json", random_.pick(arguments)));
  said_.client.back().tool = "sitter_call";
  said_.client.back().has_wrong_arguments = true;
  return mark;
}

int Client::call_builtin() {
  if (scene_.offers_call_tool() && random_.chance(20)) return call_wrongly();
  static constexpr std::array<std::string_view, 4> names = {
      "sitter_status", "sitter_binary_info", "sitter_child_stderr", "sitter_build_log"};
  const int count = scene_.has_builds ? 4 : 3;
  std::string name(names[static_cast<std::size_t>(random_.below(count))]);
  if (scene_.has_outer_tools && name != "sitter_build_log" && random_.chance(20)) {
    name.insert(0, "outer_");
  }
  const bool wants_task = random_.chance(5);
  const bool is_wrong = random_.chance(10);
  const int mark =
      request("tools/call", fmt::format(R"json(,"name":"{}"{}{})json", name,
                                        is_wrong ? R"json(,"arguments":{"lines":-1})json" : "",
                                        wants_task ? R"json(,"task":{})json" : ""));
  said_.client.back().tool = name;
  said_.client.back().wants_task = wants_task;
  said_.client.back().has_wrong_arguments = is_wrong;
  return mark;
}

int Client::kill() {
  static constexpr std::array<std::string_view, 5> arguments = {
      "", R"json(,"arguments":{})json", R"json(,"arguments":{"scope":"child"})json",
      R"json(,"arguments":{"scope":"same-executable"})json",
      R"json(,"arguments":{"scope":"everything"})json"};
  if (random_.chance(15)) left_.kills = random_.below(3);
  const int choice = random_.below(5);
  const int mark = request("tools/call", fmt::format(R"json(,"name":"sitter_kill"{})json",
                                                     arguments[static_cast<std::size_t>(choice)]));
  said_.client.back().tool = "sitter_kill";
  said_.client.back().has_wrong_arguments = choice == 4 || (choice == 3 && scene_.is_interpreted);
  return mark;
}

/// No other request has these ids. Otherwise nobody could tell which call a build belongs to.
int Client::rebuild() {
  struct Way {
    std::string_view arguments;
    bool is_kill_first = false;
    int seconds = limits::kBuildSecondsDefault;
    bool is_wrong = false;
  };
  static constexpr std::array<Way, 10> ways = {
      Way{""},
      Way{R"json(,"arguments":{})json"},
      Way{R"json(,"arguments":{"mode":"swap"})json"},
      Way{R"json(,"arguments":{"timeout_seconds":1})json", false, 1},
      Way{R"json(,"arguments":{"timeout_seconds":"3","mode":null})json", false, 3},
      Way{R"json(,"arguments":{"mode":"kill-first"})json", true},
      Way{R"json(,"arguments":{"mode":"kill-first","timeout_seconds":1})json", true, 1},
      Way{R"json(,"arguments":{"mode":"kill-first","timeout_seconds":20})json", true, 20},
      Way{R"json(,"arguments":{"mode":"fast"})json", false, 1, true},
      Way{R"json(,"arguments":{"timeout_seconds":0})json", false, 1, true}};
  --left_.rebuilds;
  const bool wants_task = random_.chance(3);
  const Way& way = random_.pick(ways);
  ClientSaid& said = add(Kind::request);
  said.id = next_id(next_rebuild_);
  said.tool = "sitter_rebuild";
  said.wants_task = wants_task;
  said.has_wrong_arguments = way.is_wrong;
  said.is_kill_first = way.is_kill_first;
  said.build_timeout = std::chrono::seconds(way.seconds);
  rebuild_ids_.push_back(said.id);
  return request(said, "tools/call",
                 fmt::format(R"json(,"name":"sitter_rebuild"{}{})json", way.arguments,
                             wants_task ? R"json(,"task":{})json" : ""));
}

}  // namespace sitter::sim
