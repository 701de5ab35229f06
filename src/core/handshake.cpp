#include "sitter/core/handshake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sitter/core/json_view.hpp"
#include "sitter/core/limits.hpp"
#include "sitter/core/reply.hpp"
#include "sitter/core/text.hpp"

namespace sitter {

using action::SendToChild;

namespace {

/// How a server that speaks only the stateless revision answers `initialize`: unsupported version,
/// unknown method, or params that lack its envelope.
bool is_modern_refusal(std::string_view code) {
  return code == "-32022" || code == "-32601" || code == "-32602";
}

}  // namespace

void Handshake::open_with_clients(std::string_view line, std::string_view raw_id, Actions& out) {
  opening_id_ = raw_id;
  state_ = State::opening;
  out.push(SendToChild{gen_, Outgoing::own(std::string(line))});
}

void Handshake::open_again(const Session& session, Actions& out) {
  opening_id_ = make_id_();
  state_ = State::opening;
  out.push(
      SendToChild{gen_, Outgoing::own(request_line(opening_id_, method_name(Method::initialize),
                                                   session.replayed_params()))});
}

void Handshake::settle(const Session& session, bool restore, Now now, Actions& out) {
  state_ = State::settling;
  out.push(SendToChild{gen_, Outgoing::own(session.initialized_line)});
  if (restore) {
    const auto tell = [&](Method method, std::string_view member, const std::string& value,
                          std::string uri) {
      restores_.push_back({make_id_(), std::move(uri)});
      out.push(SendToChild{
          gen_, Outgoing::own(request_line(restores_.back().id, method_name(method),
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
      not_restored_ = session.subscriptions;
    }
    if (!restores_.empty()) restore_deadline_ = now.steady + limits::kToolsListWait;
  }
  survey_.emplace(gen_, make_id_);
  if (result_.declares("tools")) survey_->begin(CatalogKind::tools, now, out);
  if (result_.declares("prompts")) survey_->begin(CatalogKind::prompts, now, out);
  if (result_.declares("resources")) survey_->begin(CatalogKind::resources, now, out);
  if (!restore) state_ = State::done;
  finish_if_done();
}

void Handshake::survey_again(CatalogKind kind, Now now, Actions& out) {
  if (!survey_) survey_.emplace(gen_, make_id_);
  survey_->begin(kind, now, out);
}

bool Handshake::on_answer(const Message& answer, Actions& out) {
  if (state_ == State::opening && same_id(answer.id, opening_id_)) {
    on_opening_answer(answer);
    return true;
  }
  const auto restore = std::find_if(restores_.begin(), restores_.end(),
                                    [&](const Restore& r) { return same_id(r.id, answer.id); });
  if (restore != restores_.end()) {
    if (!std::exchange(restore->is_answered, true)) {
      restore->is_lost = answer.kind == Message::Kind::error;
    }
    finish_if_done();
    return true;
  }
  if (!survey_ || !survey_->on_answer(answer, out)) return false;
  finish_if_done();
  return true;
}

void Handshake::on_opening_answer(const Message& answer) {
  if (answer.kind == Message::Kind::error) {
    state_ = State::refused;
    const auto [code, message] = members<2>(answer.error, {"code", "message"});
    modern_only_ = is_modern_refusal(code);
    refusal_ = fmt::format("it answered initialize with error {}: {}", code,
                           shortened(one_line(string_value(message)), 300));
    if (modern_only_) {
      refusal_ +=
          ", as a server does that speaks only the stateless revision of the protocol "
          "(2026-07-28); "
          "this client opened the session with initialize, which that revision does not have";
    }
    return;
  }
  result_ = OpeningResult::of(answer.result);
  if (result_.protocol_version.empty()) {
    state_ = State::refused;
    refusal_ = "its answer to initialize has no protocolVersion";
    return;
  }
  state_ = State::opened;
}

void Handshake::on_timeout(Now now) {
  if (restore_deadline_ && *restore_deadline_ <= now.steady) {
    restore_deadline_.reset();
    for (Restore& restore : restores_) {
      if (!std::exchange(restore.is_answered, true)) restore.is_lost = true;
    }
  }
  if (survey_) survey_->on_timeout(now);
  finish_if_done();
}

std::optional<Instant> Handshake::deadline() const {
  auto first = restore_deadline_;
  const auto lists = survey_ ? survey_->deadline() : std::nullopt;
  if (lists && (!first || *lists < *first)) first = lists;
  return first;
}

void Handshake::finish_if_done() {
  const bool restored = std::all_of(restores_.begin(), restores_.end(),
                                    [](const Restore& restore) { return restore.is_answered; });
  if (restored) restore_deadline_.reset();
  if (state_ == State::settling && restored && survey_->is_done()) state_ = State::done;
}

std::optional<std::vector<ListSurvey::List>> Handshake::take_lists() {
  if (!survey_ || !survey_->is_done() || state_ == State::settling) return std::nullopt;
  auto lists = survey_->lists();
  survey_.reset();
  return lists;
}

std::vector<std::string> Handshake::lost_subscriptions() const {
  std::vector<std::string> lost = not_restored_;
  for (const Restore& restore : restores_) {
    if (restore.is_lost && !restore.uri.empty()) lost.push_back(restore.uri);
  }
  return lost;
}

std::vector<std::string> Handshake::restored_subscriptions() const {
  std::vector<std::string> restored;
  for (const Restore& restore : restores_) {
    if (!restore.is_lost && !restore.uri.empty()) restored.push_back(restore.uri);
  }
  return restored;
}

}  // namespace sitter
