#pragma once

#include <string_view>

#include "sitter/time.hpp"

namespace sitter {

/// How a client differs from what the protocol suggests. No message tells these facts. They were
/// observed, and are looked up by `clientInfo.name`.
struct ClientFacts {
  /// Whether the client lists the tools again after a change.
  bool lists_again = true;
  /// The pause that the client needs between its list and the answer that has waited for that list.
  /// Without the pause, its model does not see the new tools in the next turn.
  Milliseconds pause_after_list{};

  friend bool operator==(const ClientFacts&, const ClientFacts&) = default;
};

/// The facts about the client with this `clientInfo.name`. For an unknown client, what most clients
/// do.
ClientFacts facts_of_client(std::string_view name);

}  // namespace sitter
