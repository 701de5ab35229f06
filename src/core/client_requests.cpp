#include "sitter/core/client_requests.hpp"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cassert>
#include <functional>
#include <iterator>
#include <list>

#include "sitter/core/limits.hpp"

namespace sitter {

using State = ClientRequest::State;

namespace {

/// A table of more slots is given back when nothing is in it.
constexpr std::size_t kTableKeptMax = 1024;

/// The key of a raw id, which nearly always is the raw id itself.
class Key {
 public:
  explicit Key(std::string_view raw_id)
      : made_(is_plain_id(raw_id) ? std::string() : id_key(raw_id)),
        text_(made_.empty() ? raw_id : made_) {}
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  std::string_view text() const { return text_; }

 private:
  const std::string made_;
  const std::string_view text_;
};

}  // namespace

/// Requests whose keys have the same hash form a ring, the oldest first.
struct ClientRequests::Node : ClientRequest {
  std::size_t hash = 0;
  Node* next = this;
  Node* previous = this;
  std::list<Node>::iterator place;
};

struct ClientRequests::Index {
  /// A hash is as good a key as can be had.
  struct Identity {
    using is_avalanching = void;
    std::size_t operator()(std::size_t hash) const { return hash; }
  };

  /// In the order in which they came.
  std::list<Node> requests;
  /// The oldest of each ring. So the table stays small, and nothing of a request is looked at when
  /// another is added or the table grows: with many in flight, each look is a cache miss.
  boost::unordered_flat_map<std::size_t, Node*, Identity> by_hash;

  /// The oldest with this key that passes the test, or null.
  template <class Test>
  Node* oldest(std::string_view key, Test test) const {
    const auto ring = by_hash.find(hash_of(key));
    if (ring == by_hash.end()) return nullptr;
    Node* node = ring->second;
    do {
      if (node->key == key && test(*node)) return node;
      node = node->next;
    } while (node != ring->second);
    return nullptr;
  }

  template <class Test>
  Node* youngest(std::string_view key, Test test) const {
    const auto ring = by_hash.find(hash_of(key));
    if (ring == by_hash.end()) return nullptr;
    Node* node = ring->second;
    do {
      node = node->previous;
      if (node->key == key && test(*node)) return node;
    } while (node != ring->second);
    return nullptr;
  }

  Node& add(std::string_view key) {
    Node& node = requests.emplace_back();
    node.place = std::prev(requests.end());
    node.hash = hash_of(key);
    node.key = key;
    const auto [ring, is_new] = by_hash.try_emplace(node.hash, &node);
    if (!is_new) {
      node.next = ring->second;
      node.previous = node.next->previous;
      node.previous->next = &node;
      node.next->previous = &node;
    }
    return node;
  }

  void erase(Node& node) {
    const auto ring = by_hash.find(node.hash);
    if (node.next == &node) {
      by_hash.erase(ring);
    } else {
      if (ring->second == &node) ring->second = node.next;
      node.next->previous = node.previous;
      node.previous->next = node.next;
    }
    requests.erase(node.place);
    if (by_hash.empty() && by_hash.bucket_count() > kTableKeptMax) by_hash = {};
  }

  static std::size_t hash_of(std::string_view key) { return std::hash<std::string_view>()(key); }
};

ClientRequests::ClientRequests() : index_(std::make_unique<Index>()) {}
ClientRequests::~ClientRequests() = default;

ClientRequest& ClientRequests::add(std::string_view raw_id) {
  Node& request = index_->add(Key(raw_id).text());
  request.order = next_order_++;
  if (request.key != raw_id) request.more().id = raw_id;
  ++owed_count_;
  return request;
}

ClientRequest* ClientRequests::find_sent(std::string_view raw_id, Generation gen) {
  const Key key(raw_id);
  const auto is_sent = [&](const ClientRequest& request) {
    return request.state == State::sent && request.gen == gen;
  };
  Node* const same_spelling = index_->oldest(key.text(), [&](const ClientRequest& request) {
    return is_sent(request) && request.id() == raw_id;
  });
  return same_spelling != nullptr ? same_spelling : index_->oldest(key.text(), is_sent);
}

ClientRequest* ClientRequests::find_open(std::string_view raw_id) {
  return index_->youngest(Key(raw_id).text(),
                          [](const ClientRequest& request) { return !request.is_cancelled; });
}

bool ClientRequests::uses(std::string_view raw_id) const {
  return index_->oldest(Key(raw_id).text(), [](const ClientRequest&) { return true; }) != nullptr;
}

void ClientRequests::enqueue(ClientRequest& request, std::string_view line) {
  assert(request.state == State::waiting);
  waiting_bytes_ += line.size();
  waiting_.push_back({&request, request.order, OwnedLine(line)});
}

void ClientRequests::enqueue_notification(std::string_view line) {
  waiting_bytes_ += line.size();
  waiting_.push_back({nullptr, next_order_++, OwnedLine(line)});
}

std::size_t ClientRequests::drop_waiting_notifications() {
  return std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (waiting.request != nullptr) return false;
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

const ClientRequest* ClientRequests::first_waiting_request() const {
  const auto first = std::find_if(waiting_.begin(), waiting_.end(), [](const Waiting& waiting) {
    return waiting.request != nullptr;
  });
  return first == waiting_.end() ? nullptr : first->request;
}

void ClientRequests::sent(ClientRequest& request, Generation gen, OwnedLine line) {
  assert(request.state == State::waiting);
  if (line.size() > 0) request.more().line = std::move(line);
  request.state = State::sent;
  request.gen = gen;
  ++sent_count_;
}

void ClientRequests::hold(ClientRequest& request, std::string answer) {
  assert(request.state == State::sent && !request.is_cancelled);
  request.state = State::held;
  request.more().answer = OwnedLine(std::move(answer));
  --sent_count_;
}

void ClientRequests::retry(ClientRequest& request) {
  assert(request.state == State::sent && !request.is_cancelled);
  request.state = State::waiting;
  request.is_retried = true;
  --sent_count_;
  const auto later = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& other) {
    return other.order > request.order;
  });
  waiting_bytes_ += request.extra->line.size();
  waiting_.insert(later, {&request, request.order, std::move(request.extra->line)});
}

void ClientRequests::cancel(ClientRequest& request) {
  assert(!request.is_cancelled);
  if (request.state != State::sent) {
    take(request);
    return;
  }
  request.is_cancelled = true;
  --owed_count_;
  --sent_count_;
  cancelled_.push_back(&request);
  if (cancelled_.size() > limits::kCancelledCountMax) take(*cancelled_.front());
}

void ClientRequests::take(ClientRequest& request) {
  if (request.state == State::waiting) {
    std::erase_if(waiting_, [&](const Waiting& waiting) {
      if (waiting.request != &request) return false;
      waiting_bytes_ -= waiting.line.size();
      return true;
    });
  }
  if (request.is_cancelled) {
    std::erase(cancelled_, &request);
  } else {
    --owed_count_;
    if (request.state == State::sent) --sent_count_;
  }
  index_->erase(static_cast<Node&>(request));
}

std::vector<ClientRequest*> ClientRequests::all(State state, Generation gen) {
  std::vector<ClientRequest*> found;
  for (Node& request : index_->requests) {
    if (request.state != state) continue;
    if (gen != kNoGeneration && request.gen != gen) continue;
    found.push_back(&request);
  }
  return found;
}

}  // namespace sitter
