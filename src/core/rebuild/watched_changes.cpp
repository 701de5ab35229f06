#include "core/rebuild/watched_changes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sitter/limits.hpp"

namespace sitter {

bool WatchedChanges::on_changed(std::string_view file, bool is_usable, Now now) {
  const bool is_others = is_usable && changed_.size() >= limits::kChangedFilesMax;
  const std::string_view known = is_others ? "(others)" : file;
  const bool may_be_late = is_usable && (state_ == State::idle || state_ == State::ending);
  const LateWrites::Verdict late = late_.on_changed(known, may_be_late, now);
  if (late == LateWrites::Verdict::own) return false;
  settled_at_ = now.steady + debounce_;
  if (late == LateWrites::Verdict::newly_own) {
    newly_late_.emplace_back(known);
    return false;
  }
  const bool counts = !is_own(file);
  if (!is_usable) return counts;
  if (state_ == State::idle) {
    in_a_row_.erase(std::string(known));
    following_ = 0;
  }
  changed_.emplace(known);
  return counts;
}

/// Whether a change of this file is assumed to be the work of the reload that runs.
bool WatchedChanges::is_own(std::string_view file) const {
  const auto row = in_a_row_.find(file);
  return state_ != State::idle && row != in_a_row_.end() && row->second >= limits::kOwnWritesInARow;
}

void WatchedChanges::on_build() {
  begin();
  state_ = State::building;
  read_changes();
}

void WatchedChanges::on_start(bool reads_all, Now now) {
  if (state_ != State::building) begin();
  state_ = State::starting;
  if (reads_all) read_changes();
  late_.on_start(std::exchange(causes_, {}), now);
}

void WatchedChanges::read_changes() {
  const bool has_other_cause = due_ != changed_;
  causes_ = has_other_cause ? Files() : std::move(due_);
  forget();
}

void WatchedChanges::on_over(Now now) {
  if (state_ != State::building && state_ != State::starting) return;
  causes_.clear();
  state_ = State::ending;
  settled_at_ = now.steady + debounce_;
}

void WatchedChanges::on_answer() {
  late_.on_client();
  if (state_ != State::ending) return;
  begin();
  state_ = State::idle;
}

bool WatchedChanges::is_settled(Now now) {
  if (state_ == State::building || !is_due(settled_at_, now)) return false;
  settled_at_.reset();
  if (state_ != State::idle) sort_out();
  if (state_ != State::idle && !changed_.empty() && ++following_ > limits::kFollowingReloadsMax) {
    newly_own_.insert(newly_own_.end(), changed_.begin(), changed_.end());
    changed_.clear();
  }
  if (state_ == State::ending) {
    end_row();
    state_ = State::idle;
  }
  due_ = changed_;
  return !changed_.empty();
}

std::optional<Instant> WatchedChanges::deadline() const {
  return state_ == State::building ? std::nullopt : settled_at_;
}

/// One reload may follow another without a pause.
void WatchedChanges::begin() {
  if (state_ == State::idle) return;
  sort_out();
  end_row();
}

/// Drops the changes that reloads make themselves.
void WatchedChanges::sort_out() {
  for (const std::string& file : changed_) {
    if (!changed_in_reload_.insert(file).second) continue;
    if (++in_a_row_[file] == limits::kOwnWritesInARow) newly_own_.push_back(file);
  }
  std::erase_if(changed_, [this](const std::string& file) {
    return in_a_row_[file] >= limits::kOwnWritesInARow;
  });
}

void WatchedChanges::end_row() {
  std::erase_if(in_a_row_,
                [this](const auto& row) { return !changed_in_reload_.contains(row.first); });
  changed_in_reload_.clear();
}

std::vector<std::string> WatchedChanges::files() const {
  const std::size_t shown = std::min(changed_.size(), limits::kChangedFilesShown);
  return {changed_.begin(), std::next(changed_.begin(), static_cast<std::ptrdiff_t>(shown))};
}

std::vector<std::string> WatchedChanges::own() const {
  std::vector<std::string> own = late_.own();
  for (const auto& [file, count] : in_a_row_) {
    if (count >= limits::kOwnWritesInARow) own.push_back(file);
  }
  return own;
}

std::vector<std::string> WatchedChanges::take_newly_own() { return std::exchange(newly_own_, {}); }

std::vector<std::string> WatchedChanges::take_newly_late() {
  return std::exchange(newly_late_, {});
}

}  // namespace sitter
