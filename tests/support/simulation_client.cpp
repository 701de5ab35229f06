#include "support/simulation_client.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

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

/// A client may say something else of itself from one request to the next.
constexpr std::array<std::string_view, 3> kSelves = {
    R"json(,"io.modelcontextprotocol/clientInfo":{"name":"sim","version":"1"},)json"
    R"json("io.modelcontextprotocol/clientCapabilities":{})json",
    R"json(,"io.modelcontextprotocol/clientInfo":{"name":"sim","version":"1"},)json"
    R"json("io.modelcontextprotocol/clientCapabilities":{"elicitation":{}})json",
    ""};

}  // namespace

Client::Client(Random& random, Said& said, const Scene& scene)
    : random_(random),
      said_(said),
      scene_(scene),
      wildness_(scene.wildness),
      is_impatient_(random.chance(scene.wildness / 2)),
      lists_again_(random.chance(60)),
      wants_progress_(random.chance(50)),
      id_style_(random.below(6)),
      rebuilds_left_(scene.has_builds ? random.between(1, 8) : 0) {
  if (scene.client == Scene::Client::modern || scene.client == Scene::Client::mixed) {
    state_ = State::stateless;
  }
}

int Client::says() {
  if (has_to_list_ && random_.chance(50)) {
    has_to_list_ = false;
    return list();
  }
  if (kills_left_ > 0) {
    --kills_left_;
    return kill();
  }
  switch (state_) {
    case State::silent:
    case State::probing:
    case State::opening:
    case State::opened:
      return says_opening();
    case State::initialized:
      return says_anything();
    case State::stateless:
      break;
  }
  return says_stateless();
}

/// What belongs to the opening of a session, most of the time.
int Client::says_opening() {
  if (state_ == State::silent && scene_.client == Scene::Client::dual) return discover();
  if (state_ == State::probing) {
    if (!random_.chance(6)) return 0;
    // Enough waited for an answer.
    state_ = State::silent;
    return initialize();
  }
  if (state_ == State::silent && !random_.chance(wildness_ / 3)) return initialize();
  if (state_ == State::opening) {
    if (is_impatient_ && random_.chance(50)) return initialized();
    if (!is_impatient_ && !random_.chance(5 + wildness_ / 4)) return 0;
  }
  if (state_ == State::opened && !random_.chance(wildness_ / 5)) return initialized();
  return says_anything();
}

int Client::says_anything() {
  const bool is_asked = !questions_.empty();
  const bool may_open_again = !scene_.has_batches;
  switch (random_.weighted({30, 8, 14, 8, 3, 8, is_asked ? 14 : 1, is_asked ? 3 : 0, 4,
                            1 + wildness_ / 20, wildness_ / 40, writes_batches_ ? 25 : 0,
                            may_open_again ? wildness_ / 50 : 0, rebuilds_left_ > 0 ? 10 : 0,
                            rebuild_ids_.empty() ? 0 : 3})) {
    case 0:
      return call();
    case 1:
      return list();
    case 2:
      return other_request();
    case 3:
      return call_builtin();
    case 4:
      return kill();
    case 5:
      return cancel();
    case 6:
      return answer();
    case 7:
      return progress();
    case 8:
      return notification();
    case 9:
      return rubbish();
    case 10:
      return too_long();
    case 11:
      return batch();
    case 12:
      return initialize();
    case 13:
      return rebuild();
    default:
      return cancel_rebuild();
  }
}

int Client::says_stateless() {
  const bool is_mixed = scene_.client == Scene::Client::mixed;
  switch (random_.weighted({30, 8, 10, 8, 3, 8, 8, streams_.empty() ? 0 : 5, 3, 1 + wildness_ / 20,
                            wildness_ / 40, is_mixed ? 4 : 0, is_mixed ? 2 : 0,
                            rebuilds_left_ > 0 ? 8 : 0, rebuild_ids_.empty() ? 0 : 2})) {
    case 0:
      return call();
    case 1:
      return list();
    case 2:
      return other_stateless_request();
    case 3:
      return call_builtin();
    case 4:
      return kill();
    case 5:
      return cancel();
    case 6:
      return listen();
    case 7:
      return cancel_stream();
    case 8:
      return notification();
    case 9:
      return rubbish();
    case 10:
      return too_long();
    case 11:
      return other_request();
    case 12:
      return random_.chance(60) ? initialize()
                                : notify(Kind::initialized, "notifications/initialized", "");
    case 13:
      return rebuild();
    default:
      return cancel_rebuild();
  }
}

int Client::says_one_of_many() {
  // One that probes says nothing else.
  if (state_ == State::probing) return 0;
  return random_.chance(90) ? call() : other_request();
}

void Client::hears(const Heard& heard) {
  switch (heard.kind) {
    case Heard::Kind::answer:
      // A person may press the button just then.
      if (random_.chance(80)) std::erase(rebuild_ids_, heard.id);
      if (!heard.is_opening) break;
      if (state_ == State::opening) state_ = State::opened;
      writes_batches_ = heard.version == kBatchRevision;
      break;
    case Heard::Kind::discovery:
      // Without an id it was refused.
      if (state_ == State::probing) state_ = heard.id.empty() ? State::silent : State::stateless;
      break;
    case Heard::Kind::stream_ended:
      std::erase(streams_, heard.id);
      break;
    case Heard::Kind::question:
      questions_.push_back({heard.id, heard.has_token});
      break;
    case Heard::Kind::question_cancelled:
      // A person may have pressed the button just before.
      if (random_.chance(80)) {
        std::erase_if(questions_, [&](const Question& q) { return q.id == heard.id; });
      }
      break;
    case Heard::Kind::tools_changed:
      has_to_list_ = lists_again_ && random_.chance(90);
      break;
    case Heard::Kind::other:
      break;
  }
}

ClientSaid& Client::add(Kind kind) {
  ClientSaid& said = said_.client.emplace_back();
  said.kind = kind;
  said.mark = static_cast<int>(said_.client.size()) - 1;
  return said;
}

/// `params` without braces, and with a comma in front where there are any.
int Client::request(std::string method, std::string params) {
  ClientSaid& said = add(Kind::request);
  said.id = next_id();
  recent_ids_.push_back(said.id);
  if (recent_ids_.size() > 12) recent_ids_.pop_front();
  return request(said, std::move(method), std::move(params));
}

/// One that has its id.
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

int Client::notify(Kind kind, std::string_view method, std::string_view params) {
  ClientSaid& said = add(kind);
  said.method = method;
  said.text = fmt::format(R"json({{"jsonrpc":"2.0","method":"{}","params":{{"mark":{}{}}}}})json",
                          method, said.mark, params);
  return said.mark;
}

bool Client::writes_envelope() {
  if (state_ == State::probing) return true;
  if (state_ != State::stateless) return false;
  return !random_.chance(scene_.client == Scene::Client::mixed ? 30 : wildness_ / 20);
}

/// The members of `_meta`.
std::string Client::envelope(ClientSaid& said) {
  said.is_of_unknown_version = scene_.client == Scene::Client::mixed && random_.chance(10);
  const std::string members =
      fmt::format(R"json("io.modelcontextprotocol/protocolVersion":"{}"{})json",
                  said.is_of_unknown_version ? "2099-01-01" : "2026-07-28", random_.pick(kSelves));
  said.envelope = fmt::format("{{{}}}", members);
  return members;
}

std::string Client::next_id() {
  if (random_.chance(wildness_ / 12) && !recent_ids_.empty()) return random_.pick(recent_ids_);
  const int number =
      random_.chance(wildness_ / 25) ? std::max(1, next_number_ - 3) : next_number_++;
  return spelled(number);
}

/// A client keeps to one way of writing ids, unless it is wild.
std::string Client::spelled(int number) {
  const int style = random_.chance(wildness_ / 5) ? random_.below(9) : id_style_;
  switch (style) {
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
      // Far enough apart for a double.
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
                             R"json("clientInfo":{{"name":"sim","version":"1"}})json",
                             scene_.has_batches ? kBatchRevision : random_.pick(kVersions)));
}

int Client::initialized() {
  state_ = State::initialized;
  return notify(Kind::initialized, "notifications/initialized", "");
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
      // Without what it wants it opens no stream.
      return request("subscriptions/listen", "");
    case 5:
      return request("tasks/get", R"json(,"taskId":"7")json");
    default:
      return request("vendor/thing", "");
  }
}

/// The ids of streams are no other's while they are open, or nobody could tell what is theirs.
int Client::listen() {
  ClientSaid& said = add(Kind::listen);
  said.id = spelled(next_stream_++);
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

int Client::cancel_stream() {
  const auto at = streams_.begin() + random_.below(static_cast<int>(streams_.size()));
  const std::string id = *at;
  streams_.erase(at);
  const int mark = notify(Kind::cancelled, "notifications/cancelled",
                          fmt::format(R"json(,"requestId":{})json", id));
  said_.client.back().about = id;
  return mark;
}

int Client::batch() {
  std::vector<int> parts;
  std::vector<std::string> texts;
  // Of what was there before, or it would be a riddle what is cancelled when.
  if (random_.chance(15)) {
    parts.push_back(cancel());
    texts.push_back(said_.client.back().text);
  }
  for (int count = random_.between(1, 5); count > 0; --count) {
    parts.push_back(part_of_batch());
    texts.push_back(said_.client.back().text);
  }
  ClientSaid& said = add(Kind::batch);
  said.parts = std::move(parts);
  said.text = fmt::format("[{}]", fmt::join(texts, ","));
  return said.mark;
}

int Client::part_of_batch() {
  switch (random_.weighted({30, 10, 10, 10, 10, 2, 2, rebuilds_left_ > 0 ? 3 : 0})) {
    case 0:
      return call();
    case 1:
      return list();
    case 2:
      return other_request();
    case 3:
      return call_builtin();
    case 4:
      return notification();
    case 5:
      return kill();
    case 6: {
      ClientSaid& said = add(Kind::rubbish);
      said.text = "17";
      return said.mark;
    }
    default:
      return rebuild();
  }
}

int Client::cancel() {
  std::string about;
  if (recent_ids_.empty() || random_.chance(15)) {
    about = spelled(next_number_ + 1000);
  } else {
    about = random_.pick(recent_ids_);
  }
  const int mark = notify(Kind::cancelled, "notifications/cancelled",
                          fmt::format(R"json(,"requestId":{})json", about));
  said_.client.back().about = about;
  return mark;
}

int Client::answer() {
  ClientSaid& said = add(Kind::answer);
  if (questions_.empty() || random_.chance(5)) {
    said.about = fmt::format("{}", 1'000'000 + random_.below(40));
  } else {
    const auto at = questions_.begin() + random_.below(static_cast<int>(questions_.size()));
    said.about = at->id;
    if (random_.chance(95)) questions_.erase(at);
  }
  said.text =
      random_.chance(80)
          ? fmt::format(R"json({{"jsonrpc":"2.0","id":{},"result":{{"mark":{}}}}})json", said.about,
                        said.mark)
          : fmt::format(
                R"json({{"error":{{"code":-1,"message":"no","data":{{"mark":{}}}}},"jsonrpc":"2.0","id":{}}})json",
                said.mark, said.about);
  return said.mark;
}

int Client::progress() {
  const std::string about = random_.pick(questions_).id;
  const int mark = notify(Kind::progress, "notifications/progress",
                          fmt::format(R"json(,"progress":1,"progressToken":{})json", about));
  said_.client.back().about = about;
  return mark;
}

int Client::notification() {
  return notify(Kind::notification,
                random_.chance(50) ? "notifications/roots/list_changed" : "notifications/vendor",
                "");
}

int Client::rubbish() {
  ClientSaid& said = add(Kind::rubbish);
  switch (random_.below(8)) {
    case 0:
      said.text = "rubbish";
      break;
    case 1:
      said.text =
          scene_.has_batches ? "[]" : R"json([{"jsonrpc":"2.0","id":1,"method":"ping"}])json";
      break;
    case 2:
      said.text = "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}";
      break;
    case 3:
      said.text = "17";
      break;
    case 4:
      said.id = next_id();
      said.text = fmt::format(R"json({{"jsonrpc":"2.0","id":{},"method":5}})json", said.id);
      break;
    case 5:
      said.id = next_id();
      said.text = fmt::format(R"json({{"jsonrpc":"1.0","id":{},"method":"ping"}})json", said.id);
      break;
    case 6:
      said.id = next_id();
      said.text =
          fmt::format(R"json({{"jsonrpc":"2.0","id":{},"method":"tools/call",)json", said.id);
      break;
    default:
      said.text = R"json({"jsonrpc":"2.0","id":null,"method":"ping"})json";
  }
  return said.mark;
}

int Client::too_long() {
  ClientSaid& said = add(Kind::too_long);
  if (random_.chance(70)) said.id = next_id();
  if (said.id.empty()) {
    said.text = R"json({"jsonrpc":"2.0","method":"tools/call","params":{"name":")json";
  } else {
    said.text = fmt::format(R"json({{"jsonrpc":"2.0","id":{},"params":{{"name":")json", said.id);
  }
  return said.mark;
}

}  // namespace sitter::sim
