#include <fmt/format.h>

#include <utility>

#include "core/base/text.hpp"
#include "core/rebuild/rebuilds.hpp"

namespace sitter {

using Level = order::Log::Level;

void Rebuilds::on(const fact::FilesChanged& fact) {
  if (desk_.requests().owed_to_client_count() > 0) watch_.on_waiting();
  watch_.on_changed(fact, now_);
}

void Rebuilds::note_starts() {
  if (servers_.starts().take_started()) watch_.on_start(servers_.generations().last(), now_);
  if (rebuilder_.take_started()) watch_.on_build();
}

void Rebuilds::note_reload() {
  note_starts();
  if (!is_on() && !servers_.generations().is_one_coming()) watch_.on_over(now_);
}

std::optional<Instant> Rebuilds::files_deadline() const {
  const bool is_only_probed = !desk_.opening().is_open() && servers_.generations().has_any();
  return is_only_probed ? std::nullopt : watch_.deadline();
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

std::optional<Instant> Rebuilds::fresh_wait_end() const {
  const UnservedChanges& unserved = watch_.unserved();
  // Changes that something has read, but that no reload brings any more, are awaited in vain.
  const bool is_awaited = unserved.has_any() && (is_on() || unserved.has_unread()) &&
                          !rebuilder_.is_held() && !servers_.serves_foreign();
  if (!is_awaited || !ending_.is_none()) return std::nullopt;
  const Instant end = unserved.wait_end(desk_.requests().waits_since());
  return end > now_.steady ? std::optional(end) : std::nullopt;
}

std::string Rebuilds::unserved_clause(const UnservedChanges::Open& changes,
                                      std::optional<WallTime> newer) const {
  const BuiltinNames& names = desk_.names();
  const auto hint = [&](Builtin builtin, std::string_view does) {
    return names.offers(builtin) ? fmt::format("; {} {}", names.name(builtin), does) : "";
  };
  if (rebuilder_.is_held()) return progress_words();
  if (is_on()) {
    const std::string what =
        rebuilder_.is_building()
            ? "the build has been running for " + duration_text(rebuilder_.build()->age(now_))
            : "the new server is starting";
    return what + hint(Builtin::rebuild, "waits for it");
  }
  if (servers_.serves_foreign()) return kRestartElsewhere;
  if (watch_.unserved().has_unread()) {
    return fmt::format("the server is reloaded when no file has changed for {}",
                       duration_text(config_.debounce));
  }
  if (!changes.is_built) {
    const auto& build = rebuilder_.last_result();
    const bool is_told = build && build->ended >= changes.when && has_failed(*build);
    if (newer > (is_told ? build->ended : changes.when)) {
      return "it was built since; " + names.old_code_hint();
    }
    return is_told ? build_clause(*build) + hint(Builtin::build_log, "shows its output")
                   : "nothing has built it since; " + names.build_hint();
  }
  return "the new server has failed to start" + hint(Builtin::child_stderr, "shows its stderr");
}

}  // namespace sitter
