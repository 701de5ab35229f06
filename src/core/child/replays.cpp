#include "core/child/replays.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/child/child.hpp"
#include "core/child/child_end.hpp"
#include "core/client/client_requests.hpp"
#include "core/wire/json_view.hpp"

namespace sitter {

using Level = order::Log::Level;

Replays::Replays(const std::vector<std::string>& tools) {
  for (const std::string& tool : tools) {
    if (!is_named(tool)) tools_.push_back(tool);
  }
}

bool Replays::is_named(std::string_view tool) const {
  return std::find(tools_.begin(), tools_.end(), tool) != tools_.end();
}

bool Replays::repeats(const ClientRequest& request) const {
  return request.method == Method::tools_call && !request.wants_task && is_named(request.tool);
}

void Replays::on_result(Child& child, const ClientRequest& request, std::string_view result,
                        std::string_view call, Orders& out) {
  const std::string& tool = request.tool;
  // A success of a later child is newer, even if this answer comes after it.
  const auto known = calls_.find(tool);
  const bool is_news = known == calls_.end() || known->second.gen <= child.gen();
  if (!is_news || !is_complete_success(result)) return;
  const std::string_view arguments = member(call, "arguments");
  if (call.empty() || arguments.size() > limits::kReplayBytesMax) {
    out.log(Level::warn,
            fmt::format("a call of {} is not made again: at most {} bytes of its arguments are "
                        "kept",
                        tool, limits::kReplayBytesMax));
    calls_.erase(tool);
    return;
  }
  child.calls_made[tool] = ++last_number_;
  calls_[tool] = {tool, std::string(arguments), child.gen(), request.order, last_number_};
}

void Replays::give_first(Child& child) {
  if (child.waits_for_use()) {
    for (const ReplayedCall& call : missed(child.calls_made)) {
      remarks_.push_back({call.tool, {}});
      remarks_.push_back(
          {call.tool,
           fmt::format(
               "{}: not called before this call, because the server has restarted itself {} "
               "times in a row; perhaps {} makes it restart",
               call.tool, child.own_restart.unused_in_row(), call.tool)});
    }
    return;
  }
  std::vector<ReplayedCall> calls;
  for (const std::string& tool : tools_) {
    const auto call = calls_.find(tool);
    if (call == calls_.end()) continue;
    child.calls_made[tool] = call->second.number;
    calls.push_back(call->second);
    // What has failed at the child before is called again.
    remarks_.push_back({tool, {}});
  }
  child.handshake.replay_first(std::move(calls));
}

void Replays::catch_up(Child& child, ClientRequests& requests, Now now, Orders& out) {
  if (calls_.empty()) return;
  if (!child.life.is_up() || child.is_retiring() || child.waits_for_use()) return;
  for (ReplayedCall& call : missed(child.calls_made)) {
    if (!child.handshake.may_call_again()) return;
    const auto sent = requests.all(ClientRequest::State::sent, child.gen());
    const bool is_outdated =
        std::any_of(sent.begin(), sent.end(), [&](const ClientRequest* request) {
          return request->tool == call.tool && request->order > call.order;
        });
    if (is_outdated) continue;
    child.calls_made[call.tool] = call.number;
    child.handshake.call_again(std::move(call), now, out);
  }
}

std::vector<ReplayedCall> Replays::missed(const Made& made) const {
  std::vector<ReplayedCall> calls;
  for (const std::string& tool : tools_) {
    const auto call = calls_.find(tool);
    if (call == calls_.end()) continue;
    const auto last = made.find(tool);
    if (last == made.end() || last->second < call->second.number) calls.push_back(call->second);
  }
  return calls;
}

void Replays::blame(const Child& dead, ChildEnd& end, ClientRequests& requests) {
  if (end.reason == EndReason::ended_from_outside) return;
  // If client requests were also open, the culprit is unknown. The next child makes the repeated
  // calls alone.
  if (!dead.handshake.is_calling_again() && !requests.at_child(dead.gen()).empty()) return;
  const std::string tool(dead.handshake.running_call());
  if (calls_.erase(tool) == 0) return;
  remarks_.push_back(
      {tool, fmt::format("{}: {}; it is not called again by itself", tool, end_clause(end))});
  end.during = fmt::format("{} was called again, which --replay-call asks for", tool);
}

void Replays::add_failures(std::vector<std::string> failures) {
  for (std::string& failure : failures) remarks_.push_back({{}, std::move(failure)});
}

}  // namespace sitter
