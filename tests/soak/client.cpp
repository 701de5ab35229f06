#include "soak/client.hpp"

#include <array>
#include <utility>

namespace sitter::soak {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRound{5};
constexpr std::size_t kBigMax = 300'000;
constexpr std::size_t kHugeMax = 3'000'000;

}  // namespace

Client::Client(const testing::Program::Start& bridge, Ledger& ledger, Findings& findings)
    : program_(bridge), ledger_(ledger), findings_(findings) {}

void Client::open() {
  send({{"jsonrpc", "2.0"},
        {"id", 0},
        {"method", "initialize"},
        {"params",
         {{"protocolVersion", "2025-11-25"},
          {"capabilities", {{"roots", Json::object()}}},
          {"clientInfo", {{"name", "soak"}, {"version", "1"}}}}}});
  while (!is_open_ && !program_.has_ended()) hear(kRound);
  send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
}

long Client::request(const std::string& method, const Json& params, Ledger::Request expected) {
  expected.method = method;
  const bool reports = expected.progress_steps > 0;
  const long id = ledger_.open(std::move(expected));
  Json line{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
  if (reports) line["params"]["_meta"]["progressToken"] = id;
  send(line);
  return id;
}

long Client::call(const std::string& tool, const Json& arguments, const std::string& expected,
                  int progress_steps) {
  return request("tools/call", {{"name", tool}, {"arguments", arguments}},
                 {.expected = expected, .progress_steps = progress_steps});
}

void Client::cancel(long id) {
  ledger_.cancel(id);
  send({{"jsonrpc", "2.0"},
        {"method", "notifications/cancelled"},
        {"params", {{"requestId", id}, {"reason", "soak"}}}});
}

void Client::cancel_doomed() {
  for (const long id : std::exchange(doomed_, {})) cancel(id);
}

void Client::ask_anything(sim::Random& random) {
  switch (random.weighted({8600, 500, 800, 70, 10})) {
    case 0:
      return ask_usual(random);
    case 1:
      return ask_costly(random);
    case 2:
      return ask_other(random);
    case 3:
      return ask_bridge(random);
    default:
      return end_server(random);
  }
}

void Client::ask_usual(sim::Random& random) {
  const std::string text = "number " + std::to_string(++called_);
  if (random.chance(3)) {
    call("sitter_call", {{"tool", "echo"}, {"arguments", {{"text", text}}}}, text);
    return;
  }
  call("echo", {{"text", text}}, text);
}

void Client::ask_costly(sim::Random& random) {
  switch (random.weighted({10, 10, 10, 3})) {
    case 0: {
      const int steps = random.between(1, 20);
      call("progress", {{"steps", steps}, {"burst", random.chance(50)}},
           std::to_string(steps) + " steps", steps);
      return;
    }
    case 1:
      call("sleep", {{"ms", random.between(0, 300)}}, "slept");
      return;
    case 2: {
      const int steps = random.between(1, 4);
      call("progress", {{"steps", steps}, {"interval_ms", 20}}, std::to_string(steps) + " steps",
           steps);
      return;
    }
    default: {
      const std::size_t most = random.chance(10) ? kHugeMax : kBigMax;
      const int bytes = random.between(1, static_cast<int>(most));
      call("big", {{"bytes", bytes}}, std::string(static_cast<std::size_t>(bytes), 'x'));
      return;
    }
  }
}

void Client::ask_other(sim::Random& random) {
  const std::string number = std::to_string(++called_);
  switch (random.weighted({10, 5, 5, 5, 5, 5, 10, 10, 5, 5, 3, 2, 2, 1, 10})) {
    case 0:
      request("tools/list", Json::object());
      return;
    case 1:
      request("resources/read", {{"uri", "fake://" + number}});
      return;
    case 2:
      request("prompts/get", {{"name", "greet"}});
      return;
    case 3:
      request("completion/complete", {{"ref", {{"type", "ref/prompt"}, {"name", "greet"}}},
                                      {"argument", {{"name", "who"}, {"value", number}}}});
      return;
    case 4:
      request("logging/setLevel", {{"level", "info"}});
      return;
    case 5:
      request(random.chance(50) ? "resources/subscribe" : "resources/unsubscribe",
              {{"uri", "fake://" + std::to_string(random.below(20))}});
      return;
    case 6:
      call("stderr", {{"text", "line " + number}, {"lines", random.between(1, 30)}}, "written");
      return;
    case 7:
      call("log", {{"text", number}}, "logged");
      return;
    case 8:
      call("ask", {{"method", "roots/list"}});
      return;
    case 9:
      call("structured", {{"n", called_}});
      return;
    case 10:
      call("rpc_error", {{"message", number}});
      return;
    case 11:
      call("change_tools");
      return;
    case 12:
      call("print", {{"text", "no message " + number}});
      return;
    case 13:
      call("spawn", {{"session", random.chance(50)}, {"ignore_term", random.chance(50)}});
      return;
    default:
      return ask_and_regret(random);
  }
}

/// Makes a request that will be cancelled. Ordinary requests are never cancelled, because a
/// cancellation would hide a missing answer.
void Client::ask_and_regret(sim::Random& random) {
  switch (random.weighted({4, 4, 2, 1})) {
    case 0:
      doomed_.push_back(call("echo", {{"text", "never mind"}}, "never mind"));
      break;
    case 1:
      doomed_.push_back(call("sleep", {{"ms", random.between(0, 100)}}, "slept"));
      break;
    case 2:
      doomed_.push_back(request("resources/read", {{"uri", "fake://doomed"}}));
      break;
    default:
      doomed_.push_back(call("hang"));
  }
  if (random.chance(30)) cancel_doomed();
}

void Client::ask_bridge(sim::Random& random) {
  constexpr std::array<const char*, 4> kTools = {"sitter_status", "sitter_binary_info",
                                                 "sitter_child_stderr", "sitter_build_log"};
  if (random.chance(20)) {
    request("ping", Json::object());
  } else if (random.chance(10)) {
    call("sitter_child_stderr", {{"grep", "line [0-9]*" + std::to_string(random.below(100))}});
  } else {
    call(random.pick(kTools));
  }
}

void Client::end_server(sim::Random& random) {
  switch (random.weighted({3, 3, 2, 2})) {
    case 0:
      call("crash", {{"signal", "SEGV"}, {"stderr", "soak.cpp:1: what now"}});
      return;
    case 1:
      call("crash", {{"code", 3}, {"after_ms", random.between(0, 50)}});
      return;
    case 2:
      call("answer_then_exit", {{"code", random.below(3)}});
      return;
    default:
      call("close_stdout");
      return;
  }
}

void Client::end() {
  cancel_doomed();
  has_ended_ = true;
  program_.close_input();
}

void Client::hear(milliseconds wait) { hear(program_.lines_so_far(wait)); }

void Client::hear(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    const Json message = Json::parse(line, nullptr, false);
    if (message.is_object()) {
      on_message(message);
    } else {
      findings_.add(Promise::no_answer_mixed_up, "no message: " + line.substr(0, 200));
    }
  }
}

void Client::on_message(const Json& message) {
  const std::string method = message.value("method", "");
  if (method.empty()) {
    if (message.value("id", Json()) != 0) return ledger_.on_answer(message);
    if (std::exchange(is_open_, true)) {
      findings_.add(Promise::no_answer_twice, "the opening once more");
    }
  } else if (method == "notifications/progress") {
    ledger_.on_progress(message.value("params", Json::object()));
  } else if (has_ended_) {
    return;
  } else if (message.contains("id")) {
    send({{"jsonrpc", "2.0"}, {"id", message["id"]}, {"result", {{"roots", Json::array()}}}});
  } else if (method == "notifications/tools/list_changed") {
    request("tools/list", Json::object());
  }
}

void Client::send(const Json& message) { program_.write(message.dump() + "\n"); }

}  // namespace sitter::soak
