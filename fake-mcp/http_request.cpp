#include "http_request.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace sitter::fake {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Takes the text before the mark out of `text`, and the mark.
std::string_view cut_off(std::string_view& text, std::string_view mark) {
  const std::size_t at = std::min(text.find(mark), text.size());
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(std::min(at + mark.size(), text.size()));
  return before;
}

bool read_number(std::string_view text, int base, std::size_t& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc{} && stop == end;
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<HttpRequest> HttpRequestReader::take() {
  if (!request_) read_head();
  if (broken_ || !request_) return std::nullopt;
  if (!(chunked_ ? read_chunks() : read_body())) return std::nullopt;
  return std::exchange(request_, std::nullopt);
}

bool HttpRequestReader::is_asked_to_continue() {
  return request_ && request_->has("expect") && !std::exchange(continued_, true);
}

void HttpRequestReader::read_head() {
  const std::size_t end = input_.find(kHeadEnd);
  if (end == std::string::npos) return;
  std::string_view head = std::string_view(input_).substr(0, end);
  HttpRequest request;
  std::string_view first = cut_off(head, kLineEnd);
  request.method = cut_off(first, " ");
  std::string_view target = cut_off(first, " ");
  request.path = cut_off(target, "?");
  broken_ = first != "HTTP/1.1";
  while (!head.empty()) {
    std::string_view line = cut_off(head, kLineEnd);
    const std::string name = lower(cut_off(line, ":"));
    request.headers[name] = trimmed(line);
  }
  length_ = 0;
  if (request.has("content-length")) {
    broken_ = broken_ || !read_number(request.header("content-length"), 10, length_);
  }
  chunked_ = lower(request.header("transfer-encoding")) == "chunked";
  continued_ = false;
  request_ = std::move(request);
  input_.erase(0, end + kHeadEnd.size());
}

bool HttpRequestReader::read_body() {
  if (input_.size() < length_) return false;
  request_->body = input_.substr(0, length_);
  input_.erase(0, length_);
  return true;
}

/// Moves each complete chunk into the body. True at the last one.
bool HttpRequestReader::read_chunks() {
  while (true) {
    const std::size_t line_end = input_.find(kLineEnd);
    if (line_end == std::string::npos) return false;
    std::size_t size = 0;
    if (!read_number(std::string_view(input_).substr(0, line_end), 16, size)) {
      broken_ = true;
      return false;
    }
    const std::size_t begin = line_end + kLineEnd.size();
    if (input_.size() < begin + size + kLineEnd.size()) return false;
    request_->body.append(input_, begin, size);
    input_.erase(0, begin + size + kLineEnd.size());
    if (size == 0) return true;
  }
}

}  // namespace sitter::fake
