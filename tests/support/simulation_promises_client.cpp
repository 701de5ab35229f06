#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/raw_id.hpp"
#include "core/build/pending_rebuild.hpp"
#include "core/child/child_input.hpp"
#include "core/client/client_output.hpp"
#include "core/client/client_requests.hpp"
#include "support/simulation_ids.hpp"
#include "support/simulation_promises.hpp"

namespace sitter::sim {

using json = nlohmann::json;

namespace {

bool is_for_builds(std::string_view tool) {
  return tool == "sitter_rebuild" || tool == "sitter_build_log";
}

bool is_builtin_name(std::string_view tool) {
  while (tool.starts_with("outer_")) tool.remove_prefix(6);
  return tool == "sitter_status" || tool == "sitter_kill" || tool == "sitter_binary_info" ||
         tool == "sitter_child_stderr" || tool == "sitter_call" || is_for_builds(tool);
}

}  // namespace

void Promises::on_client_line(const ClientSaid& said) {
  must_reach_child_ = 0;
  must_close_input_ = kNoGeneration;
  if (said.kind != ClientSaid::Kind::batch) {
    on_said(said, 0);
  } else {
    batches_[said.mark];
    for (const int part : said.parts) {
      on_said(said_.client[static_cast<std::size_t>(part)], said.mark);
    }
  }
  if (std::exchange(kills_late_, false)) on_kill();
}

void Promises::on_said(const ClientSaid& said, int batch) {
  switch (said.kind) {
    case ClientSaid::Kind::request:
      on_request(said, batch);
      break;
    case ClientSaid::Kind::listen:
      on_listen(said);
      break;
    case ClientSaid::Kind::rubbish:
    case ClientSaid::Kind::too_long:
      if (!said.id.empty()) {
        on_request(said, 0);
      } else {
        ++(batch == 0 ? errors_without_id_owed_ : batches_[batch]);
      }
      break;
    case ClientSaid::Kind::cancelled:
      on_cancellation(said);
      break;
    case ClientSaid::Kind::initialized:
      if (is_asked_) is_initialized_ = true;
      initialized_in_ = step_;
      break;
    case ClientSaid::Kind::notification:
      on_notification(said);
      break;
    case ClientSaid::Kind::progress:
    case ClientSaid::Kind::batch:
      break;
    case ClientSaid::Kind::answer:
      on_answer_to_question(said);
      break;
  }
}

/// When a message has shown who the client is, a notification must reach the child before every
/// later request. This does not hold if the child is lost or reads nothing.
void Promises::on_notification(const ClientSaid& said) {
  const bool is_full = std::any_of(lives_.begin(), lives_.end(),
                                   [](const auto& entry) { return entry.second.full_since; });
  const bool is_known = is_asked_ || !envelopes_.empty();
  if (said.method != "notifications/vendor" || !is_known || is_full || is_mixed()) return;
  if (open_.size() < limits::kWaitingCountMax / 2) owed_notifications_.insert(said.mark);
}

void Promises::on_listen(const ClientSaid& said) {
  envelopes_.insert(json::parse(said.envelope).dump());
  is_stateless_ = true;
  for (const int mark : open_) {
    Request& request = requests_.at(mark);
    request.is_doubled |= is_big(said.id) && request.key == key_of(said.id);
  }
  ++requests_for_child_;
  on_wanted();
  streams_.open(said, now_);
}

/// A key that is equal for all ids that may be taken for each other, because a child may keep
/// numbers as doubles.
std::string Promises::key_of(std::string_view raw_id) const {
  return scene_.big_ids == Scene::BigIds::none ? id_key(raw_id) : rounded_key(raw_id);
}

void Promises::on_request(const ClientSaid& said, int batch) {
  Request& request = requests_[said.mark];
  request.said = &said;
  request.batch = batch;
  request.key = key_of(said.id);
  request.waits_since = now_;
  for (const int mark : open_) {
    Request& other = requests_.at(mark);
    if (other.key != request.key) continue;
    other.is_doubled = request.is_doubled = true;
  }
  if (counts_[request.key].asked > 0) {
    request.is_doubled |= is_big(said.id) || was_cancelled_in_flight(request);
  }
  request.is_doubled |= is_big(said.id) && streams_.has_had_rounded(said.id);
  // If very many answers wait before this one, there may be no gap any more.
  is_crowded_ = !open_.empty() && (is_crowded_ || open_.size() >= limits::kWaitingWritesMax);
  open_.push_back(said.mark);
  ++counts_[request.key].asked;
  ++raw_counts_[said.id].asked;
  // A request that has no room takes the place of the notifications that wait.
  if (open_.size() >= limits::kWaitingCountMax / 2) owed_notifications_.clear();

  if (!said.envelope.empty()) envelopes_.insert(json::parse(said.envelope).dump());
  const bool is_probe = said.method == "server/discover";
  is_stateless_ |= !said.envelope.empty() && !is_probe;
  const bool is_too_early = !is_asked_ && !is_stateless_ && !is_probe;

  const bool is_request = said.kind == ClientSaid::Kind::request;
  request.is_opening = said.method == "initialize";
  // Children have no tools of these names.
  const bool is_ours =
      said.tool == "sitter_kill" || said.tool == "sitter_call" || is_for_builds(said.tool);
  request.is_builtin =
      is_request && is_builtin_name(said.tool) && (!scene_.has_outer_tools || is_ours);
  was_builtin_called_ |= is_builtin_name(said.tool) && !is_ours;
  const bool is_kill = request.is_builtin && said.tool == "sitter_kill" &&
                       !said.has_wrong_arguments && !said.wants_task;
  const auto serving = std::find_if(lives_.begin(), lives_.end(), [&](const auto& life) {
    return life.second.is_up && life.second.has_served && !life.second.is_input_closed &&
           (life.second.is_open || !is_asked_) && !life.second.retired_at;
  });
  // A kill in the same array may take the child down before the request is read.
  const bool is_deaf = serving != lives_.end() && serving->second.full_since &&
                       now_ > *serving->second.full_since + limits::kDeafAfter + kGapsMax &&
                       batch == 0;
  const bool nobody_is_up = std::none_of(lives_.begin(), lives_.end(),
                                         [](const auto& life) { return life.second.is_up; });
  const bool is_rebuild = request.is_builtin && said.tool == "sitter_rebuild" &&
                          !said.has_wrong_arguments && !said.wants_task && !stopped_at_;
  if (is_rebuild) {
    on_rebuild(request);
  } else if (is_kill) {
    last_kill_ = said.mark;
    // The bridge first looks at the file, after the whole line.
    const bool is_late = said.text.find("same-executable") != said.text.npos;
    kills_late_ |= is_late;
    if (!is_late) on_kill();
  } else if (!is_request || request.is_builtin || (is_too_early && !request.is_opening) ||
             (is_deaf && !request.is_opening && !scene_.has_outer_tools) ||
             (said.method == "ping" && nobody_is_up)) {
    request.is_due_at_once = !(scene_.has_outer_tools && is_builtin_name(said.tool)) || is_ours;
    if (is_deaf) request.deaf = serving->first;
  } else {
    ++requests_for_child_;
    on_wanted();
  }
  if (request.is_opening) {
    is_asked_ = true;
    is_initialized_ = false;
    ++initialize_count_;
  }
}

/// Whether a child may still answer a cancelled request that has the same id.
bool Promises::was_cancelled_in_flight(const Request& request) const {
  return std::any_of(requests_.begin(), requests_.end(), [&](const auto& entry) {
    const Request& other = entry.second;
    return &other != &request && other.key == request.key && other.is_cancelled &&
           other.batch != 0 && is_in_flight(other);
  });
}

void Promises::on_cancellation(const ClientSaid& said) {
  if (Streams::Stream* const stream = streams_.find(said.about)) {
    const auto asked = lives_.find(stream->gen);
    const bool is_asked = asked != lives_.end() && !asked->second.is_over;
    // The end of the stream may be on its way.
    if (is_asked && !stream->has_ended && listens(stream->gen) && !may_be_closed()) {
      must_reach_child_ = said.mark;
    }
    streams_.close(*stream, now_);
    return;
  }
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](int mark) {
    const Request& request = requests_.at(mark);
    return same_id(request.said->id, said.about) && !request.is_cancelled &&
           request.said->kind == ClientSaid::Kind::request;
  });
  // If the request was answered already, the bridge tells again what that answer told. Another
  // request may have the same id.
  const bool is_answered = found == open_.rend();
  const bool was_told = notices_.was_told_by(said.about);
  notices_.on_source_unread();
  if (was_told && is_answered && notices_.told_count() == 1 && !may_be_closed()) owe_remark();
  if (was_told || (is_answered && may_be_closed())) notices_.on_unread();
  if (is_answered) return;
  Request& request = requests_.at(*found);
  if (request.is_doubled) {
    // Nobody outside can tell which of the requests was cancelled, and one of them may be answered
    // in a batch already.
    request.is_cancelled = !request.is_opening;
    notices_.on_unread();
    ++counts_[request.key].cancelled;
    return;
  }
  if (request.is_opening) return;
  if (is_in_flight(request) && request.answer_read == 0) {
    if (listens(request.sent_to.back())) must_reach_child_ = said.mark;
  }
  request.is_cancelled = true;
  if (request.is_rebuild) on_rebuild_cancelled();
  request.is_withdrawn = request.answer_read == 0 && !request.is_due_at_once &&
                         !request.is_builtin && is_in_flight(request);
  // The other requests of its batch may have waited only for this one. Their answers leave now.
  if (request.batch != 0) goes_on();
  // The client may still get the answer to this request, and later the same notice again.
  const bool may_be_answered = request.answer_read != 0 || request.is_rebuild;
  const bool may_be_held = may_be_closed() || (request.is_rebuild && request.batch != 0);
  if (may_be_answered && may_be_held) notices_.on_unread();
  ++counts_[request.key].cancelled;
  if (!is_in_flight(request)) forget(request);
}

/// Closes a cancelled request that will get no answer, unless its answer may be on its way.
void Promises::forget(Request& request) {
  if (may_be_closed() || request.is_doubled) return;
  // Its answer may already stand in the array, which is not complete.
  if (request.batch != 0 && !request.is_withdrawn) return;
  request.is_answered = true;
  std::erase(open_, request.said->mark);
}

void Promises::on_answer_to_question(const ClientSaid& said) {
  const auto gen = questions_.on_answered(said.about);
  if (gen && listens(*gen)) must_reach_child_ = said.mark;
}

/// The request that an answer of the bridge itself with this id is probably for.
Promises::Request* Promises::open_with(std::string_view raw_id) {
  const auto rank = [](const Request& request) {
    return (request.is_cancelled ? 0 : 4) + (request.is_due_at_once ? 2 : 0) +
           (request.is_builtin ? 1 : 0);
  };
  Request* best = nullptr;
  for (const int mark : open_) {
    Request& request = requests_.at(mark);
    if (request.said->id != raw_id) continue;
    if (best == nullptr || rank(request) > rank(*best)) best = &request;
  }
  return best;
}

void Promises::answered(Request& request, std::string_view raw_id) {
  if (batch_heard_ == 0 && !request.is_doubled) batch_heard_ = request.batch;
  check_batch_of(request);
  Count& raw = raw_counts_[std::string(raw_id)];
  if (++raw.answered > raw.asked) {
    throw Broken(fmt::format("id {} gets more answers than were asked", raw_id));
  }
  ++counts_[request.key].answered;
  request.is_answered = true;
  if (!request.said->token.empty()) request.ended_number = ++ended_count_;
  std::erase(open_, request.said->mark);
  if (is_list(request.said->method) && request.said->is_first_page) {
    output_may_be_closed_until_ = now_ + kGapsMax;
    list_answered_ = true;
  }
  const auto progress = progress_at_.find(request.said->token);
  // Progress of a task may be told while the answer to its call stands in an array that is not
  // complete.
  const bool may_overtake = request.may_be_task && request.batch != 0;
  if (request.said->token.empty() || request.is_cancelled || request.is_doubled || may_overtake ||
      progress == progress_at_.end()) {
    return;
  }
  if (!is_crowded_ && now_ < progress->second + limits::kProgressGap) {
    wrong_unless_exit_ =
        fmt::format("the answer to {} comes in one read with its progress", request.said->id);
  }
}

/// When the bridge must have answered the request. Empty if the request waits for its child or for
/// a build, or for a server that may take as long as it likes.
std::optional<Instant> Promises::due(const Request& request) const {
  if (request.is_due_at_once) return request.waits_since;
  const bool is_first_opening = request.is_opening && initialize_count_ == 1 && !is_mixed();
  if (is_first_opening) return request.waits_since + config_.answer_within + kGapsMax;
  if (is_in_flight(request) && request.answer_read == 0) return std::nullopt;
  if (const auto lost_at = lost_with_server(request)) return *lost_at + kGapsMax;
  const Instant since = std::max(request.waits_since, moved_at_);
  const auto last = builds_.find(last_build_);
  if (last != builds_.end() && !last->second.is_over) {
    // Most clients give up soon after this time.
    const bool has_own_rule = request.is_builtin || request.said->method == "server/discover";
    if (has_own_rule || request.answer_read != 0) return std::nullopt;
    return since + limits::kBuildPatience + kLate;
  }
  const auto wait = standstill_max();
  return wait ? std::optional(since + *wait) : std::nullopt;
}

/// The bridge answers a batch together with the last of its requests. So a request of a batch is
/// late only if all requests of the batch are due.
bool Promises::is_late(const Request& request) const {
  const ClientSaid& batch = said_.client[static_cast<std::size_t>(request.batch)];
  const auto is_over = [&](int mark) {
    const auto found = requests_.find(mark);
    if (found == requests_.end()) return true;
    const Request& part = found->second;
    if (part.is_doubled) return false;
    const auto its_due = due(part);
    return part.is_answered || part.is_cancelled || (its_due && now_ > *its_due);
  };
  if (request.batch != 0) return std::all_of(batch.parts.begin(), batch.parts.end(), is_over);
  return is_over(request.said->mark);
}

void Promises::check_requests() {
  std::size_t waiting_count = 0;
  for (const int mark : open_) {
    const Request& request = requests_.at(mark);
    if (request.is_cancelled || request.is_doubled) continue;
    if (request.sent_to.empty() && !request.is_builtin && !request.is_opening) ++waiting_count;
    const bool is_forgotten = request.is_due_at_once && request.batch == 0;
    if ((is_late(request) || is_forgotten) && !may_be_closed()) {
      throw Broken(fmt::format("request {} ({} {}) waits too long for its answer", request.said->id,
                               request.said->method, request.said->tool));
    }
  }
  if (waiting_count > limits::kWaitingCountMax && !may_be_closed()) {
    throw Broken("more requests wait than may");
  }
  if (errors_without_id_owed_ > 0 && !may_be_closed()) {
    throw Broken("a line of the client was dropped in silence");
  }
  questions_.check(now_);
}

void Promises::check_counts() const {
  for (const auto& [key, count] : counts_) {
    if (count.answered + count.cancelled < count.asked) {
      throw Broken(fmt::format("id {}: {} requests, {} answers, {} cancelled", key, count.asked,
                               count.answered, count.cancelled));
    }
  }
  for (const int mark : open_) {
    const Request& request = requests_.at(mark);
    if (!request.is_cancelled && !request.is_doubled) {
      throw Broken(fmt::format("request {} was never answered", request.said->id));
    }
  }
  if (errors_without_id_owed_ > 0) throw Broken("a line of the client was dropped in silence");
}

}  // namespace sitter::sim
