#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "core/tool_server/cli_server.hpp"
#include "io/children.hpp"
#include "io/stream/error_output.hpp"
#include "io/stream/log.hpp"

namespace sitter {

/// The child of the bridge if it is a command-line tool: the `CliServer`, which decides, and the
/// processes of its runs.
class CliChild {
 public:
  struct Options {
    CliServer::Options server;
    /// The file that describes the tool; empty if the tool does so itself.
    std::string description_file;
  };

  /// Calls the function, and carries out all that follows from it.
  using Turn = std::function<void(const std::function<void(Now)>&)>;

  /// The three references must outlive this object. What the runs write to their stderr is also
  /// written to `error_output`.
  CliChild(Options options, Log& log, Children& children, ErrorOutput& error_output, Turn turn)
      : log_(log),
        children_(children),
        error_output_(error_output),
        turn_(std::move(turn)),
        server_(std::move(options.server)),
        description_file_(std::move(options.description_file)) {}

  /// Handles an order for the child, or a fact of a run.
  template <class Input>
  void handle(const Input& input, Now now) {
    now_ = now;
    // The description that is read now is that of these files.
    if constexpr (std::is_same_v<Input, order::StartChild>) children_.note_files();
    server_.handle(input, now);
    carry_out_all();
  }
  void handle_timeout(Now now);
  std::optional<Instant> next_timeout() const { return server_.next_timeout(); }
  /// How the bytes of a run become facts.
  ChildProcess::Events events_of(Generation run);
  /// The next fact of the child, or null. It and its views are valid until the next call.
  const Fact* next_fact() { return server_.poll_fact(); }

 private:
  void handle_error(Generation run, const LineFramer::Frame& frame, Now now);
  void carry_out_all();
  void carry_out(const order::StartRun& order);
  void carry_out(const order::ReadDescription& order);
  void carry_out(const order::SignalUnit& order);
  void carry_out(const order::CloseChildInput& order);
  void carry_out(const order::ReleaseChild& order);

  Log& log_;
  Children& children_;
  ErrorOutput& error_output_;
  Turn turn_;
  CliServer server_;
  std::string description_file_;
  Now now_{};
};

}  // namespace sitter
