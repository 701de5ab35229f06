#include "core/http/sse_parser.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/base/ascii.hpp"
#include "core/http/http_words.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// The id and the type of an event of an HTTP daemon. The id is sent back in a header, and servers
/// refuse a longer one: nginx and Apache read 8 KiB for a header. A longer value is ignored.
constexpr std::size_t kEventFieldMax = 4 * limits::kKiB;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The longest name of a field that has a meaning: "event" or "retry".
constexpr std::size_t kNameMax = 5;

/// From the beginning of a line, so many bytes always decide what its field is.
constexpr std::size_t kStartMax = kByteOrderMark.size() + kNameMax + 1;

std::string_view without_mark(std::string_view line) {
  return line.substr(line.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
}

}  // namespace

void SseParser::feed(std::string_view piece) {
  assert(rest_.empty());
  rest_ = piece;
  newline_ = nullptr;
}

std::optional<SseParser::Event> SseParser::next() {
  while (!rest_.empty()) {
    if (std::exchange(after_return_, false) && rest_.front() == '\n') {
      rest_.remove_prefix(1);
      continue;
    }
    const std::size_t end = line_end();
    read(rest_.substr(0, end));
    if (end == rest_.npos) {
      rest_ = {};
      break;
    }
    after_return_ = rest_[end] == '\r';
    rest_.remove_prefix(end + 1);
    if (auto event = end_line()) return event;
  }
  const bool is_endless = too_long_.size > 2 * std::uint64_t{data_max_};
  if (!is_endless || std::exchange(too_long_.is_told, true)) return std::nullopt;
  return Event{type_, {}, too_long_.size, too_long_.head, too_long_.tail};
}

/// Where the first line of the rest ends, or npos. The place of the next newline is remembered,
/// because the search for it would otherwise begin anew at each line that ends with a carriage
/// return.
std::size_t SseParser::line_end() {
  const char* const begin = rest_.data();
  if (newline_ == nullptr || newline_ < begin) {
    newline_ = begin + std::min(rest_.find('\n'), rest_.size());
  }
  const auto newline = static_cast<std::size_t>(newline_ - begin);
  const std::size_t carriage_return = rest_.substr(0, newline).find('\r');
  if (carriage_return != rest_.npos) return carriage_return;
  return newline < rest_.size() ? newline : rest_.npos;
}

/// Reads a line, or a part of one.
void SseParser::read(std::string_view part) {
  if (field_ != Field::undecided) {
    read_value(part);
  } else if (!start_.empty()) {
    read_again(part);
  } else if (const auto value = decide(part)) {
    read_value(part.substr(*value));
  } else {
    start_ = part;
  }
}

/// Reads on in a line whose beginning has not decided what its field is.
void SseParser::read_again(std::string_view part) {
  const std::size_t missing = std::min(part.size(), kStartMax - start_.size());
  start_.append(part.substr(0, missing));
  const auto value = decide(start_);
  if (!value) return;
  read_value(std::string_view(start_).substr(*value));
  read_value(part.substr(missing));
}

/// Finds out the field of a line from the line or its beginning. Returns where its value begins, or
/// nothing if that depends on bytes that have not come.
std::optional<std::size_t> SseParser::decide(std::string_view line) {
  if (at_start_ && line.size() < kByteOrderMark.size() && kByteOrderMark.starts_with(line)) {
    return std::nullopt;
  }
  const std::string_view text = at_start_ ? without_mark(line) : line;
  const std::size_t colon = text.substr(0, kNameMax + 1).find(':');
  if (colon != text.npos) {
    begin_field(text.substr(0, colon));
    return line.size() - text.size() + colon + 1;
  }
  if (text.size() <= kNameMax) return std::nullopt;
  field_ = Field::ignored;
  return line.size();
}

void SseParser::begin_field(std::string_view name) {
  field_ = name == "data"    ? Field::data
           : name == "event" ? Field::type
           : name == "id"    ? Field::id
           : name == "retry" ? Field::retry
                             : Field::ignored;
  if (field_ != Field::data) return;
  if (std::exchange(has_data_, true)) add_data("\n");
}

void SseParser::read_value(std::string_view text) {
  if (text.empty() || field_ == Field::ignored) return;
  if (!std::exchange(value_begun_, true) && text.front() == ' ') text.remove_prefix(1);
  if (field_ == Field::data) {
    add_data(text);
  } else {
    value_.append(text.substr(0, kEventFieldMax + 1 - value_.size()));
  }
}

std::optional<SseParser::Event> SseParser::end_line() {
  const bool was_at_start = std::exchange(at_start_, false);
  if (field_ == Field::undecided) {
    const std::string_view name = was_at_start ? without_mark(start_) : start_;
    if (name.empty()) {
      start_.clear();
      return dispatch();
    }
    begin_field(name);
  }
  end_field();
  field_ = Field::undecided;
  value_begun_ = false;
  start_.clear();
  value_.clear();
  return std::nullopt;
}

void SseParser::end_field() {
  if (value_.size() > kEventFieldMax) return;
  if (field_ == Field::type) {
    type_ = value_;
  } else if (field_ == Field::id &&
             std::none_of(value_.begin(), value_.end(), [](char c) { return is_control(c); })) {
    id_ = value_;
  } else if (field_ == Field::retry) {
    constexpr auto kMax = static_cast<std::uint64_t>(limits::kHttpWaitMax.count());
    if (const auto wait = decimal_number(value_)) retry_ = Milliseconds(std::min(*wait, kMax));
  }
}

/// A blank line ends the event.
std::optional<SseParser::Event> SseParser::dispatch() {
  last_event_id_ = id_;
  Event event{std::exchange(type_, {}), {}, 0, {}, {}};
  if (!std::exchange(has_data_, false)) return std::nullopt;
  if (too_long_.size == 0 && !can_read(data_.size(), has_room_))
    too_long_.add(std::exchange(data_, {}), kept_);
  if (too_long_.size == 0) {
    event.data = std::exchange(data_, {});
    return event;
  }
  event.size = std::exchange(too_long_.size, 0);
  event.head = std::exchange(too_long_.head, {});
  event.tail = std::exchange(too_long_.tail, {});
  if (std::exchange(too_long_.is_told, false)) return std::nullopt;
  return event;
}

/// `text` is not empty.
void SseParser::add_data(std::string_view text) {
  if (too_long_.size == 0 && append_within(data_, text, data_max_, has_room_)) return;
  too_long_.add(std::exchange(data_, {}), kept_);
  too_long_.add(text, kept_);
}

}  // namespace sitter
