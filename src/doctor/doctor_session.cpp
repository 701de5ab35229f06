#include "doctor/doctor_session.hpp"

#include <algorithm>
#include <utility>

#include "core/wire/protocol.hpp"
#include "sitter/version.hpp"

namespace sitter {
namespace {

using Json = DoctorSession::Json;

constexpr const char* kRevision = "2025-11-25";
constexpr const char* kStatelessRevision = "2026-07-28";

/// sitter_kill waits for the kill ladder, which takes up to --kill-grace twice, and for what docker
/// and the like must end elsewhere (5 s). The other tools answer at once.
constexpr Milliseconds kToolWait{150'000};

Json client_info() { return {{"name", "mcp-sitter-doctor"}, {"version", kVersion}}; }

}  // namespace

DoctorSession::DoctorSession(const DoctorWords& words, Era era, const Start& start)
    : era_(era),
      deadline_(start.deadline),
      bridge_({.words = bridge_words(words, start.startup_timeout),
               .environment = start.environment}) {}

std::optional<Json> DoctorSession::open(Milliseconds wait) {
  if (era_ == Era::stateless) return ask("server/discover", Json::object(), wait);
  auto answer = ask("initialize",
                    {{"protocolVersion", kRevision},
                     {"capabilities", Json::object()},
                     {"clientInfo", client_info()}},
                    wait);
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
  return bridge_.ask(method, std::move(params), std::clamp(left, Milliseconds::zero(), wait));
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

Json DoctorSession::look(std::string_view tool, Json arguments) {
  Json json = Json::parse(text_of(tool, std::move(arguments)), nullptr, false);
  return json.is_object() ? json : Json::object();
}

}  // namespace sitter
