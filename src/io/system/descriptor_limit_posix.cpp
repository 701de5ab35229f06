#include <sys/resource.h>

#include <algorithm>
#include <optional>

#include "io/system/descriptor_limit.hpp"

namespace sitter::descriptor_limit {
namespace {

/// The limit before the first `raise` that had an effect. A limit belongs to the whole process.
/// Only the thread of the loop writes it, and only that thread starts children.
std::optional<rlimit> before;

}  // namespace

std::size_t raise(std::size_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  rlimit raised = limit;
  raised.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  // macOS may refuse a number below the hard limit (setrlimit(2), EINVAL).
  for (; raised.rlim_cur > limit.rlim_cur; raised.rlim_cur /= 2) {
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0) continue;
    if (!before) before = limit;
    return getrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
  }
  return limit.rlim_cur;
}

void restore() {
  if (before) setrlimit(RLIMIT_NOFILE, &*before);
}

}  // namespace sitter::descriptor_limit
