#include "core/wire/line_outline.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <string>
#include <utility>

#include "core/base/json_text.hpp"

namespace sitter {
namespace {

/// The members of the message, of params and of `_meta` are in the first three levels.
constexpr std::size_t kSkippedContainer = 4;
constexpr std::size_t kSkippedString = 3;

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

}  // namespace

struct OutlineReader::Parser {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> json;
};

OutlineReader::OutlineReader(std::size_t piece, std::size_t gap_min)
    : piece_(piece), gap_min_(gap_min) {}
OutlineReader::~OutlineReader() = default;
OutlineReader::OutlineReader(OutlineReader&&) noexcept = default;
OutlineReader& OutlineReader::operator=(OutlineReader&&) noexcept = default;

void OutlineReader::restart() {
  state_ = State::reading;
  outline_.gaps.clear();
  skipped_ = read_to_ = string_at_ = scalar_at_ = 0;
  is_in_string_ = false;
  ends_.clear();
  expected_ = Expected::value;
}

void OutlineReader::read(char* line, std::size_t size, bool is_complete) {
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
  const bool is_closed = ends_.empty() && expected_ == Expected::more && !is_in_string_;
  state_ = is_closed && skipped_ > size / 2 ? State::complete : State::refused;
}

/// The parser takes whole texts only. So a string that the piece cuts gets the quotes that it
/// lacks, for as long as the parser reads it.
bool OutlineReader::read_piece(char* line, std::size_t end) {
  if (!parser_) {
    parser_ = std::make_unique<Parser>();
    const auto& simd = simdjson::get_active_implementation();
    if (simd->create_dom_parser_implementation(piece_ + 2, 1, parser_->json)) return false;
  }
  const std::string_view piece(line + read_to_, end - read_to_);
  if (has_bad_escape(piece, piece.find('\\'))) return false;
  const bool began_in_string = is_in_string_;
  assert(!began_in_string || read_to_ > 0);
  const std::size_t begin = read_to_ - (began_in_string ? 1 : 0);
  const char before = std::exchange(line[begin], began_in_string ? '"' : line[begin]);
  simdjson::error_code error = simdjson::UNCLOSED_STRING;
  for (const bool ends_in_string : {began_in_string, !began_in_string}) {
    if (error != simdjson::UNCLOSED_STRING) break;
    is_in_string_ = ends_in_string;
    const char behind = std::exchange(line[end], ends_in_string ? '"' : line[end]);
    error = parser_->json->stage1(reinterpret_cast<const std::uint8_t*>(line + begin),
                                  end - begin + (ends_in_string ? 1 : 0),
                                  simdjson::stage1_mode::regular);
    line[end] = behind;
  }
  line[begin] = before;
  // White space alone has no index.
  if (error == simdjson::EMPTY) return true;
  if (error) return false;
  const std::span<const std::uint32_t> index(parser_->json->structural_indexes.get(),
                                             parser_->json->n_structural_indexes);
  // What the piece before has begun is no token of this one.
  const bool goes_on = began_in_string || (index[0] == 0 && ends_in_scalar(line, begin) &&
                                           ends_in_scalar(line, begin + 1));
  return follow(line, begin, index.subspan(goes_on ? 1 : 0));
}

/// Follows the grammar of RFC 8259 from token to token. Returns false if the text breaks it.
bool OutlineReader::follow(const char* line, std::size_t begin,
                           std::span<const std::uint32_t> index) {
  for (const std::uint32_t from_begin : index) {
    const std::size_t at = begin + from_begin;
    if (!end_token(line, at) || !begin_token(line[at], at)) return false;
  }
  return true;
}

/// The token before this one has ended. The index names only the beginning of strings and other
/// scalars.
bool OutlineReader::end_token(const char* line, std::size_t next) {
  if (scalar_at_ != 0) {
    const std::size_t begin = std::exchange(scalar_at_, 0);
    return is_json_scalar(json_trimmed({line + begin, next - begin}));
  }
  if (string_at_ != 0) {
    const std::size_t begin = std::exchange(string_at_, 0) + 1;
    std::size_t end = next - 1;
    while (line[end] != '"') --end;
    add_gap(begin, end);
  }
  return true;
}

bool OutlineReader::begin_token(char c, std::size_t at) {
  const auto is_value = [this] {
    const bool is_expected = expected_ == Expected::value || expected_ == Expected::first_value;
    expected_ = Expected::more;
    return is_expected;
  };
  const auto ends_with = [this](char bracket, Expected none) {
    const bool is_expected = (expected_ == Expected::more || expected_ == none) && !ends_.empty() &&
                             ends_.back() == bracket;
    if (is_expected) ends_.pop_back();
    expected_ = Expected::more;
    return is_expected;
  };
  switch (c) {
    case '{':
    case '[':
      if (!is_value()) return false;
      ends_.push_back(c == '{' ? '}' : ']');
      expected_ = c == '{' ? Expected::first_key : Expected::first_value;
      if (ends_.size() == kSkippedContainer) opened_at_ = at + 1;
      return true;
    case '}':
    case ']':
      if (ends_.size() == kSkippedContainer) add_gap(opened_at_, at);
      return ends_with(c, c == '}' ? Expected::first_key : Expected::first_value);
    case ',':
      if (expected_ != Expected::more || ends_.empty()) return false;
      expected_ = ends_.back() == '}' ? Expected::key : Expected::value;
      return true;
    case ':':
      return std::exchange(expected_, Expected::value) == Expected::colon;
    case '"':
      if (expected_ == Expected::key || expected_ == Expected::first_key) {
        expected_ = Expected::colon;
        return true;
      }
      if (ends_.size() == kSkippedString) string_at_ = at;
      return is_value();
    default:
      scalar_at_ = at;
      return is_value();
  }
}

void OutlineReader::add_gap(std::size_t begin, std::size_t end) {
  if (end - begin < gap_min_) return;
  outline_.gaps.push_back({begin, end});
  skipped_ += end - begin;
}

Skeleton::Skeleton(std::string_view whole, const LineOutline& outline)
    : whole_(whole), outline_(outline) {
  std::string text;
  std::size_t from = 0;
  for (const auto& gap : outline.gaps) {
    text.append(whole.substr(from, gap.begin - from));
    from = gap.end;
  }
  text.append(whole.substr(from));
  text_ = OwnedLine(std::move(text));
}

std::string_view Skeleton::in_whole(std::string_view part) const {
  const std::string_view text = line().text();
  constexpr std::less<> kBefore;
  if (kBefore(part.data(), text.data()) || kBefore(text.data() + text.size(), part.data())) {
    return part;
  }
  const auto at = static_cast<std::size_t>(part.data() - text.data());
  const std::size_t begin = place(at, Side::begin);
  return whole_.substr(begin, place(at + part.size(), Side::end) - begin);
}

/// The beginning of a part may stand before a gap, and its end behind one.
std::size_t Skeleton::place(std::size_t at, Side side) const {
  for (const auto& gap : outline_.gaps) {
    if (at < gap.begin || (at == gap.begin && side == Side::begin)) break;
    at += gap.end - gap.begin;
  }
  return at;
}

}  // namespace sitter
