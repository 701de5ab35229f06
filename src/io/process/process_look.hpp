#pragma once

#include <string>
#include <vector>

#include "io/process/process_unit.hpp"
#include "sitter/fact.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Looks at the processes of one child: what they do, and who debugs them.
class ProcessLook {
 public:
  /// `members` are the processes of the child, the leader first. Tells the use of the processor
  /// since the look before.
  fact::ProcessSeen at(Generation gen, const std::vector<ProcessInfo>& members);

 private:
  std::string activity(const std::vector<ProcessInfo>& members);

  Milliseconds used_{};
  Instant looked_at_{};
};

}  // namespace sitter
