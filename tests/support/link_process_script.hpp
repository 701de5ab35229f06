#pragma once

#include <string>

#include "support/link_script.hpp"

namespace sitter {

/// A daemon that is started here if nothing listens.
class LinkProcessTest : public LinkTest {
 protected:
  LinkProcessTest() { options.may_start = true; }

  /// The session is open at a daemon that was started here, whose process is that of child 1. Ids
  /// from 1 on are free, and the next exchange is 8.
  void open_started() {
    client(initialize(0));
    not_connected(1);
    connected(2);
    opens_daemon();
    client(initialized());
    opens_daemon();
    client(request(900, "tools/list"));
    answers(*exchange_of(900), result(900, server.page("tools", server.tools)));
    done();
  }

  /// The process exits, and then nothing listens.
  void process_ends(Generation gen, int code, const std::string& signal = "") {
    process_exits(gen, code, signal);
    refuse_connections();
  }
};

}  // namespace sitter
