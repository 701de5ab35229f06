#pragma once

#include <string_view>

#include "sitter/core/time.hpp"

namespace sitter {

/// How a client differs from what its protocol makes one expect. No message of it says so: these
/// are facts that were seen, and they are looked up by the name that it gives itself.
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
