#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/message.hpp"
#include "sitter/bytes.hpp"
#include "sitter/http.hpp"

namespace sitter {

namespace limits {

/// Tools with parameters that a client of an HTTP daemon repeats in headers. Clients refuse a list
/// of so many tools. The third bound is for the memory of the names: about 200 bytes for each
/// parameter, and few tools have more than one. Calls of further tools leave without such headers,
/// and so do calls of a tool with more parameters than the second bound: servers refuse so many.
inline constexpr std::size_t kHeaderToolsMax = 1000;
inline constexpr std::size_t kHeaderParamsMax = 100;
inline constexpr std::size_t kHeaderNamesMax = kMiB;

}  // namespace limits

/// The headers that repeat a part of a message of the stateless revision: its version, its method,
/// and the name, the URI or the task that it asks for (2026-07-28, basic/transports, "Request
/// Metadata"). None if the message has no envelope.
std::vector<HttpHeader> mirrored_headers(const Message& message);

/// Whether a header can carry the text as it is: visible ASCII, perhaps with spaces within. Not all
/// libraries can carry an empty value, and none carries spaces at its ends.
bool is_plain_value(std::string_view text);

/// A text as the value of such a header: as it is if it is plain, and encoded otherwise.
std::string encoded_value(std::string_view text);

/// A tool that a client must take out of the list, because an annotation of its parameters breaks
/// the rules.
struct InvalidTool {
  std::string_view raw;  ///< a view into the result
  std::string name;
  std::string reason;  ///< a clause for a person
};

/// Which parameters of which tools a client repeats in headers `Mcp-Param-*`. In the schema of such
/// a parameter, `x-mcp-header` names the header (2026-07-28, "Custom Headers from Tool
/// Parameters").
class ToolHeaders {
 public:
  /// Reads the raw result of a tools/list, one page or all. What it says of a tool replaces what
  /// was known of that tool. Returns the tools that `without_tools` must take out, in the order of
  /// the list.
  std::vector<InvalidTool> learn(std::string_view result);

  /// The headers of a tools/call with these raw params. Arguments that are null or missing have
  /// none, and neither have those that no header can carry.
  std::vector<HttpHeader> headers(std::string_view params) const;

  /// Forgets all tools: another server listens.
  void clear();

  /// The memory of the names, at most `limits::kHeaderNamesMax`.
  std::size_t bytes() const { return bytes_; }

  struct Param {
    std::vector<std::string> path;  ///< the keys that lead to the argument
    std::string header;             ///< the name without its prefix
  };

 private:
  void forget(std::string_view tool);
  void remember(std::string tool, std::vector<Param> params);

  std::map<std::string, std::vector<Param>, std::less<>> tools_;
  std::size_t bytes_ = 0;
};

/// The raw result of a tools/list without tools that `ToolHeaders::learn` has found in it.
std::string without_tools(std::string_view result, const std::vector<InvalidTool>& invalid);

}  // namespace sitter
