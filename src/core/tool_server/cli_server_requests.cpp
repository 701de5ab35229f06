#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/json_text.hpp"
#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/client/session.hpp"
#include "core/tool_server/cli_server.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/method.hpp"
#include "core/wire/reply.hpp"

// The lines that the bridge sends to the child.

namespace sitter {
namespace {

/// The newest revision with a session, for a client that asks for one that is not known.
constexpr std::string_view kLegacyVersion = "2025-11-25";
constexpr std::string_view kStatelessVersion = "2026-07-28";

/// How much of a name or a place a text shows, in bytes.
constexpr std::size_t kCallShownMax = 200;

std::string refusal(std::string_view tool, std::string_view what) {
  return tool_text(
      fmt::format("[mcp-sitter] `{}` was not run: {}", brief(tool, kCallShownMax), what), true);
}

std::size_t bytes_of(const order::StartRun& start) {
  std::size_t bytes = start.input.size() + start.cwd.size();
  for (const auto* const texts : {&start.arguments, &start.environment}) {
    for (const std::string& text : *texts) bytes += text.size() + sizeof(text);
  }
  return bytes;
}

std::string misfit(const JsonSchema::Violation& violation) {
  const std::string subject =
      violation.place.empty()
          ? "the arguments do not fit their schema: the object"
          : fmt::format("the argument `{}`", brief(violation.place, kCallShownMax));
  return fmt::format("{} {}; this part of the schema says {}", subject, violation.what,
                     violation.part);
}

/// A result with what the stateless revision needs. A result of the tool may have some of it
/// already, and many clients refuse a member that is written twice.
std::string completed(std::string_view result, const std::string& meta) {
  const OwnedLine owned{std::string(result)};
  const Line line = owned.line();
  const auto [own_meta, own_type] = members<2>(line.text(), {"_meta", "resultType"});
  if (own_meta.empty() && own_type.empty()) return complete(result, meta);
  Edits edits(line);
  if (own_type.empty()) edits.prepend(line.text(), R"json("resultType":"complete")json");
  if (own_meta.empty()) {
    edits.prepend(line.text(), fmt::format(R"json("_meta":{{{}}})json", meta));
  } else {
    edits.prepend(own_meta, meta);
  }
  return edits.apply();
}

}  // namespace

void CliServer::handle(const order::SendToChild& order, Now now) {
  now_ = now;
  const Child* const child = find_child(order.gen);
  if (child == nullptr || child->state != State::up) return;
  const OwnedLine line(order.line.text());
  if (const Message* const message = reader_.read(line.line(), MessageReader::Values::checked)) {
    on_line(*child, *message);
  }
  settle();
}

void CliServer::on_line(const Child& child, const Message& message) {
  if (message.kind == Message::Kind::request) {
    on_request(child, message);
  } else if (message.method == Method::cancelled) {
    on_cancelled(child.gen, message.params.request_id);
  }
}

void CliServer::on_request(const Child& child, const Message& message) {
  RunCaller caller{std::string(message.id), message.params.has_envelope(),
                   std::string(message.params.meta_progress_token)};
  if (caller.is_stateless && string_value(message.params.envelope_version) != kStatelessVersion) {
    tell_line(child.gen,
              error_line(caller.id, ErrorCode::unsupported_version, "Unsupported protocol version",
                         fmt::format(R"json({{"supported":["{}"]}})json", kStatelessVersion)));
    return;
  }
  switch (message.method) {
    case Method::initialize:
      answer(child.gen, caller, opening_result(child, message));
      break;
    case Method::server_discover:
      caller.is_stateless = true;
      answer(
          child.gen, caller,
          fmt::format(R"json({{"supportedVersions":["{}"],"capabilities":{{"tools":{{}}}}}})json",
                      kStatelessVersion),
          true);
      break;
    case Method::ping:
      answer(child.gen, caller, "{}");
      break;
    case Method::tools_list:
      answer(child.gen, caller, tools_result(*child.description), true);
      break;
    case Method::tools_call:
      on_call(child, message, std::move(caller));
      break;
    default:
      answer_error(child.gen, caller.id, ErrorCode::method_not_found,
                   fmt::format("Method not found: {}", brief(message.method_text, kCallShownMax)));
  }
}

std::string CliServer::server_info(Generation gen) {
  const Child* const child = find_child(gen);
  const std::string version =
      child != nullptr && child->description ? child->description->version : std::string();
  return fmt::format(R"json({{"name":{},"version":{}}})json", json_string(options_.name),
                     json_string(version));
}

std::string CliServer::opening_result(const Child& child, const Message& message) {
  const std::string asked = string_value(member(message.params_raw, "protocolVersion"));
  return fmt::format(
      R"json({{"protocolVersion":{},"capabilities":{{"tools":{{"listChanged":true}}}},"serverInfo":{}}})json",
      json_string(is_legacy_version(asked) ? asked : kLegacyVersion), server_info(child.gen));
}

std::string CliServer::tools_result(const Description& description) {
  std::string result = R"json({"tools":[)json";
  for (const CliTool& tool : description.tools) {
    if (!result.ends_with('[')) result += ',';
    result += tool.listed;
  }
  return result + "]}";
}

void CliServer::on_call(const Child& child, const Message& message, RunCaller caller) {
  if (const CliTool* const tool = child.description->find(message.params.name_text)) {
    call(child.gen, child.description, *tool, message, std::move(caller));
  } else {
    park(child, message, std::move(caller));
  }
}

/// The call waits until the description was read once more.
void CliServer::park(const Child& child, const Message& message, RunCaller caller) {
  const std::string name = brief(message.params.name_text, kCallShownMax);
  if (const auto crowd = crowd_with(message.params_raw.size())) {
    return answer(child.gen, caller, refusal(name, *crowd));
  }
  parked_.push_back({child.gen, std::move(caller),
                     OwnedLine(fmt::format(
                         R"json({{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{}}})json",
                         message.params_raw.empty() ? "{}" : message.params_raw)),
                     now_.steady + options_.call_timeout});
  // A description that is being read is new enough, and another reading would take its place.
  const bool is_reading = std::any_of(children_.begin(), children_.end(),
                                      [](const Child& one) { return one.state == State::reading; });
  if (!is_reading) tell(fact::ReloadAsked{fmt::format("a call of the unknown tool `{}`", name)});
}

/// A description was read, or could not be read: calls what was parked, with the newest one.
void CliServer::call_parked() {
  const Child* newest = nullptr;
  for (const Child& child : children_) {
    if (child.description) newest = &child;
  }
  for (Parked& parked : std::exchange(parked_, {})) {
    const Message* const message = reader_.read(parked.line.line(), MessageReader::Values::checked);
    const CliTool* const tool = message == nullptr || newest == nullptr
                                    ? nullptr
                                    : newest->description->find(message->params.name_text);
    if (tool == nullptr) {
      answer_unknown(parked);
    } else {
      call(parked.child, newest->description, *tool, *message, std::move(parked.caller));
    }
  }
}

void CliServer::answer_unknown(const Parked& parked) {
  const Message* const message = reader_.read(parked.line.line());
  answer_error(
      parked.child, parked.caller.id, ErrorCode::invalid_params,
      fmt::format("Unknown tool: {}",
                  message == nullptr ? "" : brief(message->params.name_text, kCallShownMax)));
}

void CliServer::call(Generation child, const std::shared_ptr<const Description>& description,
                     const CliTool& tool, const Message& message, RunCaller caller) {
  std::string_view raw = member(message.params_raw, "arguments");
  if (!is_there(raw)) raw = "{}";
  const auto refuse = [&](std::string_view what) {
    answer(child, caller, refusal(tool.name, what));
  };
  if (!is_object(raw)) return refuse("its arguments are not an object");
  if (is_nested_deeper(raw, limits::kNestingMax)) {
    return refuse(
        fmt::format("its arguments are nested deeper than {} levels", limits::kNestingMax));
  }
  if (const auto violation = tool.arguments.check(raw)) return refuse(misfit(*violation));

  const RunArguments arguments(raw);
  auto words = tool.command.words(arguments);
  if (const auto* const complaint = std::get_if<Complaint>(&words)) return refuse(complaint->text);
  order::StartRun start;
  start.arguments = std::get<std::vector<std::string>>(std::move(words));
  std::optional<Complaint> wrong;
  const auto fill = [&](const TextTemplate& text, bool allows_nul) -> std::optional<std::string> {
    auto filled = text.fill(arguments, allows_nul);
    if (auto* const complaint = std::get_if<Complaint>(&filled)) {
      wrong = std::move(*complaint);
      return {};
    }
    return std::get<0>(std::move(filled));
  };
  if (tool.input) start.input = fill(*tool.input, true).value_or("");
  for (const auto& [variable, text] : tool.environment) {
    if (const auto value = fill(text, false)) start.environment.push_back(variable + "=" + *value);
  }
  if (tool.cwd) start.cwd = fill(*tool.cwd, false).value_or("");
  if (wrong) return refuse(wrong->text);
  const std::size_t bytes = bytes_of(start);
  if (const auto crowd = crowd_with(bytes)) return refuse(*crowd);

  Run& run = add_run(child);
  start.gen = run.start.gen;
  run.start = std::move(start);
  run.start_bytes = bytes;
  run.caller = std::move(caller);
  run.description = description;
  run.tool = &tool;
  run.timeout = tool.timeout.value_or(options_.call_timeout);
}

/// Why one more call with this many bytes may not wait for its turn; empty if it may.
std::optional<std::string> CliServer::crowd_with(std::size_t bytes) const {
  std::size_t count = 0;
  for (const Run& run : runs_) {
    if (!run.is_waiting) continue;
    ++count;
    bytes += run.start_bytes;
  }
  for (const Parked& parked : parked_) {
    ++count;
    bytes += parked.line.text().size();
  }
  if (count == 0 || (count < limits::kWaitingCallsMax && bytes <= limits::kWaitingCallBytesMax)) {
    return {};
  }
  return fmt::format(
      "too many calls wait for their turn already ({} before this one, {} bytes with it); call "
      "again when some of them are answered",
      count, bytes);
}

void CliServer::on_cancelled(Generation gen, std::string_view id) {
  for (Run& run : runs_) {
    if (run.child != gen || !same_id(run.caller.id, id) || run.is_unwanted || run.is_description())
      continue;
    run.is_unwanted = true;
    stop(run, "was cancelled");
    return;
  }
  parked_.remove_if(
      [&](const Parked& parked) { return parked.child == gen && same_id(parked.caller.id, id); });
}

void CliServer::answer(Generation gen, const RunCaller& caller, std::string_view result,
                       bool is_list) {
  if (!caller.is_stateless) return tell_line(gen, result_line(caller.id, result));
  const std::string meta = fmt::format(R"json("{}":{})json", kMetaServerInfo, server_info(gen));
  tell_line(
      gen, result_line(caller.id, is_list ? complete_list(result, meta) : completed(result, meta)));
}

void CliServer::answer_error(Generation gen, std::string_view id, ErrorCode code,
                             std::string_view message) {
  tell_line(gen, error_line(id, code, message));
}

void CliServer::tell_line(Generation gen, std::string line) {
  told_.push_back({fact::ChildLine{gen, {}}, OwnedLine(std::move(line))});
}

void CliServer::tell_error_line(Generation gen, std::string_view about, std::string_view line,
                                std::uint64_t bytes_cut) {
  told_.push_back(
      {fact::ChildErrorLine{gen, {}, bytes_cut}, OwnedLine(fmt::format("[{}] {}", about, line))});
}

}  // namespace sitter
