#include "support/scripted_client.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "support/processes.hpp"
#include "support/temporary_directory.hpp"
#include "support/texts.hpp"

namespace sitter::testing {
namespace {

/// An entry of the environment that no other test uses.
std::string new_mark() {
  static int count = 0;
  return "SITTER_TEST_MARK=" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

/// The program that a variable in the environment of the tests names, or the built one.
std::string named_by(const char* variable, const char* built) {
  const char* other = std::getenv(variable);
  return other != nullptr ? other : built;
}

std::string shown(const std::string& line) {
  constexpr std::size_t kShown = 300;
  return line.size() <= kShown ? line : line.substr(0, kShown) + "...";
}

}  // namespace

std::string sitter_program() { return named_by("MCP_SITTER", SITTER_PROGRAM); }

std::string fake_mcp() {
  static const TemporaryDirectory directory;
  static const std::filesystem::path program = named_by("FAKE_MCP", SITTER_FAKE_MCP);
  static const std::string copy = directory.copy_program(program.filename(), program);
  return copy;
}

std::vector<std::string> fake(std::vector<std::string> flags) {
  flags.insert(flags.begin(), fake_mcp());
  return flags;
}

std::string fake_in_shell(const std::string& flags) { return "'" + fake_mcp() + "' " + flags; }

std::string text_of(const Json& result) {
  std::string text;
  for (const Json& block : result.value("content", Json::array())) {
    if (!text.empty()) text += '\n';
    text += block.value("text", "");
  }
  return text;
}

ScriptedClient::ScriptedClient() : ScriptedClient(Setup{}) {}

ScriptedClient::ScriptedClient(const Setup& setup)
    : mark_(new_mark()), program_(start_of(setup, mark_)) {}

Program::Start ScriptedClient::start_of(const Setup& setup, const std::string& mark) {
  Program::Start start{.command = {sitter_program()},
                       .cwd = setup.cwd,
                       .cwd_is_gone = setup.cwd_is_gone,
                       .pending_signal = setup.pending_signal,
                       .environment = setup.environment,
                       .input = setup.input,
                       .output = setup.output,
                       .reads_stderr = setup.reads_stderr};
  start.environment.push_back(mark);
  std::vector<std::string>& words = start.command;
  words.insert(words.end(), setup.options.begin(), setup.options.end());
  words.push_back("--");
  words.insert(words.end(), setup.command.begin(), setup.command.end());
  return start;
}

ScriptedClient::~ScriptedClient() {
  if (!program_.has_ended()) {
    program_.signal(SIGTERM);
    EXPECT_EQ(program_.wait(), 128 + SIGTERM) << story();
  }
  if (leaves_nothing()) return;
  for (const long pid : living()) {
    ADD_FAILURE() << "left behind: " << pid << " " << command_line_of(pid);
    kill(static_cast<pid_t>(pid), SIGKILL);
  }
}

void ScriptedClient::begin_opening(const std::string& version) {
  request(0, "initialize",
          {{"protocolVersion", version},
           {"capabilities", {{"roots", {{"listChanged", true}}}}},
           {"clientInfo", {{"name", "scripted"}, {"version", "1"}}}});
}

Json ScriptedClient::open(const std::string& version) {
  begin_opening(version);
  Json opened = answer(0);
  notify("notifications/initialized");
  return std::move(opened["result"]);
}

void ScriptedClient::send(const std::string& line) { program_.write(line + "\n"); }

void ScriptedClient::request(const Json& id, const std::string& method, const Json& params) {
  owe(id);
  Json request{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
  if (is_stateless_) {
    request["params"]["_meta"] = {
        {"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
        {"io.modelcontextprotocol/clientInfo", {{"name", "script"}, {"version", "1"}}},
        {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
  }
  send(request.dump());
}

void ScriptedClient::call(const Json& id, const std::string& tool, const Json& arguments) {
  request(id, "tools/call", {{"name", tool}, {"arguments", arguments}});
}

void ScriptedClient::notify(const std::string& method, const Json& params) {
  send(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump());
}

Json ScriptedClient::answer(const Json& id) { return take("answer " + id.dump()); }
Json ScriptedClient::error_without_id() { return take("error"); }
Json ScriptedClient::heard(const std::string& method) { return take(method); }

bool ScriptedClient::has_heard(const std::string& what) const {
  return std::find(order_.begin(), order_.end(), what) != order_.end();
}

Json ScriptedClient::result_of(const std::string& tool, const Json& arguments) {
  const int id = next_id_++;
  call(id, tool, arguments);
  Json whole = answer(id);
  EXPECT_TRUE(whole.contains("result")) << tool << ": " << shown(whole.dump());
  return whole.value("result", Json::object());
}

std::string ScriptedClient::text_of_call(const std::string& tool, const Json& arguments) {
  return text_of(result_of(tool, arguments));
}

std::string ScriptedClient::stderr_with(const std::string& text) {
  std::string all;
  eventually([&] {
    all = text_of_call("sitter_child_stderr");
    return all.find(text) != all.npos;
  });
  return all;
}

long ScriptedClient::child_pid() {
  const Json pid = status().value("childPid", Json());
  if (!pid.is_number()) throw std::runtime_error("no child is running");
  return pid.get<long>();
}

Json ScriptedClient::child_state() {
  // A notice may come before the state.
  const Json content = result_of("state").value("content", Json::array());
  const std::string text = content.empty() ? "" : content.back().value("text", "");
  Json state = Json::parse(text, nullptr, false);
  EXPECT_TRUE(state.is_object()) << text;
  return state.is_object() ? state : Json::object();
}

int ScriptedClient::end() {
  program_.close_input();
  return program_.wait();
}

void ScriptedClient::expect_left_alone(long pid) {
  text_of_call("sitter_kill");
  EXPECT_TRUE(is_alive(pid));
  EXPECT_EQ(end(), 0);
  EXPECT_TRUE(is_alive(pid));
  ::kill(static_cast<pid_t>(pid), SIGKILL);
  EXPECT_TRUE(leaves_nothing());
}

bool ScriptedClient::leaves_nothing() {
  return eventually([this] { return living().empty(); });
}

bool ScriptedClient::hear() {
  const std::optional<std::string> line = program_.read_line();
  if (!line || line == Program::kNothingCame) return false;
  Json body = Json::parse(*line, nullptr, false);
  if (!body.is_object() || body.value("jsonrpc", "") != "2.0") {
    ADD_FAILURE() << "this is not a message: " << shown(*line);
    return true;
  }
  each_text(body, note_text);
  std::string what = body.value("method", "");
  if (what.empty()) {
    const Json id = body.value("id", Json());
    what = id.is_null() ? "error" : "answer " + id.dump();
    const auto owed = owed_.find(id.dump());
    if (owed != owed_.end()) {
      owed_.erase(owed);
    } else if (!id.is_null()) {
      ADD_FAILURE() << "nobody asked for this: " << shown(*line) << story();
    }
  }
  order_.push_back(what);
  untaken_.push_back({std::move(what), std::move(body)});
  return true;
}

Json ScriptedClient::take(const std::string& what) {
  while (true) {
    const auto found = std::find_if(untaken_.begin(), untaken_.end(),
                                    [&](const Heard& heard) { return heard.what == what; });
    if (found != untaken_.end()) {
      Json body = std::move(found->body);
      untaken_.erase(found);
      return body;
    }
    if (!hear()) {
      ADD_FAILURE() << what << " did not come." << story();
      return Json::object();
    }
  }
}

std::string ScriptedClient::story() const {
  std::string text = "\nheard:";
  for (const std::string& what : order_) text += " [" + what + "]";
  return text + "\nstderr: " + program_.error_text();
}

}  // namespace sitter::testing
