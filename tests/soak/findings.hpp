#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace sitter::soak {

/// What the bridge promises, as far as a client and a look at the system can tell.
enum class Promise {
  every_request_answered,
  no_answer_twice,
  no_answer_mixed_up,
  nothing_run_twice,
  undelivered_did_not_run,
  no_process_left,
  no_file_left,
  bridge_stays,
  memory_flat,
};
inline constexpr std::size_t kPromiseCount = 9;

/// How often each promise was broken, and the first cases of each.
class Findings {
 public:
  void add(Promise promise, std::string what);
  /// This promise could not be checked.
  void pass_over(Promise promise);
  bool is_empty() const;

  /// Prints one line for each promise, its cases, and at the end "N passed, N failed" for the
  /// promises that were checked.
  void print() const;

 private:
  struct Broken {
    std::size_t count = 0;
    bool is_passed_over = false;
    std::vector<std::string> cases;
  };
  Broken& of(Promise promise) { return broken_[static_cast<std::size_t>(promise)]; }

  std::array<Broken, kPromiseCount> broken_;
};

}  // namespace sitter::soak
