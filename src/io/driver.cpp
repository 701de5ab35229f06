#include "io/driver.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include "io/clock.hpp"
#include "io/control/control_server.hpp"
#include "io/files/file_watch.hpp"
#include "io/process/system_signals.hpp"
#include "io/stream/client_stdio.hpp"
#include "io/stream/event_loop.hpp"
#include "io/stream/line_relay.hpp"
#include "io/stream/message_framer.hpp"
#include "io/stream/timer.hpp"
#include "io/system/path_style.hpp"
#include "io/system/platform.hpp"
#include "io/trace.hpp"
#include "sitter/fact_queue.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

/// A client that has closed our stdin may still read its owed answers. The bridge stops waiting for
/// a client that takes nothing for this long. Official clients send SIGTERM 2 s after they have
/// closed our stdin.
constexpr std::chrono::seconds kLastWritesWait{1};

/// If the client has got no answer by then, the bridge opens its socket for `mcp-sitter ctl`
/// anyway.
constexpr std::chrono::milliseconds kFirstAnswerWait{100};

/// On one processor, the client takes its first answer only once the bridge waits.
constexpr std::chrono::milliseconds kAfterFirstAnswer{1};

/// A client that has said nothing for this long is taken to be busy with other things.
constexpr std::chrono::seconds kQuiet{2};

/// The working directory of the server, as an absolute path without a slash at its end. `cwd` is
/// the directory that was asked for; empty for our own. Empty if the path is relative to our
/// working directory and that directory is gone.
std::optional<std::string> server_folder(const std::filesystem::path& cwd) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(cwd.empty() ? "." : cwd, error);
  if (error) return {};
  std::string folder = whole.lexically_normal().generic_string();
  while (folder.ends_with('/')) folder.pop_back();
  return folder;
}

/// The first line on each connection of `mcp-sitter ctl`, which says what this bridge is for.
std::string greeting(const BridgeConfig& config, const std::string& name,
                     const std::optional<std::string>& folder) {
  nlohmann::ordered_json hello;
  hello["version"] = config.sitter_version;
  hello["name"] = name;
  hello["cwd"] = folder.value_or("");
  hello["command"] = config.command;
  hello["args"] = config.arguments;
  return hello.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

class Driver::Loop {
 public:
  explicit Loop(Parts parts)
      : parts_(std::move(parts)),
        bridge_(parts_.config, clock_.now()),
        backend_(parts_.backend(backend_parts())),
        timer_(loop_, [this] { on_due(); }),
        end_{Timer(loop_, [this] { loop_.stop(); })},
        signals_(loop_, signal_events()),

        start_{Timer(loop_, [this] { end_start(); })},
        work_{Timer(loop_, [this] { end_work(); })},

        client_output_(loop_, stdio_.take_output(),
                       {[this] { turn([this] { wait_for_last_writes(); }); },
                        [this] { turn([this] { feed(fact::ClientClosedOutput{}); }); }}),
        client_input_(loop_, stdio_.take_input(), message_framer(),
                      {[this](LineFramer& framer) { turn([&] { on_client_read(framer); }); },
                       [this](LineFramer& framer) { turn([&] { on_client_end(framer); }); },
                       {}}) {
    if (parts_.config.watches()) watch_files();
    client_output_.watch();
  }

  int run() {
    if (file_watch_) {
      file_watch_->start();
    } else if (parts_.config.watches()) {
      turn([this] {
        feed(fact::WatchChanged{0,
                                "nothing is watched: the working directory is gone; name a "
                                "directory with --cwd"});
      });
    }
    end_start_soon();
    loop_.run();
    return end_.exit_code;
  }

 private:
  Backend::Parts backend_parts() {
    Backend::Events events;
    events.on_begin = [this] { return now_ = clock_.now(); };
    events.on_fact = [this](const Fact& fact) { feed(fact); };
    events.on_end = [this] { end_turn(); };
    if (parts_.config.watches_binary) {
      events.on_binary = [this](const std::string& path, const std::string& behind) {
        watch_binary(path, behind);
      };
    }
    return {loop_,
            {parts_.command, parts_.build, parts_.keeper, parts_.log},
            parts_.error_output,
            relay_,
            std::move(events)};
  }

  /// Handles everything that one event of the loop leads to: facts, orders, and further facts that
  /// result from these orders. The writes come last, so that the lines of one read leave in one
  /// write.
  template <class Facts>
  void turn(Facts facts) {
    now_ = clock_.now();
    facts();
    end_turn();
  }

  void end_turn() {
    while (const Fact* const fact = backend_->next_fact()) feed(*fact);
    do {
      client_output_.flush();
      backend_->flush();
    } while (tell_of_queue());
    pause_readers();
    end_if_written();
    arm();
  }

  void feed(const Fact& fact) { facts_.feed(fact); }

  void decide(const Fact& fact) {
    if (parts_.log.is_trace()) parts_.log.trace(to_text(fact, parts_.log.secrets()));
    bridge_.handle(fact, now_);
    carry_out_all();
  }

  void on_timeout() {
    backend_->handle_timeout(now_);
    facts_.act([this] {
      bridge_.handle_timeout(now_);
      carry_out_all();
    });
  }

  void carry_out_all() {
    while (Order* const order = bridge_.poll_order()) {
      if (parts_.log.is_trace()) parts_.log.trace(to_text(*order, parts_.log.secrets()));
      std::visit(
          [&](auto& one) {
            if constexpr (requires { carry_out(one); }) {
              carry_out(one);
            } else {
              backend_->carry_out(*order, now_);
            }
          },
          *order);
    }
  }

  // ---- facts

  /// Waits until the client has its first answer, because all that is not needed for this answer
  /// would delay it.
  void end_start_soon() {
    start_.is_on = true;
    start_.timer.set(Instant::clock::now() + kFirstAnswerWait);
  }

  void on_answer() {
    if (!start_.is_on || std::exchange(start_.is_answered, true)) return;
    // The answer is written first.
    loop_.post([this] { start_.timer.set(Instant::clock::now() + kAfterFirstAnswer); });
  }

  void end_start() {
    if (!std::exchange(start_.is_on, false)) return;
    start_.timer.cancel();
    if (parts_.control.is_on) open_control();
    platform::give_back_program();
  }

  void note_work() {
    work_.goes_on = true;
    if (!std::exchange(work_.is_on, true)) work_.timer.set(Instant::clock::now() + kQuiet);
  }

  /// An idle bridge is to take little memory.
  void end_work() {
    work_.is_on = false;
    if (!std::exchange(work_.goes_on, false)) {
      platform::give_back_program();
    } else {
      work_.is_on = true;
      work_.timer.set(Instant::clock::now() + kQuiet);
    }
  }

  void open_control() {
    ControlServer::Events events;
    events.on_line = [this](ControlId connection, std::string_view line) {
      turn([&] { feed(fact::ControlLine{connection, line}); });
    };
    events.on_closed = [this](ControlId connection) {
      turn([&] { feed(fact::ControlClosed{connection}); });
    };
    std::string error;
    control_ = ControlServer::open(
        loop_, greeting(parts_.config, parts_.control.name, server_folder(parts_.command.cwd)),
        std::move(events), error);
    if (control_) return;
    parts_.log.write(order::Log::Level::warn,
                     fmt::format("mcp-sitter ctl can't reach this mcp-sitter: {}", error));
  }

  void watch_files() {
    std::optional<std::string> base = server_folder(parts_.command.cwd);
    if (!base) return;
    FileWatch::Events events;
    events.on_changed = [this](fact::FilesChanged fact) { turn([&] { feed(fact); }); };
    events.on_extent = [this](fact::WatchChanged fact) { turn([&] { feed(fact); }); };
    file_watch_ = std::make_unique<FileWatch>(
        loop_, WatchFilter(parts_.config.watch_patterns, *std::move(base), kPathStyle),
        std::move(events));
    if (parts_.config.watches_binary) watch_binary(backend_->binary_path(), {});
  }

  void on_client_read(LineFramer& framer) {
    if (start_.is_answered) end_start();
    note_work();
    // A file that was saved before the client sent its lines must be known first.
    if (file_watch_) file_watch_->read_pending();
    relay_.each_frame(framer, [this](const LineFramer::Frame& frame) { feed_client(frame); });
  }

  void on_client_end(LineFramer& framer) {
    if (const auto frame = framer.rest()) feed_client(*frame);
    feed(fact::ClientClosedInput{});
  }

  void feed_client(const LineFramer::Frame& frame) {
    if (frame.size == 0) {
      feed(fact::ClientLine{frame.line});
    } else {
      feed(fact::ClientLineTooLong{frame.head, frame.tail, frame.size});
    }
  }

  SystemSignals::Events signal_events() {
    SystemSignals::Events events;
    events.on_stop = [this](int exit_code) {
      turn([&] {
        if (end_.is_on) end_.may_wait = false;
        feed(fact::StopSignalled{exit_code});
      });
    };
    events.on_reload = [this] { turn([this] { feed(fact::ReloadAsked{"SIGHUP"}); }); };
    events.on_status = [this] { turn([this] { feed(fact::StatusAsked{}); }); };
    events.on_child_ended = [this] { turn([this] { backend_->reap(now_); }); };
    return events;
  }

  /// Tells the core when a queue to a child has crossed its bound. Returns false if none has.
  bool tell_of_queue() {
    const auto fact = backend_->crossed_queue();
    if (fact) feed(*fact);
    return fact.has_value();
  }

  /// Stops reading from one side while the other side does not take its output.
  void pause_readers() {
    // Lines from the client also cause output to the client: the answers of the bridge itself.
    const bool is_client_full = client_output_.queued() >= limits::kQueueBytesMax;
    client_input_.set_paused(is_client_full || !bridge_.reads_client());
    backend_->set_paused(is_client_full);
  }

  // ---- orders

  void carry_out(order::SendToClient& order) {
    relay_.put(order.line, client_output_);
    on_answer();
  }

  void watch_binary(const std::string& path, const std::string& behind) {
    // `set_binary` may report facts, which must not happen while an order is carried out.
    loop_.post([this, path, behind] {
      if (file_watch_) file_watch_->set_binary(path, behind);
    });
  }

  void carry_out(order::SendToControl& order) {
    if (control_) control_->send(order.connection, order.line);
  }

  void carry_out(order::Log& order) { parts_.log.write(order.level, order.text); }

  void carry_out(order::Exit& order) {
    end_.exit_code = order.code;
    end_.is_on = true;
    end_.may_wait = order.may_wait;
    wait_for_last_writes();
  }

  void wait_for_last_writes() {
    if (!end_.is_on) return;
    end_.last_writes.set(Instant::clock::now() + kLastWritesWait);
  }

  void end_if_written() {
    if (!end_.is_on) return;
    client_output_.flush();
    if (client_output_.queued() == 0 || !end_.may_wait) loop_.stop();
  }

  // ---- time

  void arm() {
    auto due = bridge_.next_timeout();
    earlier(due, backend_->next_timeout());
    if (due == armed_for_) return;
    armed_for_ = due;
    if (due) {
      timer_.set(*due);
    } else {
      timer_.cancel();
    }
  }

  /// What has ended by now is never late for a deadline either.
  void on_due() {
    armed_for_.reset();
    turn([this] { backend_->reap(now_); });
    turn([this] { on_timeout(); });
  }

  /// Until the client has its first answer.
  struct Start {
    Timer timer;
    bool is_on = false;
    bool is_answered = false;
  };

  /// From the first line of the client until it has been quiet for a while.
  struct Work {
    Timer timer;
    bool is_on = false;
    bool goes_on = false;  ///< since the timer was set
  };

  /// After the last order: the last writes to the client are waited for.
  struct End {
    Timer last_writes;
    int exit_code = 0;
    bool is_on = false;
    bool may_wait = true;
  };

  Parts parts_;
  EventLoop loop_;
  ClientStdio stdio_;
  Clock clock_{loop_};
  Bridge bridge_;
  Now now_;
  FactQueue facts_{[this](const Fact& fact) { decide(fact); }};
  LineRelay relay_;
  std::unique_ptr<Backend> backend_;

  Timer timer_;
  std::optional<Instant> armed_for_;
  End end_;
  SystemSignals signals_;

  /// Null if nothing is watched.
  std::unique_ptr<FileWatch> file_watch_;
  std::unique_ptr<ControlServer> control_;
  Start start_;
  Work work_;

  // These come last, since they begin to work at once.
  StreamWriter client_output_;
  StreamReader client_input_;
};

Driver::Driver(Parts parts) : loop_(std::make_unique<Loop>(std::move(parts))) {}
Driver::~Driver() = default;
int Driver::run() { return loop_->run(); }

}  // namespace sitter
