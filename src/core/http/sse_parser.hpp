#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/wire/room.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Reads an event stream (HTML, "Server-sent events"). The stream may come in pieces of any size.
/// Data are copied once, into the event, if their line lies in one piece. An event that the end of
/// the stream cuts off does not come out.
///
/// Data over the limit are not kept, and neither are data for which there is no memory. Only the
/// two ends of such data come out: at the end of the event, or when the data have become twice as
/// long as the limit.
class SseParser {
 public:
  struct Event {
    std::string type;        ///< empty for a message
    std::string data;        ///< with room for `limits::kLinePadding`; empty if it was not kept
    std::uint64_t size = 0;  ///< the size in bytes of data that were not kept, otherwise 0
    std::string head;        ///< the first bytes of these data
    std::string tail;        ///< the last bytes of these data, which do not overlap with the head
  };

  /// `kept` is the size of each end that is kept of data over the limit.
  explicit SseParser(std::size_t data_max = limits::kLineMax,
                     std::size_t kept = limits::kLineEndKept, HasRoom asked = sitter::has_room)
      : data_max_(data_max), kept_(kept), has_room_(asked) {}

  /// The next bytes of the stream. They must stay valid until `next()` has returned nothing, which
  /// must happen before the next piece.
  void feed(std::string_view piece);

  /// The next complete event. Nothing if the piece holds no further one.
  std::optional<Event> next();

  /// The bytes of the event that is not complete.
  std::size_t kept() const { return data_.size(); }

  /// The id of the last complete event that had one; empty if none had. An event without data
  /// counts too: servers begin a stream with one, so that the client knows an id.
  const std::string& last_event_id() const { return last_event_id_; }

  /// How long the server asks to wait before the stream is opened again, at most
  /// `limits::kHttpWaitMax`.
  std::optional<Milliseconds> retry() const { return retry_; }

 private:
  /// What is known about the line that is being read.
  enum class Field : std::uint8_t {
    undecided,  ///< its name is not complete
    data,
    type,
    id,
    retry,
    ignored,  ///< a comment, or a field that has no meaning
  };

  std::size_t line_end();
  void read(std::string_view part);
  void read_again(std::string_view part);
  std::optional<std::size_t> decide(std::string_view line);
  void begin_field(std::string_view name);
  void read_value(std::string_view text);
  std::optional<Event> end_line();
  void end_field();
  std::optional<Event> dispatch();

  void add_data(std::string_view text);

  std::size_t data_max_;
  std::size_t kept_;
  HasRoom has_room_;

  std::string_view rest_;          // what is left of the piece
  const char* newline_ = nullptr;  // the next newline in it, or its end; null if it is not known
  bool after_return_ = false;      // a newline that follows belongs to the same line end
  bool at_start_ = true;           // a byte order mark may follow

  Field field_ = Field::undecided;
  bool value_begun_ = false;
  std::string start_;  // the line that is being read, while it is undecided
  std::string value_;  // the value of a field that is not data, at most one byte over its limit

  bool has_data_ = false;
  std::string data_;
  std::string type_;
  std::string id_;  // of the event that is being read; it stays for the events after it

  TooLong too_long_;

  std::string last_event_id_;
  std::optional<Milliseconds> retry_;
};

}  // namespace sitter
