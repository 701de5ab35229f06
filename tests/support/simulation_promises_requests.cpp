#include "support/simulation_promises_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/raw_id.hpp"
#include "core/client/progress_tokens.hpp"
#include "support/simulation_ids.hpp"

namespace sitter::sim {

using json = nlohmann::json;

Request& Requests::open(const ClientSaid& said, int batch, bool may_be_alike) {
  const std::string key = key_of(said.id);
  // A child may still answer a cancelled request of a batch that has the same id.
  const bool is_like = std::any_of(all_.begin(), all_.end(), [&](const auto& entry) {
    const Request& other = entry.second;
    return other.key == key && (is_big(said.id) || (other.is_cancelled && other.batch != 0));
  });
  const bool is_doubled = mark_doubled(key) || may_be_alike || is_like;
  Request& request = all_[said.mark];
  request.said = &said;
  request.batch = batch;
  request.key = key;
  request.waits_since = now_;
  request.is_opening = said.method == "initialize";
  request.is_doubled = is_doubled;
  open_.push_back(said.mark);
  if (batch != 0) batches_[batch];
  ++counts_[key].asked;
  ++counts_[key].owed;
  return request;
}

const Request* Requests::of(int mark) const {
  const auto found = all_.find(mark);
  return found == all_.end() ? nullptr : &found->second;
}

Request* Requests::open_with(std::string_view raw_id) {
  // What is no request of the protocol is refused at once.
  const auto rank = [](const Request& request) {
    return (request.is_cancelled ? 0 : 4) +
           (request.said->kind == ClientSaid::Kind::request ? 0 : 2) + (request.is_builtin ? 1 : 0);
  };
  Request* best = nullptr;
  for (const int mark : open_) {
    Request& request = all_.at(mark);
    if (request.said->id != raw_id) continue;
    if (best == nullptr || rank(request) > rank(*best)) best = &request;
  }
  return best;
}

Request* Requests::open_to_cancel(std::string_view raw_id) {
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](int mark) {
    const Request& request = all_.at(mark);
    return same_id(request.said->id, raw_id) && !request.is_cancelled &&
           request.said->kind == ClientSaid::Kind::request;
  });
  return found == open_.rend() ? nullptr : &all_.at(*found);
}

Request* Requests::unanswered(const std::string& key, const std::string& line) {
  const json id = json::parse(line).at("id");
  for (auto& [mark, request] : all_) {
    const bool is_open = request.key == key && !request.is_answered;
    if (is_open && json::parse(request.said->id).dump() == id.dump()) return &request;
  }
  return nullptr;
}

bool Requests::mark_doubled(const std::string& key) {
  bool is_any = false;
  for (const int mark : open_) {
    if (all_.at(mark).key == key) is_any = all_.at(mark).is_doubled = true;
  }
  return is_any;
}

std::string Requests::key_of(std::string_view raw_id) const {
  return scene_.big_ids == Scene::BigIds::none ? id_key(raw_id) : rounded_key(raw_id);
}

/// A request of a batch is answered in the array of its batch, and any other request outside of
/// arrays.
void Requests::answered(Request& request) {
  if (!request.is_doubled) {
    if (batch_heard_ == 0) batch_heard_ = request.batch;
    if (!batch_heard_ && request.batch != 0) throw Broken("a request of a batch is answered alone");
    if (batch_heard_ && (request.batch == 0 || request.batch != *batch_heard_)) {
      throw Broken(
          fmt::format("the answer to {} stands in the array of another batch", request.said->id));
    }
  }
  // If ids are doubled, another of them may have been cancelled.
  if (!request.is_cancelled || request.is_doubled) --counts_[request.key].owed;
  request.is_answered = true;
  if (!request.said->token.empty()) request.ended_number = ++ended_count_;
  std::erase(open_, request.said->mark);
}

void Requests::forget(Request& request) {
  if (is_held() || request.is_doubled) return;
  // Its answer may already stand in the array, which is not complete.
  if (request.batch != 0 && !request.is_withdrawn) return;
  request.is_answered = true;
  std::erase(open_, request.said->mark);
}

bool Requests::has_open_token(const std::string& token) const {
  return std::any_of(open_.begin(), open_.end(), [&](int mark) {
    const std::string& wanted = all_.at(mark).said->token;
    return !wanted.empty() && json::parse(wanted).dump() == token;
  });
}

/// The answer may only have begun a task, or another request may have the same token.
void Requests::check_progress(const Request& request) const {
  if (request.ended_number == 0 || request.is_doubled || request.may_be_task) return;
  if (ended_count_ - request.ended_number >= static_cast<int>(limits::kEndedTokensMax)) return;
  const auto users = std::count_if(all_.begin(), all_.end(), [&](const auto& entry) {
    return entry.second.said->token == request.said->token;
  });
  if (users > 1 || scene_.client == Scene::Client::mixed) return;
  throw Broken(fmt::format("progress follows the answer to {}", request.said->id));
}

void Requests::end_array(int errors_without_id) {
  const int batch = *std::exchange(batch_heard_, std::nullopt);
  if (batch == 0) return;
  if (std::exchange(batches_.at(batch), 0) != errors_without_id) {
    throw Broken("a batch has not as many errors without an id as it is owed");
  }
  // The cancelled requests of the batch get no answer any more.
  std::erase_if(open_, [&](int mark) {
    Request& request = all_.at(mark);
    if (request.batch != batch || request.is_doubled) return false;
    if (request.is_cancelled) return request.is_answered = true;
    throw Broken(fmt::format("a batch is answered without request {}", request.said->id));
  });
}

bool Requests::is_held() const {
  if (now_ <= held_until_) return true;
  // The answer to a list request may stand in an array that is not complete yet.
  return !batches_.empty() && std::any_of(open_.begin(), open_.end(), [&](int mark) {
    const Request& request = all_.at(mark);
    return request.batch != 0 && request.said->method.ends_with("/list");
  });
}

void Requests::check_errors() const {
  if (errors_owed_ > 0) throw Broken("a line of the client was dropped in silence");
  if (errors_owed_ < 0) throw Broken("an error without an id that nobody is owed");
}

void Requests::check_end() const {
  check_errors();
  for (const auto& [key, count] : counts_) {
    if (count.owed > 0) throw Broken(fmt::format("id {} was never answered", key));
  }
}

}  // namespace sitter::sim
