#include "support/simulation_controls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sitter::sim {

using json = nlohmann::json;
using Kind = ControlAsked::Kind;

void Controls::on_asked(const ControlAsked& asked, Instant now) {
  Owed& owed = owed_[asked.connection];
  if (!asked.is_wrong && (asked.kind == Kind::reload || asked.kind == Kind::kill)) {
    owed.slow.push_back(now);
  } else {
    ++owed.quick;
  }
  // A connection does not follow if its request is refused.
  if (asked.follows && !asked.is_wrong) following_[asked.connection];
}

void Controls::on_closed(ControlId connection) {
  following_.erase(connection);
  owed_.erase(connection);
}

void Controls::on_error_line(const std::string& text) {
  for (auto& [connection, lines] : following_) lines.push_back(text);
}

void Controls::on_line(ControlId connection, const std::string& line) {
  if (line.find('\n') != line.npos) throw Broken("a line to a connection has two lines");
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object()) throw Broken("a line to a connection is not a JSON object");
  if (message.contains("line")) {
    on_followed(connection, message["line"]);
    return;
  }
  if (message.contains("error") == message.contains("result")) {
    throw Broken("a line to a connection is neither an answer nor followed");
  }
  Owed& owed = owed_[connection];
  if (owed.quick > 0) {
    --owed.quick;
  } else if (!owed.slow.empty()) {
    owed.slow.erase(owed.slow.begin());
  } else {
    throw Broken(fmt::format("connection {} gets an answer that it is not owed", connection));
  }
}

void Controls::on_followed(ControlId connection, const std::string& line) {
  const auto found = following_.find(connection);
  if (found == following_.end()) throw Broken("a line goes to a connection that follows nothing");
  if (found->second.empty() || found->second.front() != line) {
    throw Broken("a follower is told what no child has written just now");
  }
  found->second.pop_front();
}

std::size_t Controls::owed_count() const {
  std::size_t count = 0;
  for (const auto& [connection, owed] : owed_) count += owed.quick + owed.slow.size();
  return count;
}

void Controls::check(std::optional<Instant> late, Instant moved_at) const {
  for (const auto& [connection, lines] : following_) {
    if (!lines.empty()) throw Broken("a follower misses a line");
  }
  for (const auto& [connection, owed] : owed_) {
    if (owed.quick > 0) throw Broken("a control request was not answered at once");
    if (late && !owed.slow.empty() && std::max(owed.slow.front(), moved_at) < *late) {
      throw Broken("a control request waits too long for its answer");
    }
  }
}

void Controls::check_end() const {
  if (owed_count() > 0) throw Broken("a control request was never answered");
}

}  // namespace sitter::sim
