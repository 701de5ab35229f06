#pragma once

#include <string_view>

#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How long an answer waits after the list, for a client that needs such a pause: Gemini CLI 0.61
/// shows a new tool in its next turn after 20 ms if the machine is idle, and after 100 ms if it is
/// busy.
inline constexpr Milliseconds kPauseAfterList{100};

}  // namespace limits

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
