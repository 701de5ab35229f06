#pragma once

#include <string_view>

#include "sitter/time.hpp"

namespace sitter {

/// What a client does differently from what the protocol suggests. No message says so; the facts
/// were observed, and are looked up by `clientInfo.name`.
struct ClientFacts {
  /// After a change it asks for the tools again.
  bool lists_again = true;
  /// What it needs between its list and the answer that has waited for that, so that its model sees
  /// the new tools in the next turn.
  Milliseconds pause_after_list{};

  friend bool operator==(const ClientFacts&, const ClientFacts&) = default;
};

/// Of the client with this `clientInfo.name`; of one that is not known, what most do.
ClientFacts facts_of_client(std::string_view name);

}  // namespace sitter
