#pragma once

#include <fcntl.h>
#include <sys/resource.h>

#include "io/system/file_descriptor.hpp"

namespace sitter::testing {

/// While it lives, the process can open no more than so many further files.
class FewDescriptorsLeft {
 public:
  explicit FewDescriptorsLeft(int left) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const FileDescriptor lowest_free(open("/dev/null", O_RDONLY | O_CLOEXEC));
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(lowest_free.number() + left);
    setrlimit(RLIMIT_NOFILE, &few);
  }
  FewDescriptorsLeft(const FewDescriptorsLeft&) = delete;
  FewDescriptorsLeft& operator=(const FewDescriptorsLeft&) = delete;
  ~FewDescriptorsLeft() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace sitter::testing
