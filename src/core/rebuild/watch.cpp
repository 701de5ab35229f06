#include "core/rebuild/watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/text.hpp"

namespace sitter {

using Level = order::Log::Level;

namespace {

/// A change is noticed within this time after it was made. A file with an older time was moved
/// here.
constexpr Milliseconds kNoticeDelayMax{1000};

WallTime time_of(const fact::FilesChanged::File& file, Now now) {
  const bool was_written =
      file.modified && *file.modified <= now.wall && now.wall - *file.modified <= kNoticeDelayMax;
  return was_written ? *file.modified : now.wall;
}

}  // namespace

void Watch::on_changed(const fact::FilesChanged& fact, Now now) {
  if (!is_on()) return;
  for (const auto& file : fact.files) {
    // The build itself makes the binary, so this change is no reason for another reload.
    const bool is_built = file.is_binary && has_build_ && changes_.is_reload_on();
    if (is_built) continue;
    const bool counts = changes_.on_changed(file.path, file.is_usable, now);
    if (counts) unserved_.on_changed(file, time_of(file, now), now);
  }
  const auto is_new_binary = [](const auto& file) { return file.is_binary && file.is_usable; };
  if (std::any_of(fact.files.begin(), fact.files.end(), is_new_binary)) {
    unserved_.on_built_elsewhere();
  }
}

void Watch::on_watched(const fact::WatchChanged& fact, const Turn& turn) {
  folder_count_ = fact.folder_count;
  for (const std::string& pattern : fact.unmatched) {
    if (std::find(unmatched_.begin(), unmatched_.end(), pattern) != unmatched_.end()) continue;
    turn.log(Level::warn, fmt::format("--watch: no file matches {}", one_line(pattern)));
  }
  unmatched_ = fact.unmatched;
  if (problem_ == fact.problem) return;
  problem_ = fact.problem;
  has_news_ = !problem_.empty();
  if (has_news_) turn.log(Level::warn, "--watch: " + problem_);
}

void Watch::on_build() {
  if (!is_on()) return;
  changes_.on_build();
  unserved_.on_build();
}

void Watch::on_start(Generation gen, Now now) {
  if (!is_on()) return;
  changes_.on_start(!has_build_, now);
  unserved_.on_start(gen);
}

void Watch::leave() {
  changes_.forget();
  unserved_.leave();
}

void Watch::on_over(Now now) {
  if (is_on()) changes_.on_over(now);
}

std::optional<Instant> Watch::deadline() const {
  return is_on() ? changes_.deadline() : std::nullopt;
}

std::optional<Watch::Trigger> Watch::due(const Turn& turn) {
  const bool is_due = changes_.is_settled(turn.now);
  const auto tell_own = [&](const std::string& file, std::string_view what) {
    own_news_ = fmt::format(
        "{} {}. If somebody has saved it, reload once more. --watch '!NAME' leaves it out",
        one_line(file), what);
    turn.log(Level::warn, own_news_);
  };
  for (const std::string& file : changes_.take_newly_own()) {
    tell_own(file,
             "changes in each reload, so it is taken for the work of the reloads and causes no "
             "further reload, until something changes at another time");
  }
  for (const std::string& file : changes_.take_newly_late()) {
    tell_own(file,
             fmt::format("changes after each start of the server, so it is taken for the server's "
                         "own work and causes no further reload, until it has not changed for {}",
                         duration_text(limits::kLateWriteMax)));
  }
  if (!is_due) {
    unserved_.forget_unread();
    return std::nullopt;
  }
  return Trigger{changes_.files(), changes_.count(), turn.now.wall};
}

std::string files_text(const std::vector<std::string>& files, std::size_t count) {
  std::string text = one_line(fmt::format("{}", fmt::join(files, ", ")));
  if (count > files.size()) text += fmt::format(" and {} more", count - files.size());
  return text;
}

}  // namespace sitter
