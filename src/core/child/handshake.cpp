#include "core/child/handshake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/schema/protocol_schema.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/method.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Answer = ListSurvey::List::Answer;
using order::SendToChild;

namespace {

/// Whether a child that lists before it serves may be a server that has to be opened first.
bool is_unlike_before(const std::vector<ListSurvey::List>& lists, const ListSurvey::List& tools,
                      bool had_tools) {
  if (tools.answer == Answer::none || tools.is_stateless) return false;
  if (tools.answer == Answer::refused || !tools.pages.empty()) return true;
  const auto any = [&](auto is) { return std::any_of(lists.begin(), lists.end(), is); };
  if (any([](const auto& list) { return list.is_stateless; })) return false;
  if (tools.answer == Answer::absent) return had_tools;
  // This error may mean anything. But a server that refuses another list as an unknown method
  // understands the requests.
  return !any([](const auto& list) { return list.answer == Answer::absent; });
}

}  // namespace

void Handshake::open_with_clients(std::string_view line, std::string_view raw_id, Orders& out) {
  opening_id_ = raw_id;
  asked_version_ = string_value(member(member(line, "params"), "protocolVersion"));
  state_ = State::opening;
  out.push(SendToChild{gen_, Outgoing::own(std::string(line))});
}

void Handshake::open_again(const Session& session, Orders& out) {
  opening_id_ = make_id_();
  asked_version_ = session.version();
  state_ = State::opening;
  out.push(
      SendToChild{gen_, Outgoing::own(request_line(opening_id_, method_name(Method::initialize),
                                                   session.replayed_params()))});
}

void Handshake::settle(const Session& session, bool restore, Now now, Orders& out) {
  state_ = State::settling;
  session_ = &session;
  out.push(SendToChild{gen_, Outgoing::own(session.initialized_line)});
  if (restore && begin_replay(false, now, out)) return;
  tell_again(restore, now, out);
}

/// Returns false if there is nothing to call.
bool Handshake::begin_replay(bool waits_for_child, Now now, Orders& out) {
  if (calls_.empty()) return false;
  replay_.emplace(gen_, std::exchange(calls_, {}), waits_for_child, secrets_);
  replay_->begin(make_id_, make_meta_, now, out);
  return true;
}

void Handshake::call_again(ReplayedCall call, Now now, Orders& out) {
  if (!is_calling_again() && !late_replay_) {
    late_replay_.emplace(gen_, std::vector<ReplayedCall>(), false, secrets_);
    late_replay_->begin(make_id_, make_meta_, now, out);
  }
  CallReplay& replay = is_calling_again() ? *replay_ : *late_replay_;
  replay.add(std::move(call), make_id_, make_meta_, now, out);
}

std::string_view Handshake::running_call() const {
  if (is_calling_again()) return replay_->running();
  return late_replay_ ? late_replay_->running() : std::string_view();
}

std::vector<std::string> Handshake::take_call_failures() {
  std::vector<std::string> failures;
  for (auto* const replay : {&replay_, &late_replay_}) {
    if (!*replay) continue;
    for (std::string& failure : (*replay)->take_failures()) failures.push_back(std::move(failure));
  }
  return failures;
}

void Handshake::on_replayed(Now now, Orders& out) {
  if (state_ == State::settling) tell_again(true, now, out);
  if (state_ == State::listing) take_all_lists(now, out);
}

void Handshake::tell_again(bool restore, Now now, Orders& out) {
  const Session& session = *session_;
  if (restore) {
    const auto tell = [&](Method method, std::string_view member, const std::string& value,
                          std::string uri) {
      const std::string id = make_id_();
      settings_.unanswered.emplace(id_key(id), settings_.restores.size());
      settings_.restores.push_back({std::move(uri)});
      out.push(SendToChild{
          gen_, Outgoing::own(request_line(id, method_name(method),
                                           fmt::format(R"json({{"{}":{}}})json", member, value)))});
    };
    if (!session.log_level.empty() && result_.declares("logging")) {
      tell(Method::logging_set_level, "level", session.log_level, {});
    }
    if (result_.takes_subscriptions()) {
      for (const std::string& uri : session.subscriptions) {
        tell(Method::resources_subscribe, "uri", uri, uri);
      }
    } else {
      settings_.not_restored = session.subscriptions;
    }
    if (!settings_.restores.empty()) settings_.deadline = now.steady + limits::kToolsListWait;
  }
  lists_.survey.emplace(gen_, make_id_, make_meta_);
  if (result_.declares("tools")) lists_.survey->begin(CatalogKind::tools, now, out);
  if (result_.declares("prompts")) lists_.survey->begin(CatalogKind::prompts, now, out);
  if (result_.declares("resources")) lists_.survey->begin(CatalogKind::resources, now, out);
  if (!restore) state_ = State::done;
  finish_if_done(now, out);
}

void Handshake::list(bool before_requests, bool had_tools, Now now, Orders& out) {
  lists_.had_tools = had_tools;
  // A server that has answered server/discover has shown its era.
  const bool is_proven = !result_.capabilities.empty();
  state_ = before_requests ? State::listing : is_proven ? State::done : State::unproven;
  if (before_requests && begin_replay(!has_spoken_, now, out)) return;
  take_all_lists(now, out);
}

void Handshake::take_all_lists(Now now, Orders& out) {
  lists_.survey.emplace(gen_, make_id_, make_meta_, !has_spoken_);
  for (const CatalogKind kind : kCatalogKinds) {
    lists_.survey->begin(kind, now, out);
  }
}

/// A server of an earlier revision may answer anything to a request that comes before the opening.
/// Only its answer to `initialize` has a version.
void Handshake::doubt(Now now, Orders& out) {
  state_ = State::doubted;
  doubt_.id = make_id_();
  doubt_.deadline = now.steady + limits::kOtherListWait;
  out.push(SendToChild{
      gen_, Outgoing::own(request_line(
                doubt_.id, method_name(Method::initialize),
                fmt::format(R"json({{"protocolVersion":"{}","capabilities":{{}},)json"
                            R"json("clientInfo":{{"name":"mcp-sitter","version":{}}}}})json",
                            kNewestLegacyVersion, json_string(sitter_version_))))});
}

void Handshake::survey_again(CatalogKind kind, Now now, Orders& out) {
  // Before `initialized` the bridge asks nothing of its own. After it, and after calls that are
  // made again, all lists are taken anyway.
  const bool takes_lists = state_ == State::settling || state_ == State::listing ||
                           state_ == State::unproven || state_ == State::done;
  if (!takes_lists || is_calling_again()) return;
  if (!lists_.survey && now.steady < lists_.next_survey) {
    lists_.outdated.insert(kind);
    return;
  }
  if (!lists_.survey) lists_.survey.emplace(gen_, make_id_, make_meta_);
  lists_.survey->begin(kind, now, out);
}

bool Handshake::on_answer(const Message& answer, Now now, Orders& out) {
  if (state_ == State::opening && same_id(answer.id, opening_id_)) {
    on_opening_answer(answer);
    return true;
  }
  // A late answer belongs to the handshake too, because no other request has this id.
  if (!doubt_.id.empty() && same_id(answer.id, doubt_.id)) {
    if (state_ == State::doubted) on_doubt_answer(answer);
    return true;
  }
  if (replay_ && replay_->on_answer(answer, make_id_, make_meta_, out)) {
    if (replay_->is_done()) on_replayed(now, out);
    return true;
  }
  if (late_replay_ && late_replay_->on_answer(answer, make_id_, make_meta_, out)) return true;
  const bool is_ours =
      on_restored(answer) || (lists_.survey && lists_.survey->on_answer(answer, out));
  if (is_ours) finish_if_done(now, out);
  return is_ours;
}

bool Handshake::on_restored(const Message& answer) {
  if (settings_.unanswered.empty()) return false;
  const auto found = settings_.unanswered.find(id_key(answer.id));
  if (found == settings_.unanswered.end()) return false;
  // An answer that comes too late changes nothing.
  if (settings_.deadline)
    settings_.restores[found->second].is_lost = answer.kind == Message::Kind::error;
  settings_.unanswered.erase(found);
  return true;
}

bool Handshake::is_of_stateless_era() const {
  // An unsupported version, an unknown method, or params that lack the envelope.
  return has_code(refusal_.error, ErrorCode::unsupported_version) ||
         has_code(refusal_.error, ErrorCode::method_not_found) ||
         has_code(refusal_.error, ErrorCode::invalid_params);
}

void Handshake::on_opening_answer(const Message& answer) {
  if (answer.kind == Message::Kind::error) {
    state_ = State::refused;
    const auto [code, message] = members<2>(answer.error, {"code", "message"});
    std::string text = secrets_.brief(string_value(message), 300);
    // What is told goes on after the text.
    if (text.ends_with('.')) text.pop_back();
    // An error of our own is a clause already.
    refusal_.text = text.starts_with(kOwnErrorPrefix)
                        ? text.substr(kOwnErrorPrefix.size())
                        : fmt::format("it answered initialize with error {}: {}", code, text);
    refusal_.error = answer.error;
    if (is_of_stateless_era()) {
      refusal_.text +=
          ", like a server that speaks only the stateless revision of the protocol (2026-07-28); "
          "this client opened the session with initialize, which that revision does not have; "
          "reconnect the client to the server, so that the client finds out again which revision "
          "to speak";
    }
    return;
  }
  startup_deadline_.reset();
  result_ = OpeningResult::of(answer.result);
  refusal_.text = opening_defect(answer.result);
  const std::string& version = result_.protocol_version;
  if (refusal_.text.empty() && version != asked_version_ && !is_legacy_version(version)) {
    refusal_.text = fmt::format(
        "protocolVersion {} is neither the one that was asked for ({}) nor another that opens with "
        "initialize",
        json_string(brief(version, 40)), brief(asked_version_, 40));
  }
  state_ = refusal_.text.empty() ? State::opened : State::refused;
  if (!refusal_.text.empty()) {
    refusal_.text.insert(0, "clients refuse its answer to initialize: ");
  }
}

void Handshake::on_doubt_answer(const Message& answer) {
  doubt_.deadline.reset();
  const std::string version = string_value(member(answer.result, "protocolVersion"));
  if (version.empty()) {
    state_ = State::done;
    return;
  }
  state_ = State::refused;
  refusal_.text = fmt::format(
      "it is a server of revision {}, in which a session opens with initialize, and this client "
      "speaks the stateless revision of the protocol (2026-07-28) with it; reconnect the client to "
      "the server, so that the client finds out again which revision to speak, and do not restrict "
      "the client to 2026-07-28",
      brief(version, 40));
}

/// All deadlines, in the order in which they fire, each with its handler.
template <class Row>
void Handshake::each_deadline(Row row) const {
  row(doubt_.deadline, &Handshake::on_doubt_timeout);
  row(settings_.deadline, &Handshake::on_restore_timeout);
  if (replay_) row(replay_->deadline(), &Handshake::on_replay_timeout);
  if (late_replay_) row(late_replay_->deadline(), &Handshake::on_late_replay_timeout);
  if (lists_.survey) row(lists_.survey->deadline(), &Handshake::on_survey_timeout);
  if (!lists_.survey && !lists_.outdated.empty())
    row(lists_.next_survey, &Handshake::take_outdated_lists);
}

void Handshake::on_timeout(Now now, Orders& out) {
  each_deadline([&](std::optional<Instant> deadline, auto fire) {
    if (is_due(deadline, now)) (this->*fire)(now, out);
  });
  finish_if_done(now, out);
}

std::optional<Instant> Handshake::deadline() const {
  std::optional<Instant> first;
  each_deadline([&](std::optional<Instant> deadline, auto) { earlier(first, deadline); });
  return first;
}

void Handshake::on_doubt_timeout(Now, Orders&) {
  doubt_.deadline.reset();
  state_ = State::done;
}

void Handshake::on_restore_timeout(Now, Orders&) {
  settings_.deadline.reset();
  for (const auto& [id, index] : settings_.unanswered) settings_.restores[index].is_lost = true;
}

void Handshake::on_replay_timeout(Now now, Orders& out) {
  replay_->on_timeout(now);
  if (replay_->is_done()) on_replayed(now, out);
}

void Handshake::on_late_replay_timeout(Now now, Orders&) { late_replay_->on_timeout(now); }

void Handshake::on_survey_timeout(Now now, Orders&) { lists_.survey->on_timeout(now); }

void Handshake::take_outdated_lists(Now now, Orders& out) {
  for (const CatalogKind kind : std::exchange(lists_.outdated, {})) survey_again(kind, now, out);
}

void Handshake::finish_if_done(Now now, Orders& out) {
  if (settings_.unanswered.empty()) settings_.deadline.reset();
  if (settings_.deadline || !lists_.survey || !lists_.survey->is_done()) return;
  if (state_ == State::settling) state_ = State::done;
  if (state_ != State::listing && state_ != State::unproven) return;
  const auto& lists = lists_.survey->lists();
  const auto tools = std::find_if(lists.begin(), lists.end(), [](const ListSurvey::List& list) {
    return list.kind == CatalogKind::tools;
  });
  const bool is_odd = state_ == State::unproven ? tools->answer == Answer::refused
                                                : is_unlike_before(lists, *tools, lists_.had_tools);
  if (is_odd) {
    doubt(now, out);
  } else {
    state_ = State::done;
  }
}

std::optional<std::vector<ListSurvey::List>> Handshake::take_lists(Now now) {
  if (!lists_.survey || !lists_.survey->is_done()) return std::nullopt;
  if (state_ != State::done && state_ != State::opened) return std::nullopt;
  auto lists = lists_.survey->take();
  if (lists_.survey->is_empty()) {
    lists_.survey.reset();
  } else if (lists.empty()) {
    return std::nullopt;
  }
  for (const ListSurvey::List& list : lists) {
    if (list.is_outdated) lists_.outdated.insert(list.kind);
  }
  if (++lists_.surveys > limits::kListRestartsMax || !lists_.outdated.empty()) {
    lists_.next_survey = now.steady + limits::kSurveyInterval;
  }
  return lists;
}

std::vector<std::string> Handshake::lost_subscriptions() const {
  std::vector<std::string> lost = settings_.not_restored;
  for (const Restore& restore : settings_.restores) {
    if (restore.is_lost && !restore.uri.empty()) lost.push_back(restore.uri);
  }
  return lost;
}

std::vector<std::string> Handshake::restored_subscriptions() const {
  std::vector<std::string> restored;
  for (const Restore& restore : settings_.restores) {
    if (!restore.is_lost && !restore.uri.empty()) restored.push_back(restore.uri);
  }
  return restored;
}

}  // namespace sitter
