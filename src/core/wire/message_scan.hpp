#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sitter/bytes.hpp"

namespace sitter {

namespace limits {

/// A line up to this size is read when it is complete: one read brings as much, so all of it is
/// still in the cache of the processor.
inline constexpr std::size_t kScannedFrom = 64 * kKiB;

/// A piece of this size and the index of its JSON stay in the second cache of the processor.
inline constexpr std::size_t kScanPiece = 32 * kKiB;

}  // namespace limits

/// Where in a line the values stand that the bridge reads. If a key is written twice, the last
/// value counts.
struct MessagePlaces {
  enum class Name : std::uint8_t {
    none,
    // of the message
    jsonrpc,
    id,
    method,
    params,
    result,
    error,
    // of params
    name,
    meta,
    progress_token,
    request_id,
    cursor,
    uri,
    level,
    protocol_version,
    task,
    task_id,
    request_state,
    notifications,
    // of _meta in params
    meta_progress_token,
    envelope_version,
    envelope_client,
    envelope_capabilities,
    subscription_id,
    // of result
    result_meta,
    count,
  };
  struct Place {
    std::uint32_t begin;
    std::uint32_t end;
  };

  /// A bit for each name that has a value.
  std::uint32_t present = 0;
  /// By name; undefined for a name that has no value.
  std::array<Place, static_cast<std::size_t>(Name::count)> all;
  /// The line is valid JSON (RFC 8259). If this is false, something is wrong that is not in the
  /// message, params or `_meta` themselves: deeper, or in another value.
  bool is_checked = true;
  /// The message has members that JSON-RPC does not know.
  bool has_others = false;

  static constexpr std::uint32_t bit(Name name) { return 1U << static_cast<unsigned>(name); }
  /// The bits of all names from `first` to `last`.
  static constexpr std::uint32_t bits(Name first, Name last) { return 2 * bit(last) - bit(first); }

  bool has(Name name) const { return (present & bit(name)) != 0; }
  const Place& of(Name name) const { return all[static_cast<std::size_t>(name)]; }

  void set(Name name, Place place) {
    present |= bit(name);
    all[static_cast<std::size_t>(name)] = place;
  }
  /// Begins anew.
  void clear() {
    present = 0;
    is_checked = true;
    has_others = false;
  }
};

/// Reads the JSON of a message in one pass, and finds out where the values stand that the bridge
/// reads. UTF-8, strings and escapes are always checked. No other module knows simdjson.
class MessageScan {
 public:
  enum class Problem : std::uint8_t { none, not_utf8, no_memory, not_an_object, not_json };

  /// What is wrong with a line whose `MessagePlaces::is_checked` is false.
  static constexpr std::string_view kBadStructure =
      "commas, brackets, keys or values are missing or superfluous";

  explicit MessageScan(std::size_t piece = limits::kScanPiece);
  ~MessageScan();
  MessageScan(MessageScan&&) noexcept;
  MessageScan& operator=(MessageScan&&) noexcept;

  /// Reads a whole line. Afterwards `places` is not null if there is no problem.
  Problem read(std::string_view line);
  /// A clause for a person about the last `not_json`.
  std::string_view what() const { return what_; }

  /// Reads a long line piece by piece while it comes in, as long as each piece is in the cache of
  /// the processor. The line has grown to this size, or is complete. The bytes beside a piece, of
  /// which one may be the byte behind the line, are overwritten and restored.
  void grow(char* line, std::size_t size, bool is_complete);
  /// Null if the line is not complete, or if it must be read as a whole because something is wrong.
  const MessagePlaces* places() const { return state_ == State::complete ? &places_ : nullptr; }
  /// Another line follows.
  void restart();

 private:
  using Name = MessagePlaces::Name;
  enum class State : std::uint8_t { reading, complete, refused };
  /// What the next token must be. `more` is a comma or the end of the container.
  enum class Expected : std::uint8_t {
    message,
    value,
    first_value,
    key,
    first_key,
    colon,
    more,
    nothing,
  };
  /// What is looked for in a container.
  enum class Members : std::uint8_t { none, of_message, of_params, of_meta, of_result };
  enum class Pending : std::uint8_t { none, string, scalar };
  struct Parser;
  /// The message is the first level, params and result are in the second, and `_meta` is in the
  /// third.
  static constexpr std::size_t kLevels = 3;

  /// An open container in one of these levels.
  struct Level {
    Members members = Members::none;
    Name name = Name::none;  ///< the name of the value that is being read
    std::size_t value_at = 0;
  };

  bool read_piece(char* line, std::size_t end);
  bool has_good_escapes(std::string_view piece);
  bool follow(const char* line, std::size_t begin, std::span<const std::uint32_t> index);
  void end_token(const char* line, std::size_t next);
  void open(bool is_object, std::size_t at);
  void close(std::size_t at);
  void on_key(const char* line, std::size_t key, std::size_t colon);
  Name name_of(std::string_view key);
  void take_value(Level& level, std::size_t begin, std::size_t end);
  bool goes_on_broken();
  bool finish();
  bool fail(std::string_view what);

  Level& level() { return levels_[level_]; }

  std::size_t piece_;
  std::unique_ptr<Parser> parser_;
  State state_ = State::reading;
  MessagePlaces places_;
  std::string_view what_;
  std::size_t read_to_ = 0;    // the bytes before this place have been read
  bool is_in_string_ = false;  // there
  bool has_escapes_ = false;   // before it
  std::vector<char> ends_;     // the closing brackets of the containers that are open there
  /// By the number of open containers. The last stands for all that are deeper.
  std::array<Level, kLevels + 2> levels_;
  std::size_t level_ = 0;
  Expected expected_ = Expected::message;
  std::size_t key_at_ = 0;
  Pending pending_ = Pending::none;  // the last token, if its end has to be found
  std::size_t pending_at_ = 0;
};

}  // namespace sitter
