#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>

#include "core/http/http_link.hpp"
#include "support/simulation_http_client.hpp"
#include "support/simulation_http_network.hpp"
#include "support/simulation_http_scene.hpp"
#include "support/simulation_played_world.hpp"
#include "support/simulation_tally.hpp"

namespace sitter::sim {

/// A bridge whose child is a daemon that is reached over HTTP, as a `Bridge` and an `HttpLink` that
/// are connected as the shell connects them. The client, the daemon, the way to it and the clock
/// are chosen at random from a seed.
class HttpWorld final : private PlayedWorld {
 public:
  HttpWorld(std::uint64_t seed, std::FILE* story, Digest* digest, Tally& tally);

  /// Plays the seed from the first line to the exit. Throws `Broken`.
  void play();

 private:
  struct Process {
    Generation gen = kNoGeneration;
    std::int64_t pid = 0;
    bool lives = true;
  };
  /// What the seed has chosen.
  struct Chosen {
    explicit Chosen(std::uint64_t seed);
    static HttpScene random_scene(Random& random);
    static BridgeConfig random_config(Random& random, const HttpScene& scene);

    Random random;
    HttpScene scene;
    BridgeConfig config;
  };

  HttpWorld(Chosen chosen, std::FILE* story, Digest* digest, Tally& tally);
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

  // simulation_http_shell.cpp: the link between the shell and the network
  std::optional<Instant> timeout_of_played() const override;
  void handle_timeout_of_played() override;
  bool takes(const Order& order) override;
  void carry_out_played() override;
  const Fact* next_fact() override;
  void client_hears(const std::string& text) override { client_.hears(text); }
  void on_turned() override {
    said_.now = now_.steady;
    network_.check_waits(now_.steady);
  }
  void on_http(const HttpFact& fact);

  // simulation_http_process.cpp: the process of a daemon that is started here
  void carry_out_for_process(const DaemonOrder& order);
  void takes(const order::TakeDaemon& order);
  void starts(const order::StartChild& order);
  void signals(const order::SignalUnit& order);
  void process_dies(std::int64_t pid, ExitStatus status);

  Tally& tally_;
  const HttpScene scene_;
  const BridgeConfig config_;
  HttpSaid said_;
  HttpLink link_;
  HttpNetwork network_;
  HttpClient client_;

  std::deque<Fact> of_process_;
  Fact told_;
  std::optional<Process> process_;
  std::int64_t last_pid_ = 1000;
  bool is_behaving_ = false;
  bool is_restarting_ = false;
  /// More facts may come before what the link tells is passed on.
  bool is_reading_ = false;
};

}  // namespace sitter::sim
