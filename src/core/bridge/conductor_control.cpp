#include <algorithm>

#include "core/base/line_pattern.hpp"
#include "core/bridge/conductor.hpp"
#include "core/bridge/control_request.hpp"
#include "core/report/builtin_arguments.hpp"

namespace sitter {

using Command = ControlRequest::Command;

void Conductor::on(const fact::ControlLine& fact) {
  const auto parsed = parse_control_request(fact.line);
  ClientRequest& request = desk_.requests().add_control(fact.connection);
  request.method = Method::tools_call;
  if (const auto* const wrong = std::get_if<std::string>(&parsed)) {
    desk_.answer_error(request, ErrorCode::invalid_request, *wrong);
    return;
  }
  const auto& asked = std::get<ControlRequest>(parsed);
  switch (asked.command) {
    case Command::status:
      servers_.inspect(Look::Purpose::status, request.handle());
      break;
    case Command::reload:
      tools_.reload(request, asked.arguments);
      break;
    case Command::kill:
      if (asked.by != 0) return tools_.kill_for(request, asked.by);
      tools_.run(request, Builtin::kill, asked.arguments);
      break;
    case Command::child_stderr:
      if (asked.follows) follow(fact.connection, asked.arguments);
      tools_.run(request, Builtin::child_stderr, asked.arguments);
      break;
  }
}

void Conductor::on(const fact::ControlClosed& fact) {
  servers_.followers().drop(fact.connection);
  const auto is_its = [&](const ClientRequest* request) {
    return request->is_control() && request->extra->control == fact.connection;
  };
  for (;;) {
    // When nobody waits for a reload any more, it is given up, and other requests may be answered
    // with it. The last request goes first, so that the end of a reload does not begin the next.
    const auto ours = desk_.requests().all(ClientRequest::State::ours);
    const auto found = std::find_if(ours.rbegin(), ours.rend(), is_its);
    if (found == ours.rend()) return;
    forget(**found);
    desk_.requests().take(**found);
  }
}

/// A follower with wrong arguments gets only the error from `Tools::run`.
void Conductor::follow(ControlId connection, std::string_view arguments) {
  const auto parsed = parse_stderr_arguments(arguments);
  const auto* const query = std::get_if<StderrRing::Query>(&parsed);
  if (query == nullptr) return;
  const LinePattern pattern(query->grep);
  if (pattern.complaint().empty()) servers_.followers().add(connection, pattern);
}

}  // namespace sitter
