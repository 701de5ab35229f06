#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {

inline constexpr const char* kText =
    R"json("parameters":{"properties":{"text":{"type":"string"}}})json";

/// The description of a tool with the argument `text`.
inline std::string tool(const std::string& name, const std::string& members) {
  return R"json({"name":")json" + name + "\"," + kText + "," + members + "}";
}

inline std::string description(const std::string& tools) { return "{\"tools\":[" + tools + "]}"; }

/// A command-line tool in a directory of its own, which is a shell script.
class CliToolTest : public ::testing::Test {
 protected:
  /// Writes the tool: what it describes, and what it does.
  void write(const std::string& tools, const std::string& commands) {
    directory_.write_script("tool", "if test \"$1\" = schema; then cat <<'JSON'\n" +
                                        description(tools) + "\nJSON\nexit; fi\n" + commands);
  }

  ScriptedClient::Setup setup(std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"--cli", path()});
    return {.options = std::move(options), .command = {}, .cwd = directory_.path()};
  }

  std::string path() const { return directory_ / "tool"; }

  TemporaryDirectory directory_;
};

}  // namespace sitter::testing
