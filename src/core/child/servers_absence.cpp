#include <fmt/format.h>

#include <algorithm>

#include "core/child/servers.hpp"
#include "core/http/http_link_limits.hpp"
#include "core/wire/method.hpp"

namespace sitter {

using Level = order::Log::Level;

const Absence* Servers::absence() const {
  const Child* const child = generations_.shown();
  return child != nullptr && child->absence.is_on() ? &child->absence : nullptr;
}

ChildEnd Servers::absence_end() const {
  ChildEnd end{EndReason::connection_lost,
               {},
               {},
               absence() != nullptr ? absence()->why() : "it has not answered its opening"};
  end.is_unseen = true;
  end.had_no_child = true;
  end.is_foreign = true;
  return end;
}

bool Servers::on_absent(Generation gen, const std::string& why, Milliseconds again_after) {
  Child* const child = generations_.find(gen);
  if (child == nullptr || child->life.is_over()) return false;
  const bool is_news = !child->absence.is_on();
  child->absence.on_refused(why, again_after, now_);
  if (is_news) out_.log(Level::warn, fmt::format("child {} can't be reached: {}", gen, why));
  return true;
}

void Servers::try_again(Child& child) {
  child.absence.on_try();
  for (const OwnedLine& line : child.absence.take_refused()) {
    // The time of a process that was started here runs on.
    const bool is_opening = child.handshake.state() == Handshake::State::opening;
    if (is_opening && is_foreign(&child)) expect_start(child);
    out_.push(order::SendToChild{child.gen(), Outgoing::own(line.text())});
  }
}

bool Servers::repeat(Child& child, const fact::RequestLost& fact, const Message& message) {
  // The calls that are made again by themselves may have an effect, and the client's requests
  // without an entry have their answer.
  const bool is_safe = message.method != Method::tools_call && desk_.has_given_id(message.id);
  if (!is_safe || !child.life.is_up()) return false;
  if (child.absence.may_repeat(message.id)) {
    out_.push(order::SendToChild{fact.gen, Outgoing::own(std::string(fact.line.text()))});
    return false;
  }
  child.absence.keep(fact.line);
  return on_absent(fact.gen, fact.why, limits::kHttpConnectWaitMax);
}

std::optional<Milliseconds> Servers::absence_patience() const {
  const Child* const child = generations_.shown();
  if (child == nullptr || ending_.is_stopping()) return std::nullopt;
  if (!is_foreign(child) && child->handshake.startup_deadline()) return std::nullopt;
  if (child->absence.is_on()) return config_.wait_for_server;
  const bool is_unopened = is_foreign(child) && !generations_.takes_requests();
  if (!is_unopened) return std::nullopt;
  return std::max(config_.wait_for_server, limits::kHttpOpeningWaitMin);
}

std::optional<Instant> Servers::absence_patience_end() const {
  const auto patience = absence_patience();
  const auto since = patience ? desk_.requests().waits_since(true) : std::nullopt;
  return since ? std::optional(*since + *patience) : std::nullopt;
}

}  // namespace sitter
