#include <fmt/format.h>

#include <utility>

#include "core/base/json_text.hpp"
#include "core/http/http_link.hpp"
#include "core/http/http_link_limits.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Of = fact::ChildLost::Of;

namespace {

/// No client and no other part of the bridge uses this id.
constexpr std::string_view kProbeId = "\"mcp-sitter-probe\"";

}  // namespace

/// What a client of the stateless revision says about itself in each request.
std::string HttpLink::envelope_of(const Message::Params& params) {
  std::string envelope = fmt::format(R"json("{}":{})json", kMetaVersion, params.envelope_version);
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) envelope += fmt::format(R"json(,"{}":{})json", name, value);
  };
  add(kMetaClientInfo, params.envelope_client);
  add(kMetaClientCapabilities, params.envelope_capabilities);
  return envelope;
}

/// A daemon that keeps no session may have restarted if it has closed a connection. The system does
/// not show that everywhere, and not if both processes listen at one socket. The tools that the
/// daemon lists then show whether it is another program.
void HttpLink::on(const fact::HttpIdleClosed&) {
  if (state_ != State::up || !session_.id().empty() || now_.steady < next_probe_) return;
  next_probe_ = now_.steady + limits::kHttpProbeInterval;
  doubt_ = Doubt::daemon;
}

void HttpLink::note_tools(std::string_view result) {
  const std::string_view tools = member(result, "tools");
  last_tools_ = tools.size() <= limits::kListBytesMax ? tools : std::string_view();
}

void HttpLink::probe() {
  doubt_ = Doubt::none;
  const std::string params =
      envelope_.empty() ? std::string() : fmt::format(R"json({{"_meta":{{{}}}}})json", envelope_);
  OwnedLine line(request_line(kProbeId, method_name(Method::tools_list), params));
  const Message* const message = read(line);
  if (message == nullptr) return;
  ExchangePtr exchange = as_exchange(*message, OwnedLine(line.text()));
  exchange->kind = Kind::probe;
  send(std::move(exchange));
}

/// The answer to the probe has come, or is lost, which shows nothing.
void HttpLink::on_probed(const HttpExchange& exchange) {
  const OwnedLine line(as_wire_line(exchange.body));
  const Message* const message = read(line);
  if (message == nullptr || message->kind != Message::Kind::result) return;
  if (exchange.is_stateless) tool_headers_.learn(message->result);
  const std::string_view tools = member(message->result, "tools");
  if (last_tools_.empty()) note_tools(message->result);
  if (tools.empty() || last_tools_.empty() || json_same(tools, last_tools_)) return;
  begin_losing(Of::connection, "it lists other tools than before");
}

/// The tools were listed again since the request was refused.
void HttpLink::refresh_headers(HttpExchange& exchange) {
  const OwnedLine line(exchange.line.text());
  const Message* const message = read(line);
  if (message == nullptr) return;
  exchange.mirrored = as_exchange(*message, OwnedLine())->mirrored;
}

}  // namespace sitter
