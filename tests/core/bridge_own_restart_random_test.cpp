#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/child/own_restart.hpp"
#include "sitter/bridge.hpp"
#include "support/messages.hpp"
#include "support/simulation_random.hpp"

namespace sitter {
namespace {

using sim::Random;

/// A client, a bridge, and a server that is started anew at random behind one process. The pipe to
/// the server keeps what the former server has not read.
class World {
 public:
  explicit World(std::uint64_t seed)
      : random_(seed),
        insists_on_opening_(random_.chance(60)),
        announces_(!insists_on_opening_ || random_.chance(50)),
        bridge_(config(), now_) {}

  void play() {
    client(initialize(0));
    answer_all();
    client(initialized());
    answer_all();
    for (int i = 0; i < 150; ++i) step();
    // From now on nothing happens but answers and time.
    for (int i = 0; i < 100; ++i) {
      answer_all();
      pass(limits::kOwnRestartListWait);
    }
    bridge_.handle(fact::ClientClosedInput{}, now_);
    carry_out();
    for (int i = 0; i < 100 && !has_exited_; ++i) {
      answer_all();
      pass(Milliseconds(1000));
    }
    EXPECT_TRUE(has_exited_);
    for (const auto& [id, request] : requests_) {
      if (request.is_cancelled) {
        EXPECT_LE(request.answers, 1) << id;
      } else {
        EXPECT_EQ(request.answers, 1) << id;
      }
      if (request.is_call) {
        EXPECT_LE(request.executions, 1) << id;
      }
    }
  }

  int restarts_taken() const { return restarts_taken_; }
  int sent_again() const { return sent_again_; }

 private:
  struct Request {
    bool is_call = false;
    bool is_cancelled = false;
    int answers = 0;
    int executions = 0;
    int refusals = 0;
  };

  static BridgeConfig config() {
    BridgeConfig config;
    config.command = "server";
    config.sitter_version = "9.9.9";
    return config;
  }

  void step() {
    switch (random_.weighted({30, 5, 40, 25, 6, 10, 4})) {
      case 0:
        ask();
        break;
      case 1:
        cancel();
        break;
      case 2:
        read();
        break;
      case 3:
        if (!held_.empty()) answer(random_.take(held_));
        break;
      case 4:
        restart();
        break;
      case 5:
        pass(Milliseconds(random_.pick(std::vector<int>{1, 100, 1000, 6000})));
        break;
      default:
        if (!held_.empty()) fail(random_.take(held_));
    }
  }

  void ask() {
    const int id = ++last_id_;
    Request& request = requests_[id];
    request.is_call = random_.chance(70);
    client(request.is_call ? call(id, "echo")
                           : sitter::request(id, random_.chance(50) ? "tools/list" : "ping"));
  }

  void cancel() {
    if (last_id_ == 0) return;
    const int id = random_.between(1, last_id_);
    if (requests_[id].answers > 0) return;
    requests_[id].is_cancelled = true;
    client(cancelled(id));
  }

  /// The server reads the next line.
  void read() {
    if (pipe_.empty()) return;
    const auto line = nlohmann::json::parse(pipe_.front());
    pipe_.pop_front();
    if (!line.contains("id") || !line.contains("method")) return;
    const std::string method = line["method"];
    if (method == "initialize") {
      is_open_ = true;
      child(result(line["id"].dump(),
                   R"json({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)json"
                   R"json("serverInfo":{"name":"s","version":"1"}})json"));
      return;
    }
    Request* const request = of_client(line["id"]);
    if (insists_on_opening_ && !is_open_ && method != "ping") {
      if (request != nullptr) ++request->refusals;
      child(error(line["id"].dump(), -32602, "Invalid request parameters"));
      return;
    }
    if (request != nullptr) {
      ++request->executions;
      if (request->is_call && request->refusals > 0) ++sent_again_;
    }
    held_.push_back(line);
    if (random_.chance(50)) answer(random_.take(held_));
  }

  void answer(const nlohmann::json& line) {
    const std::string id = line["id"].dump();
    const std::string method = line["method"];
    if (method == "tools/list") {
      child(result(id, R"json({"tools":[{"name":"echo","inputSchema":{"type":"object"}}]})json"));
    } else if (method == "tools/call") {
      child(result(id, text_result("x")));
    } else {
      child(result(id));
    }
  }

  /// A call that has run fails in words that read like a refusal.
  void fail(const nlohmann::json& line) {
    if (line["method"] != "tools/call") return answer(line);
    child(error(line["id"].dump(), -32603, "the cache is not initialized"));
  }

  void answer_all() {
    while (!pipe_.empty() || !held_.empty()) {
      read();
      if (!held_.empty()) answer(random_.take(held_));
    }
  }

  /// What the former server was asked is lost, with the lines that it has read.
  void restart() {
    if (announces_) {
      child("Restarting 'server.mjs'");
      // It may read and answer for a moment longer.
      if (random_.chance(30)) read();
    }
    held_.clear();
    is_open_ = false;
  }

  void pass(Milliseconds time) {
    const Instant end = now_.steady + time;
    while (!has_exited_) {
      const auto next = bridge_.next_timeout();
      if (!next || *next > end) break;
      now_.steady = std::max(now_.steady, *next);
      bridge_.handle_timeout(now_);
      carry_out();
    }
    now_.steady = end;
  }

  void client(const std::string& text) {
    feed([&](Line line) { return fact::ClientLine{line}; }, text);
  }
  void child(const std::string& text) {
    if (!lives_) return;
    feed([&](Line line) { return fact::ChildLine{gen_, line}; }, text);
  }
  template <class MakeFact>
  void feed(MakeFact make_fact, const std::string& text) {
    if (has_exited_) return;
    const OwnedLine line{text};
    bridge_.handle(make_fact(line.line()), now_);
    carry_out();
  }

  void carry_out() {
    while (auto order = bridge_.poll_order()) {
      std::visit([this](auto& one) { carry_out(one); }, *order);
    }
    while (!facts_.empty() && !has_exited_) {
      const Fact fact = facts_.front();
      facts_.pop_front();
      bridge_.handle(fact, now_);
      carry_out();
    }
  }
  void carry_out(order::SendToClient& order) {
    const auto line = nlohmann::json::parse(order.line.text());
    if (line.contains("method") || line["id"] == 0) return;
    const auto found = requests_.find(line["id"].get<std::int64_t>());
    ASSERT_NE(found, requests_.end()) << line;
    EXPECT_EQ(++found->second.answers, 1) << line;
  }
  void carry_out(order::SendToChild& order) {
    EXPECT_EQ(order.gen, gen_) << "a line for a former number";
    if (lives_) pipe_.push_back(order.line.text());
  }
  void carry_out(order::StartChild& order) {
    gen_ = order.gen;
    lives_ = true;
    pipe_.clear();
    held_.clear();
    is_open_ = false;
    facts_.push_back(fact::ChildStarted{gen_, 77});
  }
  void carry_out(order::RenumberChild& order) {
    EXPECT_EQ(order.from, gen_);
    gen_ = order.gen;
    ++restarts_taken_;
  }
  void carry_out(order::CloseChildInput&) {
    if (!lives_) return;
    lives_ = false;
    facts_.push_back(fact::ChildOutputEnded{gen_});
    facts_.push_back(fact::ChildErrorEnded{gen_});
    facts_.push_back(fact::ChildExited{gen_, {0, ""}});
  }
  void carry_out(order::SignalUnit& order) { facts_.push_back(fact::UnitSignalled{order.gen, {}}); }
  void carry_out(order::InspectBinary& order) {
    facts_.push_back(fact::BinaryInspected{order.look, {}});
  }
  void carry_out(order::CheckCommandFiles&) { facts_.push_back(fact::CommandFilesChecked{false}); }
  void carry_out(order::LookAtSources& order) {
    facts_.push_back(fact::SourcesChecked{order.gen, {}, {}});
  }
  void carry_out(order::LookAtProcess& order) {
    facts_.push_back(fact::ProcessSeen{order.gen, ""});
  }
  void carry_out(order::Exit&) { has_exited_ = true; }
  template <class Other>
  void carry_out(Other&) {}

  Request* of_client(const nlohmann::json& id) {
    const auto found = id.is_number() ? requests_.find(id.get<std::int64_t>()) : requests_.end();
    return found == requests_.end() ? nullptr : &found->second;
  }

  Random random_;
  /// Otherwise the server answers without an opening.
  const bool insists_on_opening_;
  /// The watcher announces each restart.
  const bool announces_;
  Now now_{Instant() + std::chrono::hours(1), WallTime() + std::chrono::hours(500000)};
  Bridge bridge_;
  std::map<std::int64_t, Request> requests_;
  int last_id_ = 0;
  Generation gen_ = kNoGeneration;
  bool lives_ = false;
  bool is_open_ = false;
  std::deque<std::string> pipe_;
  /// What the server has read and not answered.
  std::deque<nlohmann::json> held_;
  std::deque<Fact> facts_;
  bool has_exited_ = false;
  int restarts_taken_ = 0;
  int sent_again_ = 0;
};

TEST(BridgeOwnRestartRandomTest, EachRequestGetsOneAnswerAndNoCallRunsTwice) {
  int restarts = 0;
  int sent_again = 0;
  for (std::uint64_t seed = 1; seed <= 1000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    World world(seed);
    world.play();
    restarts += world.restarts_taken();
    sent_again += world.sent_again();
  }
  // The restarts really happen.
  EXPECT_GT(restarts, 2000);
  EXPECT_GT(sent_again, 500);
}

}  // namespace
}  // namespace sitter
