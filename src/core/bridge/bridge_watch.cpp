#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Level = order::Log::Level;

namespace {

std::string files_text(const std::vector<std::string>& files, std::size_t count) {
  std::string text = one_line(fmt::format("{}", fmt::join(files, ", ")));
  if (count > files.size()) text += fmt::format(" and {} more", count - files.size());
  return text;
}

}  // namespace

void Conductor::on(const fact::FilesChanged& fact) {
  if (!changes_) return;
  for (const auto& file : fact.files) {
    // It is what a build is for.
    const bool is_built =
        file.is_binary && !config_.build_command.empty() && changes_->is_reload_on();
    if (!is_built) changes_->on_changed(file.path, file.is_usable, now_);
  }
}

void Conductor::on(const fact::WatchChanged& fact) {
  watched_folders_ = fact.folder_count;
  if (watch_problem_ == fact.problem) return;
  watch_problem_ = fact.problem;
  is_watch_problem_told_ = true;
  if (watch_problem_.empty()) return;
  out_.log(Level::warn, "--watch: " + watch_problem_);
  is_watch_problem_told_ = false;
}

void Conductor::on_files_settled() {
  const bool is_reload_due = changes_->is_settled(now_);
  for (const std::string& file : changes_->take_newly_own()) {
    out_.log(Level::warn,
             fmt::format("{} changes in each reload, so it is taken for their own work and not for "
                         "a reason for the next one, until something changes at another time; "
                         "--watch '!NAME' leaves it out",
                         one_line(file)));
  }
  if (!is_reload_due) return;
  const std::string files = files_text(changes_->files(), changes_->count());
  if (killer_.is_killing() || killer_.is_wanted_down() || ending_ != Ending::none) {
    out_.log(Level::info, fmt::format("changed: {}; the server was killed on purpose, so that is "
                                      "no reason to start it",
                                      files));
    changes_->forget();
    return;
  }
  out_.log(Level::info, fmt::format("changed: {}; the server is reloaded", files));
  last_trigger_ = {changes_->files(), changes_->count(), now_.wall};
  reload({files_text({changes_->files().front()}, changes_->count()) + " changed"});
}

/// What no reload can have missed any more.
void Conductor::note_reload_over() {
  if (rebuilder_.take_started()) changes_->on_build();
  const bool is_on_its_way = std::any_of(
      children_.begin(), children_.end(),
      [](const Child& child) { return !child.is_ready && !child.life.taken_down_for(); });
  if (!rebuilder_.is_on() && !is_on_its_way) changes_->on_over(now_);
}

std::optional<StatusFacts::WatchFacts> Conductor::watch_status() const {
  if (!changes_) return std::nullopt;
  StatusFacts::WatchFacts facts;
  facts.patterns = config_.watch_patterns;
  facts.watches_binary = config_.watches_binary;
  facts.debounce = config_.debounce;
  facts.folder_count = watched_folders_;
  facts.problem = watch_problem_;
  facts.last = last_trigger_;
  facts.own = changes_->own();
  return facts;
}

}  // namespace sitter
