#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sitter/bridge.hpp"
#include "sitter/fact.hpp"
#include "sitter/order.hpp"
#include "support/simulation_build.hpp"
#include "support/simulation_child.hpp"
#include "support/simulation_client.hpp"
#include "support/simulation_digest.hpp"
#include "support/simulation_outside.hpp"
#include "support/simulation_promises.hpp"
#include "support/simulation_random.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// A client, a series of children, the system and its clock around one bridge, all chosen at random
/// from a seed. The world also plays the shell: it feeds one fact, carries out every order, feeds
/// the facts that came from these orders, and only then feeds the next fact.
class World {
 public:
  /// If `story` is not null, prints every event on a line of its own. If `digest` is not null, adds
  /// every fact and every order to it.
  World(std::uint64_t seed, std::FILE* story, Digest* digest);

  /// Plays the seed from the first line to the exit. Throws `Broken`.
  void play();

  /// How many servers were opened again because they had restarted themselves.
  int own_restarts() const { return counts_.own_restarts; }

 private:
  /// What the system will do by itself.
  struct Event {
    enum class Kind {
      process_dies,
      exits,
      output_ends,
      error_ends,
      orphan_ends,
      starts_anew,  ///< the announced restart of the server behind the process
      writes,
      writes_file,  ///< writes a watched file
    };

    Kind kind = Kind::process_dies;
    Generation gen = kNoGeneration;
    std::int64_t pid = 0;
    ExitStatus status;
  };

  static Scene random_scene(Random& random, Random& outside, Random habits, bool is_interpreted);
  static void add_habits(Random& random, Scene& scene);
  BridgeConfig random_config();

  // simulation_world_outside.cpp: everybody besides the client
  static void add_outside(Random& random, Scene& scene);
  static void add_outside(Random& random, const Scene& scene, BridgeConfig& config);
  void outside_acts();
  void somebody_asks();
  void somebody_leaves();
  void files_change(const fact::FilesChanged& fact, bool is_by_person);
  void writes_files(Generation gen, Milliseconds until);
  void rest();
  std::string outside_words() const;

  void step();
  void end();
  void client_acts();
  void child_acts();
  void child_is_read();
  void read_line(Child& child);

  // simulation_world_system.cpp
  void system_acts();
  void stray_fact();
  void stray_fact_of_build();

  // simulation_world_time.cpp
  void time_passes();
  void pass(Milliseconds time);
  void pass_until(Instant until);
  void happen(const Event& event);
  void process_dies(Unit& unit, const Event& event);
  void starts_anew(Generation gen);
  void feed(const Fact& fact);
  void decide(const Fact& fact);

  // simulation_world_orders.cpp
  void carry_out_all();
  void carry_out(order::SendToClient& order);
  void carry_out(order::SendToChild& order);
  void carry_out(order::StartChild& order);
  void carry_out(order::StartBuild& order);
  void carry_out(order::RenumberChild& order);
  void carry_out(order::CloseChildInput& order);
  void carry_out(order::SignalUnit& order);
  void carry_out(order::ReleaseChild& order);
  void carry_out(order::SweepImage& order);
  void carry_out(order::InspectBinary& order);
  void carry_out(order::CheckCommandFiles& order);
  void carry_out(order::LookAtSources& order);
  void carry_out(order::LookAtProcess& order);
  void carry_out(order::ReadStack&) {}
  void carry_out(order::RememberEra&) {}
  void carry_out(order::SendToControl& order);
  void carry_out(order::Log& order);
  void carry_out(order::Exit& order);

  void decisions_of(Child& child);
  void kill_process(Unit& unit, std::int64_t pid, ExitStatus status, int after_max);
  void later(Event event, int milliseconds_max);
  void forget_events_of(Generation gen);
  void read_all(Child& child);
  Child* any_child();
  Unit* find(Generation gen);
  Child* find_child(Generation gen);
  std::string who(Generation gen) const;

  void tell(std::string_view who, std::string_view what);
  bool tells() const { return story_ != nullptr; }

  struct Lives {
    std::map<Generation, Child> children;
    std::map<Generation, Build> builds;
    std::set<Generation> released;
    std::optional<Character> last_character;
    Generation last_gen = kNoGeneration;
    Generation last_build = kNoGeneration;
  };

  struct Counts {
    int lines_of_builds = 0;
    int source_looks = 0;
    int own_restarts = 0;
    int swept = 0;
  };

  struct Queue {
    std::multimap<Instant, Event> events;
    std::deque<Fact> later;
  };

  struct Start {
    int failing_count = 0;
    /// These starts fail because the file is still being written.
    bool is_file_busy = false;
    /// When the start of the last child was first ordered.
    Instant begun{};
    /// The child whose start may be tried again.
    Generation postponed_gen = kNoGeneration;
  };

  /// What the outside has done for good.
  struct Done {
    bool is_input_closed = false;
    bool is_stopped = false;
    bool files_changed = false;
  };

  Random random_;
  /// The outside has random numbers of its own. So the outside changes nothing in a scene until it
  /// does something.
  Random outside_random_;
  /// Servers that restart themselves have random numbers of their own, for the same reason.
  Random own_random_;
  std::FILE* story_;
  Digest* digest_;
  const Scene scene_;
  const int start_failures_;
  const BridgeConfig config_;
  Now now_;
  const Instant begun_;
  Said said_;
  Promises promises_;
  Bridge bridge_;
  Client client_;
  Outside outside_;

  Lives lives_;
  Counts counts_;
  Queue queue_;
  Start start_;
  Done done_;
};

}  // namespace sitter::sim
