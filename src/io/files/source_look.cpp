#include "io/files/source_look.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/files/followed_links.hpp"
#include "io/files/ignore_files.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

/// Whether the text stands for itself in a pattern.
bool is_plain(const std::string& text) { return text.find_first_of("*?[\\") == text.npos; }

}  // namespace

SourceLook::SourceLook(const LaunchRequest& request, const BinaryInfo& own, WallTime started)
    : started_(started), own_(own.path) {
  std::error_code error;
  cwd_ = fs::absolute(request.cwd.empty() ? "." : request.cwd, error)
             .lexically_normal()
             .generic_string();
  while (cwd_.ends_with('/')) cwd_.pop_back();
  seen_.emplace(own_, Stamp{own.mtime, own.size, own.inode});
  const std::string& script = own.is_behind_interpreted ? own.behind->path : own_;
  ending_ = fs::path(script).extension().string();
  if (own.behind) {
    const BinaryInfo::File& behind = *own.behind;
    named_.push_back(behind.path);
    // A running program shows from which file it was started.
    if (!own.is_behind_interpreted) {
      seen_.emplace(behind.path, Stamp{behind.mtime, behind.size, behind.inode});
    }
  }
  if (!own.interpreter || ending_.size() <= 1 || !is_plain(ending_)) return;
  add_arguments(request);
  // A script in the root of the file system has no folder of its own.
  const std::string folder = parent_of(script);
  if (folder.empty()) return;
  std::vector<std::string> patterns{"*" + ending_};
  // Most interpreters read the modules beside the file to which a link leads.
  const std::string behind_link = parent_of(real_path(script));
  if (!behind_link.empty() && is_plain(behind_link) &&
      !is_at_or_below(behind_link, folder, kPathStyle)) {
    patterns.push_back(behind_link + "/**/*" + ending_);
  }
  filter_.emplace(patterns, folder, kPathStyle);
}

void SourceLook::add_arguments(const LaunchRequest& request) {
  for (const std::string& argument : request.arguments) {
    if (!argument.ends_with(ending_) || argument.starts_with('-')) continue;
    std::string path = (fs::path(cwd_) / argument).lexically_normal().generic_string();
    if (!is_same_path(path, own_, kPathStyle) && named_.size() < limits::kSourceFilesMax) {
      named_.push_back(std::move(path));
    }
  }
}

std::string SourceLook::name_of(const std::string& path) const {
  // What is no path has no folder.
  const bool has_folder = root_of(own_, kPathStyle).has_value();
  for (const std::string& folder : {cwd_, has_folder ? parent_of(own_) : cwd_}) {
    if (path.size() > folder.size() && is_at_or_below(path, folder, kPathStyle)) {
      return path.substr(folder.size() + 1);
    }
  }
  return path;
}

SourceLook::Seen SourceLook::look(WallTime now, const std::function<bool()>& may_go_on) {
  const bool begins = !is_in_round_;
  if (begins) begin_round();
  see(own_, now);
  while (go_on(now)) {
    if (!may_go_on()) return {newest_, false};
  }
  is_in_round_ = false;
  has_read_ignore_files_ = true;
  return {newest_, begins && !is_cut_};
}

void SourceLook::begin_round() {
  is_in_round_ = true;
  is_cut_ = false;
  last_known_ = "";
  named_count_ = found_count_ = 0;
  // Files that come and go would fill the memory. Without this entry, a change still shows in the
  // time of the file.
  if (seen_.size() > limits::kSourceFilesMax) seen_.clear();
  if (!filter_) return;
  for (const std::string& root : filter_->roots()) {
    if (!has_read_ignore_files_) read_ignore_files_above(root, *filter_);
    folders_.push_back(root);
  }
  folder_count_ = folders_.size();
}

bool SourceLook::go_on(WallTime now) {
  if (last_known_) {
    see_next_known(now);
  } else if (named_count_ < named_.size()) {
    see(named_[named_count_++], now);
  } else if (entries_) {
    see_entry(now);
  } else if (!folders_.empty()) {
    open(folders_.front());
    folders_.pop_front();
  } else {
    return false;
  }
  return true;
}

/// The folders do not show which of the known sources were deleted.
void SourceLook::see_next_known(WallTime now) {
  const auto next = seen_.upper_bound(*last_known_);
  if (next == seen_.end()) {
    last_known_.reset();
    return;
  }
  last_known_ = next->first;
  see(*last_known_, now);
}

void SourceLook::open(const std::string& folder) {
  read_marks(folder, *filter_);
  if (!filter_->takes_folder(folder)) return;
  if (!has_read_ignore_files_) read_ignore_file(folder, *filter_);
  folder_ = folder;
  entries_.emplace(folder);
  // A folder that is gone or closed to us has no sources.
  if (!entries_->is_open()) entries_.reset();
}

void SourceLook::see_entry(WallTime now) {
  const auto entry = entries_->next();
  if (!entry) {
    entries_.reset();
    return;
  }
  if (++found_count_ > limits::kSourceFilesMax) {
    is_cut_ = true;
    folders_.clear();
    entries_.reset();
    return;
  }
  const std::string& name = entry->name;
  const std::string path = folder_ + '/' + name;
  const bool is_link = entry->facts.is_link();
  const auto target = is_link ? facts_of(path) : entry->facts;
  if (target && target->is_folder()) {
    const bool is_taken = !name.starts_with('.') && filter_->takes_folder(path) &&
                          !(is_link && leads_above_itself(path));
    if (is_link && is_taken && !seen_.contains(path)) see(path, now);
    // The folders nearest to the script are seen first.
    if (!is_taken) {
      // Nothing in it is looked at.
    } else if (folder_count_ < limits::kSourceFoldersMax) {
      ++folder_count_;
      folders_.push_back(path);
    } else {
      is_cut_ = true;
    }
  } else if (name.ends_with(ending_) && !seen_.contains(path) && filter_->takes_file(path)) {
    see(path, now);
  }
}

SourceLook::Stamp SourceLook::stamp_of(const FileFacts& facts) {
  return {wall_time(facts.written), facts.size, facts.inode};
}

std::optional<SourceLook::Stamp> SourceLook::stamp_of(const std::string& path) {
  const auto entry = facts_of_entry(path);
  const bool is_link = entry && entry->is_link();
  const auto found = is_link ? facts_of(path) : entry;
  if (!found) return std::nullopt;
  // Of a folder only the link counts, since the files in it are seen themselves.
  if (is_link && found->is_folder()) return stamp_of(*entry);
  if (!found->is_file()) return std::nullopt;
  Stamp stamp = stamp_of(*found);
  if (is_link) stamp.modified = std::max(stamp.modified, stamp_of(*entry).modified);
  return stamp;
}

void SourceLook::see(const std::string& path, WallTime now) {
  const auto stamp = stamp_of(path);
  if (!stamp) {
    if (seen_.erase(path) > 0) note_change(path, now);
    return;
  }
  const auto [before, is_new] = seen_.try_emplace(path, *stamp);
  // A time in the future comes from a wrong clock, and shows nothing.
  const bool is_later = stamp->modified > started_ + limits::kSourceClockMargin &&
                        stamp->modified <= now + limits::kSourceClockMargin;
  if (is_new ? !is_later : before->second == *stamp) return;
  before->second = *stamp;
  // A file that was moved here keeps its time.
  note_change(path, stamp->modified > started_ ? std::min(stamp->modified, now) : now);
}

void SourceLook::note_change(const std::string& path, WallTime when) {
  if (!newest_ || when > newest_->when) newest_ = Change{name_of(path), when};
}

}  // namespace sitter
