#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/rebuild/watch_filter.hpp"
#include "io/stream/event_loop.hpp"
#include "sitter/fact.hpp"

namespace sitter {

/// Reports changes of the files that a filter accepts. Folders may be created, moved and deleted at
/// any time, including the watched folders. Far above a path that the user has named, the move of a
/// folder is not seen. Links are followed, up to a limit, and what is behind them has the path
/// through the link. A link to a folder that contains the link is not followed.
class FileWatch {
 public:
  struct Events {
    /// Some files were written, created, moved or deleted. All changes of one read are reported
    /// together.
    std::function<void(fact::FilesChanged)> on_changed;
    /// Says how much is watched, why some changes may not be seen, and which patterns match
    /// nothing. Called when the tree has been read, and whenever this information has changed.
    std::function<void(fact::WatchChanged)> on_extent;
  };

  FileWatch(EventLoop& loop, WatchFilter filter, Events events);
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;
  ~FileWatch();

  /// Begins to watch. A large tree is read in small steps between the events of the loop. A file
  /// that changes before the reading has reached it is reported too.
  void start();
  /// Reports at once what the system has to report. Call it outside of the handling of an order.
  void read_pending();
  /// Also watches this file, and the program behind it if there is one, in place of those of an
  /// earlier call. The file is usable if it is a regular file and not empty. A path that is not
  /// absolute is ignored.
  void set_binary(const std::string& path, const std::string& behind = {});

 private:
  class Watcher;

  std::unique_ptr<Watcher> watcher_;
};

}  // namespace sitter
