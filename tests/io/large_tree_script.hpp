#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "file_watch_script.hpp"
#include "io/files/tree_reading.hpp"
#include "io/stream/stream_reader.hpp"
#include "io/system/posix.hpp"

namespace sitter {

/// A tree that takes several slices to read. The folder src/z is read last.
class LargeTreeTest : public FileWatchTest {
 protected:
  static constexpr std::size_t kFiles = 3 * limits::kWatchSliceSteps;

  LargeTreeTest() {
    write_files("src/a", kFiles);
    base_.write("src/z/old.c", "1");
    base_.write("src/z/y/old.c", "1");
  }

  void write_files(const std::string& folder, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) base_.write(folder + "/" + std::to_string(i), "1");
  }

  /// Waits until the file system gives a later time to what changes next.
  void let_clock_tick() const {
    const auto before = std::filesystem::file_time_type::clock::now();
    do {
      base_.write("tick", "x");
    } while (std::filesystem::last_write_time(base_ / "tick") <= before);
  }

  /// What is reported if this happens while the tree is read for the first time.
  std::set<std::string> changed_during_reading(const std::function<void()>& action) {
    start({"src"});
    EXPECT_FALSE(extent_);
    let_clock_tick();
    action();
    run_until([this] { return extent_.has_value(); });
    go_round();
    return changed_;
  }

  /// Runs the loop until a line is read from a pipe that holds the line already.
  void serve_event() {
    auto pipe = platform::open_pipe();
    ASSERT_TRUE(pipe);
    fcntl(pipe->read_end.number(), F_SETFL, O_NONBLOCK);
    bool is_served = false;
    const StreamReader reader(loop_, std::move(pipe->read_end), LineFramer(),
                              {[&](LineFramer&) {
                                 is_served = true;
                                 loop_.stop();
                               },
                               {},
                               {}});
    ASSERT_EQ(write(pipe->write_end.number(), "x\n", 2), 2);
    run_until([&] { return is_served; });
  }
};

}  // namespace sitter
