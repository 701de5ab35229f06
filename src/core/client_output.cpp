#include "sitter/core/client_output.hpp"

#include <algorithm>
#include <utility>

#include "sitter/core/limits.hpp"

namespace sitter {

void ClientOutput::send(Outgoing line, Actions& out) {
  if (opens_at_) {
    line.keep();
    waiting_.push_back(std::move(line));
    return;
  }
  out.push(action::SendToClient{std::move(line)});
}

void ClientOutput::on_progress(std::string_view token, Now now) {
  std::erase_if(recent_, [&](const Progress& progress) {
    return progress.token == token || progress.at + limits::kProgressGap <= now.steady;
  });
  recent_.push_back({std::string(token), now.steady});
}

void ClientOutput::before_answer(std::string_view token, Now now) {
  if (recent_.empty() || token.empty()) return;
  const auto progress = std::find_if(recent_.begin(), recent_.end(),
                                     [&](const Progress& p) { return p.token == token; });
  if (progress == recent_.end()) return;
  const Instant until = progress->at + limits::kProgressGap;
  if (until > now.steady && (!opens_at_ || *opens_at_ < until)) opens_at_ = until;
  recent_.erase(progress);
}

void ClientOutput::on_timeout(Now now, Actions& out) {
  if (opens_at_ && *opens_at_ <= now.steady) flush(out);
}

void ClientOutput::flush(Actions& out) {
  opens_at_.reset();
  for (Outgoing& line : std::exchange(waiting_, {})) {
    out.push(action::SendToClient{std::move(line)});
  }
}

}  // namespace sitter
