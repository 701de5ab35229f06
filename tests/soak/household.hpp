#pragma once

#include <string>
#include <vector>

namespace sitter::soak {

/// The processes that came of one bridge, and itself.
class Household {
 public:
  /// `mark` is an entry of the environment that all of them inherit. In a process namespace of the
  /// soak's own whatever runs there is one of them, with the mark or without.
  Household(std::string program, std::string mark, bool has_namespace);

  const std::string& mark() const { return mark_; }
  /// All that live.
  std::vector<long> all() const;
  /// Those that do not run the bridge's own program: servers, builds, and what they have started.
  std::vector<long> servers() const;

 private:
  std::string program_, mark_;
  bool has_namespace_;
};

}  // namespace sitter::soak
