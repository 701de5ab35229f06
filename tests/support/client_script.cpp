#include "support/client_script.hpp"

#include "support/good_form.hpp"

namespace sitter {

std::string Server::opening() const {
  return R"json({"protocolVersion":")json" + protocol_version + R"json(","capabilities":)json" +
         capabilities + R"json(,"serverInfo":{"name":")json" + name + R"json(","version":")json" +
         version + "\"}" +
         (instructions.empty() ? "" : ",\"instructions\":\"" + instructions + "\"") + "}";
}

std::string Server::page(const std::string& key, const std::vector<std::string>& items) const {
  std::string result = list(key, items);
  if (is_stateless) {
    result.insert(1, R"json("resultType":"complete","ttlMs":60000,"cacheScope":"private",)json");
  }
  return result;
}

std::string Server::answer(const Id& id, const std::string& method) const {
  if (method == "initialize") {
    return is_stateless ? error(id, -32022, "Unsupported protocol version") : result(id, opening());
  }
  if (method == "tools/list") return result(id, page("tools", tools));
  if (method == "prompts/list") return result(id, page("prompts", prompts));
  if (method == "resources/list") return result(id, page("resources", resources));
  return result(id);
}

std::string Server::list(const std::string& key, const std::vector<std::string>& items) {
  std::string joined;
  for (const std::string& item : items) joined += (joined.empty() ? "" : ",") + item;
  return "{\"" + key + "\":[" + joined + "]}";
}

Bridge& ClientScript::bridge() {
  if (!bridge_) bridge_.emplace(config, now);
  return *bridge_;
}

void ClientScript::client(const std::string& line) {
  ledger_.on_line_of_client(line, takes_batches);
  const auto kept = padded(line);
  tell(fact::ClientLine{Line::padded({kept.get(), line.size()})});
}

std::vector<std::string> ClientScript::client_got() {
  std::vector<std::string> lines;
  for (const std::string& word : done()) {
    if (word.starts_with("client ")) lines.push_back(word.substr(7));
  }
  return lines;
}

nlohmann::json ClientScript::answer() {
  const auto lines = client_got();
  if (lines.size() != 1) {
    ADD_FAILURE() << "not one line to the client: " << ::testing::PrintToString(lines);
    return nlohmann::json();
  }
  return nlohmann::json::parse(lines[0], nullptr, false);
}

std::string ClientScript::answer_text() {
  const auto line = answer();
  const auto at = nlohmann::json::json_pointer("/result/content/0/text");
  return line.contains(at) ? line[at].get<std::string>() : "no text in " + line.dump();
}

bool ClientScript::write_down_own(const Order& order) {
  EXPECT_FALSE(is_over_) << "something was done after the end";
  if (const auto* const sent = std::get_if<order::SendToClient>(&order)) {
    const std::string text = sent->line.text();
    ledger_.on_line_to_client(text, may_answer_unasked);
    add_word("client " + text);
  } else if (const auto* const line = std::get_if<order::Log>(&order)) {
    log(*line);
  } else if (const auto* const end = std::get_if<order::Exit>(&order)) {
    is_over_ = true;
    add_word("exit " + std::to_string(end->code) + (end->may_wait ? "" : " at once"));
  } else {
    return false;
  }
  return true;
}

void ClientScript::log(const order::Log& line) {
  if (line.level == order::Log::Level::debug) return;
  expect_good_form(line.text);
  logs_.push_back(line.text);
}

void ClientScript::begin_end() {
  is_closing_ = true;
  client_closes_input();
}

void ClientScript::expect_end() {
  EXPECT_TRUE(is_over_) << "the bridge did not end";
  EXPECT_EQ(bridge().owed_count(), 0u);
  EXPECT_EQ(bridge().next_timeout(), std::nullopt);
  ledger_.expect_nothing_owed();
}

}  // namespace sitter
