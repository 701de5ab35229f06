#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/report/news.hpp"
#include "core/report/old_code.hpp"

namespace sitter {
namespace {

const std::string kStillServes = "this answer is still the old server's: ";

/// How long after the program make has removed the files that it has made on the way: it does so
/// right after the link, and nobody deletes a source so soon.
constexpr Milliseconds kIntermediateMax{1000};

}  // namespace

/// What the result of this request says if its child has answered it with old code. Empty if the
/// result says nothing of the kind.
std::string News::old_code_in(const ClientRequest& request) const {
  // The child may have ended while the answer was held.
  const Child* const child = servers_.generations().find(request.gen);
  const UnservedChanges& unserved = rebuilds_.watch().unserved();
  const auto runs = [&](const std::string& file, const UnservedChanges::Change& change) {
    return child != nullptr && runs_change(*child, file, change);
  };
  if (const auto open = says_old_code() ? unserved.open(runs) : std::nullopt) {
    const OldCode::Change* const read = old_code_.newest(request.gen);
    return old_code_text(
        {files_text({open->file}, open->count), open->when},
        rebuilds_.unserved_clause(*open, read ? std::optional(read->when) : std::nullopt),
        now_.wall);
  }
  const OldCode::Change* const change = old_code_.untold(request.gen);
  const bool is_known = change != nullptr && child != nullptr && child->serves();
  if (is_being_replaced(request.gen)) {
    const std::string next = rebuilds_.progress_words();
    return is_known ? old_code_text(*change, next, now_.wall) : kStillServes + next;
  }
  if (!is_known) return {};
  return old_code_text(*change, desk_.names().old_code_hint(), now_.wall);
}

/// Whether a rebuild goes on that replaces this child, so that each of its results says so. That a
/// debugger holds a rebuild is told once.
bool News::is_being_replaced(Generation gen) const {
  const Rebuilder& rebuilder = rebuilds_.rebuilder();
  return says_old_code() && rebuilds_.is_on() && !rebuilder.is_held() &&
         !rebuilder.is_new_child(gen);
}

/// Whether a result of old code says so. A run of a tool that needs no build is never old.
bool News::says_old_code() const {
  return config_.writes_notices &&
         (servers_.traits().has_process || !config_.build_command.empty());
}

/// Whether the server, which needs no build, reads this file itself: a file of its kind, below the
/// folder of its own file.
bool News::is_own_source(const std::string& file) const {
  if (!config_.needs_no_build || !binary_.path) return false;
  const std::string& own = *binary_.path;
  const std::string_view folder = std::string_view(own).substr(0, own.rfind('/') + 1);
  const std::string_view kind = std::string_view(own).substr(std::min(own.rfind('.'), own.size()));
  return file == own ||
         (!folder.empty() && !kind.empty() && file.starts_with(folder) && file.ends_with(kind));
}

/// Whether the child runs this change, although no build or start of ours has brought it.
bool News::runs_change(const Child& child, const std::string& file,
                       const UnservedChanges::Change& change) const {
  const WallTime started = child.life.started().wall;
  const WallTime when = change.when;
  const bool is_known = binary_.modified && !servers_.serves_foreign();
  // Else no file shows the build, as behind a script.
  const bool shows_builds = !config_.needs_no_build || binary_.behind || !binary_.interpreter;
  // Such a folder has more likely held what the script reads itself.
  const bool is_own_folder = change.is_built_elsewhere && !shows_builds && file.ends_with('/');
  if (is_own_source(file) || is_own_folder || (change.is_built_elsewhere && !is_known)) {
    return started >= when;
  }
  if (!binary_.modified || started < *binary_.modified) return false;
  if (file == binary_.path || file == binary_.behind) return true;
  // A file that is gone is no part of a program that is older than the file, or of one that was
  // built from it a moment before, as by make, which removes what it has made on the way.
  if (change.is_built_elsewhere && change.is_gone && change.came &&
      (change.came > *binary_.modified || when - *binary_.modified <= kIntermediateMax)) {
    return true;
  }
  // Where nothing shows it, the next start but one is assumed to have it.
  if (change.is_built_elsewhere && !shows_builds && change.has_two_starts) return true;
  // A build of ours holds only what was saved before it began.
  const auto& build = rebuilds_.rebuilder().last_result();
  const bool is_ours = build && *binary_.modified <= build->ended &&
                       *binary_.modified >= build->ended - build->duration;
  return when <= (is_ours ? build->ended - build->duration : *binary_.modified);
}

}  // namespace sitter
