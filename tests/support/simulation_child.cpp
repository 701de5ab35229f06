#include "support/simulation_child.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "support/simulation_ids.hpp"

namespace sitter::sim {

using SaidKind = ChildSaid::Kind;
using Opening = Character::Opening;
using Unopened = Character::Unopened;

Child::Child(Generation generation, Character its_character, Random& random, Random& own,
             Said& said)
    : Unit(generation),
      character(std::move(its_character)),
      random_(random),
      own_random_(own),
      said_(said),
      is_open_(is_stateless()) {
  is_remote_runner = character.is_remote_runner;
  ignores_closed_input = character.ignores_closed_input;
  refuses_signals = character.refuses_signals;
  const std::int64_t pid = 1000 * gen;
  processes.push_back({pid, true, true, true, character.ignores_terminate, character.ignores_kill});
  for (int i = 1; i <= character.grandchildren; ++i) {
    processes.push_back({pid + i, false, true, character.grandchildren_hold_pipes,
                         character.grandchildren_ignore_terminate, false});
  }
}

void Child::read() {
  while (!inbox_.empty() && !is_deaf()) {
    Asked asked = std::move(inbox_.front());
    inbox_.pop_front();
    ++lines_read_;
    if (asked.method == "notifications/cancelled" &&
        random_.chance(character.heeds_cancellations)) {
      std::erase_if(todo_, [&](const Asked& a) { return a.mark != 0 && a.id == asked.id; });
      std::erase_if(streams_, [&](const Stream& stream) { return stream.id == asked.id; });
    }
    if (!asked.id.empty() && asked.method != "notifications/cancelled") {
      todo_.push_back(std::move(asked));
    }
  }
}

bool Child::may_start_anew() const {
  return character.starts_anew > 0 && is_open_ && !is_announced_ && !is_deaf();
}

void Child::start_anew() {
  todo_.clear();
  questions_.clear();
  streams_.clear();
  is_open_ = character.started_anew == Character::StartedAnew::serves_after_announcement;
  is_anew_ = was_started_anew_ = true;
  is_announced_ = false;
  if (own_random_.chance(50)) character.tools = own_random_.below(8);
}

void Child::renumber(Generation number) {
  gen = number;
  was_started_anew_ = false;
  // What the new server has said already is said under its number.
  for (const Written& written : output) {
    for (const int said : written.numbers) said_.child[static_cast<std::size_t>(said)].gen = number;
  }
  // Every server counts from zero. Its questions from before this moment may have any number.
  if (output.empty() && questions_.empty()) next_question_ = 0;
}

/// A line of the client is known by its mark. Any other line comes from the bridge itself.
void Child::hears(const std::string& line) {
  using Kind = ClientSaid::Kind;
  last_heard_ = line;
  Asked& asked = inbox_.emplace_back();
  const ClientSaid& said = said_.client[static_cast<std::size_t>(mark_in(line))];
  if (said.kind == Kind::answer || said.kind == Kind::progress) return;
  if (said.mark != 0 && line == (said.passed.empty() ? said.text : said.passed)) {
    asked = {said.method,
             said.kind == Kind::cancelled ? said.about : said.id,
             "",
             said.token,
             said.mark,
             said.wants_task,
             !said.envelope.empty(),
             said.is_of_unknown_version,
             said.kind == Kind::listen,
             said.wanted};
    return;
  }
  const auto message = nlohmann::json::parse(line);
  asked.method = message.value("method", "");
  if (!asked.method.empty() && message.contains("id")) asked.id = message["id"].dump();
  if (!message.contains("params")) return;
  const auto& params = message["params"];
  if (params.contains("cursor")) asked.cursor = params["cursor"].dump();
  if (params.contains("requestId")) asked.id = params["requestId"].dump();
  asked.has_envelope = params.contains("_meta");
}

void Child::act() {
  if (!lives()) return;
  read();
  if (may_start_anew() && own_random_.chance(character.starts_anew)) {
    if (character.started_anew == Character::StartedAnew::refuses) {
      start_anew();
      return;
    }
    is_announced_ = true;
    output.push_back({std::string(kAnnouncement), {}, 0});
  }
  if (!is_open_) {
    if (random_.chance(character.exits / 2)) {
      exits = random_exit(random_);
      return;
    }
    if (random_.chance(character.writes_noise)) make_noise();
    if (!is_anew_ && random_.chance(character.asks / 3)) ask();
    if (!todo_.empty() && random_.chance(70)) act_unopened();
    return;
  }
  const Character& c = character;
  switch (random_.weighted({5, todo_.empty() ? 0 : c.answers, c.asks, questions_.empty() ? 0 : 3,
                            c.notifies, c.changes_lists, c.writes_noise, c.writes_errors, c.exits,
                            c.closes_output, streams_.empty() ? 0 : c.tells_changes,
                            streams_.empty() ? 0 : c.ends_streams, c.floods})) {
    case 0:
      break;
    case 1:
      answer();
      if (random_.chance(c.exits / 2)) exits = random_exit(random_);
      break;
    case 2:
      ask();
      break;
    case 3:
      cancel_question();
      break;
    case 4:
      notify(random_.chance(50) ? "notifications/message" : "notifications/vendor");
      break;
    case 5:
      // Sometimes the tools stay the same. Some servers send this notification all the time without
      // a change.
      if (random_.chance(70)) character.tools = random_.below(8);
      tell_change(std::string(random_.chance(70) ? kListChanges[0] : kListChanges[2]), "");
      break;
    case 6:
      make_noise();
      break;
    case 7:
      errors.push_back(fmt::format("trace {} \"sim\":1", random_.below(100)));
      break;
    case 8:
      // A server that ends its streams in good order may be about to exit.
      if (random_.chance(50)) end_streams();
      exits = random_exit(random_);
      break;
    case 9:
      closes_output = true;
      break;
    case 10:
      tell_change();
      break;
    case 11:
      if (random_.chance(20)) {
        end_streams();
      } else {
        end_stream(random_.pick(streams_));
      }
      break;
    default:
      flood();
  }
}

/// A child that needs an opening handles the first of the waiting requests.
void Child::act_unopened() {
  const Asked asked = std::move(todo_.front());
  todo_.pop_front();
  if (asked.method == "initialize") {
    act_on_opening(asked);
    return;
  }
  if (is_anew_) {
    refuse_unopened(asked);
    return;
  }
  switch (asked.method == "server/discover" ? character.at_probe : character.at_request) {
    case Unopened::refuses:
      error(asked, random_.pick(std::array{-32601, -32600, -32602, -32000}));
      break;
    case Unopened::serves:
      result(asked, answer_to(asked));
      break;
    case Unopened::ignores:
      break;
    case Unopened::exits:
      exits = random_exit(random_);
  }
}

/// A server that was started anew refuses everything but an opening and a ping.
void Child::refuse_unopened(const Asked& asked) {
  if (asked.method == "ping") {
    result(asked, answer_to(asked));
    return;
  }
  error(asked, character.unopened_code, character.unopened_words);
  said_.child.back().reads_as_unopened = said_.child.back().is_unopened = true;
}

void Child::act_on_opening(const Asked& asked) {
  std::string version = character.version;
  switch (character.opening) {
    case Opening::never:
      return;
    case Opening::exits:
      exits = random_exit(random_);
      return;
    case Opening::refuses:
      error(asked, -32000);
      return;
    case Opening::refuses_as_modern:
      error(asked, -32022);
      return;
    case Opening::has_no_version:
      result(asked,
             random_.chance(50)
                 ? R"json("capabilities":{})json"
                 : R"json("protocolVersion":"2025-11-25","capabilities":{"tools":null})json");
      return;
    case Opening::has_a_strange_version:
      version = "1999-01-01";
      break;
    case Opening::is_unreadable:
    case Opening::answers:
      break;
  }
  is_open_ = true;
  is_anew_ = false;
  if (character.opening == Opening::is_unreadable) character.answers_unreadably = 100;
  result(asked, fmt::format(R"json("protocolVersion":"{}","capabilities":{{{}}},)json"
                            R"json("serverInfo":{{"name":"sim","version":"{}"}}{})json",
                            version, capabilities(), gen,
                            random_.chance(50) ? R"json(,"instructions":"Be nice.")json" : ""));
}

std::string Child::capabilities() const {
  std::vector<std::string> members;
  if (character.has_tools) members.push_back(R"json("tools":{"listChanged":false})json");
  if (character.has_prompts) members.push_back(R"json("prompts":{})json");
  if (character.has_resources) members.push_back(R"json("resources":{"subscribe":true})json");
  if (character.has_logging) members.push_back(R"json("logging":{})json");
  return fmt::format("{}", fmt::join(members, ","));
}

ChildSaid& Child::add(SaidKind kind) {
  ChildSaid& said = said_.child.emplace_back();
  said.kind = kind;
  said.gen = gen;
  said.number = static_cast<int>(said_.child.size()) - 1;
  return said;
}

void Child::ask() {
  ChildSaid& said = add(SaidKind::question);
  // Every generation counts its ids from zero.
  said.id = random_.chance(70) ? fmt::format("{}", next_question_++)
                               : fmt::format("\"q{}\"", next_question_++);
  said.before = R"json({"jsonrpc":"2.0","id":)json";
  said.middle =
      fmt::format(R"json(,"method":"{}","params":{{"sim":{})json",
                  random_.chance(50) ? "roots/list" : "sampling/createMessage", said.number);
  if (random_.chance(40)) {
    said.middle += R"json(,"_meta":{"progressToken":)json";
    said.token = random_.chance(50) ? said.id : "\"t\"";
    said.after = "}}}";
  } else {
    said.after = "}}";
  }
  questions_.push_back(said.number);
  write(said);
}

void Child::cancel_question() {
  const int question = random_.take(questions_);
  ChildSaid& said = add(SaidKind::cancelled);
  said.question = question;
  said.id = said_.child[static_cast<std::size_t>(question)].id;
  said.before = fmt::format(
      R"json({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"sim":{},"requestId":)json",
      said.number);
  said.after = "}}";
  write(said);
}

void Child::notify(std::string_view method) {
  ChildSaid& said = add(SaidKind::notification);
  said.before = fmt::format(R"json({{"jsonrpc":"2.0","method":"{}","params":{{"sim":{}}}}})json",
                            method, said.number);
  write(said);
}

void Child::make_noise() {
  switch (random_.below(9)) {
    case 0:
      output.push_back({"got " + last_heard_, {}, 0});
      break;
    case 1:
      output.push_back({R"json({"level":"info","msg":"ready"})json", {}, 0});
      break;
    case 2:
      output.push_back({"{", {}, 0});
      break;
    case 3:
      output.push_back({"\xff\xfe\xfd", {}, 0});
      break;
    case 4:
      output.push_back({R"json({"jsonrpc":"2.0","id":987654,"result":)json", {}, 0});
      break;
    case 5:
      output.push_back({R"json([1,"}",null])json", {}, 0});
      break;
    case 6: {
      // This answer is for no request.
      ChildSaid& said = add(SaidKind::result);
      said.before = R"json({"jsonrpc":"2.0","id":)json";
      said.id = "424242424";
      said.after = fmt::format(R"json(,"result":{{"sim":{}}}}})json", said.number);
      write(said);
      break;
    }
    case 7:
      output.push_back(
          {R"json({"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}})json", {}, 0});
      break;
    default: {
      Written line{"{\"jsonrpc\":\"2.0\",", {}, 300 * 1024 * 1024};
      if (!todo_.empty() && random_.chance(60)) {
        ChildSaid& said = add(SaidKind::result);
        said.mark = todo_.front().mark;
        said.is_unreadable = true;
        said.id = todo_.front().id;
        line.text += fmt::format(R"json("id":{},"result":{{"x":")json", todo_.front().id);
        line.numbers.push_back(said.number);
        todo_.pop_front();
      }
      output.push_back(std::move(line));
    }
  }
}

void Child::flood() {
  character.floods = 0;
  const int kind = random_.below(3);
  for (int i = 0; i < 1100; ++i) {
    if (kind == 0) {
      ask();
    } else {
      kind == 1 ? notify("notifications/message") : tell_change(std::string(kToolsChanged), "");
    }
  }
}

/// The id as this server writes it. Servers may spell an id in their own way.
std::string Child::respelled(const std::string& id) const {
  using Rounds = Character::Rounds;
  if (character.rounds_ids != Rounds::never) {
    return rounded(id, character.rounds_ids == Rounds::with_exponent);
  }
  if (!character.respells_ids) return id;
  if (id.ends_with(".0")) return id.substr(0, id.size() - 2);
  if (const std::size_t at = id.find("\\u00fc"); at != id.npos) {
    return std::string(id).replace(at, 6, "\u00fc");
  }
  return id;
}

void Child::write(const ChildSaid& said) {
  const bool is_glued =
      !output.empty() && output.back().size == 0 && random_.chance(character.glues_lines);
  if (is_glued && !output.back().numbers.empty()) {
    output.back().text += random_.chance(50) ? " " : "";
    output.back().text += said.text();
    output.back().numbers.push_back(said.number);
    return;
  }
  std::string text = said.text();
  if (random_.chance(character.glues_lines / 3)) {
    text = "INFO: " + text;
  } else if (random_.chance(character.glues_lines / 3)) {
    text = "[" + text + "]";
  }
  output.push_back({std::move(text), {said.number}, 0});
}

}  // namespace sitter::sim
