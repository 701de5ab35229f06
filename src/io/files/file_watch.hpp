#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/build/watch_filter.hpp"
#include "io/stream/event_loop.hpp"
#include "sitter/fact.hpp"

namespace sitter {

/// Tells which files change of those that a filter takes, wherever they come to be: folders may be
/// made, moved, and deleted meanwhile, the watched ones too. Only of those above what the user has
/// named it is not seen that they are moved, or links that lead elsewhere. Links to folders are not
/// followed, except where the user has named one.
class FileWatch {
 public:
  struct Events {
    /// Some files were written, made, moved or deleted. What one read brought comes at once.
    std::function<void(fact::FilesChanged)> on_changed;
    /// How much is watched, and what keeps it from being all. After `start`, and when it is not the
    /// same any more.
    std::function<void(fact::WatchChanged)> on_extent;
  };

  FileWatch(EventLoop& loop, WatchFilter filter, Events events);
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;
  ~FileWatch();

  /// Begins. It takes about as long as a listing of all folders.
  void start();
  /// Watches this file besides, and not the one that was given before. It is usable if it is a file
  /// with something in it. A path that is not absolute is none.
  void set_binary(const std::string& path);

 private:
  class Watcher;

  std::unique_ptr<Watcher> watcher_;
};

}  // namespace sitter
