#include "legacy.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "json.hpp"
#include "results.hpp"
#include "tools.hpp"

namespace sitter::fake {
namespace {

constexpr std::array<std::string_view, 4> kVersions = {"2024-11-05", "2025-03-26", "2025-06-18",
                                                       "2025-11-25"};

}  // namespace

bool is_legacy_version(std::string_view version) {
  return std::find(kVersions.begin(), kVersions.end(), version) != kVersions.end();
}

std::string initialize_result(const Options& options, std::string_view params) {
  std::string version = text_of(member(params, "protocolVersion"));
  if (!is_legacy_version(version)) version = kVersions.back();
  std::string result =
      object_of({{"protocolVersion", json_quoted(options.protocol.value_or(version))},
                 {"capabilities", capabilities(options)},
                 {"serverInfo", server_info(options)}});
  if (!options.instructions) return result;
  return with_members(std::move(result), "\"instructions\":" + json_quoted(*options.instructions));
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
  if (method == "tools/call" && options.tools) return run_tool(session_, id, params);
  if (keeps_state(method, params)) return output.answer(id, "{}");

  const Outcome outcome = outcome_of(options, session_.catalog, method, params);
  if (const auto* error = std::get_if<ErrorAnswer>(&outcome)) {
    return output.error(id, error->code, error->message);
  }
  output.answer(id, std::get<std::string>(outcome));
}

void Legacy::on_notification(std::string_view method, std::string_view params) {
  if (method == "notifications/initialized") {
    session_.record.initialized = true;
    for (const std::string& wanted : session_.options.notify) session_.output.notify(wanted, {});
    if (!session_.options.ask_before_initialized) ask_client();
  } else if (method == "notifications/cancelled") {
    session_.cancel(member(params, "requestId"));
  }
}

/// Handles the requests that only change the record. False if the request is not one of them.
bool Legacy::keeps_state(std::string_view method, std::string_view params) {
  if (!offers(session_.options, method)) return false;
  Record& record = session_.record;
  if (method == "logging/setLevel") {
    record.level = text_of(member(params, "level"));
  } else if (method == "resources/subscribe") {
    record.subscriptions.insert(text_of(member(params, "uri")));
  } else if (method == "resources/unsubscribe") {
    record.subscriptions.erase(text_of(member(params, "uri")));
  } else {
    return false;
  }
  return true;
}

void Legacy::ask_client() {
  for (const std::string& method : session_.options.ask) session_.questions.ask(method, {});
}

}  // namespace sitter::fake
