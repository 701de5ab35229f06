#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/program.hpp"

namespace sitter::testing {

using Json = nlohmann::json;

/// The built program, or the one that MCP_SITTER names in the environment of the tests.
std::string sitter_program();
/// A copy, which only this process uses, of the built fake-mcp or of the one that FAKE_MCP names.
/// sitter_kill takes down every process that runs the same file, and other tests run at the same
/// time.
std::string fake_mcp();

/// The command that runs fake-mcp with these flags.
std::vector<std::string> fake(std::vector<std::string> flags = {});
/// The same command as words for a shell.
std::string fake_in_shell(const std::string& flags = {});

/// What a tool result shows the model: its text blocks, one per line.
std::string text_of(const Json& result);

/// A client at the other end of a bridge. The test tells each of its steps. The test fails if the
/// client gets a line that is not a message, or an answer to something that it did not ask. It also
/// fails if any process of the bridge is left behind at the end.
class ScriptedClient {
 public:
  struct Setup {
    std::vector<std::string> options = {};
    std::vector<std::string> command = fake();
    std::string cwd = {};
    bool cwd_is_gone = false;
    std::optional<int> pending_signal = {};
    std::vector<std::string> environment = {};
    std::optional<int> input = {};
    std::optional<int> output = {};
    bool reads_stderr = true;
  };

  ScriptedClient();
  explicit ScriptedClient(const Setup& setup);
  /// Ends the bridge by SIGTERM if it still runs.
  ~ScriptedClient();

  Program& program() { return program_; }

  /// From now on each request carries the envelope of 2026-07-28.
  void speak_stateless() { is_stateless_ = true; }
  /// Sends `initialize` with the id 0.
  void begin_opening(const std::string& version = "2025-11-25");
  /// Sends `initialize`, takes the result of its answer, and sends `notifications/initialized`.
  Json open(const std::string& version = "2025-11-25");

  /// Sends a line as it is.
  void send(const std::string& line);
  /// Notes that a line which was sent as it is was a request with this id.
  void owe(const Json& id) { owed_.insert(id.dump()); }
  void request(const Json& id, const std::string& method, const Json& params = Json::object());
  void call(const Json& id, const std::string& tool, const Json& arguments = Json::object());
  void notify(const std::string& method, const Json& params = Json::object());

  /// Waits for the answer to a request, and returns the whole answer.
  Json answer(const Json& id);
  /// Waits for an error answer without an id or with the id null.
  Json error_without_id();
  /// Waits for the next notification or request of this method that was not taken before.
  Json heard(const std::string& method);
  /// What was heard so far, in order: "answer 5", "notifications/message", "error".
  const std::vector<std::string>& order() const { return order_; }
  bool has_heard(const std::string& what) const;

  /// Makes a call with an id of its own, and returns the result.
  Json result_of(const std::string& tool, const Json& arguments = Json::object());
  std::string text_of_call(const std::string& tool, const Json& arguments = Json::object());
  std::string echo(const std::string& text) { return text_of_call("echo", {{"text", text}}); }
  Json status() { return Json::parse(text_of_call("sitter_status"), nullptr, false); }
  /// What the server has written to stderr, once it has this text. An answer may come before what
  /// the server wrote there just before it.
  std::string stderr_with(const std::string& text);
  /// Throws if no child runs: kill(2) must not be called with a pid that is not there.
  long child_pid();
  /// The answer of fake-mcp's tool `state`.
  Json child_state();

  /// Closes the bridge's stdin, waits for the end of the bridge, and returns its exit code.
  int end();
  /// The living processes that the bridge has caused, and the bridge itself.
  std::vector<long> living() const { return processes_with(mark_); }
  /// Waits until no such process is left.
  bool leaves_nothing();
  /// Expects that neither sitter_kill nor the end of the session ends this process, and then ends
  /// it. Nothing else may be left.
  void expect_left_alone(long pid);

 private:
  struct Heard {
    std::string what;
    Json body;
  };

  static Program::Start start_of(const Setup& setup, const std::string& mark);
  /// Takes the next line. Returns false if no line comes.
  bool hear();
  /// Waits for the first matching message that was not taken before.
  Json take(const std::string& what);
  std::string story() const;

  bool is_stateless_ = false;
  std::string mark_;
  Program program_;
  std::multiset<std::string> owed_;
  std::vector<Heard> untaken_;
  std::vector<std::string> order_;
  int next_id_ = 1000;
};

}  // namespace sitter::testing
