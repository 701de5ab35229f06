#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sitter/bridge.hpp"
#include "sitter/control_id.hpp"
#include "sitter/fact_queue.hpp"
#include "support/simulation_digest.hpp"
#include "support/simulation_random.hpp"

namespace sitter::sim {

/// A bridge whose child is played by a machine beside it. This class is the shell between the two,
/// as the real shell connects them, and their clock.
class PlayedWorld {
 public:
  PlayedWorld(const PlayedWorld&) = delete;
  PlayedWorld& operator=(const PlayedWorld&) = delete;

 protected:
  /// What the machine has told of a child.
  struct Life {
    bool is_started = false, has_exited = false, is_over = false;
    /// The raw ids of the requests that are neither answered nor given back.
    std::set<std::string> open;
  };

  PlayedWorld(Random random, const BridgeConfig& config, std::FILE* story, Digest* digest);
  ~PlayedWorld() = default;

  // The machine that plays the child, and the client.
  virtual std::optional<Instant> timeout_of_played() const = 0;
  virtual void handle_timeout_of_played() = 0;
  /// Returns whether the order is for the child.
  virtual bool takes(const Order& order) = 0;
  /// Carries out what the machine has ordered.
  virtual void carry_out_played() = 0;
  /// The next fact of the child, or null.
  virtual const Fact* next_fact() = 0;
  virtual void client_hears(const std::string& text) = 0;
  virtual void control_hears(ControlId, const std::string&) {}
  /// Everything that one event has led to is done.
  virtual void on_settled() {}
  /// The clock was turned.
  virtual void on_turned() {}

  void client_says(const std::string& text);
  /// A random time passes.
  void time_passes();
  void pass_until(Instant until);
  /// Time passes until the next deadline, but not for long.
  void rest_a_moment();
  std::optional<Instant> next_timeout() const;
  void later(int milliseconds_max, std::function<void()> event);
  void at(Instant instant, std::function<void()> event);

  void feed(const Fact& fact) { facts_.feed(fact); }
  void feed_from_played();
  void check_steps();
  /// What the machine tells must be what a child could tell.
  void check_fact(const Fact& fact);

  void tell(std::string_view who, std::string_view what) const;
  bool tells() const { return story_ != nullptr; }

  Random random_;
  Now now_;
  Bridge bridge_;
  std::map<Generation, Life> lives_;
  bool is_over_ = false;

 private:
  void turn_to(Instant instant);
  void fire_deadlines();
  void decide(const Fact& fact);
  void carry_out_all();
  void carry_out(const Order& order);
  void note(const Order& order);
  void start_build(const order::StartBuild& order);
  static void check_line(Life& life, const Line& line, std::string_view what, bool is_answer);

  std::FILE* story_;
  Digest* digest_;
  const Instant begun_;
  std::multimap<Instant, std::function<void()>> events_;
  FactQueue facts_{[this](const Fact& fact) { decide(fact); }};
  int orders_ = 0;
};

}  // namespace sitter::sim
