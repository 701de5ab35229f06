#include "io/files/file_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/paths.hpp"
#include "core/rebuild/made_folders.hpp"
#include "io/files/folder_watches.hpp"
#include "io/files/ignore_files.hpp"
#include "io/files/link_watch.hpp"
#include "io/files/tree_reading.hpp"
#include "io/system/file_facts.hpp"
#include "io/system/path_style.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

using Kind = FolderWatches::Kind;
using What = FolderWatches::What;
using Paths = LinkWatch::Paths;

/// A folder on the way to a root may be created just while the watcher looks for it.
constexpr int kAnchorTries = 10;

/// In this file, the path of a root of the file system is as `system_path` takes it.

bool is_folder(const std::string& path) {
  const auto facts = facts_of(path);
  return facts && facts->is_folder();
}

bool is_link(const std::string& path) {
  const auto facts = facts_of_entry(path);
  return facts && facts->is_link();
}

bool is_same(const std::string& one, const std::string& other) {
  return is_same_path(one, other, kPathStyle);
}

bool is_added(What what) { return what == What::created || what == What::moved_here; }

bool is_filled_file(const std::string& path) {
  const auto facts = facts_of(path);
  return facts && facts->is_file() && facts->size > 0;
}

}  // namespace

class FileWatch::Watcher {
 public:
  Watcher(EventLoop& loop, WatchFilter filter, Events events)
      : loop_(loop), filter_(std::move(filter)), events_(std::move(events)) {}
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  void start() {
    watches_.start();
    find_roots(std::chrono::system_clock::now());
    go_on();
  }

  void read_pending() { watches_.read_pending(); }

  void set_binary(const std::string& path, const std::string& behind) {
    std::string other = behind.empty() ? real_path(path) : behind;
    if (!root_of(path, kPathStyle) || (path == binary_ && other == other_binary_)) return;
    binary_ = path;
    other_binary_ = std::move(other);
    if (!watches_.is_started()) return;
    find_roots(std::chrono::system_clock::now());
    go_on();
  }

 private:
  // ---- what there is to watch

  /// The paths that the user has named, whether they exist or not.
  std::vector<std::string> roots() const {
    std::vector<std::string> roots = filter_.roots();
    for (const std::string& file : {binary_, other_binary_}) {
      if (!file.empty()) roots.push_back(file);
    }
    return roots;
  }

  /// Watches the roots, and the folders in which missing roots would appear.
  void find_roots(TreeReading::Stamp since) {
    anchors_.clear();
    for (const std::string& root : roots()) {
      watch_anchor(root, anchors_);
      const LinkTarget* const known = links_.links().find(root);
      const LinkTarget target = target_of(root);
      if (known != nullptr ? !known->is_same(target) : !target.steps.empty()) {
        links_.follow(root, since);
      }
      const bool is_there = facts_of(root).has_value();
      const bool is_new = is_there && found_roots_.insert(root).second;
      if (!is_there) found_roots_.erase(root);
      if (is_folder(root)) {
        if (read_.contains(root) || tree_.waits_since(root) || !takes_folder(root)) continue;
        read_ignore_files_above(root, filter_);
        tree_.add(root, since);
      } else if (is_there) {
        filter_.on_file(root);
        if (is_new && since == TreeReading::kEver && takes_file(root)) note(root);
      }
    }
  }

  /// Watches the nearest existing folder above the root, and the folder above that one. The second
  /// is needed because, on Linux, a folder reports nothing itself if it is deleted while a process
  /// runs a program in it (inotify(7): IN_DELETE_SELF).
  void watch_anchor(const std::string& root, Paths& anchors, Kind kind = Kind::with_files) {
    for (int i = 0; i < kAnchorTries; ++i) {
      std::string folder = root;
      do {
        folder = parent_of(folder);
      } while (!watch(folder, kind) && !folder.empty());
      anchors.insert(folder);
      watches_.choose_files(folder);
      if (!folder.empty() && watch(parent_of(folder), Kind::on_the_way)) {
        anchors.insert(parent_of(folder));
      }
      const std::string next = root.substr(0, root.find('/', folder.size() + 1));
      if (next == root || !is_folder(next)) return;
    }
  }

  // ---- the links

  bool takes_link(const std::string& path, const LinkTarget& target) const {
    const bool may_be_folder = target.is_folder() || !target.is_there();
    if (!(!target.is_folder() && takes_file(path)) && !(may_be_folder && takes_folder(path))) {
      return false;
    }
    const std::string& end = target.steps.back();
    return !target.is_folder() ||
           !filter_.is_left_out_name(std::string_view(end).substr(end.rfind('/') + 1));
  }

  /// Notes what has changed behind the link. The folder to which it leads is read if it was not,
  /// except for a root, which `find_roots` reads.
  void on_followed(const std::string& path, const LinkTarget& before, const LinkTarget& now,
                   TreeReading::Stamp since) {
    const bool is_same_folder = before.is_folder() && before.is_same(now) &&
                                (watches_.contains(path) || tree_.waits_since(path));
    if (is_same_folder) return;
    if (before.is_folder()) {
      forget(path);
      if (takes_folder(path)) note(path + '/');
    }
    if (now.is_folder()) {
      if (!is_root(path)) tree_.add(path, before.steps.empty() ? since : TreeReading::kEver);
    } else if (is_binary(path) && now.is_there() && is_same(now.steps.back(), other_binary_)) {
      // It is reported itself.
    } else if (now.is_there() || (before.is_there() && !before.is_folder())) {
      filter_.on_file(path);
      if (!now.is_there() || now.facts->changed > since) note_file(path, !before.is_there());
    }
  }

  void on_link(const std::string& path, TreeReading::Stamp since) {
    const auto is_folder = [&] {
      const LinkTarget* const link = links_.links().find(path);
      return link != nullptr && link->is_folder();
    };
    const bool was_folder = is_folder();
    links_.follow(path, since);
    if (was_folder && is_folder()) tree_.add(path, since);
  }

  /// Ends the watch of those folders that nothing needs any more.
  void release(const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
      const bool is_needed =
          anchors_.contains(folder) || read_.contains(folder) || links_.needs(folder);
      if (!is_needed) watches_.remove(folder);
    }
  }

  const std::string& problem() const {
    return watches_.problem().empty() ? links_.problem() : watches_.problem();
  }

  // ---- the reading, step by step

  bool is_reading() const { return !tree_.is_over() || checked_to_; }

  /// Takes the first steps at once, and the others between the events of the loop.
  void go_on() {
    if (!is_slice_due_) read_slice();
    tell();
  }

  void read_slice() {
    ReadingSlice slice(std::chrono::steady_clock::now());
    while (is_reading()) {
      take_step();
      if (!slice.may_go_on(std::chrono::steady_clock::now())) break;
    }
    is_slice_due_ = is_reading();
    if (!is_slice_due_) return;
    loop_.post([this, is_alive = std::weak_ptr<const bool>(is_alive_)] {
      if (is_alive.expired()) return;
      read_slice();
      tell();
    });
  }

  void take_step() {
    if (tree_.is_over()) {
      check_watch();
    } else {
      tree_.take_step();
    }
  }

  /// Ends the watch of the next folder if the filter does not accept it any more.
  void check_watch() {
    const std::string* const next = watches_.next_after(*checked_to_);
    if (next == nullptr) {
      checked_to_.reset();
      links_.drop_unwanted();
      // What was refused before may find room now.
      if (std::exchange(has_removed_, false) && !problem().empty()) look_again();
      return;
    }
    checked_to_ = *next;
    if (!takes_folder(*checked_to_)) leave_out(*checked_to_);
  }

  void leave_out(const std::string& folder) {
    read_.erase(folder);
    links_.leave(folder);
    release({folder});
    if (!watches_.contains(folder)) has_removed_ = true;
  }

  // ---- the watches

  bool takes_folder(const std::string& path) const { return filter_.takes_folder(path); }
  bool takes_file(const std::string& path) const {
    return is_binary(path) || filter_.takes_file(path);
  }
  bool is_binary(const std::string& path) const {
    return is_same(path, binary_) || is_same(path, other_binary_);
  }

  bool watch(const std::string& folder, Kind kind = Kind::with_files) {
    const FolderWatches::Added added = watches_.add(folder, kind);
    if (added == FolderWatches::Added::newly || !watches_.contains(folder)) read_.erase(folder);
    return added != FolderWatches::Added::refused;
  }

  TreeReading::Watched watch_before_reading(const std::string& folder) {
    if (!links_.may_watch(folder, read_.contains(folder))) return TreeReading::Watched::refused;
    if (!watch(folder, Kind::tree)) return TreeReading::Watched::refused;
    return read_.insert(folder).second ? TreeReading::Watched::newly
                                       : TreeReading::Watched::already;
  }

  /// Whether writes of this file are looked at: a rule may be in it.
  bool is_of_interest(const std::string& path) const {
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    return name == kIgnoreFile || !folders_decided_by(path).empty() || takes_file(path) ||
           links_.links().is_step(path);
  }

  /// The folder no longer exists, and neither do the folders in it.
  void forget(const std::string& folder) {
    watches_.remove_at_or_below(folder);
    erase_at_or_below(read_, folder);
    links_.forget(folder);
    tree_.forget(folder);
    filter_.forget(folder);
    are_roots_unsure_ = are_roots_unsure_ || leads_to_root(folder);
  }

  bool is_root(const std::string& path) const {
    const auto all = roots();
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& root) { return is_same(root, path); });
  }

  bool leads_to_root(std::string_view path) const {
    const auto all = roots();
    return std::any_of(all.begin(), all.end(), [&](const std::string& root) {
      return is_at_or_below(root, path, kPathStyle);
    });
  }

  /// An ignore file has changed, or events were lost.
  void look_again() {
    watches_.clear_problem();
    links_.clear_problem();
    for (const std::string& root : roots()) {
      if (!is_folder(root) || !takes_folder(root)) continue;
      read_ignore_files_above(root, filter_);
      tree_.add(root, std::chrono::system_clock::now());
    }
    checked_to_.emplace();
  }

  // ---- what happens

  void on_lost() {
    note("(more files than the system reported)");
    are_rules_unsure_ = are_roots_unsure_ = true;
    links_.doubt_all();
  }

  void on_pause() {
    links_.follow_unsure();
    if (std::exchange(are_roots_unsure_, false)) find_roots(TreeReading::kEver);
    if (std::exchange(are_rules_unsure_, false)) look_again();
    go_on();
  }

  void on_event(const FolderWatches::Event& event) {
    if (event.what == What::folder_gone) {
      forget(event.folder);
      return;
    }
    const std::string path = event.folder + '/' + event.name;
    if (is_added(event.what) && leads_to_root(path)) are_roots_unsure_ = true;
    links_.doubt(path);
    if (event.is_folder) {
      on_folder(event.what, path);
      return;
    }
    if (event.name == kIgnoreFile) are_rules_unsure_ = true;
    for (const std::string& folder : folders_decided_by(path)) {
      if (is_folder(folder) && read_marks(folder, filter_)) are_rules_unsure_ = true;
    }
    filter_.on_file(path);
    // A link that was created anew may lead elsewhere.
    if (event.what != What::written && watches_.contains(path)) forget(path);
    if (is_added(event.what) && (takes_file(path) || takes_folder(path)) && is_link(path)) {
      links_.doubt_link(path);
    }
    note_file(path, event.what == What::created);
  }

  void on_folder(What what, const std::string& path) {
    const bool is_taken = takes_folder(path);
    if (what == What::deleted || what == What::moved_away) {
      // For a deleted folder that was read, the deletion of each file was reported already.
      const auto since = tree_.waits_since(path);
      const bool is_unread = since && *since != TreeReading::kEver;
      if (is_taken && (is_unread || what == What::moved_away)) note(path + '/');
      found_roots_.erase(path);
      forget(path);
    } else if (is_added(what) && is_taken) {
      tree_.add(path, TreeReading::kEver);
    }
  }

  /// The core keeps no more files apart than this bound, so further files are dropped.
  void note(const std::string& path, bool is_new = false) {
    if (changed_.size() > limits::kChangedFilesMax && !is_binary(path)) return;
    changed_.try_emplace(path, is_new);
  }

  void note_file(const std::string& path, bool is_new = false) {
    if (takes_file(path)) note(path, is_new);
  }

  /// The core knows a program only by the path that was set.
  const std::string& spelled(const std::string& path) const {
    if (is_same(path, binary_)) return binary_;
    return is_same(path, other_binary_) ? other_binary_ : path;
  }

  void tell() {
    if (!changed_.empty()) {
      fact::FilesChanged fact;
      for (const auto& [path, is_new] : std::exchange(changed_, {})) {
        const auto facts = facts_of(path);
        const auto modified = facts ? std::optional(wall_time(facts->written)) : std::nullopt;
        // A temporary file has come and gone.
        if (is_new && !modified) continue;
        const bool is_usable = !is_binary(path) || is_filled_file(path);
        fact.files.push_back({spelled(path), is_binary(path), is_usable, modified, is_new});
      }
      if (!fact.files.empty()) events_.on_changed(std::move(fact));
    }
    if (is_reading()) return;
    const auto folders = std::count_if(read_.begin(), read_.end(), [this](const auto& folder) {
      return watches_.contains(folder);
    });
    fact::WatchChanged extent{static_cast<std::size_t>(folders), problem()};
    if (extent.problem.empty()) extent.unmatched = filter_.unmatched();
    if (told_ == extent) return;
    told_ = extent;
    events_.on_extent(std::move(extent));
  }

  EventLoop& loop_;
  WatchFilter filter_;
  Events events_;
  std::string binary_, other_binary_;

  FolderWatches watches_{
      loop_,
      {[this](const FolderWatches::Event& event) { on_event(event); }, [this] { on_lost(); },
       [this] { on_pause(); }, [this](const std::string& path) { return is_of_interest(path); }}};
  /// The watched folders whose entries are reported. A folder on the way to a root is watched
  /// without being read.
  Paths read_;
  /// Folders that are watched because a root is in them, or would appear in them.
  Paths anchors_;
  Paths found_roots_;
  LinkWatch links_{{[this](const std::string& path) { return is_root(path); },
                    [this](const std::string& path, const LinkTarget& target) {
                      return takes_link(path, target);
                    },
                    [this](const std::string& step, Kind kind, Paths& folders) {
                      watch_anchor(step, folders, kind);
                    },
                    [this](const std::vector<std::string>& folders) { release(folders); },
                    [this](const std::string& path, const LinkTarget& before, const LinkTarget& now,
                           TreeReading::Stamp since) { on_followed(path, before, now, since); }}};
  bool are_roots_unsure_ = false;
  bool are_rules_unsure_ = false;

  TreeReading tree_{
      filter_,
      {[this](const std::string& folder) { return watch_before_reading(folder); },
       [this](const std::string& folder) { leave_out(folder); },
       [this](const std::string& folder) { watches_.choose_files(folder); },
       [this](const std::string& path) { note_file(path); },
       [this](const std::string& folder) { note(folder + '/'); },
       [this](const std::string& path, TreeReading::Stamp since) { on_link(path, since); }}};
  /// Set while the watches are compared with new rules: the last folder that was compared.
  std::optional<std::string> checked_to_;
  /// Whether this comparison has ended a watch.
  bool has_removed_ = false;
  bool is_slice_due_ = false;
  /// A slice may be due when the watcher is gone.
  std::shared_ptr<const bool> is_alive_ = std::make_shared<const bool>(true);

  /// The files that the events of one read have changed, and which of them were new at first.
  std::map<std::string, bool, PathLess> changed_;
  std::optional<fact::WatchChanged> told_;
};

FileWatch::FileWatch(EventLoop& loop, WatchFilter filter, Events events)
    : watcher_(std::make_unique<Watcher>(loop, std::move(filter), std::move(events))) {}
FileWatch::~FileWatch() = default;
void FileWatch::start() { watcher_->start(); }
void FileWatch::read_pending() { watcher_->read_pending(); }
void FileWatch::set_binary(const std::string& path, const std::string& behind) {
  watcher_->set_binary(path, behind);
}

}  // namespace sitter
