#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

// Lines of JSON-RPC, as clients and children write them.

namespace sitter {

// Ids are raw JSON, so that a story can spell them in any way. Numbers are accepted for
// convenience.

struct Id {
  Id(int number) : raw(std::to_string(number)) {}
  Id(const char* text) : raw(text) {}
  Id(std::string text) : raw(std::move(text)) {}

  std::string raw;
};

inline std::string request(const Id& id, const std::string& method,
                           const std::string& params = "") {
  return R"json({"jsonrpc":"2.0","id":)json" + id.raw + R"json(,"method":")json" + method + "\"" +
         (params.empty() ? "" : ",\"params\":" + params) + "}";
}

inline std::string notification(const std::string& method, const std::string& params = "") {
  return R"json({"jsonrpc":"2.0","method":")json" + method + "\"" +
         (params.empty() ? "" : ",\"params\":" + params) + "}";
}

inline std::string result(const Id& id, const std::string& json = "{}") {
  return R"json({"jsonrpc":"2.0","id":)json" + id.raw + ",\"result\":" + json + "}";
}

inline std::string error(const Id& id, int code, const std::string& message) {
  return R"json({"jsonrpc":"2.0","id":)json" + id.raw +
         ",\"error\":{\"code\":" + std::to_string(code) +
         ",\"message\":" + nlohmann::json(message).dump() + "}}";
}

inline std::string call(const Id& id, const std::string& tool,
                        const std::string& arguments = "{}") {
  return request(id, "tools/call",
                 R"json({"name":")json" + tool + R"json(","arguments":)json" + arguments + "}");
}

/// A call that asks for progress under its own id, as the official TypeScript client does.
inline std::string call_with_progress(const Id& id, const std::string& tool) {
  return request(
      id, "tools/call",
      R"json({"name":")json" + tool + R"json(","_meta":{"progressToken":)json" + id.raw + "}}");
}

inline std::string progress(const Id& token, int value) {
  return notification("notifications/progress", R"json({"progressToken":)json" + token.raw +
                                                    R"json(,"progress":)json" +
                                                    std::to_string(value) + "}");
}

inline std::string cancelled(const Id& id) {
  return notification("notifications/cancelled", R"json({"requestId":)json" + id.raw + "}");
}

inline std::string text_result(const std::string& text) {
  return R"json({"content":[{"type":"text","text":")json" + text + R"json("}]})json";
}

inline std::string initialize(const Id& id, const std::string& version = "2025-11-25",
                              const std::string& client = "story") {
  return request(id, "initialize",
                 R"json({"protocolVersion":")json" + version +
                     R"json(","capabilities":{},"clientInfo":{"name":")json" + client +
                     R"json(","version":"1"}})json");
}

/// What a client of the stateless revision says about itself in each request.
inline std::string envelope(const std::string& version = "2026-07-28",
                            const std::string& client = "story") {
  return R"json("_meta":{"io.modelcontextprotocol/protocolVersion":")json" + version +
         R"json(","io.modelcontextprotocol/clientInfo":{"name":")json" + client +
         R"json(","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}})json";
}

/// A request of the stateless revision; `params` are raw members.
inline std::string enveloped(const Id& id, const std::string& method,
                             const std::string& params = "",
                             const std::string& version = "2026-07-28") {
  return request(id, method, "{" + params + (params.empty() ? "" : ",") + envelope(version) + "}");
}

inline std::string enveloped_call(const Id& id, const std::string& tool) {
  return enveloped(id, "tools/call", R"json("name":")json" + tool + "\"");
}

inline std::string listen(const Id& id, const std::string& filter) {
  return enveloped(id, "subscriptions/listen", R"json("notifications":)json" + filter);
}

/// A notification to a stream; `more` are raw members of its params.
inline std::string to_stream(const Id& id, const std::string& method,
                             const std::string& more = "") {
  return notification(method, R"json({"_meta":{"io.modelcontextprotocol/subscriptionId":)json" +
                                  id.raw + "}" + (more.empty() ? "" : ",") + more + "}");
}

inline std::string acknowledged(const Id& id, const std::string& filter) {
  return to_stream(id, "notifications/subscriptions/acknowledged",
                   R"json("notifications":)json" + filter);
}

inline std::string initialized() { return notification("notifications/initialized"); }

inline std::string tool(const std::string& name, const std::string& more = "") {
  return R"json({"name":")json" + name + R"json(","inputSchema":{"type":"object"})json" + more +
         "}";
}

}  // namespace sitter
