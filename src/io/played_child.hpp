#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>

#include "io/children.hpp"
#include "io/cli_child.hpp"
#include "io/daemon.hpp"
#include "io/stream/error_output.hpp"
#include "io/stream/event_loop.hpp"
#include "io/stream/log.hpp"

namespace sitter {

/// The child of the bridge if it is no process that speaks on its pipes: a daemon that is reached
/// over HTTP, or a command-line tool. If it is such a process, this is neither, and takes nothing.
class PlayedChild {
 public:
  struct Options {
    /// At most one of them is set.
    std::optional<Daemon::Options> daemon;
    std::optional<CliChild::Options> cli;
  };

  struct Events {
    /// The time of an event that begins.
    std::function<Now()> now;
    /// All facts of the event are told.
    std::function<void()> on_told;
  };

  /// All references must outlive this object.
  PlayedChild(EventLoop& loop, Options options, Log& log, Children& children,
              ErrorOutput& error_output, Events events);

  /// Whether the orders about the child are for this object.
  bool is_there() const { return daemon_ || cli_; }

  /// Takes an order about the child. False if it is for a process on pipes.
  template <class Order>
  bool takes(const Order& order, Now now) {
    if (is_build(order.gen)) return false;
    if (daemon_) {
      daemon_->handle(order, now);
    } else if (cli_) {
      cli_->handle(order, now);
    } else {
      return false;
    }
    return true;
  }

  /// Looks at a process that has ended. False if the core must hear of it, too.
  bool takes_end(const Fact& ended, Now now);

  void handle_timeout(Now now);
  std::optional<Instant> next_timeout() const;
  /// The next fact of the child, or null. It and its views are valid until the next call.
  const Fact* next_fact();

  /// Whether this process is a daemon. What a daemon writes to its stdout is no message; it is for
  /// a person, like its stderr.
  bool is_daemon(Generation gen) const { return daemon_ && !is_build(gen); }
  /// The process that listens, if the system tells.
  std::optional<std::int64_t> listening_pid() const;
  /// How the bytes of a run of the tool become facts.
  ChildProcess::Events events_of_run(Generation run) { return cli_->events_of(run); }

  /// Stops reading what the child says. False if it is said on the pipes of a process.
  bool set_paused(bool paused);

 private:
  void tell(const std::function<void(Now)>& facts);

  Events events_;
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<CliChild> cli_;
};

}  // namespace sitter
