#pragma once

#include <string>
#include <vector>

namespace sitter::soak {

/// One bridge and all processes that it has caused.
class Household {
 public:
  /// `mark` is an entry of the environment that all these processes inherit. If the soak test runs
  /// in a process namespace of its own, every process in that namespace counts, with the mark or
  /// without.
  Household(std::string program, std::string mark, bool has_namespace);

  const std::string& mark() const { return mark_; }
  /// All living processes of the household.
  std::vector<long> all() const;
  /// The processes that do not run the program of the bridge: servers, builds, and the processes
  /// that they have started.
  std::vector<long> servers() const;

 private:
  std::string program_, mark_;
  bool has_namespace_;
};

}  // namespace sitter::soak
