#include "core/http/http_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/base/ascii.hpp"
#include "core/base/html_character.hpp"
#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/wire/json_view.hpp"

namespace sitter {
namespace {

struct Status {
  int number;
  std::string_view phrase;
};

/// The registry of HTTP status codes (RFC 9110, 16.2.1).
constexpr Status kStatuses[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {102, "Processing"},
    {103, "Early Hints"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {207, "Multi-Status"},
    {208, "Already Reported"},
    {226, "IM Used"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {305, "Use Proxy"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {424, "Failed Dependency"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {506, "Variant Also Negotiates"},
    {507, "Insufficient Storage"},
    {508, "Loop Detected"},
    {511, "Network Authentication Required"},
};

/// Whether this is the type and subtype of a Content-Type.
bool is_of_type(std::string_view content_type, std::string_view lower) {
  return is_ignoring_case(without_blanks(content_type.substr(0, content_type.find(';'))), lower);
}

bool is_html(std::string_view body, std::string_view content_type) {
  if (is_of_type(content_type, "text/html")) return true;
  if (is_of_type(content_type, "application/xhtml+xml")) return true;
  const std::string_view text = json_trimmed(body);
  return starts_with_ignoring_case(text, "<!doctype html") ||
         starts_with_ignoring_case(text, "<html");
}

/// On one line, with each run of blanks as one space.
std::string folded(std::string_view bytes) {
  std::string text;
  for (const char c : one_line(bytes)) {
    const bool is_blank = c == ' ' || c == '\t';
    if (!is_blank) {
      text += c;
    } else if (!text.ends_with(' ')) {
      text += ' ';
    }
  }
  return text;
}

/// At most `count` characters of valid UTF-8, and a mark if there are more.
std::string first_characters(std::string_view text, std::size_t count) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (begins_character(text[at]) && count-- == 0) return std::string(text.substr(0, at)) + "…";
  }
  return std::string(text);
}

struct Markup {
  std::string_view begin;
  std::string_view end;
};
/// The markup of HTML. Of the rows that fit, the first one counts.
constexpr Markup kMarkup[] = {
    {"<!--", "-->"}, {"<script", "</script>"}, {"<style", "</style>"}, {"<", ">"}};

/// The size of the tag, comment, script or style at the beginning of a page; 0 if there is none.
std::size_t markup_size(std::string_view html) {
  const std::size_t name = html.starts_with("</") ? 2 : 1;
  const char first = name < html.size() ? html[name] : ' ';
  if (!is_ascii_letter(first) && first != '!' && first != '?') return 0;
  for (const auto& [begin, end] : kMarkup) {
    if (!starts_with_ignoring_case(html, begin)) continue;
    const std::size_t at = find_ignoring_case(html, end);
    return at == html.npos ? html.size() : at + end.size();
  }
  return 0;
}

/// The text of a page. All markup becomes a space.
std::string html_words(std::string_view html) {
  std::string words;
  while (!html.empty()) {
    std::size_t size = html.front() == '<' ? markup_size(html) : 0;
    if (const auto written = html_character(html)) {
      words += written->text;
      size = written->size;
    } else {
      words += size > 0 ? ' ' : html.front();
    }
    html.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return folded(words);
}

/// The date of "Sun, 06 Nov 1994 08:49:37 GMT", the form that RFC 9110 demands (5.6.7). The name of
/// the day is not checked. A year of four digits may be beyond what `WallTime` can express.
std::optional<std::chrono::sys_seconds> date_of(std::string_view text) {
  constexpr std::string_view kForm = "???, 00 ??? 0000 00:00:00 GMT";
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const auto fits = [](char c, char form) {
    return form == '?' || (form == '0' ? is_ascii_digit(c) : c == form);
  };
  if (!std::equal(text.begin(), text.end(), kForm.begin(), kForm.end(), fits)) return std::nullopt;
  const std::size_t month = kMonths.find(text.substr(8, 3));
  if (month == kMonths.npos || month % 3 != 0) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t digits = 2) {
    return static_cast<int>(decimal_number(text.substr(at, digits)).value_or(0));
  };
  const std::chrono::year_month_day day{std::chrono::year(number(12, 4)),
                                        std::chrono::month(static_cast<unsigned>(month / 3 + 1)),
                                        std::chrono::day(static_cast<unsigned>(number(5)))};
  const std::chrono::hours hours(number(17));
  const std::chrono::minutes minutes(number(20));
  const std::chrono::seconds seconds(number(23));
  // The second 60 is a leap second.
  if (!day.ok() || hours.count() > 23 || minutes.count() > 59 || seconds.count() > 60) {
    return std::nullopt;
  }
  return std::chrono::sys_days(day) + hours + minutes + seconds;
}

bool has_words(std::string_view text, std::string_view lower) {
  return find_ignoring_case(text, lower) != text.npos;
}

/// A daemon that lost its sessions answers in this way if it is built as the examples of the
/// TypeScript SDK are. There, -32000 has many meanings.
bool is_error_about_session(std::string_view body) {
  const auto refused = rpc_error(body);
  if (!refused) return false;
  const std::string_view code = member(refused->error, "code");
  if (code != "-32000" && code != "-32001") return false;
  const std::string message = string_value(member(refused->error, "message"));
  if (has_words(message, "unsupported protocol version")) return false;
  return has_words(message, "session") || has_words(message, "not initialized");
}

}  // namespace

std::string status_line(int status) {
  for (const auto& [number, phrase] : kStatuses) {
    if (number == status) return fmt::format("{} {}", number, phrase);
  }
  return fmt::format("{}", status);
}

bool is_event_stream_type(std::string_view content_type) {
  return is_of_type(content_type, "text/event-stream");
}

std::string body_words(std::string_view body, std::string_view content_type,
                       const Secrets& secrets) {
  const bool is_cut = body.size() >= limits::kBodyReadMax;
  body = body.substr(0, limits::kBodyReadMax);
  const std::string words = is_html(body, content_type) ? html_words(body) : folded(body);
  return first_characters(secrets.masked(words, is_cut), limits::kBodyWordsMax);
}

std::optional<Milliseconds> retry_after(std::string_view value, WallTime now) {
  value = without_blanks(value);
  if (const auto seconds = decimal_number(value)) {
    constexpr std::uint64_t kMax = limits::kHttpWaitMax / std::chrono::seconds(1);
    return std::chrono::seconds(std::min(*seconds, kMax));
  }
  const auto date = date_of(value);
  if (!date) return std::nullopt;
  const Milliseconds wait = *date - std::chrono::floor<Milliseconds>(now);
  return std::clamp(wait, Milliseconds(0), limits::kHttpWaitMax);
}

std::optional<RpcError> rpc_error(std::string_view body) {
  const std::string_view object = json_trimmed(body);
  if (!is_object(object) || !has_json_grammar(object)) return std::nullopt;
  const auto [error, id] = members<2>(object, {"error", "id"});
  const std::string_view code = member(error, "code");
  const bool is_integer = is_json_number(code) && code.find_first_of(".eE") == code.npos;
  if (!is_object(error) || !is_integer) return std::nullopt;
  return RpcError{error, is_there(id) ? id : std::string_view()};
}

SessionLoss session_loss(const HttpRefusal& refusal) {
  if (refusal.status < 400 || refusal.status > 499) return SessionLoss::none;
  if (has_words(refusal.body, "server already initialized")) return SessionLoss::already_open;
  bool is_gone = false;
  if (refusal.status == 404) is_gone = refusal.had_session_id;
  if (refusal.status == 400) is_gone = is_error_about_session(refusal.body);
  // With WWW-Authenticate, the client must authenticate itself, whatever the body says.
  if (refusal.status == 401) {
    is_gone = refusal.www_authenticate.empty() && has_words(refusal.body, "session");
  }
  return is_gone ? SessionLoss::gone : SessionLoss::none;
}

}  // namespace sitter
