#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "support/simulation_client.hpp"

/// The lines of the client that are not single requests: notifications, answers, batches, and lines
/// that nobody can read.
namespace sitter::sim {

using Kind = ClientSaid::Kind;

int Client::notify(Kind kind, std::string_view method, std::string_view params) {
  ClientSaid& said = add(kind);
  said.method = method;
  said.text = fmt::format(R"json({{"jsonrpc":"2.0","method":"{}","params":{{"mark":{}{}}}}})json",
                          method, said.mark, params);
  return said.mark;
}

int Client::initialized() {
  state_ = State::initialized;
  return notify(Kind::initialized, "notifications/initialized", "");
}

int Client::batch() {
  std::vector<int> parts;
  std::vector<std::string> texts;
  // The cancellation stands first and names an earlier request. Otherwise nobody could tell what is
  // cancelled when.
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
  switch (random_.weighted({30, 10, 10, 10, 10, 2, 2, left_.rebuilds > 0 ? 3 : 0})) {
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
  const bool is_unknown = recent_ids_.empty() || random_.chance(15);
  return cancel(is_unknown ? spelled(next_number_ + 1000) : random_.pick(recent_ids_));
}

/// Cancels the request or the stream with this raw id.
int Client::cancel(const std::string& id) {
  const int mark = notify(Kind::cancelled, "notifications/cancelled",
                          fmt::format(R"json(,"requestId":{})json", id));
  said_.client.back().about = id;
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
