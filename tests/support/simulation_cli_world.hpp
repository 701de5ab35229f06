#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "core/tool_server/cli_server.hpp"
#include "support/simulation_cli_promises.hpp"
#include "support/simulation_cli_scene.hpp"
#include "support/simulation_cli_tool.hpp"
#include "support/simulation_client.hpp"
#include "support/simulation_controls.hpp"
#include "support/simulation_outside.hpp"
#include "support/simulation_played_world.hpp"
#include "support/simulation_said.hpp"
#include "support/simulation_tally.hpp"

namespace sitter::sim {

/// A bridge whose child is a command-line tool, as a `Bridge` and a `CliServer` that are connected
/// as the shell connects them. The client, the tool, those who act from outside, and the clock are
/// chosen at random from a seed.
class CliWorld final : private PlayedWorld {
 public:
  CliWorld(std::uint64_t seed, std::FILE* story, Digest* digest, Tally& tally);

  /// Plays the seed from the first line to the exit. Throws `Broken`.
  void play();

 private:
  /// What the seed has chosen.
  struct Chosen {
    explicit Chosen(std::uint64_t seed);
    static Scene random_scene(Random& random);
    static CliScene random_tool(Random& random);
    BridgeConfig random_config();

    Random random;
    Scene scene;
    CliScene tool;
    BridgeConfig config;
  };

  CliWorld(Chosen chosen, std::FILE* story, Digest* digest, Tally& tally);
  CliServer::Options options() const;
  CliTool::Ways ways();

  void step();
  void client_acts();
  void outside_acts();
  void files_change();
  void somebody_asks();
  void something_happens();
  void settle();
  void wait_for_answers();
  void end();

  std::optional<Instant> timeout_of_played() const override { return server_.next_timeout(); }
  void handle_timeout_of_played() override;
  bool takes(const Order& order) override;
  void carry_out_played() override;
  const Fact* next_fact() override;
  void client_hears(const std::string& text) override;
  void control_hears(ControlId connection, const std::string& line) override;
  void on_turned() override { promises_.set_now(now_.steady); }
  void on_settled() override;

  const Scene scene_;
  const CliScene tool_scene_;
  const BridgeConfig config_;
  Said said_;
  CliServer server_;
  CliTool tool_;
  CliPromises promises_;
  Controls controls_;
  Client client_;
  Outside outside_;
  /// The shell is carrying out what the server has ordered.
  bool is_carrying_out_ = false;
};

}  // namespace sitter::sim
