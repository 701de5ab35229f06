#include "support/simulation_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace sitter::sim {

using Kind = ClientSaid::Kind;

namespace {

constexpr std::array<std::string_view, 4> kVersions = {"2025-11-25", "2025-06-18", "2024-11-05",
                                                       "2031-01-01"};
constexpr std::array<std::string_view, 3> kUris = {"file:///a", "file:///b", "file:///\\u00fc"};

}  // namespace

Client::Client(Random& random, Said& said, int wildness, bool meets_outer_tools)
    : random_(random),
      said_(said),
      wildness_(wildness),
      meets_outer_tools_(meets_outer_tools),
      is_impatient_(random.chance(wildness / 2)),
      lists_again_(random.chance(60)),
      wants_progress_(random.chance(50)),
      id_style_(random.below(6)) {}

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
      if (!random_.chance(wildness_ / 3)) return initialize();
      break;
    case State::opening:
      if (is_impatient_ && random_.chance(50)) return initialized();
      if (!is_impatient_ && !random_.chance(5 + wildness_ / 4)) return 0;
      break;
    case State::opened:
      if (!random_.chance(wildness_ / 5)) return initialized();
      break;
    case State::initialized:
      break;
  }
  const bool is_asked = !questions_.empty();
  switch (random_.weighted({30, 8, 14, 8, 3, 8, is_asked ? 14 : 1, is_asked ? 3 : 0, 4,
                            1 + wildness_ / 20, wildness_ / 40, wildness_ / 50})) {
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
    default:
      return initialize();
  }
}

int Client::says_one_of_many() { return random_.chance(90) ? call() : other_request(); }

void Client::hears(const Heard& heard) {
  switch (heard.kind) {
    case Heard::Kind::answer:
      if (heard.is_opening && state_ == State::opening) state_ = State::opened;
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
  said.method = std::move(method);
  if (wants_progress_ && random_.chance(30)) {
    said.token = random_.chance(50) ? said.id : fmt::format("\"token {}\"", said.mark);
    params += fmt::format(R"json(,"_meta":{{"progressToken":{}}})json", said.token);
  }
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
  recent_ids_.push_back(said.id);
  if (recent_ids_.size() > 12) recent_ids_.pop_front();
  return said.mark;
}

int Client::notify(Kind kind, std::string_view method, std::string_view params) {
  ClientSaid& said = add(kind);
  said.method = method;
  said.text = fmt::format(R"json({{"jsonrpc":"2.0","method":"{}","params":{{"mark":{}{}}}}})json",
                          method, said.mark, params);
  return said.mark;
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

int Client::initialize() {
  if (state_ == State::silent || random_.chance(70)) state_ = State::opening;
  return request("initialize", fmt::format(R"json(,"protocolVersion":"{}","capabilities":{{}},)json"
                                           R"json("clientInfo":{{"name":"sim","version":"1"}})json",
                                           random_.pick(kVersions)));
}

int Client::initialized() {
  state_ = State::initialized;
  return notify(Kind::initialized, "notifications/initialized", "");
}

int Client::call() {
  static constexpr std::array<std::string_view, 5> names = {"echo", "add", "extra", "sitter_status",
                                                            "sitter_kill"};
  const std::string_view name = names[static_cast<std::size_t>(
      random_.below(meets_outer_tools_ && random_.chance(10) ? 5 : 3))];
  const bool wants_task = random_.chance(4);
  const int mark = request(
      "tools/call", fmt::format(R"json(,"name":"{}","arguments":{{"x":{}}}{})json", name,
                                random_.below(100), wants_task ? R"json(,"task":{})json" : ""));
  said_.client.back().tool = name;
  said_.client.back().wants_task = wants_task;
  said_.client.back().has_wrong_arguments = name.starts_with("sitter_");
  return mark;
}

int Client::call_builtin() {
  static constexpr std::array<std::string_view, 3> names = {"sitter_status", "sitter_binary_info",
                                                            "sitter_child_stderr"};
  std::string name(random_.pick(names));
  if (meets_outer_tools_ && random_.chance(20)) name.insert(0, "outer_");
  const bool wants_task = random_.chance(5);
  const bool is_wrong = random_.chance(10);
  const int mark =
      request("tools/call", fmt::format(R"json(,"name":"{}"{}{})json", name,
                                        is_wrong ? R"json(,"arguments":{"lines":-1})json" : "",
                                        wants_task ? R"json(,"task":{})json" : ""));
  said_.client.back().tool = name;
  said_.client.back().wants_task = wants_task;
  said_.client.back().has_wrong_arguments = is_wrong;
  return mark;
}

int Client::kill() {
  static constexpr std::array<std::string_view, 5> arguments = {
      "", R"json(,"arguments":{})json", R"json(,"arguments":{"scope":"child"})json",
      R"json(,"arguments":{"scope":"same-executable"})json",
      R"json(,"arguments":{"scope":"everything"})json"};
  if (random_.chance(15)) kills_left_ = random_.below(3);
  const int choice = random_.below(5);
  const int mark = request("tools/call", fmt::format(R"json(,"name":"sitter_kill"{})json",
                                                     arguments[static_cast<std::size_t>(choice)]));
  said_.client.back().tool = "sitter_kill";
  said_.client.back().has_wrong_arguments = choice == 4;
  return mark;
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
      said.text = R"json([{"jsonrpc":"2.0","id":1,"method":"ping"}])json";
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
