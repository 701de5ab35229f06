#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sitter/cli.hpp"
#include "sitter/time.hpp"
#include "support/simulation_cli_promises.hpp"
#include "support/simulation_cli_run.hpp"
#include "support/simulation_cli_scene.hpp"
#include "support/simulation_random.hpp"

namespace sitter::sim {

/// A command-line tool, and the system that runs it: carries out what the server orders, and tells
/// it what becomes of the runs.
class CliTool {
 public:
  struct Ways {
    std::function<void(const CliFact&)> tell;
    /// Lets something happen after some time.
    std::function<void(Milliseconds, std::function<void()>)> after;
    std::function<void(std::string_view who, std::string_view what)> story;
  };

  CliTool(Random& random, const CliScene& scene, Ways ways)
      : random_(random), scene_(scene), ways_(std::move(ways)) {
    change();
  }

  void take(const order::StartRun& order, CliPromises& promises);
  void take(const order::ReadDescription& order, CliPromises& promises);
  void take(const order::SignalUnit& order, CliPromises& promises);
  void take(const order::CloseChildInput& order, CliPromises& promises);
  void take(const order::ReleaseChild& order, CliPromises& promises);

  /// Somebody edits the tool.
  void change();
  /// Somebody kills a run.
  void kill_one(CliPromises& promises);
  /// From now on nothing goes wrong.
  void behave() { is_behaving_ = true; }

  const CliPromises::Runs& runs() const { return runs_; }

 private:
  std::string description() const;
  /// What the tool writes to describe itself, which may be wrong.
  std::string described(CliDescribed& described);
  void begin(const order::StartRun& order, CliPromises& promises);
  void plan(CliRun& run, CliPromises& promises);
  void dies(CliRun& run, Unit::Process& process, ExitStatus status, CliPromises& promises);
  void read(CliRun& run);
  void end_output(CliRun& run);
  void end_error(CliRun& run);
  /// Lets something happen to a run, unless the bridge has released it by then.
  void after(CliRun& run, Milliseconds time, std::function<void()> event);
  void soon(CliRun& run, std::function<void()> event);
  CliRun* find(Generation gen);
  bool is_wrong(int one_in) {
    return !is_behaving_ && random_.chance(scene_.faults) && random_.below(one_in) == 0;
  }

  Random& random_;
  const CliScene& scene_;
  Ways ways_;
  CliPromises::Runs runs_;
  CliDescribed now_;
  int last_version_ = 0;
  /// So many starts fail, because the tool is being written.
  int busy_starts_ = 0;
  bool is_behaving_ = false;
};

}  // namespace sitter::sim
