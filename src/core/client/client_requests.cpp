#include "core/client/client_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <list>
#include <utility>
#include <vector>

#include "core/base/raw_id.hpp"
#include "core/wire/method.hpp"

namespace sitter {

using State = ClientRequest::State;

namespace {

/// A table with more rings than this is freed when it is empty.
constexpr std::size_t kRingsMin = 64;

/// Whether this child has received the request, and has not answered it.
bool has(Generation gen, const ClientRequest& request) {
  return (request.state == State::sent || request.state == State::cancelled) && request.gen == gen;
}

bool is_patient(const ClientRequests::Waiting& waiting, bool with_probes) {
  if (waiting.request == nullptr || waiting.request->method == Method::initialize) return false;
  return with_probes || waiting.request->method != Method::server_discover;
}

}  // namespace

bool ClientRequest::is_repeatable() const {
  switch (method) {
    case Method::server_discover:
    case Method::prompts_get:
    case Method::resources_read:
    case Method::completion_complete:
      return true;
    default:
      return is_setting(method) || (is_list(method) && is_first_page);
  }
}

struct ClientRequests::Node : ClientRequest {
  std::size_t hash = 0;
  /// The part of `bytes()` that this request takes.
  std::size_t weight = 0;
  /// Before it is linked, a node is a ring of its own.
  Node* next = this;
  Node* previous = this;
  std::list<Node>::iterator place;
};

/// A hash table that looks at no other request when a request is added: with many requests in
/// flight, each look is a cache miss, and `std::unordered_multimap` needs two or three. It also
/// does not keep the order of equal keys. With a `std::list` for each ring, the table is three
/// times as large, and a call takes 15 % longer with 100,000 calls in flight.
struct ClientRequests::Index {
  /// The requests in the order in which they came.
  std::list<Node> requests;
  /// The oldest request of each ring, or null. The number of rings is a power of two, and at least
  /// twice the number of requests. A ring holds the requests whose hashes end in the same bits.
  std::vector<Node*> rings = std::vector<Node*>(kRingsMin);

  static std::size_t hash_of(std::string_view key) { return std::hash<std::string_view>()(key); }

  std::size_t ring_of(std::size_t hash) const { return hash & (rings.size() - 1); }

  /// The first request with this key that passes the test, in one round of the ring; or null.
  template <class Test>
  static Node* find(Node* begin, Node* Node::*direction, std::string_view key, Test test) {
    Node* node = begin;
    while (node != nullptr) {
      if (node->key == key && test(*node)) return node;
      node = node->*direction;
      if (node == begin) break;
    }
    return nullptr;
  }

  template <class Test>
  Node* oldest(std::string_view key, Test test) const {
    return find(rings[ring_of(hash_of(key))], &Node::next, key, test);
  }

  template <class Test>
  Node* youngest(std::string_view key, Test test) const {
    Node* const first = rings[ring_of(hash_of(key))];
    return find(first == nullptr ? nullptr : first->previous, &Node::previous, key, test);
  }

  Node& add(std::string_view key) {
    if (2 * (requests.size() + 1) > rings.size()) resize(2 * rings.size());
    Node& node = requests.emplace_back();
    node.place = std::prev(requests.end());
    node.hash = hash_of(key);
    node.key = key;
    link(node);
    return node;
  }

  void erase(Node& node) {
    Node*& first = rings[ring_of(node.hash)];
    if (first == &node) first = node.next == &node ? nullptr : node.next;
    node.next->previous = node.previous;
    node.previous->next = node.next;
    requests.erase(node.place);
    if (requests.empty() && rings.size() > kRingsMin) resize(kRingsMin);
  }

  void link(Node& node) {
    Node*& first = rings[ring_of(node.hash)];
    if (first == nullptr) first = &node;
    node.next = first;
    node.previous = first == &node ? &node : first->previous;
    node.previous->next = &node;
    first->previous = &node;
  }

  void resize(std::size_t count) {
    rings = std::vector<Node*>(count);
    for (Node& node : requests) link(node);
  }
};

ClientRequests::ClientRequests() : ClientRequests(Room()) {}
ClientRequests::ClientRequests(Room room) : room_(room), index_(std::make_unique<Index>()) {}
ClientRequests::~ClientRequests() = default;

ClientRequest& ClientRequests::add(std::string_view raw_id) {
  Node& request = index_->add(IdKey(raw_id).text());
  request.order = next_order_++;
  (raw_id.starts_with('"') ? has_strings_ : has_numbers_) = true;
  if (request.key != raw_id) request.more().id = raw_id;
  ++owed_count_;
  return request;
}

ClientRequest& ClientRequests::add_control(ControlId connection) {
  // No id of the client has this key, because no JSON value is spelled like it.
  ClientRequest& request = index_->add(fmt::format("ctl {}", next_order_));
  request.more().id = fmt::format("{}", next_order_);
  request.more().control = connection;
  request.order = next_order_++;
  request.state = State::ours;
  ours_.emplace(request.handle(), &request);
  ++owed_count_;
  ++control_count_;
  return request;
}

/// Counts the requests in state sent.
void ClientRequests::count_sent(Generation gen, int more) {
  const auto known = std::find_if(sent_counts_.begin(), sent_counts_.end(),
                                  [&](const auto& count) { return count.first == gen; });
  auto& counted = known == sent_counts_.end() ? sent_counts_.emplace_back(gen, 0) : *known;
  counted.second += more;
  sent_count_ += more;
  if (counted.second > 0) return;
  std::erase_if(sent_counts_, [](const auto& count) { return count.second == 0; });
}

std::size_t ClientRequests::in_flight_count(Generation gen) const {
  for (const auto& [of, count] : sent_counts_) {
    if (of == gen) return static_cast<std::size_t>(count);
  }
  return 0;
}

/// Weighs the request anew after it was sent, taken by the bridge, sent back to wait, or cancelled.
void ClientRequests::weigh(ClientRequest& request) {
  std::size_t weight = 0;
  if (request.state != State::waiting) {
    weight = request.key.size() + request.tool.size();
    if (const auto* const extra = request.extra.get()) {
      weight += extra->id.size() + extra->progress_token.size() + extra->line.size();
    }
  }
  std::size_t& before = static_cast<Node&>(request).weight;
  bytes_ += weight - before;
  before = weight;
}

ClientRequest* ClientRequests::find_sent(std::string_view raw_id, Generation gen) {
  const IdKey key(raw_id);
  const auto is_sent = [&](const ClientRequest& request) { return has(gen, request); };
  // The stateless revision forbids the answer to a cancelled request, and allows the client to use
  // its id again.
  const auto is_owed = [&](const ClientRequest& request) {
    return is_sent(request) && !(request.state == State::cancelled && request.is_stateless);
  };
  Node* found = index_->oldest(key.text(), [&](const ClientRequest& request) {
    return is_owed(request) && request.id() == raw_id;
  });
  if (found == nullptr) found = index_->oldest(key.text(), is_owed);
  return found != nullptr ? found : index_->oldest(key.text(), is_sent);
}

ClientRequest* ClientRequests::find_rounded(std::string_view raw_id, Generation gen) {
  const auto printed = printed_double(raw_id);
  if (!printed) return nullptr;
  ClientRequest* cancelled = nullptr;
  for (ClientRequest* request : at_child(gen)) {
    if (rounded_id(request->key) != printed) continue;
    if (request->state != State::cancelled) return request;
    if (cancelled == nullptr) cancelled = request;
  }
  return cancelled;
}

ClientRequest* ClientRequests::find(RequestHandle handle) const {
  const auto found = ours_.find(handle);
  return found == ours_.end() ? nullptr : found->second;
}

ClientRequest* ClientRequests::find_open(std::string_view raw_id) {
  return index_->youngest(IdKey(raw_id).text(), [](const ClientRequest& request) {
    return request.state != State::cancelled;
  });
}

bool ClientRequests::uses(std::string_view raw_id) const {
  return index_->oldest(IdKey(raw_id).text(), [](const ClientRequest&) { return true; }) != nullptr;
}

bool ClientRequests::may_wait(std::size_t bytes) const {
  return waiting_.empty() ||
         (waiting_.size() < room_.count && waiting_bytes_ + bytes <= room_.bytes);
}

void ClientRequests::enqueue(ClientRequest& request, std::string_view line, Instant now) {
  assert(request.state == State::waiting);
  waiting_bytes_ += line.size();
  waiting_.push_back({&request, request.order, OwnedLine(line), now});
}

void ClientRequests::enqueue_notification(std::string_view line) {
  waiting_bytes_ += line.size();
  waiting_.push_back({nullptr, next_order_++, OwnedLine(line)});
}

std::size_t ClientRequests::make_room(std::size_t bytes) {
  if (may_wait(bytes)) return 0;
  return std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (waiting.request != nullptr) return false;
    waiting_bytes_ -= waiting.line.size();
    return true;
  });
}

ClientRequests::Waiting ClientRequests::next_waiting() {
  assert(!waiting_.empty());
  Waiting first = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= first.line.size();
  return first;
}

const ClientRequest* ClientRequests::first_waiting_request(bool with_probes) const {
  const auto first = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return waiting.request != nullptr &&
           (with_probes || waiting.request->method != Method::server_discover);
  });
  return first == waiting_.end() ? nullptr : first->request;
}

std::optional<Instant> ClientRequests::waits_since(bool with_probes) const {
  std::optional<Instant> first;
  for (const Waiting& waiting : waiting_) {
    if (is_patient(waiting, with_probes)) earlier(first, waiting.since);
  }
  return first;
}

std::vector<ClientRequest*> ClientRequests::waiting_since(Instant then, bool with_probes) const {
  std::vector<ClientRequest*> found;
  for (const Waiting& waiting : waiting_) {
    if (is_patient(waiting, with_probes) && waiting.since <= then) found.push_back(waiting.request);
  }
  return found;
}

void ClientRequests::mark_sent(ClientRequest& request, Generation gen, OwnedLine line) {
  assert(request.state == State::waiting);
  if (line.size() > 0) request.more().line = std::move(line);
  request.state = State::sent;
  request.gen = gen;
  count_sent(gen, 1);
  weigh(request);
}

void ClientRequests::keep(ClientRequest& request, OwnedLine line) {
  request.more().line = std::move(line);
  weigh(request);
}

void ClientRequests::mark_ours(ClientRequest& request) {
  assert(request.state == State::waiting);
  request.state = State::ours;
  ours_.emplace(request.handle(), &request);
  weigh(request);
}

void ClientRequests::hold(ClientRequest& request, std::string answer) {
  assert(request.state == State::sent || request.state == State::ours);
  if (request.state == State::sent) count_sent(request.gen, -1);
  request.state = State::held;
  held_bytes_ += answer.size();
  request.more().answer = OwnedLine(std::move(answer));
}

void ClientRequests::rewrite_held(ClientRequest& request, std::string answer) {
  release(request);
  held_bytes_ += answer.size();
  request.extra->answer = OwnedLine(std::move(answer));
}

OwnedLine ClientRequests::release(ClientRequest& request) {
  assert(request.state == State::held);
  held_bytes_ -= request.extra->answer.size();
  return std::exchange(request.extra->answer, {});
}

void ClientRequests::retry(ClientRequest& request, Instant now) {
  request.extra->refused_since.reset();
  wait_again(request, now);
  request.is_retried = true;
}

void ClientRequests::wait_again(ClientRequest& request, Instant now) {
  assert(request.state == State::sent || request.state == State::held);
  if (request.state == State::held) {
    release(request);
    request.extra->is_refusal = false;
  } else {
    count_sent(request.gen, -1);
  }
  request.state = State::waiting;
  // The search begins at the end: of many requests that are sent again, each goes right behind the
  // request before it.
  const auto earlier = std::find_if(waiting_.rbegin(), waiting_.rend(), [&](const Waiting& other) {
    return other.order < request.order;
  });
  waiting_bytes_ += request.extra->line.size();
  weigh(request);
  if (!request.extra->refused_since) request.extra->refused_since = now;
  waiting_.insert(earlier.base(), {&request, request.order, std::move(request.extra->line),
                                   *request.extra->refused_since});
}

void ClientRequests::cancel(ClientRequest& request) {
  assert(request.state != State::cancelled);
  if (request.state != State::sent) {
    take(request);
    return;
  }
  waive(request);
  request.state = State::cancelled;
  count_sent(request.gen, -1);
  if (request.has_line()) request.extra->line = {};
  weigh(request);
  cancelled_.push_back(&request);
  while (cancelled_.size() > limits::kCancelledCountMax ||
         (bytes_ > limits::kInFlightBytesMax && !cancelled_.empty())) {
    take(*cancelled_.front());
  }
}

void ClientRequests::waive(ClientRequest& request) {
  if (!std::exchange(request.is_waived, true)) --owed_count_;
}

void ClientRequests::take(ClientRequest& request) {
  if (request.state == State::waiting) {
    std::erase_if(waiting_, [&](const Waiting& waiting) {
      if (waiting.request != &request) return false;
      waiting_bytes_ -= waiting.line.size();
      return true;
    });
  }
  if (request.state == State::held) release(request);
  if (request.is_control()) --control_count_;
  if (request.state == State::cancelled) std::erase(cancelled_, &request);
  if (request.state == State::sent) count_sent(request.gen, -1);
  waive(request);
  bytes_ -= static_cast<Node&>(request).weight;
  if (!ours_.empty()) ours_.erase(request.handle());
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

std::vector<ClientRequest*> ClientRequests::at_child(Generation gen) {
  std::vector<ClientRequest*> found;
  for (Node& request : index_->requests) {
    if (has(gen, request)) found.push_back(&request);
  }
  return found;
}

}  // namespace sitter
