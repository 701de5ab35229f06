#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "io/stream/event_loop.hpp"

namespace sitter {

namespace limits {

/// Where each watched file and folder needs an open descriptor (kqueue(2)), the process may open so
/// many, if its hard limit allows it. macOS never allows more (OPEN_MAX, setrlimit(2)). The watch
/// uses three of four. The others are for pipes and connections, which are a few hundred at most.
inline constexpr std::size_t kDescriptorsMax = 10'240;
constexpr std::size_t watch_descriptors_of(std::size_t all) { return all / 4 * 3; }

}  // namespace limits

/// Reports what happens in single folders, not in the folders below them. A folder is known by its
/// path, as `system_path` takes it, without a slash at the end. A folder that
/// can be reached by two paths may be watched under both. Links to folders are followed.
class FolderWatches {
 public:
  enum class What : std::uint8_t {
    written,      ///< The bytes of the file have changed.
    created,      ///< The entry is new: there was none with this name.
    moved_here,   ///< The entry has got this name, perhaps in the place of another entry.
    deleted,      ///< The entry is gone.
    moved_away,   ///< The entry now has another name or is in another folder.
    folder_gone,  ///< The folder itself is gone, or its path leads to another folder.
  };
  struct Event {
    const std::string& folder;
    What what;
    /// The entry; empty if the event is about the folder itself.
    std::string name;
    bool is_folder = false;
  };
  struct Handlers {
    /// May call any function of this class.
    std::function<void(const Event&)> on_event;
    /// The system has reported less than has happened.
    std::function<void()> on_lost;
    /// All events that had come were reported.
    std::function<void()> on_pause;
    /// Whether the writes of this file are of interest. Writes of other files may not be reported.
    std::function<bool(const std::string& path)> takes_file;
  };

  enum class Kind : std::uint8_t {
    on_the_way,  ///< Only what is added and what is gone, unless more is reported already.
    with_files,  ///< Every event of the folder is reported.
    tree,        ///< The same; folders in it may be watched as well.
  };
  enum class Added : std::uint8_t {
    refused,  ///< The folder can't be watched.
    newly,    ///< It was not watched until now, or another folder with its path was.
    already,
  };

  FolderWatches(EventLoop& loop, Handlers handlers);
  FolderWatches(const FolderWatches&) = delete;
  FolderWatches& operator=(const FolderWatches&) = delete;
  ~FolderWatches();

  /// Call it before the other functions. If nothing can be watched, there is a problem afterwards.
  void start();
  bool is_started() const;
  /// Reports all events that have come, without waiting for the loop.
  void read_pending();

  /// Watches the folder. A folder that is missing is no problem, and neither is a refused folder on
  /// the way.
  Added add(const std::string& folder, Kind kind);
  /// Asks `takes_file` about each file that is in the folder, which `add` does not. Call it when
  /// the rules for the folder are known or have changed. Files that come later are asked about
  /// anyway.
  void choose_files(const std::string& folder);
  void remove(const std::string& folder);
  void remove_at_or_below(const std::string& folder);

  bool contains(const std::string& folder) const;
  std::size_t size() const;
  /// The first watched folder behind this one in the order of their paths, or null.
  const std::string* next_after(const std::string& folder) const;

  /// Why some changes are not seen, in words for the user. Empty if all are seen.
  const std::string& problem() const { return problem_; }
  void clear_problem() { problem_.clear(); }

 private:
  struct System;

  Handlers handlers_;
  std::string problem_;
  std::unique_ptr<System> system_;
};

}  // namespace sitter
