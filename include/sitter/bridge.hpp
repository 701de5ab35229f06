#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "sitter/bridge_config.hpp"
#include "sitter/fact.hpp"
#include "sitter/order.hpp"
#include "sitter/time.hpp"

namespace sitter {

class Conductor;

/// Decides everything between a client and the child that serves it, and does nothing else: it
/// takes one fact and the time, changes its state, and produces orders. Call it like this, and
/// never feed another fact before all orders are carried out:
///
///     bridge.handle(fact, now);
///     while (Order* order = bridge.poll_order()) carry_out(*order);
///     wait until bridge.next_timeout(), then bridge.handle_timeout(now)
class Bridge {
 public:
  Bridge(BridgeConfig config, Now now);
  ~Bridge();

  void handle(const Fact& fact, Now now);
  /// Harmless when nothing is due.
  void handle_timeout(Now now);
  /// The next order, or null. It is valid until the next call.
  Order* poll_order();
  std::optional<Instant> next_timeout() const;

  /// Whether lines of the client should be read now. False while a child's input queue is full, and
  /// for a moment when the client's unanswered requests take too much memory. The client then
  /// waits, as it would without a bridge.
  bool reads_client() const;

  /// The number of requests that are owed an answer.
  std::size_t owed_count() const;

 private:
  const std::unique_ptr<Conductor> conductor_;
};

}  // namespace sitter
