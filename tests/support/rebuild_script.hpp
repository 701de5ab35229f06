#pragma once

#include <utility>

#include "support/bridge_script.hpp"

namespace sitter {

/// Calls of sitter_rebuild in a session that was opened with initialize.
class BridgeRebuildTest : public BridgeTest {
 protected:
  BridgeRebuildTest() { config.build_command = "make"; }

  static std::string rebuild(const Id& id, const std::string& arguments = "{}") {
    return call(id, "sitter_rebuild", arguments);
  }

  /// Call 1 rebuilds, and the build works.
  void build_works() {
    client(rebuild(1));
    dies(build(1), 0);
  }

  /// The result in the only answer to call 1.
  nlohmann::json rebuilt() {
    nlohmann::json found;
    for (const std::string& line : client_got()) {
      auto message = nlohmann::json::parse(line, nullptr, false);
      if (message.value("id", 0) != 1) continue;
      EXPECT_TRUE(found.is_null()) << "a second answer";
      found = std::move(message["result"]);
    }
    EXPECT_FALSE(found.is_null()) << "no answer";
    return found;
  }
  static std::string text_of(const nlohmann::json& result) {
    return result.is_object() ? result["content"][0]["text"].get<std::string>() : "";
  }
};

}  // namespace sitter
