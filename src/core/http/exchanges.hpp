#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/polled_queue.hpp"
#include "core/http/daemon_session.hpp"
#include "sitter/limits.hpp"

namespace sitter {

/// The exchanges that are not over, and the orders of HTTP that follow from them.
///
///     send() --> sent --take(), abort()--> (whoever took it decides)
///                 ^ |\--judge_later()--> unjudged --take_unjudged()--> (the same)
///                 | \---send_later()--> later
///                 \--------deadline-------/
class Exchanges {
 public:
  using Kind = HttpExchange::Kind;

  explicit Exchanges(const DaemonSession& session) : session_(session) {}

  void send(ExchangePtr exchange, Now now) {
    if (exchange->number != ExchangeId{}) exchange->forget_response();
    exchange->number = ExchangeId{++last_number_};
    orders_.push_back({exchange->number, Ordered::What::begin});
    exchange->deadline.reset();
    if (exchange->kind == Kind::notification) {
      exchange->deadline = now.steady + limits::kHttpTakenWait;
    }
    // What waits for the probe then goes on.
    if (exchange->kind == Kind::probe) exchange->deadline = now.steady + limits::kToolsListWait;
    sent_.push_back(std::move(exchange));
  }
  void send_later(ExchangePtr exchange, Instant at) {
    exchange->deadline = at;
    later_.push_back(std::move(exchange));
  }
  void send_due(Now now) {
    for (ExchangePtr& exchange : std::exchange(later_, {})) {
      const bool is_late = is_due(exchange->deadline, now);
      if (is_late) send(std::move(exchange), now);
      if (!is_late) later_.push_back(std::move(exchange));
    }
  }
  void forget_later() { later_.clear(); }
  /// Whether one more notification or answer of the client may wait to be sent again.
  bool has_room_later(const HttpExchange& exchange) const {
    std::size_t bytes = exchange.line.text().size();
    for (const ExchangePtr& later : later_) bytes += later->line.text().size();
    return later_.size() < limits::kHttpWaitingCountMax && bytes <= limits::kHttpWaitingBytesMax;
  }
  /// The connection of a request has ended. Perhaps the process of the daemon has exited too, which
  /// is seen soon and says more. `why` is a clause for a person.
  void judge_later(ExchangePtr exchange, std::string why, Now now) {
    unjudged_.emplace_back(std::move(exchange), std::move(why));
    if (!judge_at_) judge_at_ = now.steady + limits::kHttpExitWait;
  }
  bool is_judgement_due(Now now) const { return is_due(judge_at_, now); }
  std::vector<std::pair<ExchangePtr, std::string>> take_unjudged() {
    judge_at_.reset();
    return std::exchange(unjudged_, {});
  }

  /// Null if no exchange with this number was sent, or if it is over.
  HttpExchange* find(ExchangeId number) const {
    for (const ExchangePtr& sent : sent_) {
      if (sent->number == number) return sent.get();
    }
    return nullptr;
  }
  /// Nothing more comes from the exchange, or is wanted. Null as above.
  ExchangePtr take(ExchangeId number) {
    const auto is_meant = [&](const ExchangePtr& sent) { return sent->number == number; };
    const auto found = std::find_if(sent_.begin(), sent_.end(), is_meant);
    if (found == sent_.end()) return nullptr;
    ExchangePtr taken = std::move(*found);
    sent_.erase(found);
    return taken;
  }
  ExchangePtr abort(ExchangeId number) {
    orders_.push_back({number, Ordered::What::abort});
    return take(number);
  }
  /// Aborts the oldest exchange that was sent of those for which this holds; null if there is none.
  template <class Condition>
  ExchangePtr abort_first(Condition is_meant) {
    const auto found = std::find_if(sent_.begin(), sent_.end(), is_meant);
    return found == sent_.end() ? nullptr : abort((*found)->number);
  }
  /// Also those that would be sent later.
  void abort_all(std::optional<Kind> only = {}) {
    const auto is_meant = [&](const ExchangePtr& one) { return !only || one->kind == *only; };
    std::erase_if(later_, is_meant);
    while (abort_first(is_meant)) continue;
  }
  /// A response that stays open after its answer costs a connection, so only some may.
  void limit_answered() {
    const auto is_answered = [](const ExchangePtr& sent) { return sent->has_answer; };
    const auto count = std::count_if(sent_.begin(), sent_.end(), is_answered);
    if (static_cast<std::size_t>(count) > limits::kHttpAnsweredMax) abort_first(is_answered);
  }

  /// Keeps what waits for the rest of its response within `limits::kHttpUnfinishedMax`.
  void limit_unfinished(Now now) {
    std::size_t kept = 0;
    bool is_any_paused = false;
    const HttpExchange* largest = nullptr;
    for (const ExchangePtr& sent : sent_) {
      kept += sent->kept();
      if (largest == nullptr || sent->kept() > largest->kept()) largest = sent.get();
    }
    for (const ExchangePtr& sent : sent_) {
      const bool waits = kept > limits::kHttpUnfinishedMax && sent.get() != largest &&
                         sent->kept() > limits::kHttpSmallResponse;
      is_any_paused = is_any_paused || waits;
      if (std::exchange(sent->is_paused, waits) == waits) continue;
      orders_.push_back({sent->number, waits ? Ordered::What::pause : Ordered::What::go_on});
    }
    if (!is_any_paused) {
      awaited_.reset();
    } else if (!awaited_ || awaited_->number != largest->number ||
               awaited_->kept != largest->kept()) {
      awaited_ = {largest->number, largest->kept(), now.steady + limits::kHttpStalledWait};
    }
  }
  /// The response for which others wait, if nothing of it has come for
  /// `limits::kHttpStalledWait`; otherwise null. It is aborted.
  ExchangePtr take_stalled(Now now) {
    if (!awaited_ || !is_due(awaited_->until, now)) return nullptr;
    return abort(awaited_->number);
  }

  /// The client has cancelled a request. A client of the stateless revision cancels by closing the
  /// stream of the response; then this returns true. In a session the response may still bring
  /// other messages, so it has a moment to end, and the daemon must be told.
  bool cancel(const std::string& raw_id, Now now) {
    const auto is_meant = [&](const ExchangePtr& one) {
      return one->kind == Kind::request && !one->has_answer && same_id(one->id, raw_id);
    };
    std::erase_if(later_, is_meant);
    std::erase_if(unjudged_, [&](const auto& entry) { return is_meant(entry.first); });
    const auto meant = std::find_if(sent_.begin(), sent_.end(), is_meant);
    if (meant == sent_.end()) return false;
    if ((*meant)->is_stateless) return abort((*meant)->number) != nullptr;
    (*meant)->is_cancelled = true;
    (*meant)->deadline = now.steady + limits::kHttpUselessWait;
    return false;
  }
  /// A daemon may answer a request in another stream than that of the request.
  void on_answer_elsewhere(const Message& message, Now now) {
    const auto is_answered = [&](const ExchangePtr& one) {
      return one->kind == Kind::request && one->is_answered_by(message);
    };
    std::erase_if(later_, is_answered);
    for (const ExchangePtr& sent : sent_) {
      if (is_answered(sent)) sent->on_answered(now);
    }
  }

  /// How many requests still have an answer to come, but for those that are streams.
  std::size_t request_count() const {
    std::size_t count = 0;
    for_each([&](const HttpExchange& one) {
      const bool is_awaited = one.kind == Kind::request && !one.has_answer && !one.is_cancelled;
      if (is_awaited && !one.is_listen()) ++count;
    });
    return count;
  }
  /// Whether what was sent must be taken before anything else is sent. What is to be sent later
  /// waits alone, unless the protocol has it come before the rest of its session.
  bool holds() const {
    const auto is_first = [](const ExchangePtr& one) {
      return one->asks == HttpExchange::Asks::initialized;
    };
    const auto is_untaken = [&](const ExchangePtr& sent) {
      // The body of a refusal may never end.
      const bool is_done =
          is_success(sent->status) || (sent->is_refused_for_now() && !is_first(sent));
      return sent->kind == Kind::probe || (sent->kind == Kind::notification && !is_done);
    };
    return std::any_of(sent_.begin(), sent_.end(), is_untaken) ||
           std::any_of(later_.begin(), later_.end(), is_first);
  }
  std::optional<Instant> next_timeout() const {
    std::optional<Instant> first = judge_at_;
    if (awaited_) earlier(first, awaited_->until);
    for_each([&](const HttpExchange& one) { earlier(first, one.deadline); });
    return first;
  }
  /// Null if there is nothing. Valid until the next call.
  const HttpOrder* poll_order() {
    auto& send = std::get<order::HttpSend>(polled_send_);
    // The memory of a request serves the next one, but for that of a long one.
    if (send.body.capacity() > 64 * limits::kKiB) send.body = std::string();
    while (const Ordered* const next = orders_.poll()) {
      if (next->what == Ordered::What::abort) {
        return &(polled_other_ = order::HttpAbort{next->exchange});
      }
      // It may have been given up since.
      const HttpExchange* const exchange = find(next->exchange);
      if (exchange == nullptr) continue;
      if (next->what != Ordered::What::begin) {
        const bool is_pause = next->what == Ordered::What::pause;
        return &(polled_other_ = order::HttpPause{next->exchange, is_pause});
      }
      if (exchange->kind == Kind::connect) {
        return &(polled_other_ = order::HttpConnect{exchange->number});
      }
      session_.write(send, *exchange);
      return &polled_send_;
    }
    return nullptr;
  }

 private:
  /// What is to happen to an exchange.
  struct Ordered {
    enum class What : std::uint8_t { begin, abort, pause, go_on };
    ExchangeId exchange{};
    What what = What::begin;
  };

  template <class Action>
  void for_each(Action action) const {
    for (const ExchangePtr& sent : sent_) action(*sent);
    for (const ExchangePtr& later : later_) action(*later);
  }

  const DaemonSession& session_;
  std::uint64_t last_number_ = 0;
  std::vector<ExchangePtr> sent_;  // in this order
  std::vector<ExchangePtr> later_;
  std::vector<std::pair<ExchangePtr, std::string>> unjudged_;
  std::optional<Instant> judge_at_;
  /// The response for which others wait: how much of it has come, and until when more must come.
  struct Awaited {
    ExchangeId number{};
    std::size_t kept = 0;
    Instant until;
  };
  std::optional<Awaited> awaited_;
  PolledQueue<Ordered> orders_;
  HttpOrder polled_send_{order::HttpSend{}};
  HttpOrder polled_other_;
};

}  // namespace sitter
