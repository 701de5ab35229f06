#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "io/children.hpp"
#include "io/stream/error_output.hpp"
#include "io/stream/event_loop.hpp"
#include "io/stream/line_relay.hpp"
#include "sitter/fact.hpp"
#include "sitter/order.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The server under development as the driver sees it, whatever its kind. A backend carries out the
/// orders about the children of the server, its builds and its file, and gives the facts about
/// them. It owns their processes.
class Backend {
 public:
  /// Called from the loop, one event after the other. Only `on_fact` and `on_binary` are also
  /// called from within `carry_out` and `reap`.
  struct Events {
    /// An event begins. Returns its time.
    std::function<Now()> on_begin;
    /// A fact of the event, or the answer to an order. Its views are valid during the call.
    std::function<void(const Fact&)> on_fact;
    /// The event has ended, and `next_fact` may have more facts of it.
    std::function<void()> on_end;
    /// The server runs this file, or will run it. Empty if nobody asks.
    std::function<void(const std::string& path, const std::string& behind)> on_binary;
  };

  /// All references must outlive the backend.
  struct Parts {
    EventLoop& loop;
    Children::Parts children;
    ErrorOutput& error_output;
    LineRelay& relay;
    Events events;
  };

  virtual ~Backend() = default;

  /// Ignores orders about the client, the log and the end.
  void carry_out(const Order& order, Now now);
  /// Takes the exits of processes. To be called when children may have ended.
  void reap(Now now);
  /// Harmless when nothing is due.
  virtual void handle_timeout(Now) {}
  virtual std::optional<Instant> next_timeout() const { return std::nullopt; }
  /// The next fact that no event has brought, or null. It and its views are valid until the next
  /// call. To be called after each event, order and timeout until there is none.
  virtual const Fact* next_fact() { return nullptr; }

  /// Stops reading what the children say for the client.
  virtual void set_paused(bool paused) { children_.set_output_paused(paused); }
  /// Writes what was collected for the processes.
  void flush() { children_.flush(); }
  /// The next queue to a process that has crossed its bound, in either direction.
  std::optional<Fact> crossed_queue() { return children_.crossed_queue(); }
  /// The file that would be started now; absolute if there is such a file.
  std::string binary_path() const { return children_.binary_path(); }

 protected:
  explicit Backend(const Parts& parts);

  /// Carries out an order in the way of this kind of server, at the time `now_`. False if it is to
  /// be carried out with the process of its generation.
  virtual bool takes(const Order& order) = 0;
  /// Carries out what the machine orders that plays the children, if there is one.
  virtual void carry_out_all() {}
  /// How the bytes of a process become facts. As it is here, all output is for a person.
  virtual ChildProcess::Events events_of(const Children::Number& gen);
  /// Takes a fact about a process. As it is here, the core gets it.
  virtual void on_process(const Fact& fact) { events_.on_fact(fact); }

  /// Tells that output was read, to be called after it was handled. Only after an exit does anybody
  /// want to know.
  void tell_moved(Generation gen);

  /// Gives an order or a fact about a child to the machine that plays the children, and carries out
  /// what follows. False if it is about a build, or not for such a machine.
  template <class Machine, class Input>
  bool give(Machine& machine, const Input& input) {
    return std::visit(
        [&](const auto& one) {
          if constexpr (requires { machine.handle(one, now_), one.gen; }) {
            if (is_build(one.gen)) return false;
            machine.handle(one, now_);
            carry_out_all();
            return true;
          }
          return false;
        },
        input);
  }

  /// Makes an event of everything that `tell` does.
  template <class Tell>
  void turn(Tell tell) {
    now_ = events_.on_begin();
    tell();
    events_.on_end();
  }

  Log& log_;
  Events events_;
  /// The time of the event or the order that is being handled.
  Now now_{};
  Children children_;

 private:
  void tell_errors(Generation gen, const LineFramer::Frame& frame);

  EventLoop& loop_;
  ErrorOutput& error_output_;
};

}  // namespace sitter
