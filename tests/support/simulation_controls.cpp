#include "support/simulation_controls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace sitter::sim {

using json = nlohmann::json;
using nlohmann::literals::operator""_json_pointer;
using Kind = ControlAsked::Kind;

void Controls::on_asked(const ControlAsked& asked, Instant now) {
  owed_.push_back({asked, false, false, false, now});
  // A connection does not follow if its request is refused.
  if (asked.follows && !asked.is_wrong) following_[asked.connection];
}

bool Controls::on_closed(ControlId connection) {
  following_.erase(connection);
  bool has_waited = false;
  std::erase_if(owed_, [&](const Owed& owed) {
    has_waited |= owed.asked.connection == connection && owed.asked.kind == Kind::reload;
    return owed.asked.connection == connection;
  });
  return has_waited;
}

void Controls::on_kill(bool must_give_up) {
  for (Owed& owed : owed_) {
    if (owed.asked.kind != Kind::reload || owed.asked.is_wrong) continue;
    owed.may_give_up = true;
    owed.must_give_up |= must_give_up;
  }
}

void Controls::on_error_line(const std::string& text) {
  for (auto& [connection, lines] : following_) lines.push_back(text);
}

void Controls::on_reload_begun() {
  for (Owed& owed : owed_) owed.is_reload_begun = true;
}

void Controls::on_line(ControlId connection, const std::string& line, bool is_ending) {
  if (line.find('\n') != line.npos) throw Broken("a line to a connection has two lines");
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object()) throw Broken("a line to a connection is not a JSON object");
  if (message.contains("line")) {
    on_followed(connection, message["line"]);
    return;
  }
  const bool is_error = message.contains("error");
  if (is_error == message.contains("result")) {
    throw Broken("a line to a connection is neither an answer nor followed");
  }
  const std::string text = message.value("/result/content/0/text"_json_pointer, "");
  const bool is_tool_error = message.value("/result/isError"_json_pointer, false);
  const auto find = [&](auto test) {
    return std::find_if(owed_.begin(), owed_.end(), [&](const Owed& owed) {
      return owed.asked.connection == connection && test(owed);
    });
  };
  auto found = find([&](const Owed& owed) { return fits(owed, is_error, is_tool_error, text); });
  // At the end, the bridge answers every request that is still open with an error.
  if (found == owed_.end() && is_error && is_ending) {
    // A request that comes during the end is refused before the earlier requests.
    const auto last = std::find_if(owed_.rbegin(), owed_.rend(), [&](const Owed& owed) {
      return owed.asked.connection == connection;
    });
    if (last != owed_.rend()) found = std::prev(last.base());
  }
  if (found == owed_.end()) {
    throw Broken(fmt::format("connection {} gets an answer that it is not owed", connection));
  }
  const bool is_reload = found->asked.kind == Kind::reload && !found->asked.is_wrong;
  const bool is_given_up = text.find("The reload was given up") != text.npos;
  if (is_given_up && !found->may_give_up && !is_ending) {
    throw Broken("a reload is given up without a kill or an end");
  }
  if (is_reload && !is_error && !is_given_up && !found->is_reload_begun) {
    throw Broken("a reload is answered with what had begun before it was asked for");
  }
  owed_.erase(found);
}

void Controls::on_followed(ControlId connection, const std::string& line) {
  const auto found = following_.find(connection);
  if (found == following_.end()) throw Broken("a line goes to a connection that follows nothing");
  if (found->second.empty() || found->second.front() != line) {
    throw Broken("a follower is told what no child has written just now");
  }
  found->second.pop_front();
}

bool Controls::is_at_once(const ControlAsked& asked) {
  return asked.is_wrong || (asked.kind != Kind::reload && asked.kind != Kind::kill);
}

bool Controls::fits(const Owed& owed, bool is_error, bool is_tool_error, const std::string& text) {
  if (owed.asked.kind == Kind::broken) return is_error;
  if (is_error) return false;
  const bool is_of_reload = text.starts_with("[mcp-sitter] ");
  if (owed.asked.is_wrong) return is_tool_error && !is_of_reload;
  switch (owed.asked.kind) {
    case Kind::status:
      return text.find("\"childState\"") != text.npos;
    case Kind::kill:
      return text.find("\"killed\"") != text.npos;
    case Kind::reload:
      return is_of_reload;
    case Kind::child_stderr:
    case Kind::broken:
      break;
  }
  return !is_of_reload;
}

void Controls::check(std::optional<Instant> late, Instant moved_at) const {
  for (const auto& [connection, lines] : following_) {
    if (!lines.empty()) throw Broken("a follower misses a line");
  }
  for (const Owed& owed : owed_) {
    if (is_at_once(owed.asked)) {
      throw Broken(fmt::format("{} was not answered at once", owed.asked.text));
    }
    if (owed.must_give_up) throw Broken("a reload goes on after a kill");
    if (late && std::max(owed.came, moved_at) < *late) {
      throw Broken(fmt::format("{} waits too long for its answer", owed.asked.text));
    }
  }
}

void Controls::check_end() const {
  if (!owed_.empty()) throw Broken(fmt::format("{} was never answered", owed_.front().asked.text));
}

}  // namespace sitter::sim
