#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "support/scripted_client.hpp"

namespace sitter::testing {

/// The pid of the keeper, unless it is `not_this`.
inline std::optional<long> keeper_of(const ScriptedClient& client, long not_this = 0) {
  const std::vector<long> pids = client.living();
  const auto keeper = std::find_if(pids.begin(), pids.end(), [&](long pid) {
    return pid != not_this && title_of(pid) == "sitter-keeper";
  });
  return keeper == pids.end() ? std::nullopt : std::optional(*keeper);
}

}  // namespace sitter::testing
