#pragma once

#include <string>

#include "core/http/http_link_limits.hpp"
#include "support/link_script.hpp"

namespace sitter {

/// What may be under way at the same time, and what waits for what.
class LinkOrderTest : public LinkTest {
 protected:
  const std::string told_ = notification("notifications/roots/list_changed");
  static constexpr int kMax = static_cast<int>(limits::kHttpRequestsMax);

  /// As many calls as may be under way. The first has the id 1.
  void fill() {
    for (int id = 1; id <= kMax; ++id) client(call(id, "slow"));
    done();
  }

  void empty(int from = 1) {
    for (int id = from; id <= kMax; ++id) answers(*exchange_of(id), result(id));
  }

  /// The daemon asks the client in the call 1. Its question has the id 5.
  void client_answers_a_question() {
    client(call(1, "ask"));
    streams(*exchange_of(1));
    event(*exchange_of(1), request(5, "elicitation/create"));
    client(result(answer()["id"].dump()));
  }
};

}  // namespace sitter
