#pragma once

#include "support/link_script.hpp"

namespace sitter {

/// A daemon that was there and is away for a while.
class LinkAbsenceTest : public LinkTest {
 protected:
  /// The daemon dies, and the client's request with this id finds it out.
  void dies_before(const Id& id) {
    daemon_dies();
    client(call(id, "echo"));
    not_connected(*exchange_of(id));
    stays_down(milliseconds(10));
  }

  void comes_back() {
    next_deadline_comes();
    opens_daemon();
  }
};

}  // namespace sitter
