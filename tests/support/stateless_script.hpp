#pragma once

#include <string>

#include "support/bridge_script.hpp"

namespace sitter {

inline std::string complete_text(const std::string& text) {
  return R"json({"resultType":"complete","content":[{"type":"text","text":")json" + text +
         R"json("}]})json";
}

/// The same result from the bridge itself, which names itself in `_meta`.
inline std::string own_text(const std::string& text) {
  std::string made = complete_text(text);
  made.insert(made.find("\"content\""), R"json("_meta":{"io.modelcontextprotocol/serverInfo":)json"
                                        R"json({"name":"mcp-sitter","version":"9.9.9"}},)json");
  return made;
}

/// Stories about clients of 2026-07-28, which has no opening, and about clients that first probe
/// for the revision.
class StatelessTest : public BridgeTest {
 protected:
  StatelessTest() { server.is_stateless = true; }

  /// A child has answered a call, and its lists are known.
  void serve_session() {
    client(enveloped_call(1, "echo"));
    opens(1);
    child(1, result(1, complete_text("a")));
    done();
  }

  /// The first block of the only answer.
  std::string answer_text_of_first() { return answer()["result"]["content"][0]["text"]; }

  static std::string discovered(const std::string& more = "") {
    return R"json({"resultType":"complete","supportedVersions":["2026-07-28"],"ttlMs":60000,)json"
           R"json("cacheScope":"public","capabilities":{"tools":{}})json" +
           more + "}";
  }
};

inline const std::string kTools = R"json({"toolsListChanged":true})json";
inline const std::string kChanged = "notifications/tools/list_changed";
inline const Id kStream("\"s\"");

/// The result that ends a stream. `id` is the id in its `_meta`.
inline std::string end_of(const Id& stream, const Id& id, const std::string& more = "") {
  return result(stream, R"json({"resultType":"complete","_meta":)json"
                        R"json({"io.modelcontextprotocol/subscriptionId":)json" +
                            id.raw + more + "}}");
}

/// Stories about streams of 2026-07-28, which outlive the children.
class StreamsTest : public StatelessTest {
 protected:
  void open_stream(const std::string& wanted, const std::string& granted) {
    client(listen(kStream, wanted));
    opens(1);
    child(1, acknowledged(kStream, granted));
    done();
  }

  /// The request starts the next child, which serves with the current tools.
  void respawn(Generation gen) {
    client(enveloped(90 + gen, "x"));
    opens(gen);
  }
  void answers_x(Generation gen) {
    child(gen, result(90 + gen, R"json({"resultType":"complete"})json"));
  }
};

}  // namespace sitter
