#include "channel.hpp"

#include <array>
#include <utility>

#include "json.hpp"

namespace sitter::fake {
namespace {

/// Calls `visit(line)` for each line of a text, whichever ends its lines have.
template <class Visit>
void each_line(std::string_view text, Visit visit) {
  while (true) {
    const std::size_t end = text.find_first_of("\r\n");
    visit(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
  }
}

}  // namespace

void Channel::carry_as_stream(const std::shared_ptr<Connection>& connection, std::size_t behind) {
  end();
  carrier_ = connection;
  if (options_.event_ids) sent_ = behind;
  begin_stream(*connection);
  send_what_is_due(true);
  if (over_) end();
  connection->flush();
}

void Channel::carry(const std::shared_ptr<Connection>& connection) {
  carrier_ = connection;
  streams_ = false;
}

void Channel::message(std::string_view text, bool now) {
  events_.push_back({std::string(text), false, 200});
  send_what_is_due(now);
}

void Channel::answer(std::string_view text, int status, bool now) {
  over_ = true;
  events_.push_back({std::string(text), true, status});
  send_what_is_due(now);
}

void Channel::on_handled(bool begins_stream) {
  const auto connection = carrier();
  if (!connection || over_) return;
  if (begins_stream && !streams_) begin_stream(*connection);
  connection->flush();
  if (std::exchange(closes_before_answer_, false)) connection->cut();
}

void Channel::end() {
  if (const auto connection = carrier(); connection && streams_) {
    connection->end_stream();
    connection->flush();
  }
  carrier_.reset();
}

std::shared_ptr<Connection> Channel::carrier() const {
  std::shared_ptr<Connection> connection = carrier_.lock();
  return connection && connection->is_open() ? connection : nullptr;
}

void Channel::begin_stream(Connection& connection) {
  streams_ = true;
  connection.begin_stream(headers_);
  std::string event;
  if (options_.event_ids) {
    event = "id: " + std::to_string(number_) + '-' + std::to_string(sent_) + '\n';
  }
  if (options_.retry) event += "retry: " + std::to_string(options_.retry->count()) + '\n';
  if (options_.event_ids) event += "data: \n";
  if (!event.empty()) connection.stream(event += '\n');
}

void Channel::send_what_is_due(bool now) {
  const auto connection = carrier();
  while (connection && connection->is_open() && sent_ < first_ + events_.size()) {
    const Event& event = events_[sent_ - first_];
    const bool as_stream = streams_ || !event.is_answer || (options_.sse && event.status == 200);
    if (as_stream && !streams_) begin_stream(*connection);
    if (event.is_answer && closes_before_answer_) {
      closes_before_answer_ = false;
      return connection->cut();
    }
    ++sent_;
    if (as_stream) {
      connection->stream(spelt(event.text, sent_));
      if (event.is_answer) connection->end_stream();
    } else {
      connection->respond(event.status, headers_,
                          options_.multiline ? spread_out(event.text) : event.text);
    }
    if (now) connection->flush();
    if (!event.is_answer) continue;
    carrier_.reset();
    break;
  }
  if (options_.event_ids) return;
  // The messages of a call whose response is gone are lost. Messages that belong to no call wait.
  const bool waits = number_ == kNoExchange && !connection;
  while (!waits && !events_.empty()) {
    events_.pop_front();
    ++first_;
  }
  sent_ = first_;
}

/// The event in the form of the wire. With --http-multiline the line ends differ from event to
/// event.
std::string Channel::spelt(const std::string& text, std::size_t number) const {
  constexpr std::array<std::string_view, 3> kEnds = {"\n", "\r\n", "\r"};
  const bool spread = options_.multiline;
  const std::string_view end = kEnds[spread ? number % kEnds.size() : 0];
  std::string event;
  if (spread) event.append(": event ").append(std::to_string(number)).append(end);
  if (options_.event_ids) {
    event += "id: " + std::to_string(number_) + '-' + std::to_string(number);
    event += end;
  }
  event.append("event: message").append(end);
  each_line(spread ? spread_out(text) : text, [&](std::string_view line) {
    event.append("data: ").append(line).append(end);
    if (spread) event.append(":").append(end);
  });
  return event.append(end);
}

}  // namespace sitter::fake
