#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/files/file_watch.hpp"
#include "support/temporary_directory.hpp"

namespace sitter {

/// The base is a folder of its own. The tests find changes without waiting for a time: the system
/// reports changes in their order, so the file that is written last is reported last.
class FileWatchTest : public ::testing::Test {
 protected:
  /// Begins to watch. A large tree is not read completely when this returns.
  void start(std::vector<std::string> patterns) {
    patterns.emplace_back("the-last");
    FileWatch::Events events;
    events.on_changed = [this](const fact::FilesChanged& fact) {
      for (const auto& file : fact.files) {
        const bool is_in_base = file.path.starts_with(base_.path());
        const std::string name = is_in_base ? file.path.substr(base_.path().size() + 1) : file.path;
        if (!is_in_base || name == "the-last") has_seen_last_ = true;
        if (name == "the-last") continue;
        changed_.insert(name);
        (file.is_usable ? usable_ : unusable_).insert(name);
        modified_[name] = file.modified;
        if (file.is_new) new_.insert(name);
      }
      loop_.stop();
    };
    events.on_extent = [this](const fact::WatchChanged& fact) {
      extent_ = fact;
      loop_.stop();
    };
    watch_.emplace(loop_, WatchFilter(patterns, base_.path()), std::move(events));
    watch_->start();
  }
  /// Begins to watch, and reads the tree.
  void watch(std::vector<std::string> patterns) {
    start(std::move(patterns));
    run_until([this] { return extent_.has_value(); });
  }

  void run_until(const std::function<bool()>& is_enough) {
    while (!is_enough()) {
      loop_.io().restart();
      loop_.run();
    }
  }
  /// Lets the loop go round a thousand times. Each time at least one entry of the tree is read.
  void go_round() {
    int rounds = 0;
    std::function<void()> again = [&] {
      if (++rounds < 1000) {
        loop_.post(again);
      } else {
        loop_.stop();
      }
    };
    loop_.post(again);
    run_until([&] { return rounds == 1000; });
  }

  /// The files that are reported because of `action`.
  std::set<std::string> changed_by(const std::function<void()>& action) {
    changed_.clear();
    action();
    has_seen_last_ = false;
    base_.write("the-last", "x");
    run_until([this] { return has_seen_last_; });
    go_round();
    return changed_;
  }
  std::set<std::string> written(const std::string& name, const std::string& text = "x") {
    return changed_by([&] { base_.write(name, text); });
  }

  void move(const std::string& from, const std::string& to) const {
    std::filesystem::rename(base_ / from, base_ / to);
  }

  testing::TemporaryDirectory base_;
  EventLoop loop_;
  std::optional<FileWatch> watch_;
  std::optional<fact::WatchChanged> extent_;
  bool has_seen_last_ = false;
  std::set<std::string> changed_, usable_, unusable_, new_;
  std::map<std::string, std::optional<WallTime>> modified_;
};

}  // namespace sitter
