#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/http/http_link.hpp"
#include "sitter/bridge.hpp"
#include "sitter/fact_queue.hpp"
#include "support/simulation_digest.hpp"
#include "support/simulation_http_client.hpp"
#include "support/simulation_http_network.hpp"
#include "support/simulation_http_scene.hpp"
#include "support/simulation_random.hpp"

namespace sitter::sim {

/// A bridge whose child is a daemon that is reached over HTTP, as a `Bridge` and an `HttpLink` that
/// are connected as the shell connects them. The client, the daemon, the way to it and the clock
/// are chosen at random from a seed.
class HttpWorld {
 public:
  HttpWorld(std::uint64_t seed, std::FILE* story, Digest* digest, HttpTally& tally);

  /// Plays the seed from the first line to the exit. Throws `Broken`.
  void play();

 private:
  struct Process {
    Generation gen = kNoGeneration;
    std::int64_t pid = 0;
    bool lives = true;
  };
  /// What the link has told of a child.
  struct Life {
    bool is_started = false, has_exited = false, is_over = false;
    /// The raw ids of the requests that are neither answered nor given back.
    std::set<std::string> open;
  };

  static HttpScene random_scene(Random& random);
  BridgeConfig random_config();
  HttpLink::Options options() const;

  void step();
  void daemon_speaks();
  void client_acts();
  void client_says(const std::string& line);
  void something_happens();
  void daemon_restarts();
  void rest();
  void settle();
  void check_service();
  void check_stream();
  void end();

  // simulation_http_shell.cpp: the shell between the two machines
  void time_passes();
  void pass_until(Instant until);
  void turn_to(Instant instant);
  std::optional<Instant> next_timeout() const;
  void fire_deadlines();
  void on_http(const HttpFact& fact);
  void feed_from_link();
  void feed(const Fact& fact) { facts_.feed(fact); }
  void decide(const Fact& fact);
  void carry_out_all();
  void carry_out_link();
  void carry_out(const Order& order);
  void note(const Order& order);
  void start_build(const order::StartBuild& order);
  void check_steps();
  void check_fact(const Fact& fact);
  void check_line(Life& life, const Line& line, std::string_view what, bool is_answer);

  // simulation_http_process.cpp: the process of a daemon that is started here
  void carry_out_for_process(const Order& order);
  void starts(const order::StartChild& order);
  void signals(const order::SignalUnit& order);
  void process_dies(std::int64_t pid, ExitStatus status);

  void later(int milliseconds_max, std::function<void()> event);
  void tell(std::string_view who, std::string_view what) const;
  bool tells() const { return story_ != nullptr; }

  Random random_;
  std::FILE* story_;
  Digest* digest_;
  HttpTally& tally_;
  const HttpScene scene_;
  const BridgeConfig config_;
  Now now_;
  const Instant begun_;
  HttpSaid said_;
  Bridge bridge_;
  HttpLink link_;
  HttpNetwork network_;
  HttpClient client_;

  std::multimap<Instant, std::function<void()>> events_;
  FactQueue facts_{[this](const Fact& fact) { decide(fact); }};
  std::deque<Fact> of_process_;
  std::optional<Process> process_;
  std::int64_t last_pid_ = 1000;
  std::map<Generation, Life> lives_;
  int orders_ = 0;
  bool is_behaving_ = false;
  bool is_restarting_ = false;
  bool is_over_ = false;
  /// More facts may come before what the link tells is passed on.
  bool is_reading_ = false;
};

}  // namespace sitter::sim
