#include "core/http/http_date.hpp"

#include <cstddef>

#include "core/http/ascii.hpp"

namespace sitter {
namespace {

constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

struct Fields {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;

  /// The field that a letter of a pattern stands for; null for other characters.
  int* at(char letter) {
    switch (letter) {
      case 'Y':
        return &year;
      case 'D':
        return &day;
      case 'h':
        return &hour;
      case 'm':
        return &minute;
      case 's':
        return &second;
      default:
        return nullptr;
    }
  }
};

bool skip_letters(std::string_view& text) {
  const std::size_t size = text.size();
  while (!text.empty() && is_ascii_letter(text.front())) text.remove_prefix(1);
  return text.size() < size;
}

bool read_month(std::string_view& text, int& month) {
  const std::size_t at = text.size() < 3 ? text.npos : kMonths.find(text.substr(0, 3));
  if (at == text.npos || at % 3 != 0) return false;
  month = static_cast<int>(at / 3) + 1;
  text.remove_prefix(3);
  return true;
}

bool read_digit(std::string_view& text, int& number) {
  if (text.empty() || !is_ascii_digit(text.front())) return false;
  number = 10 * number + (text.front() - '0');
  text.remove_prefix(1);
  return true;
}

/// Reads one character of a pattern. A letter of `Fields` stands for a digit, `#` for the name of a
/// month, `*` for the name of a day, and any other character for itself.
bool read(char letter, std::string_view& text, Fields& fields) {
  if (letter == '*') return skip_letters(text);
  if (letter == '#') return read_month(text, fields.month);
  if (int* const number = fields.at(letter)) return read_digit(text, *number);
  if (text.empty() || text.front() != letter) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<Fields> fields_of(std::string_view text, std::string_view pattern) {
  Fields fields;
  for (const char letter : pattern) {
    if (!read(letter, text, fields)) return std::nullopt;
  }
  if (!text.empty()) return std::nullopt;
  return fields;
}

int full_year(int last_digits, WallTime now) {
  const std::chrono::year_month_day today(std::chrono::floor<std::chrono::days>(now));
  const int this_year = static_cast<int>(today.year());
  const int year = this_year - this_year % 100 + last_digits;
  return year > this_year + 50 ? year - 100 : year;
}

std::optional<HttpDate> date_of(const Fields& fields) {
  const std::chrono::year_month_day day{std::chrono::year(fields.year),
                                        std::chrono::month(static_cast<unsigned>(fields.month)),
                                        std::chrono::day(static_cast<unsigned>(fields.day))};
  // The second 60 is a leap second.
  const bool is_time = fields.hour < 24 && fields.minute < 60 && fields.second <= 60;
  if (!day.ok() || !is_time) return std::nullopt;
  return std::chrono::sys_days(day) + std::chrono::hours(fields.hour) +
         std::chrono::minutes(fields.minute) + std::chrono::seconds(fields.second);
}

}  // namespace

std::optional<HttpDate> http_date(std::string_view text, WallTime now) {
  // The last form writes a day of one digit after a second space.
  for (const std::string_view pattern :
       {"*, DD # YYYY hh:mm:ss GMT", "* # DD hh:mm:ss YYYY", "* #  D hh:mm:ss YYYY"}) {
    if (const auto fields = fields_of(text, pattern)) return date_of(*fields);
  }
  auto fields = fields_of(text, "*, DD-#-YY hh:mm:ss GMT");
  if (!fields) return std::nullopt;
  fields->year = full_year(fields->year, now);
  return date_of(*fields);
}

}  // namespace sitter
