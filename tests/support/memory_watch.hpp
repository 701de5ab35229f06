#pragma once

#include <gtest/gtest.h>

#include <cstddef>

#include "support/scripted_client.hpp"

namespace sitter::testing {

inline constexpr std::size_t kMebibyte = 1024 * 1024;

/// Only the memory of the program that was built with these tests is measured. Another one may have
/// a sanitizer or an emulator, which needs memory of its own.
inline bool counts_memory() { return sitter_program() == SITTER_PROGRAM; }

/// Measures the memory of a bridge from now on, beyond that of an idle one. The bridge answers
/// a call first: before that, the process may still be a copy of this test, and little of its code
/// has been read in.
class MemoryWatch {
 public:
  explicit MemoryWatch(ScriptedClient& client) : pid_(client.program().pid()) {
    client.status();
    idle_ = resident_bytes(pid_);
  }

  void expect_bounded(std::size_t largest_message) const {
    if (!counts_memory()) return;
    ASSERT_GT(idle_, 0);
    const std::size_t most = resident_bytes_max(pid_);
    ASSERT_GT(most, 0) << "there is nothing to look at";
    EXPECT_LE(most, idle_ + 6 * largest_message + 16 * kMebibyte);
  }

  void expect_given_back() const {
    if (!counts_memory()) return;
    ASSERT_GT(idle_, 0);
    const auto is_given_back = [this] {
      const std::size_t now = resident_bytes(pid_);
      return now > 0 && now <= idle_ + kept_bytes_max();
    };
    EXPECT_TRUE(eventually(is_given_back))
        << resident_bytes(pid_) << " bytes are resident, idle " << idle_;
  }

 private:
  long pid_;
  std::size_t idle_ = 0;
};

}  // namespace sitter::testing
