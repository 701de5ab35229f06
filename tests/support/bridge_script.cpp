#include "support/bridge_script.hpp"

#include <algorithm>

#include "support/reading.hpp"
#include "support/story_lines.hpp"

namespace sitter {
namespace {

/// Whether the shell has to answer the order.
bool is_order(const Order& order) {
  return std::holds_alternative<order::StartChild>(order) ||
         std::holds_alternative<order::StartBuild>(order) ||
         std::holds_alternative<order::SignalUnit>(order) ||
         std::holds_alternative<order::InspectBinary>(order) ||
         std::holds_alternative<order::SweepImage>(order) ||
         std::holds_alternative<order::CheckCommandFiles>(order) ||
         std::holds_alternative<order::LookAtSources>(order);
}

}  // namespace

Bridge& BridgeTest::bridge() {
  if (!bridge_) bridge_.emplace(config, now);
  return *bridge_;
}

void BridgeTest::client(const std::string& line) {
  ledger_.on_line_of_client(line, takes_batches);
  const auto kept = padded(line);
  feed(fact::ClientLine{Line::padded({kept.get(), line.size()})});
}

void BridgeTest::client_line_too_long(const std::string& head, const std::string& tail,
                                      std::uint64_t size) {
  feed(fact::ClientLineTooLong{head, tail, size});
}

void BridgeTest::started(Generation gen) {
  children_[gen].is_started = true;
  feed(fact::ChildStarted{gen, pid_of(gen)});
}

void BridgeTest::start_fails(Generation gen, const std::string& reason, bool is_file_busy) {
  if (is_file_busy) {
    // The bridge orders the start again.
    children_.erase(gen);
  } else {
    children_[gen].is_released = true;
  }
  feed(fact::ChildStartFailed{gen, reason, is_file_busy});
}

void BridgeTest::start_finds_no_command(Generation gen) {
  children_[gen].is_released = true;
  feed(fact::ChildStartFailed{
      .gen = gen, .reason = "can't start server: no such file", .is_missing = true});
}

void BridgeTest::child(Generation gen, const std::string& line) {
  const std::string text = with_numbers(line);
  note_line_of_child(gen, text);
  const auto kept = padded(text);
  feed(fact::ChildLine{gen, Line::padded({kept.get(), text.size()})});
}

void BridgeTest::child_breaks_off(Generation gen, const std::string& line) {
  const auto kept = padded(line);
  feed(fact::ChildLine{gen, Line::padded({kept.get(), line.size()}), true});
}

void BridgeTest::child_line_too_long(Generation gen, const std::string& head,
                                     const std::string& tail, std::uint64_t size) {
  feed(fact::ChildLineTooLong{gen, head, tail, size});
}

void BridgeTest::child_says(Generation gen, const std::string& line) {
  feed(fact::ChildErrorLine{gen, line, 0});
}

void BridgeTest::exits(Generation gen, int code, const std::string& signal) {
  children_[gen].has_exited = true;
  feed(fact::ChildExited{gen, {code, signal}});
}

void BridgeTest::closes_output(Generation gen) {
  closes_stdout(gen);
  closes_stderr(gen);
}

void BridgeTest::dies(Generation gen, int code, const std::string& signal) {
  exits(gen, code, signal);
  closes_output(gen);
}

void BridgeTest::unit_signalled(Generation gen,
                                std::vector<fact::UnitSignalled::Process> processes) {
  feed(fact::UnitSignalled{gen, std::move(processes)});
}

void BridgeTest::binary_inspected() {
  ASSERT_FALSE(looks_.empty());
  const order::InspectBinary order = looks_.front();
  looks_.pop_front();
  feed(fact::BinaryInspected{order.look, binary, order.finds_strangers ? shared : std::nullopt});
}

void BridgeTest::image_swept(std::vector<fact::ImageSwept::Process> processes) {
  feed(fact::ImageSwept{std::move(processes)});
}

void BridgeTest::time_passes(Milliseconds duration) {
  const Instant until = now.steady + duration;
  for (int stops = 0; true; ++stops) {
    const auto next = bridge().next_timeout();
    if (!next || *next > until) break;
    ASSERT_LT(stops, 10000) << "a deadline comes again and again";
    turn_to(std::max(now.steady, *next));
    fire_deadlines();
  }
  turn_to(until);
  const std::size_t before = words_.size();
  fire_deadlines();
  EXPECT_EQ(words_.size(), before) << "something was done though nothing was due";
}

void BridgeTest::next_deadline_comes() {
  const auto next = bridge().next_timeout();
  ASSERT_TRUE(next) << "there is no deadline";
  turn_to(std::max(now.steady, *next));
  fire_deadlines();
}

std::vector<std::string> BridgeTest::client_got() {
  std::vector<std::string> lines;
  for (const std::string& word : done()) {
    if (word.starts_with("client ")) lines.push_back(word.substr(7));
  }
  return lines;
}

nlohmann::json BridgeTest::answer() {
  const auto lines = client_got();
  if (lines.size() != 1) {
    ADD_FAILURE() << "not one line to the client: " << ::testing::PrintToString(lines);
    return nlohmann::json();
  }
  return nlohmann::json::parse(lines[0], nullptr, false);
}

std::string BridgeTest::answer_text() {
  const auto line = answer();
  const auto at = nlohmann::json::json_pointer("/result/content/0/text");
  return line.contains(at) ? line[at].get<std::string>() : "no text in " + line.dump();
}

void BridgeTest::opens(Generation gen) {
  for (std::size_t i = 0; i < children_[gen].inbox.size(); ++i) {
    const auto line = parsed(children_[gen].inbox[i].first);
    if (!line.contains("method") || !line.contains("id")) continue;
    if (std::exchange(children_[gen].inbox[i].second, true)) continue;
    const std::string id = line["id"].dump();
    const std::string method = line["method"];
    if (method == "initialize" && server.is_stateless) {
      child(gen, error(id, -32022, "Unsupported protocol version"));
    } else if (method == "initialize") {
      child(gen, result(id, server.opening()));
    } else if (!is_internal(id)) {
      children_[gen].inbox[i].second = false;
    } else if (method == "tools/list") {
      child(gen, result(id, server.page("tools", server.tools)));
    } else if (method == "prompts/list") {
      child(gen, result(id, server.page("prompts", server.prompts)));
    } else if (method == "resources/list") {
      child(gen, result(id, server.page("resources", server.resources)));
    } else {
      child(gen, result(id));
    }
  }
}

void BridgeTest::open_session(const std::string& version, const std::string& client_name) {
  client(initialize(0, version, client_name));
  opens(1);
  client(initialized());
  opens(1);
  done();
}

void BridgeTest::open_listed_session(const std::string& client_name) {
  open_session("2025-11-25", client_name);
  client(request(900, "tools/list"));
  child(1, result(900, Server::list("tools", server.tools)));
  done();
}

void BridgeTest::TearDown() {
  if (HasFatalFailure()) return;
  plays = {};
  is_closing_ = true;
  client_closes_input();
  for (const auto& [gen, child] : std::map(children_)) {
    if (!child.is_started && !child.is_released) start_fails(gen, "the story is over");
  }
  while (!unanswered_.empty()) {
    const Order order = unanswered_.front();
    unanswered_.erase(unanswered_.begin());
    play(order);
  }
  time_passes(std::chrono::seconds(30));
  EXPECT_TRUE(is_over_) << "the bridge did not end";
  EXPECT_EQ(bridge().owed_count(), 0u);
  EXPECT_EQ(bridge().next_timeout(), std::nullopt);
  ledger_.expect_nothing_owed();
}

void BridgeTest::fire_deadlines() {
  bridge().handle_timeout(now);
  const auto next = bridge().next_timeout();
  EXPECT_TRUE(!next || *next > now.steady) << "a deadline is still due when all have fired";
  drain();
}

void BridgeTest::turn_to(Instant instant) {
  now.wall += std::chrono::duration_cast<WallTime::duration>(instant - now.steady);
  now.steady = instant;
}

void BridgeTest::feed(const Fact& fact) {
  bridge().handle(fact, now);
  drain();
}

void BridgeTest::drain() {
  std::vector<Order> to_play;
  while (auto order = bridge().poll_order()) {
    write_down(*order);
    if (is_order(*order)) to_play.push_back(std::move(*order));
  }
  for (const Order& order : to_play) play(order);
}

void BridgeTest::play(const Order& order) {
  if (is_over_) return;
  if (const auto* const start = std::get_if<order::StartChild>(&order)) {
    if (plays.start) started(start->gen);
    return;
  }
  if (const auto* const start = std::get_if<order::StartBuild>(&order)) {
    if (plays.start) started(start->gen);
    return;
  }
  const auto later = [&](bool now_played) {
    if (!now_played) unanswered_.push_back(order);
    return !now_played;
  };
  if (const auto* const signalled = std::get_if<order::SignalUnit>(&order)) {
    if (later(plays.signal)) return;
    ChildSeen& child = children_[signalled->gen];
    if (child.is_released) return;
    const bool is_alive = child.is_started && !child.has_exited;
    if (is_alive) {
      unit_signalled(signalled->gen, {{pid_of(signalled->gen), true, "server", ""}});
    } else {
      unit_signalled(signalled->gen, {});
    }
    if (is_alive && is_closing_ && signalled->how == order::SignalUnit::How::kill) {
      dies(signalled->gen, 137, "SIGKILL");
    }
  } else if (const auto* const inspect = std::get_if<order::InspectBinary>(&order)) {
    looks_.push_back(*inspect);
    if (!later(plays.inspect)) binary_inspected();
  } else if (std::holds_alternative<order::SweepImage>(order)) {
    if (!later(plays.sweep)) image_swept({});
  } else if (std::holds_alternative<order::CheckCommandFiles>(order)) {
    if (!later(plays.check)) files_checked(files_changed);
  } else if (const auto* const sources = std::get_if<order::LookAtSources>(&order)) {
    if (!later(plays.sources)) sources_checked(sources->gen);
  }
}

void BridgeTest::write_down(const Order& order) {
  EXPECT_FALSE(is_over_) << "something was done after the end";
  if (const auto* const a = std::get_if<order::SendToClient>(&order)) {
    const std::string text = a->line.text();
    ledger_.on_line_to_client(text, may_answer_unasked);
    words_.push_back("client " + text);
  } else if (const auto* const b = std::get_if<order::SendToChild>(&order)) {
    const std::string text = b->line.text();
    expect_message(text);
    EXPECT_TRUE(is_reading_of(b->message, text)) << text;
    id_read = b->message == nullptr ? "nothing" : std::string(b->message->id);
    ChildSeen& child = expect_living(b->gen, "a line");
    EXPECT_TRUE(child.is_started) << "a line to a child that is not up: " << text;
    EXPECT_FALSE(child.is_closed) << "a line to a child whose input is closed: " << text;
    EXPECT_FALSE(child.has_exited) << "a line to a child that has exited: " << text;
    child.inbox.emplace_back(text, false);
    words_.push_back("child " + std::to_string(b->gen) + " " + without_numbers(text));
  } else if (const auto* const c = std::get_if<order::StartChild>(&order)) {
    EXPECT_FALSE(children_.contains(c->gen)) << "the number of a child comes again";
    children_[c->gen];
    add_word("start", c->gen);
  } else if (const auto* const j = std::get_if<order::StartBuild>(&order)) {
    EXPECT_FALSE(children_.contains(j->gen)) << "the number of a build comes again";
    children_[j->gen];
    add_word("start", j->gen);
  } else if (const auto* const n = std::get_if<order::RenumberChild>(&order)) {
    EXPECT_FALSE(children_.contains(n->gen)) << "the number of a child comes again";
    ChildSeen& former = expect_living(n->from, "another number");
    children_[n->gen] = std::exchange(former, {});
    former.is_released = true;
    add_word("renumber", n->gen);
  } else if (const auto* const d = std::get_if<order::CloseChildInput>(&order)) {
    expect_living(d->gen, "an end of input").is_closed = true;
    add_word("close", d->gen);
  } else if (const auto* const e = std::get_if<order::SignalUnit>(&order)) {
    expect_living(e->gen, "a signal");
    using How = order::SignalUnit::How;
    if (e->how == How::look && plays.signal) return;
    add_word(e->how == How::look        ? "look"
             : e->how == How::terminate ? "terminate"
                                        : "kill",
             e->gen);
  } else if (const auto* const f = std::get_if<order::ReleaseChild>(&order)) {
    expect_living(f->gen, "a release").is_released = true;
    add_word("release", f->gen);
  } else if (const auto* const g = std::get_if<order::SweepImage>(&order)) {
    const std::string scope = g->scope == KillScope::automatic ? "auto"
                              : g->scope == KillScope::child   ? "child"
                                                               : "same-executable";
    words_.push_back("sweep " + scope +
                     (g->how == order::SignalUnit::How::kill ? " kill" : " terminate"));
  } else if (const auto* const m = std::get_if<order::InspectBinary>(&order)) {
    if (!plays.inspect) {
      words_.push_back(m->finds_changes ? "inspect with its sources" : "inspect");
    }
  } else if (std::holds_alternative<order::CheckCommandFiles>(order)) {
    words_.push_back("check files");
  } else if (const auto* const l = std::get_if<order::LookAtSources>(&order)) {
    if (!plays.sources) add_word("look at sources of", l->gen);
  } else if (const auto* const k = std::get_if<order::SendToControl>(&order)) {
    to_control_[k->connection].push_back(k->line);
  } else if (const auto* const h = std::get_if<order::Log>(&order)) {
    if (h->level != order::Log::Level::debug) logs_.push_back(h->text);
  } else if (const auto* const i = std::get_if<order::Exit>(&order)) {
    is_over_ = true;
    words_.push_back("exit " + std::to_string(i->code) + (i->may_wait ? "" : " at once"));
  }
}

void BridgeTest::add_word(const std::string& word, Generation gen) {
  words_.push_back(word + " " +
                   (is_build(gen) ? "build " + std::to_string(-gen) : std::to_string(gen)));
}

BridgeTest::ChildSeen& BridgeTest::expect_living(Generation gen, const std::string& what) {
  ChildSeen& child = children_[gen];
  EXPECT_FALSE(child.is_released) << what << " for child " << gen << ", which is over";
  return child;
}

void BridgeTest::note_line_of_child(Generation gen, const std::string& line) {
  for (auto& [asked, is_answered] : children_[gen].inbox) {
    const std::size_t id = asked.find("\"id\":");
    if (is_answered || id == asked.npos) continue;
    const std::string member = asked.substr(id, asked.find(',', id) - id);
    is_answered = line.starts_with(R"json({"jsonrpc":"2.0",)json" + member + ",");
  }
}

}  // namespace sitter
