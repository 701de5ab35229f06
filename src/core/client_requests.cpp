#include "sitter/core/client_requests.hpp"

#include <algorithm>
#include <cassert>

#include "sitter/core/limits.hpp"

namespace sitter {

using State = ClientRequest::State;

std::pair<ClientRequests::Map::iterator, ClientRequests::Map::iterator>
ClientRequests::same_meaning(std::string_view raw_id) {
  return is_plain_id(raw_id) ? map_.equal_range(raw_id) : map_.equal_range(id_key(raw_id));
}

ClientRequests::Entry& ClientRequests::add(std::string_view raw_id) {
  const bool plain = is_plain_id(raw_id);
  Entry& entry = *map_.emplace(plain ? std::string(raw_id) : id_key(raw_id), ClientRequest());
  entry.second.order = next_order_++;
  if (!plain && entry.first != raw_id) entry.second.more().id = raw_id;
  ++owed_count_;
  return entry;
}

ClientRequests::Entry* ClientRequests::find_sent(std::string_view raw_id, Generation gen) {
  const auto [begin, end] = same_meaning(raw_id);
  Entry* best = nullptr;
  bool best_is_exact = false;
  for (auto it = begin; it != end; ++it) {
    ClientRequest& request = it->second;
    if (request.state != State::sent || request.gen != gen) continue;
    const bool exact = id_of(*it) == raw_id;
    const bool better = best == nullptr || (exact && !best_is_exact) ||
                        (exact == best_is_exact && request.order < best->second.order);
    if (!better) continue;
    best = &*it;
    best_is_exact = exact;
  }
  return best;
}

ClientRequests::Entry* ClientRequests::find_open(std::string_view raw_id) {
  const auto [begin, end] = same_meaning(raw_id);
  Entry* best = nullptr;
  for (auto it = begin; it != end; ++it) {
    if (it->second.is_cancelled) continue;
    if (best == nullptr || it->second.order > best->second.order) best = &*it;
  }
  return best;
}

bool ClientRequests::uses(std::string_view raw_id) const { return map_.contains(id_key(raw_id)); }

void ClientRequests::enqueue(Entry& entry, std::string_view line) {
  assert(entry.second.state == State::waiting);
  waiting_bytes_ += line.size();
  waiting_.push_back({&entry, entry.second.order, OwnedLine(line)});
}

void ClientRequests::enqueue_notification(std::string_view line) {
  waiting_bytes_ += line.size();
  waiting_.push_back({nullptr, next_order_++, OwnedLine(line)});
}

std::size_t ClientRequests::drop_waiting_notifications() {
  return std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (waiting.entry != nullptr) return false;
    waiting_bytes_ -= waiting.line.size();
    return true;
  });
}

ClientRequests::Waiting ClientRequests::next_waiting() {
  Waiting first = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= first.line.size();
  return first;
}

const ClientRequests::Entry* ClientRequests::first_waiting_request() const {
  const auto first = std::find_if(waiting_.begin(), waiting_.end(),
                                  [](const Waiting& waiting) { return waiting.entry != nullptr; });
  return first == waiting_.end() ? nullptr : first->entry;
}

void ClientRequests::sent(Entry& entry, Generation gen, OwnedLine line) {
  ClientRequest& request = entry.second;
  assert(request.state == State::waiting);
  if (line.size() > 0) request.more().line = std::move(line);
  request.state = State::sent;
  request.gen = gen;
  ++sent_count_;
}

void ClientRequests::hold(Entry& entry, std::string answer) {
  assert(entry.second.state == State::sent && !entry.second.is_cancelled);
  entry.second.state = State::held;
  entry.second.more().answer = OwnedLine(std::move(answer));
  --sent_count_;
}

void ClientRequests::retry(Entry& entry) {
  ClientRequest& request = entry.second;
  assert(request.state == State::sent && !request.is_cancelled);
  request.state = State::waiting;
  request.is_retried = true;
  --sent_count_;
  const auto later = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& other) {
    return other.order > request.order;
  });
  waiting_bytes_ += request.extra->line.size();
  waiting_.insert(later, {&entry, request.order, std::move(request.extra->line)});
}

void ClientRequests::cancel(Entry& entry) {
  ClientRequest& request = entry.second;
  assert(!request.is_cancelled);
  if (request.state != State::sent) {
    take(entry);
    return;
  }
  request.is_cancelled = true;
  --owed_count_;
  --sent_count_;
  cancelled_.push_back(&entry);
  if (cancelled_.size() > limits::kCancelledCountMax) take(*cancelled_.front());
}

void ClientRequests::take(Entry& entry) {
  ClientRequest& request = entry.second;
  if (request.state == State::waiting) {
    std::erase_if(waiting_, [&](const Waiting& waiting) {
      if (waiting.entry != &entry) return false;
      waiting_bytes_ -= waiting.line.size();
      return true;
    });
  }
  if (request.is_cancelled) {
    std::erase(cancelled_, &entry);
  } else {
    --owed_count_;
    if (request.state == State::sent) --sent_count_;
  }
  const auto [begin, end] = map_.equal_range(entry.first);
  for (auto it = begin; it != end; ++it) {
    if (&*it != &entry) continue;
    map_.erase(it);
    return;
  }
  assert(false);
}

std::vector<ClientRequests::Entry*> ClientRequests::all(State state, Generation gen) {
  std::vector<Entry*> found;
  for (Entry& entry : map_) {
    if (entry.second.state != state) continue;
    if (gen != kNoGeneration && entry.second.gen != gen) continue;
    found.push_back(&entry);
  }
  std::sort(found.begin(), found.end(),
            [](const Entry* a, const Entry* b) { return a->second.order < b->second.order; });
  return found;
}

}  // namespace sitter
