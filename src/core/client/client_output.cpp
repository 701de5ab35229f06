#include "core/client/client_output.hpp"

#include <algorithm>
#include <utility>

namespace sitter {

void ClientOutput::send(Outgoing line, Orders& out) {
  if (opens_at_) {
    line.keep();
    writes_.back().push_back(std::move(line));
    return;
  }
  out.push(order::SendToClient{std::move(line)});
}

void ClientOutput::on_progress(std::string_view token, Now now) {
  std::erase_if(recent_, [&](const Progress& progress) {
    return progress.token == token ||
           (progress.at && *progress.at + limits::kProgressGap <= now.steady);
  });
  if (opens_at_) {
    recent_.push_back({std::string(token), last_write(), {}});
  } else {
    recent_.push_back({std::string(token), 0, now.steady});
  }
}

void ClientOutput::before_answer(std::string_view token, Now now) {
  if (recent_.empty() || token.empty()) return;
  const auto progress = std::find_if(recent_.begin(), recent_.end(),
                                     [&](const Progress& p) { return p.token == token; });
  if (progress == recent_.end()) return;
  if (!progress->at) {
    if (progress->write == last_write()) gap(now);
  } else if (const Instant until = *progress->at + limits::kProgressGap; until > now.steady) {
    close_until(until);
  }
  recent_.erase(progress);
}

void ClientOutput::gap(Now now) {
  if (!opens_at_) {
    close_until(now.steady + limits::kProgressGap);
  } else if (writes_.size() < limits::kWaitingWritesMax) {
    writes_.emplace_back();
  }
}

void ClientOutput::close_until(Instant until) {
  if (!opens_at_) writes_.emplace_back();
  if (!opens_at_ || *opens_at_ < until) opens_at_ = until;
}

void ClientOutput::on_timeout(Now now, Orders& out) {
  if (!opens_at_ || now.steady < *opens_at_) return;
  for (Progress& progress : recent_) {
    if (!progress.at && progress.write == first_write_) progress.at = now.steady;
  }
  let_out_first(out);
  opens_at_.reset();
  if (!writes_.empty()) opens_at_ = now.steady + limits::kProgressGap;
}

void ClientOutput::flush(Orders& out) {
  opens_at_.reset();
  recent_.clear();
  while (!writes_.empty()) let_out_first(out);
}

void ClientOutput::let_out_first(Orders& out) {
  for (Outgoing& line : writes_.front()) out.push(order::SendToClient{std::move(line)});
  writes_.pop_front();
  ++first_write_;
}

}  // namespace sitter
