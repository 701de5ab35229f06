#include "legacy.hpp"

#include <algorithm>
#include <array>

#include "json.hpp"
#include "tools.hpp"

namespace sitter::fake {
namespace {

constexpr long long kMethodNotFound = -32601;
constexpr long long kInvalidParams = -32602;

constexpr std::array<std::string_view, 4> kVersions = {"2024-11-05", "2025-03-26", "2025-06-18",
                                                       "2025-11-25"};

std::string capability(bool list_changed, bool subscribe = false) {
  std::string members;
  if (list_changed) members = R"("listChanged":true)";
  if (subscribe) members += std::string(list_changed ? "," : "") + R"("subscribe":true)";
  return '{' + members + '}';
}

std::string capabilities(const Options& options) {
  std::string members;
  const auto add = [&](bool offered, std::string_view name, std::string_view value) {
    if (!offered) return;
    if (!members.empty()) members += ',';
    members.append(json_quoted(name)).append(":").append(value);
  };
  add(options.tools, "tools", capability(options.tools_list_changed));
  add(options.resources, "resources",
      capability(options.resources_list_changed, options.subscribe));
  add(options.prompts, "prompts", capability(options.prompts_list_changed));
  add(options.logging, "logging", "{}");
  add(options.completions, "completions", "{}");
  return '{' + members + '}';
}

/// Whether the capability that a method belongs to is declared.
bool offers(const Options& options, std::string_view method) {
  if (method == "resources/subscribe" || method == "resources/unsubscribe") {
    return options.subscribe;
  }
  if (method.starts_with("tools/")) return options.tools;
  if (method.starts_with("resources/")) return options.resources;
  if (method.starts_with("prompts/")) return options.prompts;
  if (method.starts_with("logging/")) return options.logging;
  if (method.starts_with("completion/")) return options.completions;
  return true;
}

std::string resource(std::string_view params) {
  const std::string_view uri = member(params, "uri");
  const std::string contents = object_of({{"uri", uri.empty() ? "\"\"" : uri},
                                          {"mimeType", "\"text/plain\""},
                                          {"text", json_quoted(params)}});
  return object_of({{"contents", '[' + contents + ']'}});
}

std::string prompt(std::string_view params) {
  const std::string content = object_of({{"type", "\"text\""}, {"text", json_quoted(params)}});
  const std::string message = object_of({{"role", "\"user\""}, {"content", content}});
  return object_of({{"messages", '[' + message + ']'}});
}

std::string completion(std::string_view params) {
  const std::string values = object_of({{"values", '[' + json_quoted(params) + ']'}});
  return object_of({{"completion", values}});
}

}  // namespace

std::string initialize_result(const Options& options, std::string_view params) {
  std::string version = text_of(member(params, "protocolVersion"));
  if (std::find(kVersions.begin(), kVersions.end(), version) == kVersions.end()) {
    version = kVersions.back();
  }
  const std::string info = object_of(
      {{"name", json_quoted(options.name)}, {"version", json_quoted(options.server_version)}});
  std::string result =
      object_of({{"protocolVersion", json_quoted(options.protocol.value_or(version))},
                 {"capabilities", capabilities(options)},
                 {"serverInfo", info}});
  if (options.instructions) {
    result.pop_back();
    result += ",\"instructions\":" + json_quoted(*options.instructions) + '}';
  }
  return result;
}

void Legacy::on_request(std::string_view id, std::string_view method, std::string_view params) {
  const Options& options = session_.options;
  Record& record = session_.record;
  Output& output = session_.output;

  if (method == "initialize") {
    record.initialize_params = params.empty() ? "null" : params;
    output.answer(id, initialize_result(options, params));
    if (options.ask_before_initialized) ask_client();
    return;
  }
  if (method == "ping") return output.answer(id, "{}");
  if (options.strict && !record.initialized) {
    return output.error(id, kInvalidParams, "Invalid request parameters");
  }
  if (!offers(options, method)) return output.error(id, kMethodNotFound, "Method not found");

  if (method == "tools/call") return run_tool(session_, id, params);
  if (method == "tools/list") {
    const auto page = session_.catalog.tools_page(member(params, "cursor"));
    return page ? output.answer(id, *page) : output.error(id, kInvalidParams, "Invalid cursor");
  }
  if (method == "resources/list") {
    return on_list(id, "resources", session_.catalog.resources());
  }
  if (method == "resources/templates/list") {
    return on_list(id, "resourceTemplates", R"([{"uriTemplate":"fake://{id}","name":"any"}])");
  }
  if (method == "prompts/list") return on_list(id, "prompts", session_.catalog.prompts());
  if (method == "resources/read") return output.answer(id, resource(params));
  if (method == "prompts/get") return output.answer(id, prompt(params));
  if (method == "completion/complete") return output.answer(id, completion(params));
  if (method == "logging/setLevel") {
    record.level = text_of(member(params, "level"));
  } else if (method == "resources/subscribe") {
    record.subscriptions.insert(text_of(member(params, "uri")));
  } else if (method == "resources/unsubscribe") {
    record.subscriptions.erase(text_of(member(params, "uri")));
  } else {
    return output.error(id, kMethodNotFound, "Method not found");
  }
  output.answer(id, "{}");
}

void Legacy::on_notification(std::string_view method, std::string_view params) {
  if (method == "notifications/initialized") {
    session_.record.initialized = true;
    for (const std::string& wanted : session_.options.notify) session_.output.notify(wanted, {});
    if (!session_.options.ask_before_initialized) ask_client();
  } else if (method == "notifications/cancelled") {
    const std::string_view id = member(params, "requestId");
    session_.record.cancelled.emplace_back(id);
    session_.agenda.cancel(id);
  }
}

void Legacy::on_list(std::string_view id, std::string_view name, const std::string& list) {
  session_.output.answer(id, object_of({{name, list}}));
}

void Legacy::ask_client() {
  for (const std::string& method : session_.options.ask) session_.questions.ask(method, {});
}

}  // namespace sitter::fake
