#include "doctor/doctor_session.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/wire/protocol.hpp"
#include "io/process/process_table.hpp"
#include "probe/json_words.hpp"
#include "sitter/version.hpp"

namespace sitter {
namespace {

using Json = DoctorSession::Json;

constexpr const char* kRevision = "2025-11-25";

/// sitter_kill waits for the kill ladder, which takes up to --kill-grace twice, and for what docker
/// and the like must end elsewhere (5 s). The other tools answer at once.
constexpr Milliseconds kToolWait{150'000};

/// A daemon on this machine or in its network that runs accepts a connection sooner.
constexpr Milliseconds kDaemonWait{3'000};

Json client_info() { return {{"name", "mcp-sitter-doctor"}, {"version", kVersion}}; }

}  // namespace

DoctorSession::DoctorSession(const DoctorWords& words, Era era, const Start& start)
    : era_(era),
      is_daemon_elsewhere_(words.options.bridge.kind == ServerKind::elsewhere),
      deadline_(start.deadline),
      bridge_({.words = bridge_words(words, start.startup_timeout),
               .environment = start.environment}) {}

DoctorSession::~DoctorSession() {
  if (!owes_answer_) return;
  // At the end of its input, the bridge would wait for the answer.
  if (const auto bridge = find_process(bridge_.pid())) send_signal(*bridge, UnitSignal::terminate);
}

std::optional<Json> DoctorSession::open(Milliseconds wait) {
  if (era_ == Era::stateless) return ask("server/discover", Json::object(), wait);
  const int opening = bridge_.last_request() + 1;
  const Milliseconds first_wait = is_daemon_elsewhere_ ? std::min(wait, kDaemonWait) : wait;
  auto answer = ask("initialize",
                    {{"protocolVersion", kRevision},
                     {"capabilities", Json::object()},
                     {"clientInfo", client_info()}},
                    first_wait);
  // A daemon that is there may still be slow.
  if (!answer && first_wait < wait && !look("status").contains("absence")) {
    answer = bridge_.answer(opening, wait - first_wait);
    owes_answer_ = !answer;
  }
  if (answer && answer->contains("result")) {
    bridge_.tell("notifications/initialized", Json::object());
  }
  return answer;
}

std::optional<Json> DoctorSession::ask(std::string_view method, Json params, Milliseconds wait) {
  if (era_ == Era::stateless) {
    params["_meta"] = {{kMetaVersion, kStatelessRevision},
                       {kMetaClientInfo, client_info()},
                       {kMetaClientCapabilities, Json::object()}};
  }
  const auto left = std::chrono::ceil<Milliseconds>(deadline_ - Clock::now());
  auto answer =
      bridge_.ask(method, std::move(params), std::clamp(left, Milliseconds::zero(), wait));
  owes_answer_ = owes_answer_ || !answer;
  return answer;
}

void DoctorSession::give_up() {
  bridge_.tell("notifications/cancelled", {{"requestId", bridge_.last_request()}});
}

std::string DoctorSession::text_of(std::string_view tool, Json arguments) {
  const auto answer = ask(
      "tools/call", {{"name", doctor_tool(tool)}, {"arguments", std::move(arguments)}}, kToolWait);
  if (!answer) return {};
  const Json::json_pointer place("/result/content/0/text");
  return answer->contains(place) && answer->at(place).is_string()
             ? answer->at(place).get<std::string>()
             : std::string();
}

Json DoctorSession::settled_status() {
  // A server without a session is never ready, and an absent daemon may never be.
  const auto is_clear = [&](const Json& status) {
    return era_ == Era::stateless || is_true(status, "childReady") ||
           !is_true(status, "childAlive") || status.contains("absence");
  };
  const auto end = std::min(deadline_, Clock::now() + kToolWait);
  Json status = look("status");
  while (!owes_answer_ && !is_clear(status) && Clock::now() < end) {
    rest();
    status = look("status");
  }
  return status;
}

Json DoctorSession::look(std::string_view tool, Json arguments) {
  Json json = parsed_json(text_of(tool, std::move(arguments)));
  return json.is_object() ? json : Json::object();
}

Json DoctorSession::look(std::string_view tool) { return look(tool, Json::object()); }

}  // namespace sitter
