#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/rebuild/watch_filter.hpp"
#include "io/files/binary_info.hpp"
#include "io/process/launch_plan.hpp"
#include "io/system/file_facts.hpp"
#include "io/system/path_style.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How many files and folders below the server's script are looked at, and how many of these may be
/// folders. A server under development has hundreds of files; a script in a home directory has
/// everything below it.
inline constexpr std::size_t kSourceFilesMax = 10'000;
inline constexpr std::size_t kSourceFoldersMax = 1000;

/// A file that is seen for the first time has changed since the start of the server if it is newer
/// than the start by more than this: FAT keeps times to 2 s, and the clock of a file server may
/// differ from ours a little.
inline constexpr Milliseconds kSourceClockMargin{2000};

}  // namespace limits

/// Looks for changes in the sources of one running child: its own file, the program behind a script
/// of a shell and, if an interpreter runs one of the two, the files with the same ending that the
/// arguments name or that are below the folder of this file. Ignored files and folders are left
/// out, and so are hidden folders and links to a folder that contains the link. Other links are
/// followed, and a new link counts as changed. A deleted file counts as changed.
class SourceLook {
 public:
  struct Change {
    /// Relative to the working directory of the child, if it is below it.
    std::string file;
    WallTime when;
  };
  struct Seen {
    /// The newest change since the start of the child, also one that an earlier look has found.
    std::optional<Change> newest;
    /// This look has seen all sources.
    bool is_whole = false;
  };

  /// `own`: the file of the child, as it was when the child was started.
  SourceLook(const LaunchRequest& request, const BinaryInfo& own, WallTime started);

  /// Looks as long as `may_go_on` holds, which is asked before each further file or folder. The
  /// next look begins where this look has stopped. The child's own file is seen in each look.
  Seen look(WallTime now, const std::function<bool()>& may_go_on);

 private:
  struct Stamp {
    WallTime modified;
    std::uint64_t size = 0;
    std::uint64_t inode = 0;

    friend bool operator==(const Stamp&, const Stamp&) = default;
  };

  static Stamp stamp_of(const FileFacts& facts);
  static std::optional<Stamp> stamp_of(const std::string& path);
  void add_arguments(const LaunchRequest& request);
  std::string name_of(const std::string& path) const;
  void begin_round();
  /// Sees one more file or folder. Returns false at the end of the round.
  bool go_on(WallTime now);
  void see_next_known(WallTime now);
  void open(const std::string& folder);
  void see_entry(WallTime now);
  void see(const std::string& path, WallTime now);
  void note_change(const std::string& path, WallTime when);

  WallTime started_;
  std::string cwd_;
  std::string own_;
  std::string ending_;
  /// Sources that the arguments name, and the program behind a script.
  std::vector<std::string> named_;
  /// Takes the files with the ending below the folder of the own file. Empty if there are none to
  /// look at.
  std::optional<WatchFilter> filter_;
  bool has_read_ignore_files_ = false;

  /// The sources as they were seen last.
  std::map<std::string, Stamp, PathLess> seen_;
  std::optional<Change> newest_;

  /// A round sees every source once, in one or more looks.
  bool is_in_round_ = false;
  bool is_cut_ = false;
  /// The path in `seen_` that this round has come to. Empty when it has seen all of them.
  std::optional<std::string> last_known_;
  std::size_t named_count_ = 0;
  std::size_t found_count_ = 0;
  std::size_t folder_count_ = 0;
  std::deque<std::string> folders_;
  std::string folder_;
  std::optional<FolderEntries> entries_;
};

}  // namespace sitter
