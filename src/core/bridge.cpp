#include "sitter/core/bridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "sitter/core/limits.hpp"
#include "sitter/core/text.hpp"

namespace sitter {

using Level = action::Log::Level;
using Progress = DeathReport::Progress;

namespace {

void earlier(std::optional<Instant>& first, const std::optional<Instant>& other) {
  if (other && (!first || *other < *first)) first = other;
}

bool is_due(const std::optional<Instant>& deadline, Now now) {
  return deadline && *deadline <= now.steady;
}

}  // namespace

Bridge::Bridge(BridgeConfig config, Now now)
    : config_(std::move(config)),
      begun_(now),
      now_(now),
      ids_(config_.seed),
      ring_(config_.stderr_lines) {}

void Bridge::handle(const Input& input, Now now) {
  if (ending_ == Ending::over) return;
  now_ = now;
  std::visit([this](const auto& fact) { on(fact); }, input);
  settle();
}

void Bridge::handle_timeout(Now now) {
  if (ending_ == Ending::over) return;
  now_ = now;
  output_.on_timeout(now, out_);
  for (Child& child : children_) {
    child.life.on_timeout(now, out_);
    if (child.life.is_up()) child.handshake.on_timeout(now, out_);
    if (is_due(child.opening_deadline, now)) {
      child.opening_deadline.reset();
      if (opening_ != nullptr) {
        const auto age =
            std::chrono::duration_cast<Milliseconds>(now.steady - child.life.started().steady);
        answer_opening_ourselves(end_clause({EndReason::opening_timed_out, {}, age, {}}) +
                                     " (--startup-timeout sets the limit)",
                                 ring_.tail(child.gen()));
      }
      child.life.take_down(EndReason::opening_timed_out, {}, ladder(), now, out_);
    }
    if (is_due(child.deaf_at, now)) {
      child.deaf_at.reset();
      child.input = Child::Input::deaf;
      out_.log(Level::warn, fmt::format("child {} has stopped reading its input", child.gen()));
    }
  }
  if (is_due(answer_opening_at_, now)) {
    answer_opening_ourselves(
        fmt::format("it is still starting after {}", duration_text(config_.answer_within)));
  }
  if (relist_.on_timeout(now)) release_held();
  on_listens_timeout();
  if (kill_ && is_due(kill_->deadline, now)) {
    kill_->deadline.reset();
    kill_->state = Kill::State::sweeping_last;
    out_.push(action::SweepImage{kill_->scope, action::SignalUnit::How::kill});
  }
  if (is_due(ending_deadline_, now)) {
    ending_deadline_.reset();
    if (ending_ == Ending::owed) {
      stop(ladder());
    } else if (ending_ == Ending::stopping) {
      for (const Child& child : children_) out_.push(action::ReleaseChild{child.gen()});
      children_.clear();
    }
  }
  settle();
}

std::optional<Instant> Bridge::next_timeout() const {
  if (ending_ == Ending::over) return std::nullopt;
  std::optional<Instant> first = output_.deadline();
  for (const Child& child : children_) {
    earlier(first, child.life.deadline());
    // A child that is on its way out is asked for nothing.
    if (child.life.is_up()) earlier(first, child.handshake.deadline());
    earlier(first, child.opening_deadline);
    earlier(first, child.deaf_at);
  }
  earlier(first, answer_opening_at_);
  earlier(first, relist_.deadline());
  earlier(first, listens_.deadline());
  if (kill_) earlier(first, kill_->deadline);
  earlier(first, ending_deadline_);
  return first;
}

bool Bridge::reads_client() const {
  return std::none_of(children_.begin(), children_.end(),
                      [](const Child& child) { return child.input == Child::Input::full; });
}

Bridge::Child* Bridge::hears(Generation gen) {
  for (Child& child : children_) {
    if (child.gen() == gen) return child.life.is_over() ? nullptr : &child;
  }
  return nullptr;
}

Bridge::Child* Bridge::serving() {
  for (Child& child : children_) {
    if (child.is_ready && child.life.is_up()) return &child;
  }
  return nullptr;
}

ChildLifecycle::Ladder Bridge::ladder() const {
  const Milliseconds rung = config_.kill_grace;
  if (ending_ == Ending::none) return {rung, rung, std::max(rung, limits::kRemoteTermGrace)};
  const Milliseconds short_rung = std::min(rung, limits::kShutdownRungMax);
  return {short_rung, short_rung, short_rung};
}

/// How the child ends that is being taken down now.
ChildEnd Bridge::end_for(EndReason reason) const {
  ChildEnd end{reason, {}, {}, {}};
  if (!children_.empty()) {
    const Instant started = children_.back().life.started().steady;
    end.lifetime = std::chrono::duration_cast<Milliseconds>(now_.steady - started);
  }
  return end;
}

void Bridge::on(const input::ClientClosedInput&) {
  if (ending_ != Ending::none) return;
  ending_ = Ending::owed;
  ending_deadline_ = now_.steady + limits::kOwedWait;
  relist_.give_up();
  release_held();
}

void Bridge::on(const input::ClientClosedOutput&) { on(input::StopSignalled{0}); }

void Bridge::on(const input::StopSignalled& fact) {
  if (std::exchange(is_hurried_, true)) return;
  exit_code_ = fact.exit_code;
  relist_.give_up();
  release_held();
  stop({Milliseconds::zero(), limits::kSignalKillAfter, limits::kSignalKillAfter});
  // Nothing that is owed is waited for.
  const DeathReport report = report_of(end_for(EndReason::shut_down), {}, Progress::in_flight);
  for (ClientRequest* request : requests_.all(ClientRequest::State::sent)) {
    if (!request->is_cancelled) fail(*request, report);
  }
  ending_deadline_ = now_.steady + limits::kSignalExitAfter;
}

void Bridge::on(const input::ChildStarted& fact) {
  Child* const child = hears(fact.gen);
  if (child == nullptr) return;
  child->life.on_started(fact, now_, out_);
  ring_.child_started(fact.gen, fact.pid);
  out_.log(Level::info, fmt::format("child {} started, pid {}", fact.gen, fact.pid));
}

void Bridge::on(const input::ChildStartFailed& fact) {
  if (Child* const child = hears(fact.gen)) child->life.on_start_failed(fact.reason);
}

void Bridge::on(const input::ChildErrorLine& fact) {
  if (hears(fact.gen) != nullptr) ring_.add(fact.gen, fact.line, fact.bytes_cut);
}

void Bridge::on(const input::ChildOutputEnded& fact) {
  if (Child* const child = hears(fact.gen)) child->life.on_output_ended(ladder(), now_, out_);
}

void Bridge::on(const input::ChildErrorEnded& fact) {
  if (Child* const child = hears(fact.gen)) child->life.on_error_ended(out_);
}

void Bridge::on(const input::ChildExited& fact) {
  if (Child* const child = hears(fact.gen)) child->life.on_exited(fact.status, now_, out_);
}

void Bridge::on(const input::UnitSignalled& fact) {
  if (Child* const child = hears(fact.gen)) child->life.on_unit_signalled(fact, now_, out_);
}

void Bridge::on(const input::OrphanEnded&) {
  for (Child& child : children_) child.life.on_orphan_ended(out_);
}

void Bridge::on(const input::ChildInputFull& fact) {
  Child* const child = hears(fact.gen);
  if (child == nullptr || child->input != Child::Input::open) return;
  child->input = Child::Input::full;
  child->deaf_at = now_.steady + limits::kDeafAfter;
}

void Bridge::on(const input::ChildInputMoved& fact) {
  Child* const child = hears(fact.gen);
  if (child != nullptr && child->input == Child::Input::full) {
    child->deaf_at = now_.steady + limits::kDeafAfter;
  }
}

void Bridge::on(const input::ChildInputDrained& fact) {
  Child* const child = hears(fact.gen);
  if (child == nullptr) return;
  child->input = Child::Input::open;
  child->deaf_at.reset();
}

void Bridge::on(const input::ChildInputBroken& fact) {
  if (Child* const child = hears(fact.gen)) child->life.on_input_broken(ladder(), now_, out_);
}

void Bridge::on(const input::CommandFilesChecked& fact) {
  checks_files_ = false;
  if (!needs_child() || !children_.empty() || kill_) return;
  if (fact.changed) {
    start();
    return;
  }
  const auto& failure = policy_.last_failure();
  on_start_failed(failure->end, failure->stderr_tail);
}

void Bridge::settle() {
  for (auto it = children_.begin(); it != children_.end();) {
    advance(*it);
    if (!it->life.is_over()) {
      ++it;
      continue;
    }
    const Child dead = std::move(*it);
    it = children_.erase(it);
    on_over(dead);
  }
  if (kill_) advance_kill();
  if (ending_ != Ending::none) advance_ending();
  if (children_.empty()) start_if_due();
}

/// What a child needs next on its way from started to serving.
void Bridge::advance(Child& child) {
  using State = Handshake::State;
  Handshake& handshake = child.handshake;
  if (!child.life.is_up()) return;
  if (handshake.state() == State::idle || handshake.state() == State::unopened) {
    if (opening_ != nullptr || session_.is_asked()) {
      open(child);
    } else {
      advance_unopened(child);
    }
    return;
  }
  if (handshake.state() == State::refused) {
    if (opening_ != nullptr) answer_opening_ourselves(handshake.refusal(), ring_.tail(child.gen()));
    child.life.take_down(EndReason::opening_refused, handshake.refusal(), ladder(), now_, out_);
    return;
  }
  if (handshake.state() == State::opened && session_.is_initialized()) {
    handshake.settle(session_, !child.has_clients_opening, now_, out_);
  }
  if (const auto lists = handshake.take_lists(now_)) on_lists(child, *lists);
  if (!child.is_ready && (handshake.state() == State::done || handshake.state() == State::opened)) {
    begin_serving(child);
    note_served(child);
  }
  if (!child.is_ready) return;
  if (opening_ != nullptr) {
    // The client opens a second time, to a child that is open already.
    ClientRequest& request = *std::exchange(opening_, nullptr);
    answer_opening_at_.reset();
    request.state = ClientRequest::State::waiting;
    const OwnedLine line = request.extra->line;
    forward(request, line.line(), Outgoing::own(line.text()), child);
  }
  if (requests_.waiting_count() > 0) release_waiting(child);
}

void Bridge::open(Child& child) {
  // A client that has probed opens the same child, which has to come to serve once more.
  child.is_ready = child.has_served = false;
  if (config_.startup_timeout > Milliseconds::zero()) {
    child.opening_deadline = now_.steady + config_.startup_timeout;
  }
  if (opening_ != nullptr) {
    child.has_clients_opening = true;
    child.handshake.open_with_clients(opening_->extra->line.text(), opening_->id(), out_);
  } else {
    child.handshake.open_again(session_, out_);
  }
}

/// A child for a client that has not opened a session: it speaks the stateless revision, or only
/// probes so far.
void Bridge::advance_unopened(Child& child) {
  child.has_tools = child.has_prompts = child.has_resources = child.has_logging = true;
  child.handshake.leave_unopened();
  if (has_lost_stateless_) {
    child.handshake.list(true, now_, out_);
    ask_for_streams(child);
    return;
  }
  begin_serving(child);
  if (requests_.waiting_count() > 0) release_waiting(child);
  // Behind the client's first request, so that a server of both eras takes the client's.
  if (envelope_.is_known()) child.handshake.list(false, now_, out_);
}

void Bridge::begin_serving(Child& child) {
  child.is_ready = true;
  if (!child.handshake.was_opened()) note_startup(child);
  ask_for_streams(child);
}

/// It was opened, or has answered without that. An answer that came before it serves, or that
/// nobody waits for, does not count.
void Bridge::note_served(Child& child) {
  if (!child.is_ready || child.has_served) return;
  child.has_served = true;
  policy_.on_opened();
}

void Bridge::note_startup(Child& child) {
  child.startup =
      std::chrono::duration_cast<Milliseconds>(now_.steady - child.life.started().steady);
  last_startup_ = child.startup;
}

void Bridge::on_opened(Child& child) {
  const OpeningResult& result = child.handshake.opened_with();
  child.opening_deadline.reset();
  note_startup(child);
  child.has_tools = result.declares("tools");
  child.has_prompts = result.declares("prompts");
  child.has_resources = result.declares("resources");
  child.has_logging = result.declares("logging");
  out_.log(Level::info,
           fmt::format("child {} is open after {}: {} {}, protocol {}", child.gen(),
                       duration_text(child.startup), one_line(result.server_name()),
                       one_line(result.server_version()), one_line(result.protocol_version)));
}

void Bridge::on_lists(Child& child, const std::vector<ListSurvey::List>& lists) {
  const bool is_first = !std::exchange(child.was_surveyed, true);
  const bool is_respawn = is_first && !child.has_clients_opening &&
                          (child.handshake.was_opened() || has_lost_stateless_);
  std::set<std::string> output_changed;
  std::array<bool, 3> changed{};
  std::vector<CatalogKind> not_compared;
  for (const Catalog& known : catalogs_) {
    const auto list = std::find_if(lists.begin(), lists.end(),
                                   [&](const auto& l) { return l.kind == known.kind(); });
    if (list == lists.end() && !is_respawn) continue;
    if (list != lists.end() && list->state != ListSurvey::List::State::complete) {
      not_compared.push_back(known.kind());
      continue;
    }
    // A child that does not have the capability has none of them.
    const CatalogDiff diff =
        catalog(known.kind()).take(list == lists.end() ? std::vector<std::string>() : list->pages);
    changed[static_cast<std::size_t>(known.kind())] = !diff.empty();
    if (known.kind() != CatalogKind::tools) continue;
    if (is_respawn) last_tools_diff_ = diff;
    for (const auto& change : diff.changed) {
      if (change.output_schema_changed) output_changed.insert(change.name);
    }
  }
  names_.make_way_for(catalog(CatalogKind::tools).names());
  if (!session_.is_asked()) note_era(child, lists);
  if (!is_respawn) {
    // The child has told the client itself, or the client has not listed yet.
    if (!notice_) {
      for (Catalog& known : catalogs_) known.mark_told();
    }
    return;
  }

  announce(changed, output_changed);
  restore_subscriptions(child);
  tell_updated();

  const int restarts = notice_ ? notice_->restarts + 1 : 1;
  notice_.emplace();
  notice_was_beside_structure_ = false;
  notice_->restarts = restarts;
  notice_->spawn = child.gen();
  notice_->pid = child.life.pid();
  notice_->startup = child.startup;
  notice_->previous = last_served_end_;
  notice_->not_compared = std::move(not_compared);
  for (const std::string& uri : child.handshake.lost_subscriptions()) {
    notice_->subscriptions_lost.push_back(string_value(uri));
  }
  inspect(Purpose::notice);
}

/// What the answer to our tools/list tells of a child that has no opening.
void Bridge::note_era(Child& child, const std::vector<ListSurvey::List>& lists) {
  for (const ListSurvey::List& list : lists) {
    if (list.kind != CatalogKind::tools) continue;
    child.handshake.on_named(list.server_info);
    if (list.is_stateless || list.state == ListSurvey::List::State::complete) continue;
    out_.log(Level::warn,
             fmt::format("child {} did not list its tools as a server of the stateless "
                         "revision does, which this client speaks; perhaps it has to be "
                         "opened with initialize",
                         child.gen()));
  }
}

/// Tells the client which lists have changed, by their kinds.
void Bridge::announce(const std::array<bool, 3>& changed,
                      const std::set<std::string>& output_changed) {
  const ClientRequest* const cause = requests_.first_waiting_request();
  const bool is_listing =
      cause != nullptr && cause->method == Method::tools_list && cause->is_first_page;
  for (const Catalog& known : catalogs_) {
    if (!changed[static_cast<std::size_t>(known.kind())]) continue;
    if (known.kind() == CatalogKind::tools) {
      // The answer to the client's own question says it all.
      if (is_listing) continue;
    }
    const bool was_told = tell_changed(known.kind());
    // A client that has closed our input won't list again.
    if (was_told && known.kind() == CatalogKind::tools && ending_ == Ending::none) {
      relist_.on_announced(now_, output_changed, listens_.wants(CatalogKind::tools));
    }
  }
}

void Bridge::restore_subscriptions(const Child& child) {
  for (const std::string& uri : child.handshake.lost_subscriptions()) session_.unsubscribe(uri);
  // What changed while nobody served is not told by anybody else.
  for (const std::string& uri : child.handshake.restored_subscriptions()) {
    output_.send(Outgoing::own(notification_line(method_name(Method::resources_updated),
                                                 fmt::format(R"json({{"uri":{}}})json", uri))),
                 out_);
  }
}

void Bridge::on_over(const Child& dead) {
  const Generation gen = dead.gen();
  const bool was_opened = dead.handshake.state() != Handshake::State::idle &&
                          dead.handshake.state() != Handshake::State::opening &&
                          dead.handshake.state() != Handshake::State::refused;
  const ChildEnd end = dead.life.end(was_opened);
  const bool is_deliberate =
      end.reason == EndReason::killed_by_sitter || end.reason == EndReason::shut_down;
  // A server of an earlier revision may well exit when it is only probed.
  const bool was_probed = !is_open() && !dead.has_served;
  std::string tail = ring_.tail(gen);
  if (was_probed) {
    out_.log(Level::info, fmt::format("child {} has ended; it was only probed", gen));
  } else {
    out_.log(is_deliberate ? Level::info : Level::warn,
             fmt::format("child {}: {}", gen, end_clause(end)));
  }

  last_end_ = end;
  last_end_at_ = now_.wall;
  if (!is_deliberate && end.reason != EndReason::exited &&
      end.reason != EndReason::ended_from_outside) {
    last_failure_ = {end, tail};
  }
  history_.push_back({gen, dead.life.pid(), dead.life.started().wall, end.lifetime, end});
  if (history_.size() > limits::kHistoryMax) history_.pop_front();

  void_questions(gen);
  on_streams_lost(gen);
  if (envelope_.is_known()) has_lost_stateless_ = true;
  const DeathReport report = report_of(end, tail, Progress::in_flight);
  for (ClientRequest* request : requests_.all(ClientRequest::State::sent, gen)) {
    on_child_lost(*request, report, is_deliberate);
  }

  if (end.reason == EndReason::killed_by_sitter && kill_) {
    auto killed = dead.life.killed();
    std::move(killed.begin(), killed.end(), std::back_inserter(kill_->report.killed));
  }
  if (end.reason == EndReason::given_up && kill_) kill_->report.note = end_clause(end);
  // Without an opening it may have had requests before it could show that it works.
  const bool had_requests = dead.is_ready && !was_probed;
  if (had_requests) last_served_end_ = end;
  if (dead.has_served || is_deliberate) return;
  // It never came to serve, so what waited for it has waited in vain; otherwise a child that
  // always dies on the way would be started for ever.
  if (!was_probed) {
    policy_.on_failed({end, tail});
    if (!had_requests) ++failures_since_notice_;
  }
  on_start_failed(end, tail);
}

/// Answers all that waited for a child that did not come to serve.
void Bridge::on_start_failed(const ChildEnd& end, const std::string& stderr_tail) {
  if (opening_ != nullptr) answer_opening_ourselves(end_clause(end), stderr_tail);
  fail_waiting(report_of(end, stderr_tail, Progress::not_delivered));
}

/// The client may still show the questions of a child that is gone.
void Bridge::void_questions(Generation gen) {
  for (const std::string& id : child_requests_.drop(gen)) {
    output_.send(
        Outgoing::own(notification_line(method_name(Method::cancelled),
                                        fmt::format(R"json({{"requestId":{},"reason":{}}})json", id,
                                                    json_string("the server that asked is gone")))),
        out_);
  }
}

/// The child that had this request is over.
void Bridge::on_child_lost(ClientRequest& request, const DeathReport& report, bool is_deliberate) {
  if (request.is_cancelled) {
    requests_.take(request);
  } else if (request.method == Method::ping) {
    answer_result(request, "{}");
  } else if (request.method == Method::initialize && opening_ == nullptr) {
    // As a first opening that the child dies of.
    if (const Message* const opening = kept_reader_.read(request.extra->line.line())) {
      begin_session_again(*opening);
    }
    opening_ = &request;
    answer_opening_ourselves(end_clause(*report.end), report.stderr_tail);
  } else if (request.method == Method::server_discover && !envelope_.is_known()) {
    fail(request, report);
  } else if (request.is_repeatable() && !request.is_retried && !is_deliberate && !kill_ &&
             ending_ == Ending::none && may_wait(request.extra->line.line())) {
    // The next child counts its progress from the beginning, and progress must only grow.
    if (request.wants_progress) muted_.emplace(request.progress_token());
    requests_.retry(request);
  } else {
    fail(request, report);
  }
}

void Bridge::release_waiting(Child& child) {
  while (requests_.waiting_count() > 0) {
    auto [request, order, line] = requests_.next_waiting();
    if (request == nullptr) {
      out_.push(action::SendToChild{child.gen(), Outgoing::own(line.text())});
      continue;
    }
    const Message* const message = kept_reader_.read(line.line());
    if (message != nullptr && answer_ourselves(*request, &child, message->params)) continue;
    forward(*request, line.line(), Outgoing::own(line.text()), child);
  }
}

bool Bridge::needs_child() const {
  return opening_ != nullptr || requests_.first_waiting_request() != nullptr ||
         listens_.is_waiting();
}

void Bridge::start_if_due() {
  if (kill_ || checks_files_ || ending_ == Ending::stopping || ending_ == Ending::over) return;
  if (!needs_child()) return;
  if (policy_.verdict(now_) == StartPolicy::Verdict::start) {
    start();
  } else {
    checks_files_ = true;
    out_.push(action::CheckCommandFiles{});
  }
}

void Bridge::start() {
  policy_.on_start(now_);
  const Generation gen = ++last_gen_;
  children_.emplace_back(
      gen, now_, [this] { return ids_.next(requests_); },
      [this] { return session_.is_asked() ? std::string() : envelope_.meta(); });
  out_.push(action::StartChild{gen});
}

/// Takes everything down. What waits is answered at once, what is in flight when its child is over.
void Bridge::stop(ChildLifecycle::Ladder ladder) {
  ending_ = Ending::stopping;
  ending_deadline_.reset();
  for (Child& child : children_) {
    child.life.take_down(EndReason::shut_down, {}, ladder, now_, out_);
  }
  const ChildEnd end = end_for(EndReason::shut_down);
  if (opening_ != nullptr) answer_opening_ourselves(end_clause(end));
  fail_waiting(report_of(end, {}, Progress::not_delivered));
}

void Bridge::advance_ending() {
  if (ending_ == Ending::owed && requests_.owed_count() == 0) stop(ladder());
  if (ending_ != Ending::stopping || !children_.empty()) return;
  for (ClientRequest* request : requests_.all(ClientRequest::State::ours)) {
    answer_error(*request, ErrorCode::internal_error, "mcp-sitter is ending");
  }
  output_.flush(out_);
  out_.push(action::Exit{exit_code_, !is_hurried_});
  ending_ = Ending::over;
}

}  // namespace sitter
