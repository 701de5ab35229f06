#pragma once

#include <optional>
#include <string>

#include "core/tool_server/cli_server.hpp"
#include "io/backend.hpp"

namespace sitter {

/// A server that is a command-line tool: the `CliServer`, which decides, and the processes of its
/// runs.
class CliBackend final : public Backend {
 public:
  struct Options {
    CliServer::Options server;
    /// The file that describes the tool; empty if the tool does so itself.
    std::string description_file;
  };

  CliBackend(const Parts& parts, Options options);

  void handle_timeout(Now now) override;
  std::optional<Instant> next_timeout() const override { return server_.next_timeout(); }
  const Fact* next_fact() override { return server_.poll_fact(); }

 private:
  bool takes(const Order& order) override;
  ChildProcess::Events events_of(const Children::Number& gen) override;
  void on_process(const Fact& fact) override;
  void take(const CliFact& fact);
  void carry_out_all() override;
  fact::DescriptionRead read_description(Generation gen) const;

  CliServer server_;
  std::string description_file_;
};

}  // namespace sitter
