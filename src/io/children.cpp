#include "io/children.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>
#include <variant>

#include "core/base/paths.hpp"
#include "io/control/control_client.hpp"
#include "io/control/control_folder.hpp"
#include "io/files/binary_info.hpp"
#include "io/files/daemon_record.hpp"
#include "io/files/era_cache.hpp"
#include "io/process/image_sweep.hpp"
#include "io/process/launch.hpp"
#include "io/process/launch_system.hpp"
#include "io/process/reaper.hpp"
#include "io/process/runners.hpp"
#include "io/process/system_signals.hpp"
#include "io/stream/event_loop.hpp"
#include "io/system/file_facts.hpp"
#include "io/system/path_style.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

UnitSignal signal_of(order::SignalUnit::How how) {
  return how == order::SignalUnit::How::kill ? UnitSignal::kill : UnitSignal::terminate;
}

/// The file is given by its real path.
bool is_in(const std::string& folder, const std::string& file) {
  std::string real = real_path(folder);
  if (real.ends_with('/')) real.pop_back();
  return !real.empty() && is_at_or_below(file, real, kPathStyle);
}

/// Moves a run to a directory that is relative to its own. The files of the tool itself are still
/// found from its own directory.
void move_to(const std::string& directory, LaunchRequest& request) {
  const std::filesystem::path own = request.cwd;
  const auto keep = [&own](std::string& word) {
    std::error_code error;
    const auto file = std::filesystem::absolute(own / word, error);
    if (!error) word = file.generic_string();
  };
  if (names_folder(request.command)) keep(request.command);
  for (std::string& word : request.arguments) {
    std::error_code ignored;  // what cannot be looked at is no file
    if (!word.starts_with('-') && std::filesystem::is_regular_file(own / word, ignored)) keep(word);
  }
  request.cwd = (own / directory).generic_string();
  request.cwd_source = "the member cwd in the description";
}

}  // namespace

Children::Children(EventLoop& loop, Parts parts,
                   std::function<ChildProcess::Events(Number)> events_of)
    : loop_(loop), parts_(parts), events_of_(std::move(events_of)), last_binary_(parts_.command) {}

std::optional<Fact> Children::carry_out(const order::StartChild& order, WallTime now) {
  LaunchRequest request = parts_.command;
  // Which file the build makes is a guess. After a build, only the start shows whether it was
  // right.
  if (std::exchange(has_built_, false)) request.is_built = false;
  PlannedLaunch planned = plan_launch(request);
  const auto* const plan = std::get_if<LaunchPlan>(&planned);
  if (plan != nullptr && AsideFiles::restore(plan->program, program_endings({}))) {
    planned = plan_launch(request);
  }
  started_files_ = command_files(parts_.command, planned);
  LoadedBinary binary(parts_.command);
  binary.before_start(planned);
  started_era_ = era_key(planned, binary.loaded());
  return start(order.gen, planned, std::move(binary), now);
}

std::optional<Fact> Children::carry_out(const order::StartBuild& order, WallTime) {
  std::string problems = put_files_aside();
  Fact fact = start(order.gen, plan_launch(parts_.build), LoadedBinary(parts_.command), {});
  if (ChildProcess* const build = find(order.gen)) {
    build->begin_error_with(std::move(problems));
    // A build must not wait for input.
    build->input().close();
  } else {
    aside_.put_back();
  }
  return fact;
}

/// Returns what is to be told about it, in lines.
std::string Children::put_files_aside() {
  std::string problems;
  if (!parts_.build.puts_files_aside || !locks_files()) return problems;
  const PlannedLaunch planned = plan_launch(parts_.build);
  const auto* const plan = std::get_if<LaunchPlan>(&planned);
  std::set<std::string> files;
  for (Child& child : children_) {
    if (is_errand(child.gen()) || plan == nullptr) continue;
    for (const ProcessInfo& member : child.process->unit().members(not_of(child.gen()))) {
      for (std::string& file : locked_files_of(member.pid)) {
        // Builds do not make packages that were installed.
        const bool is_made = (is_in(plan->cwd, file) || is_in(child.cwd, file)) &&
                             file.find("/node_modules/") == file.npos;
        if (is_made) files.insert(std::move(file));
      }
    }
  }
  for (const std::string& problem : aside_.put_aside({files.begin(), files.end()})) {
    problems += "[mcp-sitter] " + problem + "\n";
  }
  return problems;
}

std::optional<Fact> Children::carry_out(const order::StartRun& order, WallTime) {
  LaunchRequest request = parts_.command;
  if (!order.cwd.empty()) move_to(order.cwd, request);
  request.arguments.insert(request.arguments.end(), order.arguments.begin(), order.arguments.end());
  request.environment.insert(request.environment.end(), order.environment.begin(),
                             order.environment.end());
  Fact fact = start(order.gen, plan_launch(request), LoadedBinary(parts_.command), {});
  if (ChildProcess* const run = find(order.gen)) {
    run->input().append(order.input);
    run->input().flush();
    end_run_input(order.gen);
  }
  return fact;
}

void Children::end_run_input(Generation gen) {
  ChildProcess* const run = find(gen);
  if (run != nullptr && run->input().queued() == 0) run->input().close();
}

Fact Children::start(Generation gen, const PlannedLaunch& planned, LoadedBinary binary,
                     WallTime now) {
  const auto* const plan = std::get_if<LaunchPlan>(&planned);
  const bool outlives = plan != nullptr && plan->outlives_bridge;
  Keeper* const keeper = parts_.keeper && !outlives ? &*parts_.keeper : nullptr;
  auto launched = launch(planned, gen, keeper);
  if (auto* const failure = std::get_if<LaunchFailure>(&launched)) {
    tell_keeper_over(gen);
    if (!is_errand(gen)) last_binary_ = std::move(binary);
    return fact::ChildStartFailed{
        .gen = gen,
        .reason = std::move(failure->reason),
        .is_file_busy = failure->is_file_busy && !is_build(gen),
        .is_missing = failure->is_missing,
        .is_out_of_files = failure->is_out_of_files,
    };
  }
  Launched& process = std::get<Launched>(launched);
  const long pid = process.pid;
  std::optional<OutputDrain> drain;
  if (outlives) drain = start_drain(process);
  Child& child = add(gen, std::move(process), std::move(binary));
  child.drain = std::move(drain);
  child.program = plan->program;
  child.cwd = plan->cwd;
  if (!is_errand(gen)) child.binary.on_started(now);
  if (child.drain) leave_record(child);
  return fact::ChildStarted{gen, pid};
}

Children::Child& Children::add(Generation gen, Launched&& process, LoadedBinary binary) {
  const auto number = std::make_shared<Generation>(gen);
  return children_.emplace_back(Child{
      number, std::make_unique<ChildProcess>(loop_, std::move(process), gen, events_of_(number)),
      std::move(binary)});
}

std::optional<OutputDrain> Children::start_drain(const Launched& daemon) const {
  OutputDrain::Files files;
  if (!parts_.command.daemon_url.empty() && prepare_control_folder().empty()) {
    files = {daemon_socket_path(daemon.pid), daemon_record_path(daemon.pid)};
  }
  return OutputDrain::start(daemon, files);
}

void Children::leave_record(const Child& child) const {
  if (parts_.command.daemon_url.empty()) return;
  const long pid = child.process->pid();
  DaemonRecord::of(parts_.command, pid, child.binary.started(), child.binary.loaded())
      .write(daemon_record_path(pid));
}

/// Behind a shell, only the running process shows the file of a daemon.
BinaryFacts Children::look_at_file(Child& child) const {
  const std::string before = child.binary.path();
  BinaryFacts facts = child.binary.look(child.process->pid());
  if (child.drain && child.binary.path() != before) leave_record(child);
  return facts;
}

Fact Children::take_daemon(Generation gen, const Listens& listens) {
  for (const std::string& path : daemon_records()) {
    const DaemonRecord record = DaemonRecord::read(path);
    const std::string socket = daemon_socket_of(path);
    const auto process = find_process(record.pid);
    const bool lives = process && process->start == record.start && !process->zombie;
    if (lives && !record.is_of(parts_.command)) continue;
    if (!lives || !listens(ProcessUnit(record.pid, gen).members(not_of(gen)))) {
      remove_control_file(socket);
      remove_control_file(path);
      continue;
    }
    auto exit = ExitWatch::of(record.pid, loop_, signal_child_ended);
    auto taken = exit ? OutputDrain::take(socket) : std::nullopt;
    if (!taken) continue;
    taken->daemon.pid = record.pid;
    Child& child = add(gen, std::move(taken->daemon), LoadedBinary(parts_.command));
    child.binary.on_taken(record.started, record.binary);
    child.process->begin_error_with(std::move(taken->error));
    child.drain = std::move(taken->drain);
    // The exit is looked for with those that are reaped.
    child.exit = std::move(exit);
    if (parts_.keeper && !parts_.command.outlives_bridge) {
      parts_.keeper->child_started(gen, *process);
    }
    return fact::ChildStarted{gen, record.pid};
  }
  return fact::ChildStartFailed{gen, "no earlier session has started it"};
}

std::optional<Fact> Children::carry_out(const order::RenumberChild& order, WallTime now) {
  const auto child = at(order.from);
  if (child == children_.end()) return std::nullopt;
  *child->number = order.gen;
  // The new server has read the files at the latest now.
  const PlannedLaunch planned = plan_launch(parts_.command);
  started_files_ = command_files(parts_.command, planned);
  child->binary = LoadedBinary(parts_.command);
  child->binary.before_start(planned);
  started_era_ = era_key(planned, child->binary.loaded());
  child->binary.on_started(now);
  child->sources_of.clear();
  child->sources.reset();
  return std::nullopt;
}

std::optional<Fact> Children::carry_out(const order::CloseChildInput& order, WallTime) {
  if (ChildProcess* const child = find(order.gen)) child->input().close();
  return std::nullopt;
}

void Children::tell_keeper_over(Generation gen) {
  if (!parts_.keeper || parts_.keeper->child_over(gen)) return;
  parts_.keeper->abandon();
  replace_keeper();
}

void Children::replace_keeper() {
  const std::string socket = parts_.keeper->socket();
  parts_.keeper.reset();
  const bool may_start = keepers_started_++ < kKeeperStartsMax;
  std::optional<Keeper> next = may_start ? Keeper::start(socket) : std::nullopt;
  if (!next) {
    parts_.log.write(order::Log::Level::warn, std::string(kNoKeeper));
    return;
  }
  parts_.keeper.emplace(std::move(*next));
  for (Child& child : children_) {
    if (child.drain && parts_.command.outlives_bridge) continue;
    const ProcessUnit& unit = child.process->unit();
    ProcessRecord leader;
    leader.pid = unit.leader();
    leader.start = unit.leader_start();
    // If this keeper is gone already, it is replaced when its exit is seen.
    parts_.keeper->child_started(unit.gen(), leader);
  }
  parts_.log.write(order::Log::Level::warn, "the keeper was killed; another one was started");
}

std::optional<Fact> Children::carry_out(const order::SignalUnit& order, WallTime) {
  const auto child = at(order.gen);
  if (child == children_.end()) return std::nullopt;
  fact::UnitSignalled fact;
  fact.gen = order.gen;
  ProcessUnit& unit = child->process->unit();
  const auto add = [&](const ProcessInfo& process, Delivery delivery) {
    const auto words = arguments_of(process.pid);
    fact.processes.push_back(
        {process.pid, process.pid == unit.leader(), process.command,
         delivery == Delivery::not_permitted ? "it may not be signalled (EPERM)" : "",
         !words.empty() && runner_kind(words.front()) == Runner::remote});
  };
  const std::vector<long> others = not_of(order.gen);
  // A debugger reaps it first, and may take its time.
  if (order.how == order::SignalUnit::How::kill && tracer_of(unit.leader()) != 0) {
    if (auto exit = ExitWatch::of(unit.leader(), loop_, signal_child_ended)) {
      child->exit = std::move(exit);
    }
  }
  if (order.how == order::SignalUnit::How::look) {
    for (const ProcessInfo& process : unit.members(others)) add(process, Delivery::delivered);
  } else {
    for (const Signalled& signalled : unit.signal(signal_of(order.how), others)) {
      add(signalled.process, signalled.delivery);
    }
  }
  return fact;
}

/// Processes of the bridge that do not belong to this child.
std::vector<long> Children::not_of(Generation gen) const {
  std::vector<long> others;
  if (parts_.keeper) others.push_back(parts_.keeper->pid());
  for (const Child& child : children_) {
    if (child.gen() != gen) others.push_back(child.process->pid());
    if (child.drain && child.drain->pid() != 0) others.push_back(child.drain->pid());
  }
  return others;
}

std::optional<Fact> Children::carry_out(const order::ReleaseChild& order, WallTime) {
  const Generation gen = order.gen;
  const auto child = at(gen);
  if (child == children_.end()) return std::nullopt;
  const std::vector<long> others = not_of(gen);
  ProcessUnit& unit = child->process->unit();
  const Generation mark = unit.gen();
  unit.signal(UnitSignal::kill, others);
  const bool is_gone = unit.members(others).empty();
  if (!is_errand(gen)) last_binary_ = child->binary;
  // The order may come from an event of this child, so the child must not be destroyed here.
  loop_.post([gone = std::shared_ptr<ChildProcess>(std::move(child->process))] {});
  children_.erase(child);
  aside_.clean();
  // The keeper keeps a unit that could not be killed, and tries again when the bridge has ended.
  if (is_gone) tell_keeper_over(mark);
  return std::nullopt;
}

std::optional<Fact> Children::carry_out(const order::SweepImage& order, WallTime) {
  fact::ImageSwept fact;
  const UnitSignal signal = signal_of(order.how);
  const auto [image, arguments] = last_binary_.program_to_sweep(order.scope);
  const bool is_last = signal == UnitSignal::kill;
  asked_.clear();
  if (!is_last) swept_.clear();
  // The file may have been replaced while the server ran, but a link there may lead anywhere.
  ImageIdentity next = image_at(image.path);
  if (next.path != image.path) next = {};
  for (const ImageIdentity& file : {image, next}) {
    for (const SameImage& process : same_image(file, not_of(kNoGeneration))) {
      const std::pair identity{process.pid, process.start};
      if (is_last ? swept_.erase(identity) == 0 : !swept_.insert(identity).second) continue;
      const long supervisor = process.supervisor ? process.supervisor->pid : 0;
      if (order.scope == KillScope::automatic &&
          (supervisor != 0 || process.arguments != arguments)) {
        fact.left_alone.push_back({process.pid, process.command, supervisor});
      } else if (!is_last && is_asked_to_end(process)) {
        fact.processes.push_back({process.pid, process.command, supervisor});
      } else if (signal_same_image(process.pid, file, signal) == Delivery::delivered) {
        fact.processes.push_back({process.pid, process.command});
      }
    }
  }
  return fact;
}

/// Whether another bridge was asked to end the process, which belongs to its server.
bool Children::is_asked_to_end(const SameImage& process) {
  if (!process.supervisor || is_errand(process.supervisor->gen)) return false;
  const long pid = process.supervisor->pid;
  if (asked_.contains(pid)) return true;
  FileDescriptor connection = ask_to_end_server(pid);
  return connection.is_open() && asked_.emplace(pid, std::move(connection)).second;
}

std::string Children::binary_path() const {
  LoadedBinary binary(parts_.command);
  binary.before_start(plan_launch(parts_.command));
  return binary.path();
}

void Children::note_files() {
  started_files_ = command_files(parts_.command, plan_launch(parts_.command));
}

std::optional<Fact> Children::carry_out(const order::RememberEra& order, WallTime) {
  note_era(started_era_, order.sign);
  return std::nullopt;
}

std::optional<Fact> Children::carry_out(const order::CheckCommandFiles&, WallTime) {
  return fact::CommandFilesChecked{command_files(parts_.command, plan_launch(parts_.command)) !=
                                   started_files_};
}

std::vector<Fact> Children::ended() {
  std::vector<Fact> facts;
  bool is_orphan = false;
  for (const Reaped& reaped : reap()) {
    const auto child = std::find_if(children_.begin(), children_.end(), [&](const Child& one) {
      return one.process->pid() == reaped.pid;
    });
    if (parts_.keeper && reaped.pid == parts_.keeper->pid()) {
      replace_keeper();
      continue;
    }
    if (child == children_.end()) {
      is_orphan = true;
      continue;
    }
    child->exit.reset();
    child->process->set_exited();
    ExitStatus status = reaped.status;
    if (!is_errand(child->gen()) && leaves_core(status)) {
      crash_ = {child->gen(),
                core_dump_of(reaped, child->program, child->cwd, child->binary.started())};
      status.core = crash_.dump.where;
    }
    if (is_build(child->gen())) {
      has_built_ = status.code == 0;
      aside_.put_back();
    }
    facts.emplace_back(fact::ChildExited{child->gen(), std::move(status)});
  }
  for (Child& child : children_) {
    const ProcessUnit& unit = child.process->unit();
    const auto process = child.exit ? find_process(unit.leader()) : std::nullopt;
    if (!child.exit || (process && process->start == unit.leader_start() && !process->zombie)) {
      continue;
    }
    child.exit.reset();
    child.process->set_exited();
    facts.emplace_back(fact::ChildExited{child.gen(), kUnknownExit});
  }
  if (is_orphan) facts.emplace_back(fact::OrphanEnded{});
  return facts;
}

std::optional<Fact> Children::crossed_queue() {
  for (Child& child : children_) {
    const bool is_full = child.process->input().queued() >= limits::kQueueBytesMax;
    if (std::exchange(child.is_input_full, is_full) == is_full) continue;
    if (is_full) return fact::ChildInputFull{child.gen()};
    return fact::ChildInputDrained{child.gen()};
  }
  return {};
}

ChildProcess* Children::find(Generation gen) {
  const auto child = at(gen);
  return child == children_.end() ? nullptr : child->process.get();
}

bool Children::is_input_full(Generation gen) {
  const auto child = at(gen);
  return child != children_.end() && child->is_input_full;
}

void Children::flush() {
  for (Child& child : children_) child.process->input().flush();
}

void Children::set_output_paused(bool paused) {
  for (Child& child : children_) child.process->set_output_paused(paused);
}

std::list<Children::Child>::iterator Children::at(Generation gen) {
  return std::find_if(children_.begin(), children_.end(),
                      [&](const Child& child) { return child.gen() == gen; });
}

}  // namespace sitter
