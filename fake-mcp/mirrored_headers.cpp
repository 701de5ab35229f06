#include "mirrored_headers.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "json.hpp"
#include "modern.hpp"

namespace sitter::fake {
namespace {

std::optional<std::string> from_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  return bytes;
}

/// The text that a header value stands for; nothing if it is not valid.
std::optional<std::string> decoded(std::string_view value) {
  constexpr std::string_view kBegin = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  if (value.size() >= kBegin.size() + kEnd.size() && value.starts_with(kBegin) &&
      value.ends_with(kEnd)) {
    value.remove_prefix(kBegin.size());
    value.remove_suffix(kEnd.size());
    return from_base64(value);
  }
  const bool is_plain = std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return c == '\t' || (c >= 0x20 && c < 0x7F);
  });
  if (!is_plain) return std::nullopt;
  return std::string(value);
}

/// Whether a header stands for this raw value of the body.
bool stands_for(std::string_view header, std::string_view raw) {
  const std::optional<std::string> text = decoded(header);
  if (!text) return false;
  if (raw.starts_with('"')) return *text == text_of(raw);
  if (*text == raw) return true;
  char* end = nullptr;
  const double number = std::strtod(text->c_str(), &end);
  const bool is_number = end != text->c_str() && *end == '\0';
  return is_number && number == std::strtod(std::string(raw).c_str(), nullptr);
}

/// Compares one header, which must be there exactly if the raw value is.
std::string mismatch_of(const HttpRequest& request, const std::string& name, std::string_view raw) {
  std::string key = name;
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool has_value = !raw.empty() && raw != "null";
  if (request.has(key) != has_value) {
    return "Header mismatch: " + name + (has_value ? " is missing" : " has no value in the body");
  }
  if (!has_value || stands_for(request.header(key), raw)) return {};
  return "Header mismatch: " + name + " does not match the body";
}

/// The raw member that Mcp-Name repeats; nothing if the method needs no such header.
std::optional<std::string_view> name_in(std::string_view method, std::string_view params) {
  if (method == "tools/call" || method == "prompts/get") return member(params, "name");
  if (method == "resources/read") return member(params, "uri");
  if (method.starts_with("tasks/")) return member(params, "taskId");
  return std::nullopt;
}

/// Compares the headers that the schema of a tool asks for.
std::string parameter_mismatch(const HttpRequest& request, std::string_view schema,
                               std::string_view arguments) {
  std::vector<std::pair<std::string_view, std::string_view>> objects = {{schema, arguments}};
  std::string mismatch;
  while (!objects.empty()) {
    const auto [object, values] = objects.back();
    objects.pop_back();
    each_item(member(object, "properties"), '{',
              [&](std::string_view key, std::string_view property) {
                const std::string_view value = member(values, key);
                const std::string name = text_of(member(property, "x-mcp-header"));
                if (!name.empty() && mismatch.empty()) {
                  mismatch = mismatch_of(request, "Mcp-Param-" + name, value);
                }
                objects.emplace_back(property, value);
              });
  }
  return mismatch;
}

}  // namespace

std::string header_mismatch(const HttpRequest& request, const Message& message,
                            std::string_view tool) {
  const std::string_view version = envelope_version(message.params);
  // A request without an envelope is refused for that.
  if (version.empty()) return {};
  std::string mismatch = mismatch_of(request, "MCP-Protocol-Version", version);
  if (mismatch.empty()) mismatch = mismatch_of(request, "Mcp-Method", message.method);
  const std::string method = text_of(message.method);
  const auto name = name_in(method, message.params);
  if (mismatch.empty() && name) mismatch = mismatch_of(request, "Mcp-Name", *name);
  if (!mismatch.empty() || method != "tools/call") return mismatch;
  return parameter_mismatch(request, member(tool, "inputSchema"),
                            member(message.params, "arguments"));
}

}  // namespace sitter::fake
