#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/rebuild/watch_filter.hpp"
#include "io/system/file_facts.hpp"
#include "io/system/path_style.hpp"
#include "sitter/bytes.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How much of the watched tree is read before other events are handled. A call waits no longer for
/// the tree than for the answer of a fast server. The second bound is for the folders and entries:
/// from the cache of the system, so many are read in about half of this time. The third is for the
/// bytes of the events that are read at once: about 250 events, which take about as long.
inline constexpr Milliseconds kWatchSlice{2};
inline constexpr std::size_t kWatchSliceSteps = 200;
inline constexpr std::size_t kWatchEventBytes = 8 * kKiB;

}  // namespace limits

/// Reads folders and everything below them that a filter accepts, in steps of one entry, and finds
/// the files that have changed since a given time. Each folder is given to `watch` before its
/// entries are read, so that a change is found here, or seen by the watch, or both. The filter
/// learns the ignore files, the folders that tools have made and the names of the files on the way.
/// Links are only told, and followed by `add`.
///
/// The clock of a file system advances in ticks of up to 10 ms. A change in the tick of the given
/// time has an earlier time, so it is not found.
class TreeReading {
 public:
  using Stamp = FileTime;
  /// Since this time every file has changed.
  static constexpr Stamp kEver = Stamp::min();

  enum class Watched : std::uint8_t {
    refused,  ///< The folder can't be watched. It is not read.
    newly,    ///< Changes in the folder were not seen until now.
    already,  ///< All changes in the folder were seen. Only folders in it may be new.
  };

  struct Events {
    /// Watches the folder, whose entries are read from now on.
    std::function<Watched(const std::string& folder)> watch;
    /// Tools have made the folder, so it is not read, and need not be watched.
    std::function<void(const std::string& folder)> on_left_out;
    /// The filter knows the rules of the folder, and its entries are read next.
    std::function<void(const std::string& folder)> on_rules;
    /// This file has changed, whether the filter accepts it or not.
    std::function<void(const std::string& path)> on_changed;
    /// A file or a folder is gone from this folder. Its name is not known.
    std::function<void(const std::string& folder)> on_lost;
    /// There is this link. Changes since then count.
    std::function<void(const std::string& path, Stamp since)> on_link;
  };

  TreeReading(WatchFilter& filter, Events events);

  /// The folder is to be read. If it waits already, the earlier of the two times counts.
  void add(const std::string& folder, Stamp since);
  /// The folder is gone, with everything below it.
  void forget(const std::string& folder);

  /// The time since which the folder is to be read. Empty if it does not wait to be read.
  std::optional<Stamp> waits_since(const std::string& folder) const;
  /// Whether everything has been read.
  bool is_over() const { return !folder_ && waiting_.empty(); }
  /// Opens the next folder, or reads one entry of the open folder. A folder comes after the folders
  /// above it.
  void take_step();

 private:
  /// The folder that is being read.
  struct Folder {
    std::string path;
    Stamp since;
    FolderEntries entries;
    Watched watched;
    bool has_changed_entry = false;
  };

  void open(const std::string& path, Stamp since);
  void read_entry();
  void finish_folder();

  WatchFilter& filter_;
  Events events_;
  std::optional<Folder> folder_;
  std::map<std::string, Stamp, PathLess> waiting_;
};

/// How much of the tree is read before other events are handled.
class ReadingSlice {
 public:
  explicit ReadingSlice(Instant begin) : end_(begin + limits::kWatchSlice) {}

  /// Whether another step may follow the step that has ended now.
  bool may_go_on(Instant now) { return ++steps_ < limits::kWatchSliceSteps && now < end_; }

 private:
  Instant end_;
  std::size_t steps_ = 0;
};

}  // namespace sitter
