#pragma once

#include <string>

#include "support/rebuild_script.hpp"

namespace sitter {

inline constexpr char kOldCode[] = "is still the old code's";

/// Requests that come after a save, before the code that was saved serves.
class BridgeFreshCodeTest : public BridgeRebuildTest {
 protected:
  BridgeFreshCodeTest() { config.watch_patterns = {"src"}; }

  void without_build() { config.build_command.clear(); }
  /// Opens the session. Changes from before do not count any more.
  void open() {
    open_session();
    time_passes(milliseconds(300));
    done();
  }
  /// The build of the change begins.
  void saves(const std::string& file = "a.c") {
    changes(file);
    time_passes(milliseconds(300));
    done();
  }
  /// What this child answers to this call.
  std::string answer_of(Generation gen, int id) {
    client(call(id, "echo"));
    child(gen, result(id, text_result("x")));
    return answer_text();
  }
  /// The same for a call that starts the child.
  std::string answer_of_next(Generation gen, int id) {
    done();
    client(call(id, "echo"));
    opens(gen);
    child(gen, result(id, text_result("x")));
    return answer_text();
  }
  /// What child 1 answers to this call, which was passed on.
  std::string answer_of_old(int id) {
    EXPECT_THAT(done(), Contains("child 1 " + call(id, "echo")));
    child(1, result(id, text_result("x")));
    return answer_text();
  }
};

}  // namespace sitter
