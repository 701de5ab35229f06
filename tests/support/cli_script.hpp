#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/tool_server/cli_server.hpp"
#include "support/good_form.hpp"
#include "support/messages.hpp"
#include "support/script.hpp"
#include "support/story_lines.hpp"
#include "support/texts.hpp"

namespace sitter {

/// Tells a story to a `CliServer`: orders for the child and facts of runs go in. Runs are named by
/// their order: 1, 2 and so on.
///
/// The story fails if more calls run at once than may, and at its end if a run was not released, or
/// if a call has no answer, or two.
class CliServerTest : public Script {
 protected:
  static constexpr const char* kNotes = R"json({"tools":[
    {"name":"add","parameters":{"type":"object","required":["text"],
      "properties":{"text":{"type":"string"}}},"cli_command":["add","{text}"]},
    {"name":"list","cli_command":["list"],"ok_exit_codes":[1]}]})json";

  CliServer::Options options = [] {
    CliServer::Options chosen;
    chosen.name = "notes";
    chosen.description_arguments = {"schema", "--json"};
    chosen.description_source = "./notes schema --json";
    return chosen;
  }();

  void TearDown() override {
    EXPECT_EQ(owed_, std::set<std::string>{}) << "these calls have no answer";
    EXPECT_EQ(running_, std::set<int>{}) << "these runs were not released";
  }

  // Orders for the child.
  void start(Generation gen) { handle(order::StartChild{gen}); }
  void close(Generation gen) { handle(order::CloseChildInput{gen, false}); }
  void signal(Generation gen, order::SignalUnit::How how) { handle(order::SignalUnit{gen, how}); }
  void release(Generation gen) { handle(order::ReleaseChild{gen}); }
  void send(Generation gen, const std::string& line) {
    handle(order::SendToChild{gen, Outgoing::own(line)});
  }
  /// Sends a call that needs an answer.
  void call(Generation gen, int id, const std::string& tool, const std::string& arguments = "{}",
            const std::string& meta = {}) {
    owed_.insert(std::to_string(id));
    send(gen, R"json({"jsonrpc":"2.0","id":)json" + std::to_string(id) +
                  R"json(,"method":"tools/call","params":{"name":")json" + tool +
                  R"json(","arguments":)json" + arguments +
                  (meta.empty() ? "" : ",\"_meta\":" + meta) + "}}");
  }
  /// Nothing is owed to the caller any more.
  void forget(int id) { owed_.erase(std::to_string(id)); }

  // Facts of runs.
  void writes(int run, std::string_view bytes) { fact(fact::RunOutput{number(run), bytes}); }
  void writes_error(int run, std::string_view line) {
    fact(fact::ChildErrorLine{number(run), line, 0});
  }
  void fails_to_start(int run, fact::ChildStartFailed failed) {
    running_.erase(run);
    failed.gen = number(run);
    fact(failed);
  }
  /// The process ends, and nothing of it is left.
  void exits(int run, int code, const std::string& with_signal = {}) {
    fact(fact::ChildExited{number(run), {code, with_signal}});
    fact(fact::ChildOutputEnded{number(run)});
    fact(fact::ChildErrorEnded{number(run)});
  }
  void reads_file(Generation gen, const std::string& text, const std::string& problem = {}) {
    fact(fact::DescriptionRead{gen, text, problem});
  }

  /// A child whose description is that of the notes.
  void open(Generation gen) {
    start(gen);
    const int run = last_run_;
    writes(run, kNotes);
    exits(run, 0);
    done();
  }

  std::optional<Instant> next_timeout() override { return server().next_timeout(); }

  /// Whether the shell starts runs at once; otherwise the story tells how a start ends.
  bool plays_starts = true;
  /// The processes of each run that are left.
  std::map<int, std::vector<std::int64_t>> processes;

 private:
  CliServer& server() {
    if (!server_) server_.emplace(options);
    return *server_;
  }

  static Generation number(int run) { return kFirstRun + 1 - run; }
  static int run_of(Generation gen) { return kFirstRun + 1 - gen; }

  void handle_timeout() override {
    server().handle_timeout(now);
    expect_nothing_due();
    take();
  }

  template <class Order>
  void handle(const Order& order) {
    server().handle(order, now);
    take();
  }
  void fact(const CliFact& fact) {
    server().handle(fact, now);
    take();
  }

  void take() {
    while (const CliOrder* const polled = server().poll_order()) {
      const CliOrder order = *polled;
      std::visit([this](const auto& one) { carry_out(one); }, order);
    }
    while (const Fact* const fact = server().poll_fact()) add_word(word(*fact));
  }

  void carry_out(const order::StartRun& order) {
    last_run_ = run_of(order.gen);
    std::string text = "run " + std::to_string(last_run_) + ":";
    for (const std::string& argument : order.arguments) text += ' ' + argument;
    if (!order.input.empty()) text += " <" + order.input;
    for (const std::string& entry : order.environment) text += " env " + entry;
    if (!order.cwd.empty()) text += " in " + order.cwd;
    add_word(text);
    running_.insert(last_run_);
    if (order.arguments == options.description_arguments) descriptions_.insert(last_run_);
    const auto calls = std::count_if(running_.begin(), running_.end(),
                                     [&](int run) { return !descriptions_.contains(run); });
    EXPECT_LE(static_cast<std::size_t>(calls), options.calls_max) << "at " << text;
    if (plays_starts) fact(fact::ChildStarted{order.gen, 1000 + last_run_});
  }
  void carry_out(const order::ReadDescription& order) {
    add_word("read the description for " + std::to_string(order.gen));
  }
  void carry_out(const order::SignalUnit& order) {
    const int run = run_of(order.gen);
    static constexpr const char* kWords[] = {"look at", "terminate", "kill"};
    if (order.how != order::SignalUnit::How::look) {
      add_word(std::string(kWords[static_cast<int>(order.how)]) + " run " + std::to_string(run));
    }
    fact::UnitSignalled answer{order.gen, {}};
    for (const std::int64_t pid : processes[run]) {
      answer.processes.push_back({pid, pid == 1000 + run, "notes", "", false});
    }
    fact(answer);
  }
  void carry_out(const order::CloseChildInput&) {}
  void carry_out(const order::ReleaseChild& order) { running_.erase(run_of(order.gen)); }

  std::string word(const Fact& fact) {
    if (const auto* const one = std::get_if<fact::ChildStarted>(&fact)) {
      return "child " + std::to_string(one->gen) + " started";
    }
    if (const auto* const one = std::get_if<fact::ChildStartFailed>(&fact)) {
      expect_good_form(one->reason);
      return "child " + std::to_string(one->gen) +
             (one->is_missing ? " is missing: " : " failed: ") + one->reason;
    }
    if (const auto* const one = std::get_if<fact::ChildExited>(&fact)) {
      return "child " + std::to_string(one->gen) + " exited";
    }
    if (const auto* const one = std::get_if<fact::ChildErrorLine>(&fact)) {
      return "stderr " + std::string(one->line);
    }
    if (const auto* const one = std::get_if<fact::ReloadAsked>(&fact)) {
      return "reload asked: " + one->cause;
    }
    if (const auto* const one = std::get_if<fact::UnitSignalled>(&fact)) {
      std::string text = "unit of " + std::to_string(one->gen) + ":";
      for (const auto& process : one->processes) text += ' ' + std::to_string(process.pid);
      return text;
    }
    if (const auto* const one = std::get_if<fact::ChildLine>(&fact)) {
      MessageReader reader;
      const OwnedLine line(one->line.text());
      const Message* const message = reader.read(line.line(), MessageReader::Values::checked);
      EXPECT_NE(message, nullptr) << line.text();
      if (message != nullptr && message->is_answer()) {
        answered_.insert(std::string(message->id));
        EXPECT_EQ(answered_.count(std::string(message->id)), 1U) << line.text();
        owed_.erase(std::string(message->id));
      }
      each_text(parsed(line.text()), expect_good_form);
      return line.text();
    }
    return "";
  }

  std::optional<CliServer> server_;
  std::set<std::string> owed_;
  std::multiset<std::string> answered_;
  std::set<int> running_;
  std::set<int> descriptions_;
  int last_run_ = 0;
};

}  // namespace sitter
