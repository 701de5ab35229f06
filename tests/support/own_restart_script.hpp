#pragma once

#include "support/rebuild_script.hpp"

namespace sitter {

/// The server is started anew behind the process of its child, on the same pipes, as by
/// `node --watch`.
class BridgeOwnRestartTest : public BridgeRebuildTest {
 protected:
  /// The server has answered a call.
  void open_used_session() {
    open_listed_session();
    client(call(1, "echo"));
    child(1, result(1, text_result("old")));
    done();
  }
  static std::string refused(const Id& id, const std::string& text = "Server not initialized") {
    return error(id, -32002, text);
  }
  /// The client gets this refusal, and reads what it may mean.
  static auto unclear(int id) {
    return AllOf(HasSubstr("\"id\":" + std::to_string(id)),
                 HasSubstr("Server not initialized\\n\\n[mcp-sitter] The server may have restarted "
                           "itself"),
                 HasSubstr("in that case, this request had no effect"));
  }
  /// The server refuses this request, and the list that shows that it refuses everything.
  void refuses_everything(int id) {
    child(1, refused(id));
    child(1, refused(kList));
  }
  /// The call after an edit, up to the opening of the new server.
  void is_found(int id = 2) {
    client(call(id, "echo"));
    refuses_everything(id);
  }

  /// The list that the bridge asks for after a refusal.
  static constexpr char kList[] = "#2";
};

}  // namespace sitter
