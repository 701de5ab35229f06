#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/orders.hpp"
#include "core/base/polled_queue.hpp"
#include "core/tool_server/description.hpp"
#include "core/tool_server/run.hpp"
#include "core/wire/message.hpp"
#include "core/wire/protocol.hpp"
#include "sitter/bytes.hpp"
#include "sitter/cli.hpp"
#include "sitter/fact.hpp"
#include "sitter/order.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How many runs go on at once unless `--max-calls` says otherwise. A tool takes a core each.
inline constexpr std::size_t kCallsMaxDefault = 8;

/// How long a call may take unless `--call-timeout` says otherwise. TypeScript clients give a call
/// up after 60 s.
inline constexpr Milliseconds kCallTimeoutDefault{55'000};

/// How long the tool may take to describe itself.
inline constexpr Milliseconds kDescriptionTimeout{10'000};

/// A run that has had its SIGTERM has this long until SIGKILL.
inline constexpr Milliseconds kRunGrace{500};

/// How many calls may wait for their turn, and how many bytes their arguments may have together.
/// Clients make a few dozen calls at once.
inline constexpr std::size_t kWaitingCallsMax = 10'000;
inline constexpr std::size_t kWaitingCallBytesMax = 64 * kMiB;

}  // namespace limits

/// Plays a command-line tool as a child that speaks line by line: a small MCP server of both eras,
/// whose tools are the commands that the tool describes. It takes the orders for the child, gives
/// the facts of the child, and decides what is run; it does nothing itself. A generation is one
/// description that was read.
///
///     reading --> up --CloseChildInput--> leaving --> gone
///        \------------CloseChildInput-------^
///        \--> gone (there is no description: the start has failed)
///
/// A child has no process of its own. Its unit are the processes of its runs.
class CliServer {
 public:
  struct Options {
    /// What the client sees as the name of the server.
    std::string name;
    /// With what a command may begin.
    ToolNames tool_names;
    /// The arguments with which the tool describes itself. Without any, a file describes it.
    std::vector<std::string> description_arguments;
    /// For texts: "./notes schema --json", or the name of the file.
    std::string description_source;
    std::size_t calls_max = limits::kCallsMaxDefault;
    Milliseconds call_timeout = limits::kCallTimeoutDefault;
    EndWords end_words = {};
  };

  explicit CliServer(Options options) : options_(std::move(options)) {}

  void handle(const order::StartChild& order, Now now);
  void handle(const order::SendToChild& order, Now now);
  void handle(const order::CloseChildInput& order, Now now);
  void handle(const order::SignalUnit& order, Now now);
  void handle(const order::ReleaseChild& order, Now now);
  void handle(const CliFact& fact, Now now);
  /// Harmless when nothing is due.
  void handle_timeout(Now now);
  std::optional<Instant> next_timeout() const;

  // What is polled is null if there is nothing, and valid until the next call of the same function.
  const CliOrder* poll_order() { return cli_orders_.poll(); }
  /// The next fact of the child.
  const Fact* poll_fact();

 private:
  enum class State {
    reading,  ///< the description is being read
    up,       ///< the child was started
    leaving,  ///< the child is taken down, and its runs are ending
  };
  struct Child {
    Generation gen = kNoGeneration;
    State state = State::reading;
    std::shared_ptr<const Description> description = nullptr;
  };
  /// A fact, and the line that it refers to.
  struct Told {
    Fact fact;
    OwnedLine line;
  };
  /// A call of a tool that is not known. Perhaps the next description has it.
  struct Parked {
    Generation child = kNoGeneration;
    RunCaller caller;
    OwnedLine line;
    Instant until{};
  };
  /// An answer to `SignalUnit` that waits for the answers of the runs.
  struct Signalling {
    fact::UnitSignalled answer;
    std::set<Generation> runs;
  };

  Child* find_child(Generation gen);
  Run* find_run(Generation number);
  void remove_child(Generation gen);

  // the description
  void read(Child& child);
  void on_description(Generation gen, std::string_view text);
  void fail_start(Generation gen, std::string why, bool is_missing = false);

  // requests
  void on_line(const Child& child, const Message& message);
  void on_request(const Child& child, const Message& message);
  void on_call(const Child& child, const Message& message, RunCaller caller);
  void call(Generation child, const std::shared_ptr<const Description>& description,
            const CliTool& tool, const Message& message, RunCaller caller);
  void park(const Child& child, const Message& message, RunCaller caller);
  void call_parked();
  void answer_unknown(const Parked& parked);
  std::optional<std::string> crowd_with(std::size_t bytes) const;
  void on_cancelled(Generation gen, std::string_view id);
  /// Name and version of the tool, as a raw object.
  std::string server_info(Generation gen);
  std::string opening_result(const Child& child, const Message& message);
  static std::string tools_result(const Description& description);
  void answer(Generation gen, const RunCaller& caller, std::string_view result,
              bool is_list = false);
  void answer_error(Generation gen, std::string_view id, ErrorCode code, std::string_view message);

  // runs
  Run& add_run(Generation child);
  void begin_waiting();
  void begin(Run& run);
  void stop(Run& run, std::string why);
  void end_runs_of(Generation child);
  void on(const fact::ChildStarted& fact);
  void on(const fact::ChildStartFailed& fact);
  void on(const fact::RunOutput& fact);
  void on(const fact::ChildOutputEnded& fact);
  void on(const fact::ChildErrorLine& fact);
  void on(const fact::ChildErrorEnded& fact);
  void on(const fact::ChildOutputMoved& fact);
  void on(const fact::ChildExited& fact);
  void on(const fact::UnitSignalled& fact);
  void on(const fact::OrphanEnded& fact);
  void on(const fact::DescriptionRead& fact);
  void tell_progress(Run& run, std::string_view line);
  void settle();
  void finish(Run& run);
  void finish_description(const Run& run);
  void end_signalling(Generation run);

  void tell(Fact fact) { told_.push_back({std::move(fact), {}}); }
  void tell_line(Generation gen, std::string line);
  /// A line for the stderr of the child, about one of its tools or about its description.
  void tell_error_line(Generation gen, std::string_view about, std::string_view line,
                       std::uint64_t bytes_cut = 0);

  const Options options_;
  Now now_{};
  MessageReader reader_;
  std::list<Child> children_;
  /// In the order of the calls.
  std::list<Run> runs_;
  Generation last_run_ = kFirstRun + 1;
  /// A run could open no files. The next is tried then, or at the end of another, which gives some
  /// back.
  std::optional<Instant> waits_for_files_;
  std::list<Signalling> signallings_;
  std::list<Parked> parked_;

  Orders out_;
  PolledQueue<CliOrder> cli_orders_;
  PolledQueue<Told> told_;
};

}  // namespace sitter
