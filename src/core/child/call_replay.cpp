#include "core/child/call_replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json_text.hpp"
#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/method.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"

namespace sitter {
namespace {

constexpr std::size_t kWhyBytesMax = 300;

/// Why a call has failed, in the server's words.
std::string failure_of(const Message& answer, const Secrets& secrets) {
  std::string words;
  if (answer.kind == Message::Kind::error) {
    words = string_value(member(answer.error, "message"));
  } else {
    for (const std::string_view block : json_elements(member(answer.result, "content"))) {
      if (words.empty()) words = string_value(member(block, "text"));
    }
  }
  return words.empty() ? "it gave no reason" : secrets.brief(words, kWhyBytesMax);
}

}  // namespace

bool is_complete_success(std::string_view result) {
  const auto [content, is_error, type] = members<3>(result, {"content", "isError", "resultType"});
  return is_array(content) && is_error != "true" && is_complete(type);
}

void CallReplay::begin(const MakeId& make_id, const MakeMeta& make_meta, Now now, Orders& out) {
  if (has_clock_) deadline_ = now.steady + limits::kReplayWait;
  ask(make_id, make_meta, out);
}

void CallReplay::add(ReplayedCall call, const MakeId& make_id, const MakeMeta& make_meta, Now now,
                     Orders& out) {
  const auto ahead = calls_.begin() + static_cast<std::ptrdiff_t>(std::min(next_, calls_.size()));
  const auto same = std::find_if(
      ahead, calls_.end(), [&](const ReplayedCall& other) { return other.tool == call.tool; });
  if (same != calls_.end()) {
    *same = std::move(call);
    return;
  }
  const bool was_done = is_done();
  calls_.push_back(std::move(call));
  if (!was_done) return;
  --next_;
  begin(make_id, make_meta, now, out);
}

void CallReplay::start_clock(Now now) {
  if (std::exchange(has_clock_, true) || is_done()) return;
  deadline_ = now.steady + limits::kReplayWait;
}

void CallReplay::ask(const MakeId& make_id, const MakeMeta& make_meta, Orders& out) {
  if (next_++ >= calls_.size()) {
    deadline_.reset();
    return;
  }
  const ReplayedCall& call = calls_[next_ - 1];
  const std::string meta = make_meta();
  id_ = make_id();
  out.push(order::SendToChild{
      gen_, Outgoing::own(request_line(
                id_, method_name(Method::tools_call),
                fmt::format(R"json({{"name":{}{}{}{}{}}})json", json_string(call.tool),
                            call.arguments.empty() ? "" : ",\"arguments\":", call.arguments,
                            meta.empty() ? "" : ",\"_meta\":", meta)))});
}

bool CallReplay::on_answer(const Message& answer, const MakeId& make_id, const MakeMeta& make_meta,
                           Orders& out) {
  if (is_done() || !same_id(answer.id, id_)) return false;
  if (answer.kind == Message::Kind::error || !is_complete_success(answer.result)) {
    failures_.push_back(fmt::format("{}: {}", running(), failure_of(answer, secrets_)));
  }
  ask(make_id, make_meta, out);
  return true;
}

void CallReplay::on_timeout(Now now) {
  if (!is_due(deadline_, now)) return;
  failures_.push_back(
      fmt::format("{}: not answered within {}", running(), duration_text(limits::kReplayWait)));
  while (++next_ <= calls_.size()) {
    failures_.push_back(
        fmt::format("{}: not called, because an earlier call was not answered", running()));
  }
  deadline_.reset();
}

std::string_view CallReplay::running() const {
  return next_ == 0 || is_done() ? std::string_view() : calls_[next_ - 1].tool;
}

}  // namespace sitter
