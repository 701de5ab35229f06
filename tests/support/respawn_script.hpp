#pragma once

#include <utility>

#include "support/bridge_script.hpp"

namespace sitter {

/// Stories about a child that is down.
class RespawnTest : public BridgeTest {
 protected:
  void down() {
    dies(1, 0);
    done();
  }
  /// Call 1 waits for child 2.
  void call_while_down() {
    open_session();
    down();
    client(call(1, "echo"));
  }
  /// Opens a session in stories that tell the starts of children themselves.
  void open_session_with_start() {
    const bool plays_start = std::exchange(plays.start, true);
    open_session();
    plays.start = plays_start;
    down();
  }
};

}  // namespace sitter
