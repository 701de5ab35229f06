#include "core/child/own_restart.hpp"

#include <algorithm>
#include <cstddef>

#include "core/base/raw_id.hpp"
#include "core/child/unopened.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/reply.hpp"

namespace sitter {
namespace {

/// The message without the name of the method, which some servers quote.
std::string general_message(std::string_view error, std::string_view method) {
  std::string message = string_value(member(error, "message"));
  if (const std::size_t at = message.find(method); at != message.npos) {
    message.erase(at, method.size());
  }
  return message;
}

}  // namespace

Announcement announcement_in(std::string_view line) {
  const auto skip_escapes = [&] {
    // Watchers that take the pipe for a terminal begin with a colour, or clear the screen.
    while (line.starts_with('\x1b')) {
      const std::size_t end = line.find_first_of("cmJH");
      line.remove_prefix(end == line.npos ? line.size() : end + 1);
    }
  };
  const auto takes = [&](std::string_view word) {
    const bool is_there = line.starts_with(word);
    if (is_there) line.remove_prefix(word.size());
    return is_there;
  };
  skip_escapes();
  if (takes("Restarting '") || takes("[nodemon] restarting")) return Announcement::restart;
  if (takes("[nodemon] starting `")) return Announcement::start;
  if (!takes("Watcher")) return Announcement::none;
  skip_escapes();
  takes(" ");
  skip_escapes();
  return takes("Restarting! File change detected") || takes("File change detected! Restarting!")
             ? Announcement::restart_within
             : Announcement::none;
}

void OwnRestart::note(const std::vector<ListSurvey::List>& lists) {
  for (const ListSurvey::List& list : lists) {
    if (list.state == ListSurvey::List::State::complete) given_.insert(list.kind);
    if (state_ != State::expected || list.refusal.empty()) continue;
    refusal_ = list.refusal;
    list_method_ = method_name(list_method(list.kind));
  }
}

void OwnRestart::ask(CatalogKind kind, std::string_view error, Now now, Orders& out) {
  if (is_certain() || (is_suspected() && !list_id_.empty())) return;
  if (state_ == State::none) {
    is_doubtful_ = !has_given(kind);
    const bool may_ask =
        !is_doubtful_ || (names_opening(error) && doubtful_in_row_ < limits::kDoubtfulRestartsMax);
    if (!may_ask) return;
    state_ = State::asked;
    deadline_ = now.steady + limits::kOwnRestartListWait;
  }
  list_id_ = make_id_();
  list_method_ = method_name(list_method(kind));
  out.push(order::SendToChild{gen_, Outgoing::own(request_line(list_id_, list_method_, "{}"))});
}

void OwnRestart::expect(Now now) {
  if (is_certain()) return;
  if (state_ != State::expected) latest_ = now.steady + limits::kOwnRestartWaitsMax;
  is_doubtful_ = false;
  is_announced_ = true;
  state_ = State::expected;
  deadline_ = std::min(now.steady + limits::kOwnRestartWait, latest_);
}

void OwnRestart::drop() {
  state_ = State::none;
  is_announced_ = false;
  deadline_.reset();
  refusal_.clear();
}

bool OwnRestart::on_answer(const Message& answer) {
  if (list_id_.empty() || !same_id(answer.id, list_id_)) return false;
  list_id_.clear();
  if (state_ != State::asked && state_ != State::expected) return true;
  if (is_refusal(answer)) {
    refusal_ = answer.error;
    if (state_ == State::asked) be_certain();
  }
  if (state_ == State::asked) drop();
  return true;
}

bool OwnRestart::is_refusal(const Message& answer) const {
  if (answer.kind != Message::Kind::error) return false;
  if (is_doubtful_) return names_opening(answer.error);
  return may_mean_unopened(answer.error) || reads_as_unopened(answer.error);
}

bool OwnRestart::explains(std::string_view error, std::string_view method) const {
  return !refusal_.empty() && member(error, "code") == member(refusal_, "code") &&
         general_message(error, method) == general_message(refusal_, list_method_);
}

bool OwnRestart::on_timeout(Now now) {
  if (!is_due(deadline_, now)) return false;
  if (state_ == State::expected) {
    be_certain();
    return false;
  }
  drop();
  return true;
}

void OwnRestart::be_certain() {
  state_ = State::certain;
  deadline_.reset();
}

}  // namespace sitter
