#include <sys/resource.h>

#include <algorithm>
#include <optional>

#include "io/system/descriptor_limit.hpp"

namespace sitter::descriptor_limit {
namespace {

/// The limit before the first `raise` that had an effect. A limit belongs to the whole process.
std::optional<rlimit> before;

}  // namespace

std::size_t raise(std::size_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  rlimit raised = limit;
  raised.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  if (raised.rlim_cur <= limit.rlim_cur || setrlimit(RLIMIT_NOFILE, &raised) != 0) {
    return limit.rlim_cur;
  }
  if (!before) before = limit;
  return raised.rlim_cur;
}

void restore() {
  if (before) setrlimit(RLIMIT_NOFILE, &*before);
}

}  // namespace sitter::descriptor_limit
