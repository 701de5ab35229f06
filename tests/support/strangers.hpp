#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {

/// Files that sitter_kill may look for. All of them are copies, even the shells, so that nobody
/// else on this machine runs them. No server here may run a shell of the system, because a wrong
/// kill would end every process that runs it.
class Strangers : public ::testing::Test {
 protected:
  /// Waits until a process that the bridge did not start can be found.
  static bool runs(const Program& stranger, const std::string& program) {
    return eventually([&] { return command_line_of(stranger.pid()).starts_with(program + " "); });
  }

  Json kill(ScriptedClient& client, const Json& arguments = Json::object()) {
    return Json::parse(client.text_of_call("sitter_kill", arguments), nullptr, false);
  }

  static bool names(const Json& report, long pid) {
    for (const Json& killed : report.value("killed", Json::array())) {
      if (killed["pid"] == pid && killed["relation"] == "same-path") return true;
    }
    return false;
  }

  TemporaryDirectory directory_;
  const std::string server_ = directory_.copy_program("server", fake_mcp());
};

}  // namespace sitter::testing
