#include "modern.hpp"

#include <utility>
#include <variant>

#include "json.hpp"
#include "results.hpp"
#include "tools.hpp"

namespace sitter::fake {
namespace {

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr long long kUnsupportedVersion = -32022;

std::string supported_versions() { return '[' + json_quoted(kModernVersion) + ']'; }

bool may_be_cached(std::string_view method) {
  return method.ends_with("/list") || method == "resources/read";
}

}  // namespace

std::string_view envelope_version(std::string_view params) {
  return member(member(params, "_meta"), kVersionKey);
}

std::string discover_result(const Options& options) {
  std::string result = object_of({{"capabilities", capabilities(options)}});
  if (options.discover_versions) {
    result = with_members(std::move(result), "\"supportedVersions\":" + supported_versions());
  }
  if (options.instructions) {
    result =
        with_members(std::move(result), "\"instructions\":" + json_quoted(*options.instructions));
  }
  const std::string meta =
      object_of({{"io.modelcontextprotocol/serverInfo", server_info(options)}});
  return cacheable_result(options, with_members(std::move(result), "\"_meta\":" + meta));
}

void Modern::on_request(std::string_view id, std::string_view method, std::string_view params) {
  const Options& options = session_.options;
  if (refuses(id, method, params)) return;
  if (method == "server/discover") return session_.output.answer(id, discover_result(options));
  if (method == "subscriptions/listen" && options.listen) return listen(id, params);
  if (method == "tools/call" && options.tools) return run_tool(session_, id, params);

  Outcome outcome = outcome_of(options, session_.catalog, method, params);
  if (const auto* answer = std::get_if<ErrorAnswer>(&outcome)) return error(id, *answer);
  std::string& result = std::get<std::string>(outcome);
  session_.output.answer(id, may_be_cached(method) ? cacheable_result(options, std::move(result))
                                                   : modern_result(options, std::move(result)));
}

void Modern::on_notification(std::string_view method, std::string_view params) {
  if (method == "notifications/cancelled") session_.cancel(member(params, "requestId"));
}

/// Answers a request with an error if it does not name the one supported revision.
bool Modern::refuses(std::string_view id, std::string_view method, std::string_view params) {
  const std::string_view version = envelope_version(params);
  if (text_of(version) == kModernVersion) return false;
  if (!version.empty()) {
    refuse_version(id, version);
  } else if (method == "initialize") {
    refuse_version(id, member(params, "protocolVersion"));
  } else {
    error(id, {kInvalidParams, "Missing in params._meta: " + std::string(kVersionKey)});
  }
  return true;
}

void Modern::listen(std::string_view id, std::string_view params) {
  const std::string_view filter = member(params, "notifications");
  if (!filter.starts_with('{')) return error(id, {kInvalidParams, "Missing: notifications"});
  session_.streams.open(id, filter);
}

/// `requested` is raw. It is empty if the request named no version at all.
void Modern::refuse_version(std::string_view id, std::string_view requested) {
  std::string data = object_of({{"supported", supported_versions()}});
  if (!requested.empty()) {
    data = with_members(std::move(data), "\"requested\":" + std::string(requested));
  }
  session_.output.error(id, kUnsupportedVersion, "Unsupported protocol version", data);
}

void Modern::error(std::string_view id, const ErrorAnswer& answer) {
  session_.output.error(id, answer.code, answer.message);
}

}  // namespace sitter::fake
