#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/held_port.hpp"
#include "support/program.hpp"
#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {

/// A fake-mcp that the test starts and ends, always at the same address.
class HttpDaemon {
 public:
  explicit HttpDaemon(std::vector<std::string> flags = {}) : flags_(std::move(flags)) {}

  /// Returns when the daemon listens. The flags replace those of the constructor.
  void start();
  void start(std::vector<std::string> flags);
  void kill();

  std::string url() const { return port_.url(); }
  std::uint16_t port() const { return port_.number(); }
  Program& program() { return *program_; }
  /// The requests that all daemons at this address have received.
  std::vector<Json> journal() const;
  /// The rows with this value: `rows("method", "initialize")`, `rows("http", "DELETE")`.
  std::vector<Json> rows(const std::string& member, const Json& value) const;
  /// Waits until there are so many such rows.
  bool has_rows(std::size_t count, const std::string& member, const Json& value) const;

 private:
  HeldPort port_;
  TemporaryDirectory directory_;
  std::vector<std::string> flags_;
  std::optional<Program> program_;
};

/// A bridge to the daemon at this address.
ScriptedClient::Setup bridge_to(const std::string& url, std::vector<std::string> options = {});

/// The requests in a file of `--http-journal`.
std::vector<Json> http_journal(const std::string& file);

}  // namespace sitter::testing
