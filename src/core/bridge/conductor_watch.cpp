#include <fmt/format.h>

#include "core/bridge/conductor.hpp"
#include "core/child/killer.hpp"
#include "core/rebuild/rebuilder.hpp"
#include "core/rebuild/watch.hpp"
#include "core/report/notices.hpp"
#include "core/report/old_code.hpp"

namespace sitter {

using Level = order::Log::Level;

void Conductor::on(const fact::FilesChanged& fact) { watch_->on_changed(fact, now_); }

void Conductor::on(const fact::WatchChanged& fact) { watch_->on_watched(fact, turn()); }

void Conductor::on(const fact::SourcesChecked& fact) {
  if (old_code_->on_checked(fact)) notices_->on_news();
}

void Conductor::on_files_settled() {
  auto trigger = watch_->due(turn());
  if (!trigger) return;
  const std::string files = files_text(trigger->files, trigger->count);
  const bool is_killed = killer_->is_killing() || killer_->is_wanted_down();
  if (is_killed || !ending_.is_none()) {
    out_.log(Level::info,
             fmt::format("changed: {}; {}, so the change does not start it", files,
                         is_killed ? "the server was killed on purpose" : "the session is ending"));
    watch_->leave();
    return;
  }
  out_.log(Level::info, fmt::format("changed: {}; the server is reloaded", files));
  const std::string cause = files_text({trigger->files.front()}, trigger->count) + " changed";
  watch_->take(*std::move(trigger));
  reload({cause});
}

/// Tells the watch when builds begin, and when no reload runs any more.
void Conductor::note_reload() {
  if (rebuilder_->take_started()) watch_->on_build();
  if (!rebuilder_->is_on() && !generations_.is_one_coming()) watch_->on_over(now_);
}

std::optional<StatusFacts::WatchFacts> Conductor::watch_status() const {
  if (!watch_->is_on()) return std::nullopt;
  StatusFacts::WatchFacts facts;
  facts.patterns = config_.watch_patterns;
  facts.watches_binary = config_.watches_binary;
  facts.debounce = config_.debounce;
  facts.folder_count = watch_->folder_count();
  facts.problem = watch_->problem();
  facts.unmatched = watch_->unmatched();
  facts.last = watch_->last_trigger();
  facts.own = watch_->own();
  return facts;
}

}  // namespace sitter
