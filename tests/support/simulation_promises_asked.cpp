#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/child/child_requests.hpp"
#include "support/simulation_promises.hpp"
#include "support/simulation_unchanged.hpp"

/// What children get.
namespace sitter::sim {

using json = nlohmann::json;

void Promises::on_send_to_child(Generation gen, const std::string& line) {
  if (line.find('\n') != line.npos) throw Broken("a line to a child has two lines");
  Life& life = lives_.at(gen);
  if (!life.is_up || life.is_input_closed) {
    throw Broken(fmt::format("a line to child {}, which is not up", gen));
  }
  const ClientSaid& said = said_.client[static_cast<std::size_t>(mark_in(line))];
  const bool is_answer = said.kind == ClientSaid::Kind::answer;
  if (is_answer || said.kind == ClientSaid::Kind::progress) {
    const int number = questions_.on_sent_to_child(said.about, is_answer);
    const ChildSaid& asked = said_.child[static_cast<std::size_t>(number)];
    if (asked.gen != gen) throw Broken("an answer reaches another child than the one that asked");
    check_reply(line, said, asked);
    if (is_answer) must_reach_ = {};
    return;
  }
  if (said.mark != 0 && line == (said.passed.empty() ? said.text : said.passed)) {
    check_passed_to_child(life, gen, said);
    return;
  }
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object() || message.value("jsonrpc", "") != "2.0") {
    throw Broken("a line to a child is no message");
  }
  check_own_to_child(life, gen, line, message);
}

void Promises::check_passed_to_child(Life& life, Generation gen, const ClientSaid& said) {
  if (said.method == "initialize" && life.opening_id.empty()) {
    life.opening_id = said.id;
    request_sent(gen, requests_.at(said.mark));
    return;
  }
  if (scene_.client == Scene::Client::legacy && !life.is_open) {
    throw Broken("a child gets a line before it is open");
  }
  if (said.kind == ClientSaid::Kind::initialized) {
    // A client that opens the session again sends this again.
    if (++life.initialized_count <= initialize_count_ || is_mixed()) return;
    throw Broken("a child gets initialized twice");
  }
  if (said.kind == ClientSaid::Kind::cancelled) {
    if (must_reach_ == std::pair(said.mark, gen)) must_reach_ = {};
    return;
  }
  // A candidate is told of changed roots before it is asked anything.
  if (said.method == "notifications/roots/list_changed") return;
  take_over(gen);
  if (Streams::Stream* const stream = streams_.of(said.mark)) {
    streams_.on_asked(*stream, gen);
    return;
  }
  // A child that has ended or retires may leave a request undone. Its successor gets it late.
  const Request* const request = requests_.of(said.mark);
  const bool was_sent = request != nullptr && !request->sent_to.empty();
  if (said.mark < life.last_mark && !was_sent) throw Broken("lines of the client changed places");
  life.last_mark = std::max(life.last_mark, said.mark);
  if (request != nullptr) request_sent(gen, requests_.at(said.mark));
}

/// Only the child that serves gets requests.
void Promises::take_over(Generation gen) {
  const Generation before = lives_.serving();
  lives_.on_serves(gen);
  if (before != gen) streams_.on_lost(before);
}

/// The bridge looks at the binary of a child that takes the place of another.
void Promises::on_inspect(Generation gen) {
  if (gen > lives_.serving() && !lives_.is_over(gen) && lives_.at(gen).listens()) take_over(gen);
}

void Promises::request_sent(Generation gen, Request& request) {
  const ClientSaid& said = *request.said;
  if (request.is_cancelled) throw Broken("a cancelled request is sent to a child");
  if (request.is_answered && !request.is_doubled) throw Broken("an answered request is sent");
  const bool is_unopened = said_.child[static_cast<std::size_t>(request.answer_read)].is_unopened;
  if (!request.sent_to.empty()) {
    const Generation former = request.sent_to.back();
    // If several requests have the same id, nobody outside can tell which of them was refused.
    const bool was_refused = is_unopened || request.refused_by == former;
    const bool may_be_again = (said.is_repeatable() || was_refused) && request.sent_to.size() == 1;
    if (!may_be_again && !request.is_opening) {
      throw Broken(fmt::format("{} is sent once more", said.method));
    }
    if (former == gen || !lives_.is_over(former)) {
      throw Broken("a request is sent again while a child has it");
    }
  }
  if (is_unopened) request.answer_read = 0;
  request.sent_to.push_back(gen);
}

void Promises::check_own_to_child(Life& life, Generation gen, const std::string& line,
                                  const json& message) {
  if (!message.contains("method")) {
    const bool is_full = questions_.count() >= limits::kChildRequestsMax || requests_.is_held();
    if (message.contains("error") && is_full) return;
    throw Broken("the bridge answers a question of the child");
  }
  const std::string method = message["method"];
  if (method == "notifications/cancelled") {
    // The bridge cancels a stream at a restarted child that grants less than the client was told.
    Streams::Stream* const stream = streams_.find(message["params"]["requestId"].dump());
    const bool is_told = stream != nullptr && (stream->granted || requests_.is_held());
    if (is_told && stream->gen == gen) return;
    throw Broken("the bridge takes back what a child was not asked for");
  }
  if (method == "notifications/initialized" && asks_uninitialized_ &&
      (life.is_open || is_mixed())) {
    if (++life.initialized_count <= initialize_count_ || is_mixed()) return;
    throw Broken("a child gets initialized twice");
  }
  if (!message.contains("id")) throw Broken("the bridge notifies the child of something");
  const std::string id = message["id"].dump();
  if (requests_.open_with(id) != nullptr || streams_.find(id) != nullptr) {
    throw Broken("an id of the bridge is one of the client's");
  }
  if (method == "initialize") {
    const ClientSaid& said = said_.client[static_cast<std::size_t>(mark_in(line))];
    if (said.method == "initialize") life.opening_id = id;
    return;
  }
  if (initialize_count_ > 0 && life.initialized_count == 0 && !is_mixed()) {
    throw Broken("the bridge asks a child before initialized");
  }
}

}  // namespace sitter::sim
