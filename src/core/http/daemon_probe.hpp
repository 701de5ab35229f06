#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "core/base/json_text.hpp"
#include "core/http/http_link_limits.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/message.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"
#include "sitter/limits.hpp"

namespace sitter {

/// Whether the daemon must list its tools before anything else. A daemon without a session may have
/// restarted if it has closed a connection. The system does not show that everywhere, and not if
/// both processes listen at one socket. The tools then show whether it is another program.
///
///     none --on_idle_closed()-----> daemon --start()--> none
///       \----on_headers_refused()-> headers --start()--> none
class DaemonProbe {
 public:
  /// A daemon without a session has closed an idle connection.
  void on_idle_closed(Now now) {
    if (now.steady < next_) return;
    next_ = now.steady + limits::kHttpProbeInterval;
    doubt_ = Doubt::daemon;
  }
  /// The daemon has refused a request because of its headers, which depend on the tools.
  void on_headers_refused() { doubt_ = Doubt::headers; }
  bool is_due() const {
    // Without an earlier list, the tools would not show another daemon.
    return doubt_ == Doubt::headers || (doubt_ == Doubt::daemon && !last_tools_.empty());
  }
  /// Returns the tools/list to be sent.
  OwnedLine start() {
    // No client and no other part of the bridge uses this id.
    constexpr std::string_view kId = "\"mcp-sitter-probe\"";
    doubt_ = Doubt::none;
    const std::string params =
        envelope_.empty() ? std::string() : fmt::format(R"json({{"_meta":{{{}}}}})json", envelope_);
    return OwnedLine(request_line(kId, method_name(Method::tools_list), params));
  }
  /// Returns whether this raw result comes from another program than the lists before.
  bool on_result(std::string_view result) {
    if (last_tools_.empty()) note_tools(result);
    const std::string_view tools = member(result, "tools");
    return !tools.empty() && !last_tools_.empty() && !json_same(tools, last_tools_);
  }

  /// The client has got this raw result, the first page of the tools.
  void note_tools(std::string_view result) {
    const std::string_view tools = member(result, "tools");
    last_tools_ = tools.size() <= limits::kListBytesMax ? tools : std::string_view();
  }
  /// What a client of the stateless revision says about itself in each request.
  void note_envelope(const Message::Params& params) {
    envelope_ = fmt::format(R"json("{}":{})json", kMetaVersion, params.envelope_version);
    const auto add = [&](std::string_view name, std::string_view value) {
      if (!value.empty()) envelope_ += fmt::format(R"json(,"{}":{})json", name, value);
    };
    add(kMetaClientInfo, params.envelope_client);
    add(kMetaClientCapabilities, params.envelope_capabilities);
  }
  /// Another child begins.
  void clear() {
    doubt_ = Doubt::none;
    last_tools_.clear();
  }

 private:
  enum class Doubt {
    none,
    daemon,   ///< it may be another daemon than before
    headers,  ///< it has refused a request because of its headers
  };

  Doubt doubt_ = Doubt::none;
  Instant next_{};
  std::string last_tools_;  // raw
  std::string envelope_;
};

}  // namespace sitter
