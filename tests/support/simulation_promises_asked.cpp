#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/raw_id.hpp"
#include "core/child/child_requests.hpp"
#include "core/client/sent_lines.hpp"
#include "core/wire/message.hpp"
#include "sitter/limits.hpp"
#include "support/simulation_promises.hpp"

namespace sitter::sim {

using json = nlohmann::json;
using nlohmann::literals::operator""_json_pointer;

namespace {

/// Returns `line` with the value of `key` replaced.
std::string with_value(std::string line, std::string_view key, const std::string& old_value,
                       const std::string& new_value) {
  const std::string old_text = fmt::format("\"{}\":{}", key, old_value);
  const std::size_t at = line.find(old_text);
  if (at == line.npos) return line;
  return line.replace(at, old_text.size(), fmt::format("\"{}\":{}", key, new_value));
}

}  // namespace

Asked Promises::on_send_to_child(Generation gen, const std::string& line) {
  if (has_exited_) throw Broken("a line to a child after the end");
  if (line.find('\n') != line.npos) throw Broken("a line to a child has two lines");
  Life& its_life = life(gen);
  if (!its_life.is_up) throw Broken(fmt::format("a line to child {}, which is not up", gen));
  if (its_life.is_input_closed) {
    throw Broken(fmt::format("a line to child {}, whose input is closed", gen));
  }
  ++its_life.line_count;
  const ClientSaid& said = said_.client[static_cast<std::size_t>(mark_in(line))];
  const bool is_for_question =
      said.kind == ClientSaid::Kind::answer || said.kind == ClientSaid::Kind::progress;
  const std::string& expected = said.passed.empty() ? said.text : said.passed;
  if (said.mark != 0 && expected == line && !is_for_question) {
    check_passed_to_child(its_life, gen, said);
    return {said.method,
            said.kind == ClientSaid::Kind::cancelled ? said.about : said.id,
            "",
            said.token,
            said.mark,
            said.wants_task,
            !said.envelope.empty(),
            said.is_of_unknown_version,
            said.kind == ClientSaid::Kind::listen,
            said.wanted};
  }
  if (is_for_question) {
    const bool is_answer = said.kind == ClientSaid::Kind::answer;
    const int number = questions_.on_sent_to_child(said.about, is_answer);
    const ChildSaid& asked = said_.child[static_cast<std::size_t>(number)];
    if (asked.gen != gen) throw Broken("an answer reaches another child than the one that asked");
    if (line != with_value(said.text, is_answer ? "id" : "progressToken", said.about,
                           is_answer ? asked.id : asked.token)) {
      throw Broken("an answer of the client was changed");
    }
    if (is_answer) must_reach_child_ = 0;
    return {};
  }
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object()) throw Broken("a line to a child is not a JSON object");
  check_own_to_child(its_life, gen, line, message);
  Asked asked;
  asked.method = message.value("method", "");
  if (!asked.method.empty() && message.contains("id")) asked.id = message["id"].dump();
  if (!message.contains("params")) return asked;
  const json& params = message["params"];
  if (params.contains("cursor")) asked.cursor = params["cursor"].dump();
  if (params.contains("requestId")) asked.id = params["requestId"].dump();
  asked.has_envelope = params.contains("_meta");
  return asked;
}

void Promises::check_passed_to_child(Life& its_life, Generation gen, const ClientSaid& said) {
  if (said.method == "initialize" && its_life.opening_id.empty()) {
    its_life.opening_id = said.id;
    request_sent(its_life, gen, requests_.at(said.mark));
    return;
  }
  if (is_asked_ && !is_mixed()) {
    if (its_life.opening_id.empty()) throw Broken("the first line to a child is not initialize");
    const bool is_about_probe = scene_.client == Scene::Client::dual && its_life.has_served;
    if (!its_life.is_open && !is_about_probe) throw Broken("a child gets a line before it is open");
  }
  check_not_retired(its_life, gen, said);
  if (Streams::Stream* const stream = streams_.of(said.mark)) {
    if (!is_mixed()) replays_.on_asked(gen, false, now_);
    streams_.on_asked(*stream, gen);
    return;
  }
  if (said.kind == ClientSaid::Kind::initialized) {
    // A client that opens the session again sends `notifications/initialized` again.
    if (++its_life.initialized_count > initialize_count_ && !is_mixed()) {
      throw Broken("a child gets initialized twice");
    }
    // The answer to sitter_rebuild tells of the rebuild's new child. That child may also serve
    // already. Then the answer comes when the client has listed the tools.
    const bool tells_rebuild =
        gen == built_gen_ && (its_life.has_taken_over || !open_rebuilds().empty());
    // A child that was started without a request may also serve before the client sends this.
    const bool may_serve = initialized_in_ == step_;
    its_life.owes_notice = its_life.is_replay && config_.writes_notices && !its_life.has_served &&
                           !tells_rebuild && !may_serve;
    if (its_life.is_replay && its_life.initialized_count == 1 && !may_serve) {
      replays_.on_ready(gen);
    }
    return;
  }
  if (said.kind == ClientSaid::Kind::cancelled) {
    if (must_reach_child_ == said.mark) {
      must_reach_child_ = 0;
      return;
    }
    const bool is_meant = std::any_of(requests_.begin(), requests_.end(), [&](const auto& entry) {
      const Request& request = entry.second;
      return request.key == key_of(said.about) && !request.sent_to.empty() &&
             request.sent_to.back() == gen;
    });
    Streams::Stream* const stream = streams_.find(said.about, true);
    const bool is_of_stream = stream != nullptr && stream->gen == gen;
    if (!is_meant && !is_of_stream) {
      throw Broken("a child is told to cancel what it does not have");
    }
    return;
  }
  // A candidate is told of changed roots before it is asked anything.
  const bool is_before_all = said.method == "notifications/roots/list_changed" && is_candidate(gen);
  if (said.method != "initialize" && !is_before_all) {
    // A retiring child, or a child that ends while the next one comes, may leave a request undone.
    // Its successor gets this request late.
    const auto request = requests_.find(said.mark);
    const bool was_sent = request != requests_.end() && !request->second.sent_to.empty();
    const bool is_late = was_sent && (lives_.at(request->second.sent_to.back()).retired_at ||
                                      lives_.at(request->second.sent_to.back()).has_ended_late);
    if (said.mark < its_life.last_mark && !is_late) {
      throw Broken("lines of the client changed places");
    }
    its_life.last_mark = std::max(its_life.last_mark, said.mark);
  }
  if (said.kind == ClientSaid::Kind::notification) owed_notifications_.erase(said.mark);
  if (said.kind == ClientSaid::Kind::request) {
    const bool is_first_time = requests_.at(said.mark).sent_to.empty();
    if (is_first_time && !owed_notifications_.empty() && said.method != "initialize" &&
        *owed_notifications_.begin() < said.mark) {
      throw Broken("a notification of the client was dropped");
    }
    if (!is_mixed()) replays_.on_asked(gen, false, now_);
    request_sent(its_life, gen, requests_.at(said.mark));
    const bool is_first = !std::exchange(its_life.has_served, true);
    if (is_first) goes_on();
    if (is_first && is_modern_only() && its_life.is_after_loss) {
      // The bridge took the child's lists first. The child's notice may stand in an answer of the
      // child before it.
      its_life.owes_notice =
          config_.writes_notices && !its_life.is_told_by_rebuild && !notices_.was_told(gen);
      its_life.has_answered = true;
    }
    if (said.method == "initialize") {
      its_life.owes_notice = false;
      return;
    }
    if (is_initialized_ && its_life.initialized_count == 0 && !is_mixed()) {
      throw Broken("a child that was not told initialized serves");
    }
  }
}

void Promises::request_sent(Life& its_life, Generation gen, Request& request) {
  const ClientSaid& said = *request.said;
  // The next server gets the opening too.
  if (!request.is_opening) its_life.was_asked_since = true;
  if (request.is_cancelled) throw Broken("a cancelled request is sent to a child");
  if (request.is_answered && !request.is_doubled) throw Broken("an answered request is sent");
  if (!request.sent_to.empty()) {
    // If a child is replaced before it has answered the opening, the next child gets the opening.
    const Life& former = lives_.at(request.sent_to.back());
    const bool was_replaced =
        request.is_opening && (former.was_replaced || former.restarted_itself_at);
    // If several requests have the same id, nobody outside can tell which of them was refused.
    const bool was_refused = request.is_refused || request.refused_by == request.sent_to.back();
    if (!said.is_repeatable() && !was_replaced && !was_refused) {
      throw Broken(fmt::format("{} is sent a second time", said.method));
    }
    if (request.sent_to.size() > 1 && !was_replaced) throw Broken("a request is sent a third time");
    if (!lives_.at(request.sent_to.back()).is_over) {
      throw Broken("a request is sent to a second child while the first has it");
    }
    if (request.sent_to.back() == gen) throw Broken("a request is sent twice to the same child");
  }
  const bool was_refused = said_.child[static_cast<std::size_t>(request.answer_read)].is_unopened;
  if (was_refused) request.answer_read = 0;
  request.is_refused = false;
  request.sent_to.push_back(gen);
  request.sent_number = ++sent_count_;
  request.was_sent_in_crowd = open_.size() >= limits::kSentLinesMax;
  // The successor of a child that has stopped reading may serve before it is sent anything.
  if (request.deaf != kNoGeneration && gen > request.deaf) request.is_due_at_once = false;
}

void Promises::check_own_to_child(Life& its_life, Generation gen, const std::string& line,
                                  const json& message) {
  if (message.value("jsonrpc", "") != "2.0") throw Broken("a line to a child is not JSON-RPC");
  if (!message.contains("method")) {
    const bool is_full = questions_.count() >= limits::kChildRequestsMax || may_be_closed();
    if (!message.contains("error") || !is_full) {
      throw Broken("the bridge answers a question of the child");
    }
    return;
  }
  const std::string method = message["method"];
  if (method == "notifications/cancelled") {
    check_own_cancellation(gen, message);
    return;
  }
  if (!message.contains("id")) throw Broken("the bridge notifies the child of something");
  const std::string id = message["id"].dump();
  if (open_with(id) != nullptr || streams_.find(id) != nullptr) {
    throw Broken("an id of the bridge is one of the client's");
  }
  its_life.own_ids.insert(id_key(id));
  if (method == "tools/list") its_life.tools_list_id = id;
  if (method == "initialize") {
    check_own_opening(its_life, id, line);
    return;
  }
  if (!is_asked_) {
    check_envelope(message);
  } else if (its_life.initialized_count == 0 && !is_mixed()) {
    throw Broken("the bridge asks a child before initialized");
  }
  if (is_modern_only() && its_life.is_after_loss && its_life.line_count == 1) {
    replays_.on_ready(gen);
  }
  if (method == "tools/call") {
    check_called(gen, id, message["params"]);
    return;
  }
  if (!is_mixed()) replays_.on_asked(gen, true, now_);
  for (const std::string_view known :
       {"tools/list", "prompts/list", "resources/list", "logging/setLevel", "resources/subscribe",
        "resources/unsubscribe"}) {
    if (method == known) return;
  }
  throw Broken(fmt::format("the bridge asks a child for {}", method));
}

/// The bridge repeats the client's opening at a new child, or asks a restarted child `initialize`
/// to learn its era.
void Promises::check_own_opening(Life& its_life, const std::string& id, const std::string& line) {
  const ClientSaid& said = said_.client[static_cast<std::size_t>(mark_in(line))];
  if (is_asked_ && said.method == "initialize") {
    if (its_life.line_count != 1 && !is_mixed() && scene_.client != Scene::Client::dual) {
      throw Broken("the opening is not the first line to a child");
    }
    its_life.is_replay = true;
    its_life.opening_id = id;
    return;
  }
  if (is_asked_ && !is_mixed()) throw Broken("the opening is not the client's");
  if (std::exchange(its_life.is_doubted, true)) throw Broken("a child is doubted twice");
  if (its_life.has_refused_list) return;
  if (!has_lost_stateless_) throw Broken("a first child that has refused nothing is doubted");
  if (its_life.has_shown_era && !is_mixed())
    throw Broken("a child that has shown its era is doubted");
  if (its_life.has_served) throw Broken("a child is doubted that serves already");
}

/// The time that a server has to list its tools begins with the first message of the server. So a
/// slow start does no harm.
void Promises::on_log(const std::string& text) {
  if (text.find("did not list its tools as a server of the stateless") == std::string::npos) return;
  const Life& its_life = life(number_behind(text, "child "));
  const bool has_not_answered = !its_life.tools_list_id.empty();
  const bool had_its_time =
      its_life.wrote_first_at && now_ >= *its_life.wrote_first_at + limits::kToolsListWait;
  if (has_not_answered && !had_its_time) {
    throw Broken("a server that is still starting is called one of the other era");
  }
}

/// The bridge cancels a stream at a restarted child that grants less than the client was told.
void Promises::check_own_cancellation(Generation gen, const json& message) {
  const std::string id = message.at("params").at("requestId").dump();
  Streams::Stream* const stream = streams_.find(id);
  const bool is_told = stream != nullptr && (stream->granted || may_be_closed());
  if (!is_told || stream->gen != gen) {
    throw Broken("the bridge takes back what a child was not asked for");
  }
  taken_back_.insert(stream->said->mark);
}

/// A server of the stateless revision must refuse a request without an envelope. The bridge may
/// only use an envelope that the client has sent.
void Promises::check_envelope(const json& message) const {
  // The bridge may forget an envelope with a version that the child refuses.
  if (is_mixed()) return;
  const json meta = message.value("/params/_meta"_json_pointer, json());
  if (!envelopes_.contains(meta.dump())) {
    throw Broken("the bridge says of the client what the client has not said");
  }
}

}  // namespace sitter::sim
