#include <utility>

#include "io/files/file_watch.hpp"

namespace sitter {

class FileWatch::Watcher {
 public:
  explicit Watcher(Events events) : events_(std::move(events)) {}

  void start() { events_.on_extent({0, "files can't be watched on this system yet"}); }

 private:
  Events events_;
};

FileWatch::FileWatch(EventLoop&, WatchFilter, Events events)
    : watcher_(std::make_unique<Watcher>(std::move(events))) {}
FileWatch::~FileWatch() = default;
void FileWatch::start() { watcher_->start(); }
void FileWatch::set_binary(const std::string&) {}

}  // namespace sitter
