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

/// The built program.
std::string sitter_program();
/// A copy of the built one that only this process uses, because sitter_kill takes down whatever
/// runs the same file, and other tests run at the same time.
std::string fake_mcp();

/// The command that runs fake-mcp with these flags.
std::vector<std::string> fake(std::vector<std::string> flags = {});
/// The same as words for a shell.
std::string fake_in_shell(const std::string& flags = {});

/// What a tool result shows the model: its text blocks, one per line.
std::string text_of(const Json& result);

/// A client at the other end of a bridge, whose every step is told by the test. It fails the test
/// when it hears what is no message, or an answer to what it did not ask; and at its end when
/// anything that came of the bridge is left behind.
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
    bool on_one_cpu = false;
  };

  ScriptedClient();
  explicit ScriptedClient(const Setup& setup);
  /// Ends the bridge by SIGTERM if it still runs.
  ~ScriptedClient();

  Program& program() { return program_; }

  /// From now on each request carries the envelope of 2026-07-28.
  void speak_stateless() { is_stateless_ = true; }
  /// `initialize` and its answer's result, then `notifications/initialized`.
  Json open(const std::string& version = "2025-11-25");

  /// One line as it is.
  void send(const std::string& line);
  /// Says that a line which was sent as it is was a request with this id.
  void owe(const Json& id) { owed_.insert(id.dump()); }
  void request(const Json& id, const std::string& method, const Json& params = Json::object());
  void call(const Json& id, const std::string& tool, const Json& arguments = Json::object());
  void notify(const std::string& method, const Json& params = Json::object());

  /// Waits for the answer to a request: all of it.
  Json answer(const Json& id);
  /// Waits for an answer that is an error, for its code, and has no id, or null.
  Json error_without_id();
  /// Waits for the next notification or question of this method that was not taken before.
  Json heard(const std::string& method);
  /// What was heard so far, in order: "answer 5", "notifications/message", "error".
  const std::vector<std::string>& order() const { return order_; }
  bool has_heard(const std::string& what) const;

  /// A call with an id of its own, and its result.
  Json result_of(const std::string& tool, const Json& arguments = Json::object());
  std::string text_of_call(const std::string& tool, const Json& arguments = Json::object());
  Json status() { return Json::parse(text_of_call("sitter_status"), nullptr, false); }
  long child_pid();
  /// What fake-mcp's tool `state` tells.
  Json child_state();

  /// Closes the bridge's stdin and waits for its end: the exit code.
  int end();
  /// The living processes that came of the bridge, and itself.
  std::vector<long> living() const { return processes_with(mark_); }
  /// Waits until none is left.
  bool leaves_nothing();

 private:
  struct Heard {
    std::string what;
    Json body;
  };

  static Program::Start start_of(const Setup& setup, const std::string& mark);
  /// Takes the next line; false if none comes.
  bool hear();
  /// The first that fits among those not taken, waited for.
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
