#include "core/child/own_restart.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "core/base/raw_id.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// The message without the name of the method, which some servers quote.
std::string general_message(std::string_view error, std::string_view method) {
  std::string message = string_value(member(error, "message"));
  if (const std::size_t at = message.find(method); at != message.npos) {
    message.erase(at, method.size());
  }
  return message;
}

}  // namespace

bool reads_as_unopened(std::string_view error) {
  const std::string message = lower(string_value(member(error, "message")));
  // The Python SDK says no more than this.
  const bool is_of_python = message == "invalid request parameters";
  return is_of_python || has_code(error, ErrorCode::invalid_request) ||
         message.find("initializ") != message.npos || message.find("initialis") != message.npos;
}

bool announces_restart(std::string_view line) {
  // Watchers that take the pipe for a terminal begin with a colour, or clear the screen.
  while (line.starts_with('\x1b')) {
    const std::size_t end = line.find_first_of("cmJH");
    line.remove_prefix(end == line.npos ? line.size() : end + 1);
  }
  constexpr std::string_view kWords[] = {"Restarting '", "[nodemon] restarting",
                                         "[nodemon] starting `"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view words) { return line.starts_with(words); });
}

void OwnRestart::ask(CatalogKind kind, Now now, Orders& out) {
  if (is_certain() || (is_suspected() && !list_id_.empty())) return;
  if (state_ == State::none) {
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
  state_ = State::expected;
  deadline_ = std::min(now.steady + limits::kOwnRestartWait, latest_);
}

void OwnRestart::drop() {
  state_ = State::none;
  deadline_.reset();
  refusal_.clear();
}

bool OwnRestart::on_answer(const Message& answer) {
  if (list_id_.empty() || !same_id(answer.id, list_id_)) return false;
  list_id_.clear();
  if (state_ != State::asked && state_ != State::expected) return true;
  const bool is_refused = answer.kind == Message::Kind::error &&
                          (may_mean_unopened(answer.error) || reads_as_unopened(answer.error));
  if (is_refused) refusal_ = answer.error;
  if (state_ == State::asked && is_refused) be_certain();
  if (state_ == State::asked) drop();
  return true;
}

bool OwnRestart::explains(std::string_view error, std::string_view method) const {
  return !refusal_.empty() && member(error, "code") == member(refusal_, "code") &&
         general_message(error, method) == general_message(refusal_, list_method_);
}

void OwnRestart::on_timeout(Now now) {
  if (!is_due(deadline_, now)) return;
  if (state_ == State::expected) {
    be_certain();
  } else {
    drop();
  }
}

void OwnRestart::be_certain() {
  state_ = State::certain;
  deadline_.reset();
}

}  // namespace sitter
