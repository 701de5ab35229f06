#include <fmt/format.h>

#include <utility>

#include "core/rebuild/rebuilds.hpp"

namespace sitter {

using Level = order::Log::Level;

void Rebuilds::note_starts() {
  if (servers_.starts().take_started()) watch_.on_start();
  if (rebuilder_.take_started()) watch_.on_build();
}

void Rebuilds::note_reload() {
  note_starts();
  if (!is_on() && !servers_.generations().is_one_coming()) watch_.on_over(now_);
}

void Rebuilds::on_files_settled() {
  auto trigger = watch_.due(desk_.turn());
  if (!trigger) return;
  const std::string files = files_text(trigger->files, trigger->count);
  const bool is_killed = servers_.killer().is_killing() || servers_.killer().is_wanted_down();
  if (is_killed || !ending_.is_none()) {
    out_.log(Level::info,
             fmt::format("changed: {}; {}, so the change does not start it", files,
                         is_killed ? "the server was killed on purpose" : "the session is ending"));
    watch_.leave();
    return;
  }
  out_.log(Level::info, fmt::format("changed: {}; the server is reloaded", files));
  const std::string cause = files_text({trigger->files.front()}, trigger->count) + " changed";
  watch_.take(*std::move(trigger));
  reload({cause});
}

}  // namespace sitter
