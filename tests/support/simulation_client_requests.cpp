#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "support/simulation_client.hpp"
#include "support/simulation_ids.hpp"

/// The requests of the client, except the calls of tools, and the ids and envelopes of all its
/// requests.
namespace sitter::sim {

using Kind = ClientSaid::Kind;

namespace {

constexpr std::array<std::string_view, 4> kVersions = {"2025-11-25", "2025-06-18", "2024-11-05",
                                                       "2031-01-01"};
constexpr std::array<std::string_view, 3> kUris = {"file:///a", "file:///b", "file:///\\u00fc"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kListChanges = {
    {{"toolsListChanged", "notifications/tools/list_changed"},
     {"promptsListChanged", "notifications/prompts/list_changed"},
     {"resourcesListChanged", "notifications/resources/list_changed"}}};

/// A client may say something different about itself in each request.
constexpr std::array<std::string_view, 3> kCapabilities = {"{}", R"json({"elicitation":{}})json",
                                                           ""};

}  // namespace

ClientSaid& Client::add(Kind kind) {
  ClientSaid& said = said_.client.emplace_back();
  said.kind = kind;
  said.mark = static_cast<int>(said_.client.size()) - 1;
  return said;
}

/// `params` are raw members without braces. If there are any, they begin with a comma.
int Client::request(std::string method, std::string params) {
  ClientSaid& said = add(Kind::request);
  // No client opens so many sessions that the id of `initialize` is big.
  const bool is_opening = method == "initialize" && scene_.big_ids == Scene::BigIds::rounded;
  said.id = is_opening ? fmt::format("{}", next_number_++) : next_id();
  recent_ids_.push_back(said.id);
  if (recent_ids_.size() > 12) recent_ids_.pop_front();
  return request(said, std::move(method), std::move(params));
}

/// Writes a request that has its id already.
int Client::request(ClientSaid& said, std::string method, std::string params) {
  said.method = std::move(method);
  std::string meta;
  if (wants_progress_ && random_.chance(said.tool == "sitter_rebuild" ? 70 : 30)) {
    said.token = random_.chance(50) ? said.id : fmt::format("\"token {}\"", said.mark);
    meta = fmt::format(R"json("progressToken":{})json", said.token);
  }
  if (writes_envelope() && said.method != "initialize") {
    meta += (meta.empty() ? "" : ",") + envelope(said);
  }
  if (!meta.empty()) params += fmt::format(R"json(,"_meta":{{{}}})json", meta);
  params = fmt::format(R"json({{"mark":{}{}}})json", said.mark, params);
  switch (random_.below(3)) {
    case 0:
      said.text = fmt::format(R"json({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})json",
                              said.id, said.method, params);
      break;
    case 1:
      said.text = fmt::format(R"json({{"method":"{}","params":{},"jsonrpc":"2.0","id":{}}})json",
                              said.method, params, said.id);
      break;
    default:
      said.text = fmt::format(
          R"json({{ "jsonrpc" : "2.0", "id" : {}, "method" : "{}", "params" : {} }})json", said.id,
          said.method, params);
  }
  return said.mark;
}

bool Client::writes_envelope() {
  if (state_ == State::probing) return true;
  if (state_ != State::stateless) return false;
  return !random_.chance(scene_.client == Scene::Client::mixed ? 30 : wildness_ / 20);
}

/// The members of `_meta` that form the envelope.
std::string Client::envelope(ClientSaid& said) {
  said.is_of_unknown_version = scene_.client == Scene::Client::mixed && random_.chance(10);
  std::string members = fmt::format(R"json("io.modelcontextprotocol/protocolVersion":"{}")json",
                                    said.is_of_unknown_version ? "2099-01-01" : "2026-07-28");
  std::string_view capabilities = random_.pick(kCapabilities);
  // A client that the bridge knows by its name gives the name each time.
  if (capabilities.empty() && scene_.client_name != Scene().client_name) {
    capabilities = kCapabilities[0];
  }
  if (!capabilities.empty()) {
    members += fmt::format(
        R"json(,"io.modelcontextprotocol/clientInfo":{{"name":"{}","version":"1"}},)json"
        R"json("io.modelcontextprotocol/clientCapabilities":{})json",
        scene_.client_name, capabilities);
  }
  said.envelope = fmt::format("{{{}}}", members);
  return members;
}

std::string Client::next_id() {
  if (random_.chance(wildness_ / 12) && !recent_ids_.empty()) return random_.pick(recent_ids_);
  const bool is_used = random_.chance(wildness_ / 25) && scene_.big_ids != Scene::BigIds::kept;
  return spelled(is_used ? std::max(1, next_number_ - 3) : next_number_++);
}

/// An id that no other request or stream has while its own is open.
std::string Client::next_id(int& next_number) {
  switch (scene_.big_ids) {
    case Scene::BigIds::kept:
      // This id is the neighbour of other ids.
      return spelled(next_number_++);
    case Scene::BigIds::rounded:
      return fmt::format("{}", next_number++);
    case Scene::BigIds::none:
      break;
  }
  return spelled(next_number++);
}

/// A client keeps to one way of writing ids, unless it is wild.
std::string Client::spelled(int number) {
  const bool is_wild = random_.chance(wildness_ / 5);
  if (!is_wild && scene_.big_ids != Scene::BigIds::none) return fmt::format("{}", kBigIds + number);
  switch (is_wild ? random_.below(9) : id_style_) {
    case 0:
    case 1:
    case 2:
      return fmt::format("{}", number);
    case 3:
      return fmt::format("\"{}\"", number);
    case 4:
      return fmt::format("\"call-{}\"", number);
    case 5:
      return fmt::format("{}.0", number);
    case 6:
      return fmt::format("\"\\u00fc{}\"", number);
    case 7:
      // A double can tell these ids apart.
      return fmt::format("{}34567890123456", number + 100);
    default:
      return fmt::format("-{}.5", number);
  }
}

int Client::discover() {
  state_ = State::probing;
  return request("server/discover", "");
}

int Client::initialize() {
  const bool opens = state_ == State::silent || random_.chance(70);
  if (opens && state_ != State::stateless) state_ = State::opening;
  return request("initialize",
                 fmt::format(R"json(,"protocolVersion":"{}","capabilities":{{}},)json"
                             R"json("clientInfo":{{"name":"{}","version":"1"}})json",
                             scene_.has_batches ? kBatchRevision : random_.pick(kVersions),
                             scene_.client_name));
}

int Client::list() {
  static constexpr std::array<std::string_view, 4> methods = {
      "tools/list", "prompts/list", "resources/list", "resources/templates/list"};
  const std::string_view method = random_.chance(70) ? methods[0] : random_.pick(methods);
  const bool is_first_page = random_.chance(85);
  const int mark = request(std::string(method), is_first_page ? "" : R"json(,"cursor":"1")json");
  said_.client.back().is_first_page = is_first_page;
  return mark;
}

int Client::other_request() {
  switch (random_.below(8)) {
    case 0:
      return request("ping", "");
    case 1:
      return request("prompts/get", R"json(,"name":"p")json");
    case 2:
      return request("resources/read", fmt::format(R"json(,"uri":"{}")json", random_.pick(kUris)));
    case 3:
      return request("resources/subscribe",
                     fmt::format(R"json(,"uri":"{}")json", random_.pick(kUris)));
    case 4:
      return request("resources/unsubscribe",
                     fmt::format(R"json(,"uri":"{}")json", random_.pick(kUris)));
    case 5:
      return request("completion/complete", R"json(,"ref":{"type":"ref/prompt","name":"p"})json");
    case 6:
      return request("logging/setLevel", fmt::format(R"json(,"level":"{}")json",
                                                     random_.chance(50) ? "debug" : "error"));
    default:
      return request("vendor/thing", "");
  }
}

int Client::other_stateless_request() {
  switch (random_.below(7)) {
    case 0:
      return request("server/discover", "");
    case 1:
      return request("prompts/get", R"json(,"name":"p")json");
    case 2:
      return request("resources/read", fmt::format(R"json(,"uri":"{}")json", random_.pick(kUris)));
    case 3:
      return request("completion/complete", R"json(,"ref":{"type":"ref/prompt","name":"p"})json");
    case 4:
      // Without a filter this request opens no stream.
      return request("subscriptions/listen", "");
    case 5:
      return request("tasks/get", R"json(,"taskId":"7")json");
    default:
      return request("vendor/thing", "");
  }
}

/// While a stream is open, no other request has its id. Otherwise nobody could tell which lines
/// belong to the stream.
int Client::listen() {
  ClientSaid& said = add(Kind::listen);
  said.id = next_id(next_stream_);
  said.method = "subscriptions/listen";
  std::vector<std::string> members;
  for (const auto& [name, method] : kListChanges) {
    if (!random_.chance(50)) continue;
    members.push_back(fmt::format(R"json("{}":true)json", name));
    said.wanted.emplace(method);
  }
  std::vector<std::string> uris;
  for (const std::string_view uri : kUris) {
    if (!random_.chance(20)) continue;
    uris.push_back(fmt::format("\"{}\"", uri));
    said.wanted.insert(uris.back());
  }
  if (!uris.empty()) {
    members.push_back(fmt::format(R"json("resourceSubscriptions":[{}])json", fmt::join(uris, ",")));
  }
  said.text = fmt::format(
      R"json({{"jsonrpc":"2.0","id":{},"method":"{}","params":{{"mark":{},"notifications":{{{}}},"_meta":{{{}}}}}}})json",
      said.id, said.method, said.mark, fmt::join(members, ","), envelope(said));
  streams_.push_back(said.id);
  return said.mark;
}

}  // namespace sitter::sim
