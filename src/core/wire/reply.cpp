#include "core/wire/reply.hpp"

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/wire/method.hpp"

namespace sitter {

bool has_code(std::string_view error, ErrorCode code) {
  return member(error, "code") == fmt::format("{}", static_cast<int>(code));
}

bool is_complete(std::string_view result_type) {
  return result_type.empty() || string_value(result_type) == "complete";
}

std::string result_line(std::string_view id, std::string_view result) {
  return fmt::format(R"json({{"jsonrpc":"2.0","id":{},"result":{}}})json", id, result);
}

std::string error_line(std::string_view id, ErrorCode code, std::string_view message,
                       std::string_view data) {
  std::string error = fmt::format(R"json({{"code":{},"message":{})json", static_cast<int>(code),
                                  json_string(message));
  if (!data.empty()) error += fmt::format(R"json(,"data":{})json", data);
  return error_line(id, error + "}");
}

std::string error_line(std::string_view id, std::string_view error) {
  const std::string member = id.empty() ? "" : fmt::format(R"json("id":{},)json", id);
  return fmt::format(R"json({{"jsonrpc":"2.0",{}"error":{}}})json", member, error);
}

bool has_message(std::string_view error) { return member(error, "message").starts_with('"'); }

void append_to_error(std::string_view error, std::string_view text, Edits& edits) {
  const std::string_view message = member(error, "message");
  const std::string_view open = message.substr(0, message.size() - 1);
  edits.replace(message, std::string(open) + json_string("\n\n" + std::string(text)).substr(1));
}

std::string tool_text(std::string_view text, bool is_error) {
  return fmt::format(R"json({{"content":[{}]{}}})json", text_block(text),
                     is_error ? R"json(,"isError":true)json" : "");
}

std::string complete(std::string_view result, std::string_view meta) {
  return fmt::format(R"json({{"resultType":"complete","_meta":{{{}}}{}{})json", meta,
                     result == "{}" ? "" : ",", result.substr(1));
}

std::string complete_list(std::string_view result, std::string_view meta) {
  return complete(fmt::format(R"json({{"ttlMs":0,"cacheScope":"private",{})json", result.substr(1)),
                  meta);
}

void expire(std::string_view result, Edits& edits) {
  const std::string_view kept_for = member(result, "ttlMs");
  if (!kept_for.empty() && kept_for != "0") edits.replace(kept_for, "0");
}

std::string server_info_member(std::string_view sitter_version) {
  return fmt::format(R"json("{}":{{"name":"mcp-sitter","version":{}}})json", kMetaServerInfo,
                     json_string(sitter_version));
}

std::string request_line(std::string_view id, std::string_view method, std::string_view params) {
  return fmt::format(R"json({{"jsonrpc":"2.0","id":{},"method":"{}"{}{}}})json", id, method,
                     params.empty() ? "" : R"json(,"params":)json", params);
}

std::string notification_line(std::string_view method, std::string_view params) {
  return fmt::format(R"json({{"jsonrpc":"2.0","method":"{}"{}{}}})json", method,
                     params.empty() ? "" : R"json(,"params":)json", params);
}

std::string cancelled_line(std::string_view raw_id, std::string_view reason) {
  const std::string why =
      reason.empty() ? "" : fmt::format(R"json(,"reason":{})json", json_string(reason));
  return notification_line(method_name(Method::cancelled),
                           fmt::format(R"json({{"requestId":{}{}}})json", raw_id, why));
}

std::string text_block(std::string_view text) {
  return fmt::format(R"json({{"type":"text","text":{}}})json", json_string(text));
}

}  // namespace sitter
