#include "support/bridge_script.hpp"

#include "support/good_form.hpp"
#include "support/reading.hpp"
#include "support/texts.hpp"

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
         std::holds_alternative<order::LookAtSources>(order) ||
         std::holds_alternative<order::LookAtProcess>(order);
}

}  // namespace

void BridgeTest::client_line_too_long(const std::string& head, const std::string& tail,
                                      std::uint64_t size) {
  tell(fact::ClientLineTooLong{head, tail, size});
}

void BridgeTest::started(Generation gen) {
  children_[gen].is_started = true;
  tell(fact::ChildStarted{gen, pid_of(gen)});
}

void BridgeTest::start_fails(Generation gen, const std::string& reason, bool is_file_busy) {
  if (is_file_busy) {
    // The bridge orders the start again.
    children_.erase(gen);
  } else {
    children_[gen].is_released = true;
  }
  tell(fact::ChildStartFailed{gen, reason, is_file_busy});
}

void BridgeTest::start_finds_no_command(Generation gen) {
  children_[gen].is_released = true;
  tell(fact::ChildStartFailed{
      .gen = gen, .reason = "can't start server: no such file", .is_missing = true});
}

void BridgeTest::child(Generation gen, const std::string& line) {
  const std::string text = with_numbers(line);
  note_line_of_child(gen, text);
  const auto kept = padded(text);
  tell(fact::ChildLine{gen, Line::padded({kept.get(), text.size()})});
}

void BridgeTest::child_breaks_off(Generation gen, const std::string& line) {
  const auto kept = padded(line);
  tell(fact::ChildLine{gen, Line::padded({kept.get(), line.size()}), true});
}

void BridgeTest::child_line_too_long(Generation gen, const std::string& head,
                                     const std::string& tail, std::uint64_t size) {
  tell(fact::ChildLineTooLong{gen, head, tail, size});
}

void BridgeTest::child_says(Generation gen, const std::string& line) {
  tell(fact::ChildErrorLine{gen, line, 0});
}

void BridgeTest::exits(Generation gen, int code, const std::string& signal) {
  children_[gen].has_exited = true;
  tell(fact::ChildExited{gen, {code, signal}});
}

void BridgeTest::crashes(Generation gen, const std::string& core) {
  dies(gen, ExitStatus{139, "SIGSEGV", core});
}

void BridgeTest::closes_output(Generation gen) {
  closes_stdout(gen);
  closes_stderr(gen);
}

void BridgeTest::dies(Generation gen, int code, const std::string& signal) {
  dies(gen, ExitStatus{code, signal});
}

void BridgeTest::dies(Generation gen, const ExitStatus& status) {
  children_[gen].has_exited = true;
  tell(fact::ChildExited{gen, status});
  closes_output(gen);
}

void BridgeTest::unit_signalled(Generation gen,
                                std::vector<fact::UnitSignalled::Process> processes) {
  tell(fact::UnitSignalled{gen, std::move(processes)});
}

void BridgeTest::binary_inspected() {
  ASSERT_FALSE(looks_.empty());
  const order::InspectBinary order = looks_.front();
  looks_.pop_front();
  tell(fact::BinaryInspected{order.look, binary, order.finds_strangers ? shared : std::nullopt});
}

void BridgeTest::image_swept(std::vector<fact::ImageSwept::Process> processes) {
  tell(fact::ImageSwept{std::move(processes)});
}

void BridgeTest::opens(Generation gen) {
  for (std::size_t i = 0; i < children_[gen].inbox.size(); ++i) {
    const auto line = parsed(children_[gen].inbox[i].first);
    if (!line.contains("method") || !line.contains("id")) continue;
    if (std::exchange(children_[gen].inbox[i].second, true)) continue;
    const std::string id = line["id"].dump();
    const std::string method = line["method"];
    if (method == "initialize" || is_internal(id)) {
      child(gen, server.answer(id, method));
    } else {
      children_[gen].inbox[i].second = false;
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
  begin_end();
  for (const auto& [gen, child] : std::map(children_)) {
    if (!child.is_started && !child.is_released) start_fails(gen, "the story is over");
  }
  while (!unanswered_.empty()) {
    const Order order = unanswered_.front();
    unanswered_.erase(unanswered_.begin());
    play(order);
  }
  time_passes(seconds(30));
  expect_end();
}

void BridgeTest::handle_timeout() {
  bridge().handle_timeout(now);
  expect_nothing_due();
  drain();
}

void BridgeTest::tell(const Fact& fact) {
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
  if (is_over()) return;
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
    if (is_alive && is_closing() && signalled->how == order::SignalUnit::How::kill) {
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
  } else if (const auto* const look = std::get_if<order::LookAtProcess>(&order)) {
    ++process_looks;
    tell(fact::ProcessSeen{look->gen, debugger, activity});
  }
}

void BridgeTest::write_down(const Order& order) {
  if (write_down_own(order)) return;
  if (const auto* const b = std::get_if<order::SendToChild>(&order)) {
    const std::string text = b->line.text();
    // An empty line is for a former server, which takes it unread.
    if (!text.empty()) expect_message(text);
    EXPECT_TRUE(is_reading_of(b->message, text)) << text;
    id_read = b->message == nullptr ? "nothing" : std::string(b->message->id);
    ChildSeen& child = expect_living(b->gen, "a line");
    EXPECT_TRUE(child.is_started) << "a line to a child that is not up: " << text;
    EXPECT_FALSE(child.is_closed) << "a line to a child whose input is closed: " << text;
    EXPECT_FALSE(child.has_exited) << "a line to a child that has exited: " << text;
    child.inbox.emplace_back(text, false);
    add_word("child " + std::to_string(b->gen) + " " + without_numbers(text));
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
    const std::string scope = g->scope == KillScope::automatic   ? "auto"
                              : g->scope == KillScope::child     ? "child"
                              : g->scope == KillScope::same_file ? "same-file"
                                                                 : "same-executable";
    add_word("sweep " + scope + (g->how == order::SignalUnit::How::kill ? " kill" : " terminate"));
  } else if (const auto* const m = std::get_if<order::InspectBinary>(&order)) {
    if (!plays.inspect) {
      add_word(m->finds_changes ? "inspect with its sources" : "inspect");
    }
  } else if (const auto* const stack = std::get_if<order::ReadStack>(&order)) {
    add_word("read stack of", stack->gen);
  } else if (const auto* const era = std::get_if<order::RememberEra>(&order)) {
    era_signs.push_back(era->sign);
  } else if (std::holds_alternative<order::CheckCommandFiles>(order)) {
    add_word("check files");
  } else if (const auto* const l = std::get_if<order::LookAtSources>(&order)) {
    if (!plays.sources) add_word("look at sources of", l->gen);
  } else if (const auto* const k = std::get_if<order::SendToControl>(&order)) {
    each_text(parsed(k->line), expect_good_form);
    to_control_[k->connection].push_back(k->line);
  }
}

void BridgeTest::add_word(const std::string& word, Generation gen) {
  add_word(word + " " + (is_build(gen) ? "build " + std::to_string(-gen) : std::to_string(gen)));
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
