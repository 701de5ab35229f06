#include "core/wire/message_scan.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/wire/protocol.hpp"

namespace sitter {
namespace {

using Name = MessagePlaces::Name;

/// The index of a line has four bytes for each of its bytes. After a line above this size, a new
/// index takes its place.
constexpr std::size_t kIndexKeptMax = limits::kMiB;

constexpr std::string_view kBadEscape = "a string has an escape that JSON does not have";
constexpr std::string_view kNoEnd = "it ends within an object or an array";
constexpr std::string_view kMore = "something follows the JSON object";

/// The length of \u1234, the longest escape.
constexpr std::size_t kEscapeMax = 6;

/// The end of the part of the piece that does not end within an escape or a character. Neither may
/// be valid.
std::size_t whole_part(const char* line, std::size_t begin, std::size_t end) {
  for (std::size_t at = end - std::min(end - begin, kEscapeMax); at < end; ++at) {
    if (line[at] != '\\') continue;
    while (at > begin && line[at - 1] == '\\') --at;
    end = at;
  }
  const auto is_continuation = [](char c) { return (c & 0xC0) == 0x80; };
  constexpr std::size_t kCharacterMax = 4;
  const std::size_t last = end - std::min(end - begin, kCharacterMax);
  std::size_t at = end;
  while (at > last && is_continuation(line[at - 1])) --at;
  return at > last && static_cast<unsigned char>(line[at - 1]) >= 0xC0 ? at - 1 : end;
}

/// Whether the text before `at` ends within a scalar that is no string.
bool ends_in_scalar(const char* line, std::size_t at) {
  constexpr std::string_view kOthers = "{}[],:\" \t\r\n";
  return at > 0 && kOthers.find(line[at - 1]) == kOthers.npos;
}

/// Does the same as `==`. But the compiler knows the size of `name`, which saves a call for each
/// key.
template <std::size_t size>
bool is(std::string_view key, const char (&name)[size]) {
  return key.size() == size - 1 && std::memcmp(key.data(), name, size - 1) == 0;
}

Name name_in_message(std::string_view key) {
  if (is(key, "id")) return Name::id;
  if (is(key, "jsonrpc")) return Name::jsonrpc;
  if (is(key, "method")) return Name::method;
  if (is(key, "params")) return Name::params;
  if (is(key, "result")) return Name::result;
  return is(key, "error") ? Name::error : Name::none;
}

Name name_in_params(std::string_view key) {
  if (is(key, "name")) return Name::name;
  if (is(key, "_meta")) return Name::meta;
  if (is(key, "progressToken")) return Name::progress_token;
  if (is(key, "requestId")) return Name::request_id;
  if (is(key, "cursor")) return Name::cursor;
  if (is(key, "uri")) return Name::uri;
  if (is(key, "level")) return Name::level;
  if (is(key, "protocolVersion")) return Name::protocol_version;
  if (is(key, "task")) return Name::task;
  if (is(key, "taskId")) return Name::task_id;
  if (is(key, "requestState")) return Name::request_state;
  return is(key, "notifications") ? Name::notifications : Name::none;
}

Name name_in_meta(std::string_view key) {
  if (is(key, "progressToken")) return Name::meta_progress_token;
  if (!key.starts_with(kMetaPrefix)) return Name::none;
  if (key == kMetaVersion) return Name::envelope_version;
  if (key == kMetaClientInfo) return Name::envelope_client;
  if (key == kMetaClientCapabilities) return Name::envelope_capabilities;
  return key == kMetaStream ? Name::subscription_id : Name::none;
}

}  // namespace

struct MessageScan::Parser {
  /// The places of all tokens; of a string, only its beginning.
  simdjson::error_code read(const char* text, std::size_t size) {
    using simdjson::SUCCESS;
    if (json && json->capacity() > kIndexKeptMax && size <= kIndexKeptMax) json.reset();
    if (!json || json->capacity() < size) {
      const std::size_t capacity = std::max(size, limits::kScannedFrom);
      const auto error =
          json ? json->allocate(capacity, 1)
               : simdjson::get_active_implementation()->create_dom_parser_implementation(capacity,
                                                                                         1, json);
      if (error) return error;
    }
    return json->stage1(reinterpret_cast<const std::uint8_t*>(text), size,
                        simdjson::stage1_mode::regular);
  }
  std::span<const std::uint32_t> index() const {
    return {json->structural_indexes.get(), json->n_structural_indexes};
  }

  std::unique_ptr<simdjson::internal::dom_parser_implementation> json;
};

MessageScan::MessageScan(std::size_t piece) : piece_(piece), parser_(std::make_unique<Parser>()) {}
MessageScan::~MessageScan() = default;
MessageScan::MessageScan(MessageScan&&) noexcept = default;
MessageScan& MessageScan::operator=(MessageScan&&) noexcept = default;

void MessageScan::restart() {
  state_ = State::reading;
  places_.clear();
  read_to_ = 0;
  is_in_string_ = has_escapes_ = false;
  ends_.clear();
  level_ = 0;
  expected_ = Expected::message;
  pending_ = Pending::none;
}

bool MessageScan::fail(std::string_view what) {
  what_ = what;
  return false;
}

MessageScan::Problem MessageScan::read(std::string_view line) {
  restart();
  state_ = State::refused;
  const simdjson::error_code error = parser_->read(line.data(), line.size());
  if (error == simdjson::UTF8_ERROR) return Problem::not_utf8;
  if (error == simdjson::MEMALLOC) return Problem::no_memory;
  what_ = error ? simdjson::error_message(error) : "";
  if (error) return Problem::not_json;
  if (line[parser_->index().front()] != '{') return Problem::not_an_object;
  what_ = kBadEscape;
  if (!has_good_escapes(line)) return Problem::not_json;
  if (!follow(line.data(), 0, parser_->index()) || !finish()) return Problem::not_json;
  state_ = State::complete;
  return Problem::none;
}

void MessageScan::grow(char* line, std::size_t size, bool is_complete) {
  while (state_ == State::reading && read_to_ < size) {
    const std::size_t end = std::min(size, read_to_ + piece_);
    const bool is_last = is_complete && end == size;
    if (!is_last && end - read_to_ < piece_) return;
    const std::size_t whole = is_last ? end : whole_part(line, read_to_, end);
    // A piece of nothing but backslashes would be looked at again and again.
    if (whole == read_to_ || !read_piece(line, whole)) state_ = State::refused;
    read_to_ = whole;
  }
  if (state_ != State::reading || !is_complete) return;
  state_ = !is_in_string_ && finish() ? State::complete : State::refused;
}

bool MessageScan::has_good_escapes(std::string_view piece) {
  const std::size_t first = piece.find('\\');
  has_escapes_ = has_escapes_ || first != piece.npos;
  return !has_bad_escape(piece, first);
}

/// The parser takes whole texts only. So a string that the piece cuts gets the quotes that it
/// lacks, for as long as the parser reads it.
bool MessageScan::read_piece(char* line, std::size_t end) {
  if (!has_good_escapes({line + read_to_, end - read_to_})) return false;
  const bool began_in_string = is_in_string_;
  assert(!began_in_string || read_to_ > 0);
  const std::size_t begin = read_to_ - (began_in_string ? 1 : 0);
  const char before = std::exchange(line[begin], began_in_string ? '"' : line[begin]);
  simdjson::error_code error = simdjson::UNCLOSED_STRING;
  for (const bool ends_in_string : {began_in_string, !began_in_string}) {
    if (error != simdjson::UNCLOSED_STRING) break;
    is_in_string_ = ends_in_string;
    const char behind = std::exchange(line[end], ends_in_string ? '"' : line[end]);
    error = parser_->read(line + begin, end - begin + (ends_in_string ? 1 : 0));
    line[end] = behind;
  }
  line[begin] = before;
  // White space alone has no index.
  if (error == simdjson::EMPTY) return true;
  if (error) return false;
  const auto index = parser_->index();
  // What the piece before has begun is no token of this one.
  const bool goes_on = began_in_string || (index[0] == 0 && ends_in_scalar(line, begin) &&
                                           ends_in_scalar(line, begin + 1));
  return follow(line, begin, index.subspan(goes_on ? 1 : 0));
}

/// Follows the grammar from token to token. Returns false if the line is refused. Small messages
/// spend most of their time here.
bool MessageScan::follow(const char* line, std::size_t begin,
                         std::span<const std::uint32_t> index) {
  Expected expected = expected_;
  const auto is_value_expected = [&] {
    return expected == Expected::value || expected == Expected::first_value;
  };
  const std::uint32_t* token = index.data();
  const std::uint32_t* const end = token + index.size();
  if (token != end && pending_ != Pending::none) end_token(line, begin + *token);
  while (token != end) {
    const std::size_t at = begin + *token++;
    const char c = line[at];
    bool is_good = false;
    switch (c) {
      case '{':
      case '[':
        is_good = is_value_expected() || (expected == Expected::message && c == '{');
        if (!is_good && !goes_on_broken()) return false;
        open(c == '{', at);
        expected = c == '{' ? Expected::first_key : Expected::first_value;
        break;
      case '}':
      case ']':
        is_good = expected == Expected::more ||
                  expected == (c == '}' ? Expected::first_key : Expected::first_value);
        if (!(is_good && ends_.back() == c) && !goes_on_broken()) return false;
        close(at);
        expected = ends_.empty() ? Expected::nothing : Expected::more;
        break;
      case ',':
        if (expected != Expected::more && !goes_on_broken()) return false;
        expected = ends_.back() == '}' ? Expected::key : Expected::value;
        break;
      case ':':
        if (expected != Expected::colon && !goes_on_broken()) return false;
        if (expected == Expected::colon && level().members != Members::none) {
          on_key(line, key_at_, at);
        }
        expected = Expected::value;
        break;
      case '"':
        if (expected == Expected::key || expected == Expected::first_key) {
          // Nearly always, the colon follows in the same piece.
          if (token != end && line[begin + *token] == ':') {
            if (level().members != Members::none) on_key(line, at, begin + *token);
            ++token;
            expected = Expected::value;
          } else {
            key_at_ = at;
            expected = Expected::colon;
          }
          break;
        }
        [[fallthrough]];
      default:
        if (!is_value_expected() && !goes_on_broken()) return false;
        expected = Expected::more;
        if (c == '"' && level().name == Name::none) break;
        pending_ = c == '"' ? Pending::string : Pending::scalar;
        pending_at_ = at;
        if (token != end) end_token(line, begin + *token);
    }
  }
  expected_ = expected;
  return true;
}

/// Something is wrong at this place. In a value that the bridge does not read itself, that is only
/// noted.
bool MessageScan::goes_on_broken() {
  if (ends_.empty()) return fail(kMore);
  const Members members = level().members;
  if (members != Members::none && members != Members::of_result) return fail(kBadStructure);
  places_.is_checked = false;
  return true;
}

/// The token before this one has ended.
void MessageScan::end_token(const char* line, std::size_t next) {
  Level& here = level();
  const std::string_view text = json_trimmed({line + pending_at_, next - pending_at_});
  if (std::exchange(pending_, Pending::none) == Pending::scalar) {
    const bool is_told_apart =
        here.name == Name::jsonrpc || here.name == Name::id || here.name == Name::method;
    if (!is_told_apart && !is_json_scalar(text)) places_.is_checked = false;
  }
  if (here.name != Name::none) take_value(here, pending_at_, pending_at_ + text.size());
}

void MessageScan::open(bool is_object, std::size_t at) {
  Level& outer = level();
  outer.value_at = at;
  auto members = Members::none;
  if (ends_.empty()) {
    members = Members::of_message;
  } else if (is_object && outer.name != Name::none) {
    if (outer.name == Name::params) members = Members::of_params;
    if (outer.name == Name::meta) members = Members::of_meta;
    if (outer.name == Name::result) members = Members::of_result;
  }
  ends_.push_back(is_object ? '}' : ']');
  level_ = std::min(level_ + 1, kLevels + 1);
  level() = {members, Name::none, 0};
}

void MessageScan::close(std::size_t at) {
  ends_.pop_back();
  level_ = std::min(ends_.size(), kLevels + 1);
  if (Level& outer = level(); outer.name != Name::none) take_value(outer, outer.value_at, at + 1);
}

/// The key that begins here has ended before this colon.
void MessageScan::on_key(const char* line, std::size_t key, std::size_t colon) {
  std::size_t end = colon;
  while (line[end - 1] != '"') --end;
  const std::string_view raw(line + key, end - key);
  auto name = Name::none;
  if (!has_escapes_) {
    name = name_of(raw.substr(1, raw.size() - 2));
  } else if (const auto decoded = json_decoded(raw)) {
    name = name_of(*decoded);
  }
  level().name = name;
  if (name == Name::none && level().members == Members::of_message) places_.has_others = true;
  if (!places_.has(name)) return;
  if (name == Name::params)
    places_.present &= ~MessagePlaces::bits(Name::name, Name::subscription_id);
  if (name == Name::result) places_.present &= ~MessagePlaces::bit(Name::result_meta);
}

MessagePlaces::Name MessageScan::name_of(std::string_view key) {
  switch (level().members) {
    case Members::of_message:
      return name_in_message(key);
    case Members::of_params:
      return name_in_params(key);
    case Members::of_meta:
      return name_in_meta(key);
    case Members::of_result:
      return is(key, "_meta") ? Name::result_meta : Name::none;
    case Members::none:
      break;
  }
  return Name::none;
}

void MessageScan::take_value(Level& level, std::size_t begin, std::size_t end) {
  places_.set(std::exchange(level.name, Name::none),
              {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
}

bool MessageScan::finish() { return ends_.empty() || fail(kNoEnd); }

}  // namespace sitter
