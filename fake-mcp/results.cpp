#include "results.hpp"

#include <utility>

#include "json.hpp"

namespace sitter::fake {
namespace {

std::string capability(bool list_changed, bool subscribe = false) {
  std::string members;
  if (list_changed) members = R"("listChanged":true)";
  if (subscribe) members += std::string(list_changed ? "," : "") + R"("subscribe":true)";
  return '{' + members + '}';
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

std::string server_info(const Options& options) {
  return object_of(
      {{"name", json_quoted(options.name)}, {"version", json_quoted(options.server_version)}});
}

Outcome outcome_of(const Options& options, const Catalog& catalog, std::string_view method,
                   std::string_view params) {
  if (!offers(options, method)) return method_not_found();
  if (method == "tools/list") {
    const auto page = catalog.tools_page(member(params, "cursor"));
    if (!page) return ErrorAnswer{kInvalidParams, "Invalid cursor"};
    return *page;
  }
  if (method == "resources/list") return object_of({{"resources", catalog.resources()}});
  if (method == "resources/templates/list") {
    return object_of({{"resourceTemplates", R"([{"uriTemplate":"fake://{id}","name":"any"}])"}});
  }
  if (method == "prompts/list") return object_of({{"prompts", catalog.prompts()}});
  if (method == "resources/read") return resource(params);
  if (method == "prompts/get") return prompt(params);
  if (method == "completion/complete") return completion(params);
  return method_not_found();
}

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

ErrorAnswer method_not_found() { return {-32601, "Method not found"}; }

std::string modern_result(const Options& options, std::string result) {
  if (!options.result_type) return result;
  return with_members(std::move(result), R"("resultType":"complete")");
}

std::string cacheable_result(const Options& options, std::string result) {
  return with_members(
      modern_result(options, std::move(result)),
      "\"ttlMs\":" + std::to_string(options.ttl.count()) + R"(,"cacheScope":"private")");
}

}  // namespace sitter::fake
