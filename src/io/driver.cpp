#include "sitter/io/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <deque>
#include <filesystem>
#include <list>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "sitter/io/binary_watch.hpp"
#include "sitter/io/child_process.hpp"
#include "sitter/io/client_stdio.hpp"
#include "sitter/io/command_files.hpp"
#include "sitter/io/control_server.hpp"
#include "sitter/io/event_loop.hpp"
#include "sitter/io/file_watch.hpp"
#include "sitter/io/hangup.hpp"
#include "sitter/io/image_sweep.hpp"
#include "sitter/io/launch.hpp"
#include "sitter/io/reaper.hpp"
#include "sitter/io/runners.hpp"
#include "trace.hpp"

namespace sitter {
namespace {

using boost::system::error_code;

/// Both clocks for the price of one: the wall clock is looked at once a second, and counted on from
/// there.
class Clock {
 public:
  Now now() {
    const Instant steady = std::chrono::steady_clock::now();
    if (steady - seen_.steady >= std::chrono::seconds(1)) {
      seen_ = {steady, std::chrono::system_clock::now()};
    }
    return {steady,
            seen_.wall + std::chrono::duration_cast<WallTime::duration>(steady - seen_.steady)};
  }

 private:
  Now seen_{};
};

/// A client that has closed our stdin may still be reading what it is owed, but not one that takes
/// nothing for so long. Official clients send SIGTERM 2 s after they have closed it.
constexpr std::chrono::seconds kLastWritesWait{1};

/// How long a client that says nothing keeps `mcp-sitter ctl` waiting.
constexpr std::chrono::milliseconds kControlWait{100};

/// Lines from this size on are held where they were read until the other side has taken them; of a
/// smaller one a copy costs little, and its buffer may be larger than itself.
constexpr std::size_t kHeldFrom = 4 * limits::kMiB;

}  // namespace

class Driver::Loop {
 public:
  explicit Loop(Parts parts)
      : parts_(std::move(parts)),
        bridge_(parts_.config, clock_.now()),
        last_binary_(parts_.command),
        timer_(loop_.io()),
        last_writes_(loop_.io()),
        signals_(loop_.io(), SIGTERM, SIGINT, SIGUSR1),
        hangups_(loop_, [this](HangupSignals::Sender sender) { turn([&] { on_hangup(sender); }); }),
        control_timer_(loop_.io()),
        child_signals_(loop_.io(), SIGCHLD),
        client_output_(loop_, stdio_.take_output(),
                       {[this] { turn([this] { wait_for_last_writes(); }); },
                        [this] { turn([this] { feed(input::ClientClosedOutput{}); }); }}),
        client_input_(loop_, stdio_.take_input(), LineFramer(),
                      {[this](LineFramer& framer) { turn([&] { on_client_read(framer); }); },
                       [this](LineFramer& framer) { turn([&] { on_client_end(framer); }); },
                       {}}) {
    if (parts_.config.watches()) watch_files();
    client_output_.watch();
    wait_for_signal();
    wait_for_child_signal();
  }

  int run() {
    if (file_watch_) file_watch_->start();
    if (parts_.control.is_on) open_control_soon();
    loop_.run();
    return exit_code_;
  }

 private:
  /// Or a build.
  struct Child {
    Generation gen;
    std::unique_ptr<ChildProcess> process;
    BinaryWatch binary;
    bool is_input_full = false;
  };

  /// Everything that one event of the loop leads to: facts, orders, further facts that these lead
  /// to, and only then the writes, so that the lines of one read go out in one write.
  template <class Facts>
  void turn(Facts facts) {
    now_ = clock_.now();
    facts();
    do {
      client_output_.flush();
      for (Child& child : children_) child.process->input().flush();
    } while (tell_of_queues());
    pause_readers();
    end_if_written();
    arm();
  }

  /// One fact, then every order, then the next fact: those that the orders lead to wait in
  /// `later_`.
  void feed(const Input& input) {
    if (is_deciding_) {
      later_.push_back(input);
      return;
    }
    is_deciding_ = true;
    decide(input);
    while (!later_.empty()) {
      const Input next = std::move(later_.front());
      later_.pop_front();
      decide(next);
    }
    is_deciding_ = false;
  }

  void decide(const Input& input) {
    if (parts_.log.is_trace()) parts_.log.trace(to_text(input));
    bridge_.handle(input, now_);
    carry_out_all();
  }

  void on_timeout() {
    is_deciding_ = true;
    bridge_.handle_timeout(now_);
    carry_out_all();
    is_deciding_ = false;
    if (later_.empty()) return;
    const Input first = std::move(later_.front());
    later_.pop_front();
    feed(first);
  }

  void carry_out_all() {
    while (auto action = bridge_.poll_action()) {
      if (parts_.log.is_trace()) parts_.log.trace(to_text(*action));
      std::visit([this](auto& order) { carry_out(order); }, *action);
    }
  }

  // ---- facts

  /// Absolute, without a slash at its end.
  std::string server_folder() const {
    const std::filesystem::path cwd = parts_.command.cwd.empty() ? "." : parts_.command.cwd;
    std::string folder = std::filesystem::absolute(cwd).lexically_normal().generic_string();
    while (folder.ends_with('/')) folder.pop_back();
    return folder;
  }

  /// Not before the client has its first answer, which would come later for it.
  void open_control_soon() {
    is_control_due_ = true;
    control_timer_.expires_after(kControlWait);
    control_timer_.async_wait([this](error_code error) {
      if (!error) open_control();
    });
  }

  void open_control() {
    if (!std::exchange(is_control_due_, false)) return;
    control_timer_.cancel();
    nlohmann::ordered_json hello;
    hello["version"] = parts_.config.sitter_version;
    hello["name"] = parts_.control.name;
    hello["cwd"] = server_folder();
    hello["command"] = parts_.config.command;
    hello["args"] = parts_.config.arguments;
    ControlServer::Events events;
    events.on_line = [this](ControlId connection, std::string_view line) {
      turn([&] { feed(input::ControlLine{connection, line}); });
    };
    events.on_closed = [this](ControlId connection) {
      turn([&] { feed(input::ControlClosed{connection}); });
    };
    std::string error;
    control_ = ControlServer::open(
        loop_, hello.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
        std::move(events), error);
    if (control_) return;
    parts_.log.write(action::Log::Level::warn,
                     fmt::format("mcp-sitter ctl can't reach this one: {}", error));
  }

  void watch_files() {
    std::string base = server_folder();
    FileWatch::Events events;
    events.on_changed = [this](input::FilesChanged fact) { turn([&] { feed(fact); }); };
    events.on_extent = [this](input::WatchChanged fact) { turn([&] { feed(fact); }); };
    file_watch_ = std::make_unique<FileWatch>(
        loop_, WatchFilter(parts_.config.watch_patterns, std::move(base)), std::move(events));
    BinaryWatch binary(parts_.command);
    binary.before_start(plan_launch(parts_.command));
    watch_binary(binary.path());
  }

  void on_client_read(LineFramer& framer) {
    reading_ = &framer;
    while (const auto frame = framer.next()) feed_client(*frame);
    reading_ = nullptr;
  }

  void on_client_end(LineFramer& framer) {
    if (const auto frame = framer.rest()) feed_client(*frame);
    feed(input::ClientClosedInput{});
  }

  void feed_client(const LineFramer::Frame& frame) {
    if (frame.size == 0) {
      feed(input::ClientLine{frame.line});
    } else {
      feed(input::ClientLineTooLong{frame.head, frame.tail, frame.size});
    }
  }

  void feed_child(Generation gen, const LineFramer::Frame& frame, bool is_unfinished = false) {
    if (frame.size == 0) {
      feed(input::ChildLine{gen, frame.line, is_unfinished});
    } else {
      feed(input::ChildLineTooLong{gen, frame.head, frame.tail, frame.size});
    }
  }

  void feed_child_error(Generation gen, const LineFramer::Frame& frame) {
    if (frame.size == 0) {
      feed(input::ChildErrorLine{gen, frame.line.text(), 0});
    } else {
      feed(input::ChildErrorLine{gen, frame.head,
                                 frame.size - frame.head.size() - frame.tail.size()});
      if (!frame.tail.empty()) feed(input::ChildErrorLine{gen, frame.tail, 0});
    }
  }

  void wait_for_signal() {
    signals_.async_wait([this](error_code error, int signal) {
      if (error) return;
      turn([&] {
        if (signal == SIGUSR1) {
          feed(input::StatusAsked{});
        } else {
          stop(signal);
        }
      });
      wait_for_signal();
    });
  }

  void stop(int signal) {
    if (is_ending_) may_wait_at_end_ = false;
    feed(input::StopSignalled{128 + signal});
  }

  void on_hangup(HangupSignals::Sender sender) {
    if (sender == HangupSignals::Sender::system) {
      stop(SIGHUP);
    } else {
      feed(input::ReloadAsked{});
    }
  }

  void wait_for_child_signal() {
    child_signals_.async_wait([this](error_code error, int) {
      if (error) return;
      turn([this] { on_children_ended(); });
      wait_for_child_signal();
    });
  }

  void on_children_ended() {
    bool is_orphan = false;
    for (const Reaped& reaped : reap()) {
      const auto child = std::find_if(children_.begin(), children_.end(), [&](const Child& c) {
        return c.process->pid() == reaped.pid;
      });
      if (child == children_.end()) {
        is_orphan = true;
        continue;
      }
      child->process->set_exited();
      feed(input::ChildExited{child->gen, reaped.status});
    }
    if (is_orphan) feed(input::OrphanEnded{});
  }

  /// Tells the core when a queue to a child has crossed its bound; false if none has.
  bool tell_of_queues() {
    for (Child& child : children_) {
      const bool is_full = child.process->input().queued() >= limits::kQueueBytesMax;
      if (std::exchange(child.is_input_full, is_full) == is_full) continue;
      if (is_full) {
        feed(input::ChildInputFull{child.gen});
      } else {
        feed(input::ChildInputDrained{child.gen});
      }
      return true;
    }
    return false;
  }

  /// Stops reading where the other side does not take what it is sent.
  void pause_readers() {
    // What the client sends makes output too: answers of the bridge itself.
    const bool is_client_full = client_output_.queued() >= limits::kQueueBytesMax;
    client_input_.set_paused(is_client_full || !bridge_.reads_client());
    for (Child& child : children_) child.process->set_output_paused(is_client_full);
  }

  // ---- orders

  void carry_out(action::SendToClient& order) {
    put(order.line, client_output_);
    if (is_control_due_) loop_.post([this] { open_control(); });
  }

  void carry_out(action::SendToChild& order) {
    if (Child* const child = find(order.gen)) put(order.line, child->process->input());
  }

  void put(const Outgoing& line, StreamWriter& writer) const {
    if (line.middle.empty() && line.tail.empty()) {
      writer.append_line(line.head, holder_of(line.head));
      return;
    }
    writer.append(line.head, holder_of(line.head));
    writer.append(line.middle);
    writer.append_line(line.tail, holder_of(line.tail));
  }

  /// What keeps a large piece of the line that is passed on.
  std::shared_ptr<const void> holder_of(std::string_view piece) const {
    const bool is_passed =
        piece.size() >= kHeldFrom && reading_ != nullptr && reading_->is_filled_by(piece);
    return is_passed ? reading_->buffer() : nullptr;
  }

  void carry_out(action::StartChild& order) {
    const PlannedLaunch planned = plan_launch(parts_.command);
    started_files_ = command_files(parts_.command, planned);
    BinaryWatch binary(parts_.command);
    binary.before_start(planned);
    watch_binary(binary.path());
    start(order.gen, planned, std::move(binary));
  }

  void carry_out(action::StartBuild& order) {
    if (!start(order.gen, plan_launch(parts_.build), BinaryWatch(parts_.command))) return;
    // It is asked nothing.
    if (Child* const build = find(order.gen)) build->process->input().close();
  }

  bool start(Generation gen, const PlannedLaunch& planned, BinaryWatch binary) {
    auto launched = launch(planned);
    if (auto* const failure = std::get_if<LaunchFailure>(&launched)) {
      if (!is_build(gen)) last_binary_ = std::move(binary);
      feed(input::ChildStartFailed{gen, std::move(failure->reason),
                                   failure->is_file_busy && !is_build(gen)});
      return false;
    }
    Launched& process = std::get<Launched>(launched);
    const long pid = process.pid;
    const UnitReach reach = is_build(gen) ? UnitReach::session : UnitReach::descendants;
    Child& child = children_.emplace_back(
        Child{gen, std::make_unique<ChildProcess>(loop_, std::move(process), reach, events_of(gen)),
              std::move(binary)});
    tell_keeper(&Keeper::child_started, child.process->unit());
    if (!is_build(gen)) child.binary.on_started(pid, now_.wall);
    feed(input::ChildStarted{gen, pid});
    return true;
  }

  void tell_keeper(bool (Keeper::*what)(const ProcessUnit&), const ProcessUnit& unit) {
    if (!parts_.keeper || ((*parts_.keeper).*what)(unit)) return;
    parts_.keeper.reset();
    parts_.log.write(action::Log::Level::warn, std::string(kNoKeeper));
  }

  ChildProcess::Events events_of(Generation gen) {
    return {[this, gen](LineFramer& framer) {
              turn([&] {
                reading_ = &framer;
                while (const auto frame = framer.next()) feed_child(gen, *frame);
                reading_ = nullptr;
              });
            },
            [this, gen](LineFramer& framer) {
              turn([&] {
                if (const auto frame = framer.rest()) feed_child(gen, *frame, true);
                feed(input::ChildOutputEnded{gen});
              });
            },
            [this, gen](LineFramer& framer) {
              turn([&] {
                while (const auto frame = framer.next()) feed_child_error(gen, *frame);
              });
            },
            [this, gen](LineFramer& framer) {
              turn([&] {
                if (const auto frame = framer.rest()) feed_child_error(gen, *frame);
                feed(input::ChildErrorEnded{gen});
              });
            },
            [this, gen](std::string_view bytes) {
              if (!is_build(gen)) parts_.error_output.write(bytes);
            },
            [this, gen] {
              turn([&] {
                const Child* const child = find(gen);
                if (child != nullptr && child->is_input_full) feed(input::ChildInputMoved{gen});
              });
            },
            [this, gen] { turn([&] { feed(input::ChildInputBroken{gen}); }); }};
  }

  void carry_out(action::CloseChildInput& order) {
    if (Child* const child = find(order.gen)) child->process->input().close();
  }

  void carry_out(action::SignalUnit& order) {
    input::UnitSignalled fact;
    fact.gen = order.gen;
    Child* const child = find(order.gen);
    if (child == nullptr) return;
    ProcessUnit& unit = child->process->unit();
    const auto add = [&](const ProcessInfo& process, Delivery delivery) {
      const auto words = arguments_of(process.pid);
      fact.processes.push_back(
          {process.pid, process.pid == unit.leader(), process.command,
           delivery == Delivery::not_permitted ? "it may not be signalled (EPERM)" : "",
           !words.empty() && runner_kind(words.front()) == Runner::remote});
    };
    const std::vector<long> others = not_of(order.gen);
    if (order.how == action::SignalUnit::How::look) {
      for (const ProcessInfo& process : unit.members(others)) add(process, Delivery::delivered);
    } else {
      for (const Signalled& signalled : unit.signal(signal_of(order.how), others)) {
        add(signalled.process, signalled.delivery);
      }
    }
    feed(fact);
  }

  static UnitSignal signal_of(action::SignalUnit::How how) {
    return how == action::SignalUnit::How::kill ? UnitSignal::kill : UnitSignal::terminate;
  }

  /// Processes of ours that do not belong to this child.
  std::vector<long> not_of(Generation gen) const {
    std::vector<long> others;
    if (parts_.keeper) others.push_back(parts_.keeper->pid());
    for (const Child& child : children_) {
      if (child.gen != gen) others.push_back(child.process->pid());
    }
    return others;
  }

  void carry_out(action::ReleaseChild& order) {
    const auto child = std::find_if(children_.begin(), children_.end(),
                                    [&](const Child& c) { return c.gen == order.gen; });
    if (child == children_.end()) return;
    const std::vector<long> others = not_of(order.gen);
    ProcessUnit& unit = child->process->unit();
    unit.signal(UnitSignal::kill, others);
    // What could not be killed stays known to the keeper, which tries again when we are gone.
    if (unit.members(others).empty()) tell_keeper(&Keeper::child_over, unit);
    if (!is_build(order.gen)) last_binary_ = child->binary;
    // The order may have come from an event of this very child.
    loop_.post([gone = std::shared_ptr<ChildProcess>(std::move(child->process))] {});
    children_.erase(child);
  }

  void carry_out(action::SweepImage& order) {
    input::ImageSwept fact;
    const ImageIdentity image = last_binary_.image_to_sweep(order.scope);
    for (const ProcessInfo& process : same_image(image, not_of(kNoGeneration))) {
      if (signal_same_image(process.pid, image, signal_of(order.how)) == Delivery::delivered) {
        fact.processes.push_back({process.pid, process.command});
      }
    }
    feed(fact);
  }

  void carry_out(action::InspectBinary& order) {
    Child* const child = find(order.gen);
    input::BinaryInspected fact{child == nullptr ? last_binary_.look(0)
                                                 : child->binary.look(child->process->pid())};
    if (fact.facts.path && fact.facts.exists) watch_binary(*fact.facts.path);
    feed(fact);
  }

  void watch_binary(const std::string& path) {
    if (!parts_.config.watches_binary) return;
    // Not from within an order, since it may lead to facts.
    loop_.post([this, path] { file_watch_->set_binary(path); });
  }

  void carry_out(action::CheckCommandFiles&) {
    feed(input::CommandFilesChecked{command_files(parts_.command, plan_launch(parts_.command)) !=
                                    started_files_});
  }

  void carry_out(action::SendToControl& order) {
    if (control_) control_->send(order.connection, order.line);
  }

  void carry_out(action::Log& order) { parts_.log.write(order.level, order.text); }

  void carry_out(action::Exit& order) {
    exit_code_ = order.code;
    is_ending_ = true;
    may_wait_at_end_ = order.may_wait;
    wait_for_last_writes();
  }

  void wait_for_last_writes() {
    if (!is_ending_) return;
    last_writes_.expires_after(kLastWritesWait);
    last_writes_.async_wait([this](error_code error) {
      if (!error) loop_.stop();
    });
  }

  void end_if_written() {
    if (!is_ending_) return;
    client_output_.flush();
    if (client_output_.queued() == 0 || !may_wait_at_end_) loop_.stop();
  }

  // ---- time

  void arm() {
    const auto due = bridge_.next_timeout();
    if (due == armed_for_) return;
    armed_for_ = due;
    if (!due) {
      timer_.cancel();
      return;
    }
    timer_.expires_at(*due);
    timer_.async_wait([this](error_code error) {
      if (error) return;
      armed_for_.reset();
      turn([this] { on_timeout(); });
    });
  }

  Child* find(Generation gen) {
    for (Child& child : children_) {
      if (child.gen == gen) return &child;
    }
    return nullptr;
  }

  Parts parts_;
  EventLoop loop_;
  ClientStdio stdio_;
  Clock clock_;
  Bridge bridge_;
  Now now_;
  bool is_deciding_ = false;
  std::deque<Input> later_;
  /// Whose lines are being fed.
  const LineFramer* reading_ = nullptr;
  std::list<Child> children_;
  /// Of the last child that has gone.
  BinaryWatch last_binary_;
  std::string started_files_;

  boost::asio::steady_timer timer_;
  std::optional<Instant> armed_for_;
  boost::asio::steady_timer last_writes_;
  boost::asio::signal_set signals_;
  HangupSignals hangups_;
  /// Where something is watched.
  std::unique_ptr<FileWatch> file_watch_;
  std::unique_ptr<ControlServer> control_;
  bool is_control_due_ = false;
  boost::asio::steady_timer control_timer_;
  boost::asio::signal_set child_signals_;

  int exit_code_ = 0;
  bool is_ending_ = false;
  bool may_wait_at_end_ = true;

  // Last, since they begin to work at once.
  StreamWriter client_output_;
  StreamReader client_input_;
};

Driver::Driver(Parts parts) : loop_(std::make_unique<Loop>(std::move(parts))) {}
Driver::~Driver() = default;
int Driver::run() { return loop_->run(); }

}  // namespace sitter
