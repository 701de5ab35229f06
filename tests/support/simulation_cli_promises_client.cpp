#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/simulation_cli_promises.hpp"

// What the client says and hears.

namespace sitter::sim {

using nlohmann::json;
using Kind = ClientSaid::Kind;

namespace {

constexpr std::string_view kOwn = "[mcp-sitter]";

}  // namespace

void CliPromises::on_client_line(const ClientSaid& said) {
  switch (said.kind) {
    case Kind::batch:
      for (const int part : said.parts)
        on_client_line(said_.client[static_cast<std::size_t>(part)]);
      break;
    case Kind::request:
    case Kind::listen:
    case Kind::rubbish:
      if (!said.id.empty()) on_request(said);
      break;
    case Kind::cancelled: {
      Request* const request = with_id(key_of(said.about));
      if (request != nullptr && !request->is_answered) request->is_cancelled = true;
      break;
    }
    default:
      break;
  }
}

void CliPromises::on_request(const ClientSaid& said) {
  Request request;
  request.said = &said;
  request.id = key_of(said.id);
  requests_[said.mark] = std::move(request);
}

CliPromises::Request* CliPromises::with_id(const std::string& id) {
  const auto found = std::find_if(requests_.begin(), requests_.end(),
                                  [&](const auto& entry) { return entry.second.id == id; });
  return found == requests_.end() ? nullptr : &found->second;
}

std::size_t CliPromises::owed_count() const {
  return static_cast<std::size_t>(
      std::count_if(requests_.begin(), requests_.end(), [](const auto& entry) {
        const Request& request = entry.second;
        return !request.is_answered && !request.is_cancelled && request.said->kind == Kind::request;
      }));
}

std::string CliPromises::owed_words() const {
  std::string words;
  for (const auto& [mark, request] : requests_) {
    if (request.is_answered || request.is_cancelled || request.said->kind != Kind::request)
      continue;
    words += fmt::format(" {} ({} {})", request.id, request.said->method, request.said->tool);
  }
  return words;
}

std::vector<Heard> CliPromises::on_send_to_client(const std::string& line) {
  const json message = json::parse(line, nullptr, false);
  if (!message.is_array()) return {heard(message)};
  std::vector<Heard> all;
  for (const json& part : message) all.push_back(heard(part));
  return all;
}

Heard CliPromises::heard(const json& message) {
  if (!message.is_object()) throw Broken("a line that is no message");
  if (!message.contains("method")) return answered(message);
  const std::string method = message["method"];
  const json params = message.value("params", json::object());
  if (method == "notifications/progress") {
    const std::string token = params["progressToken"].dump();
    const auto wants = [&](const auto& entry) {
      const ClientSaid& said = *entry.second.said;
      return !said.token.empty() && key_of(said.token) == token && !entry.second.is_answered;
    };
    const auto found = std::find_if(requests_.begin(), requests_.end(), wants);
    if (found == requests_.end()) throw Broken("progress that nobody waits for");
    const std::string words = params.value("message", "");
    if (found->second.run != kNoGeneration && !has(words, run_word(found->first))) {
      throw Broken("the progress of another call: " + words);
    }
    ++tally_["progress"];
  }
  if (method == "notifications/tools/list_changed") {
    told_at_ = static_cast<int>(said_.client.size());
    return {Heard::Kind::tools_changed};
  }
  return {};
}

Heard CliPromises::answered(const json& message) {
  const json id = message.value("id", json());
  // Nobody can say whose line could not be read.
  if (id.is_null() && message.contains("error")) return {};
  Request* const request = with_id(key_of(id));
  if (request == nullptr) throw Broken("an answer to nothing: " + message.dump());
  if (std::exchange(request->is_answered, true)) {
    throw Broken("a request is answered twice: " + message.dump());
  }
  const ClientSaid& said = *request->said;
  check_passed(*request, message);
  if (said.kind == Kind::listen) return {Heard::Kind::stream_ended, said.id};
  if (said.method == "server/discover") {
    return {Heard::Kind::discovery, message.contains("result") ? said.id : ""};
  }
  Heard heard{Heard::Kind::answer, said.id};
  if (said.method == "initialize" && message.contains("result")) {
    heard.is_opening = true;
    heard.version = message["result"].value("protocolVersion", "");
  }
  if (said.method == "tools/list" && message.contains("result")) {
    listed_at_ = said.mark;
    for (const json& tool : message["result"].value("tools", json::array())) {
      const std::string words = tool.value("description", "");
      if (words.starts_with("version ")) listed_ = std::stoi(words.substr(8));
    }
  }
  return heard;
}

/// What the child has answered is what the client gets, perhaps with a notice.
void CliPromises::check_passed(const Request& request, const json& message) {
  if (!request.is_call() || request.said->tool.starts_with("sitter_")) return;
  const json result = message.value("result", json::object());
  const std::vector<std::string> texts = texts_of(result);
  if (!request.told) {
    for (const std::string& text : texts) {
      if (has(text, "<run ") && !text.starts_with(kOwn)) {
        throw Broken("a result that no run has written: " + text);
      }
    }
    if (!result.value("isError", true)) throw Broken("a result of nothing: " + message.dump());
    ++tally_["calls that the bridge answers"];
    return;
  }
  const json& told = *request.told;
  if (told.contains("error")) {
    if (!message.contains("error") || message["error"]["code"] != told["error"]["code"]) {
      throw Broken("an error becomes something else: " + message.dump());
    }
    return;
  }
  if (result.value("isError", false) != told["result"].value("isError", false)) {
    throw Broken("a result becomes something else: " + message.dump());
  }
  for (const std::string& text : texts_of(told["result"])) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      throw Broken("the output of a run is missing: " + message.dump());
    }
  }
}

void CliPromises::check_listed() const {
  const Child* const child = newest();
  // A client of the stateless revision hears of a change only on a stream.
  if (scene_.client != Scene::Client::legacy || child == nullptr || child->is_closed) return;
  if (listed_ == 0 || listed_ == child->described.version || told_at_ > listed_at_) return;
  throw Broken(fmt::format("the client knows version {} of the tools, and not of version {}",
                           listed_, child->described.version));
}

}  // namespace sitter::sim
