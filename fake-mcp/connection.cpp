#include "connection.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <vector>

namespace sitter::fake {
namespace {

constexpr std::size_t kReadSize = std::size_t{1} << 16;

std::string_view reason(int status) {
  constexpr std::pair<int, std::string_view> kReasons[] = {{200, "OK"},
                                                           {202, "Accepted"},
                                                           {204, "No Content"},
                                                           {307, "Temporary Redirect"},
                                                           {308, "Permanent Redirect"},
                                                           {400, "Bad Request"},
                                                           {401, "Unauthorized"},
                                                           {403, "Forbidden"},
                                                           {404, "Not Found"},
                                                           {405, "Method Not Allowed"},
                                                           {406, "Not Acceptable"},
                                                           {409, "Conflict"},
                                                           {413, "Content Too Large"},
                                                           {415, "Unsupported Media Type"},
                                                           {429, "Too Many Requests"},
                                                           {500, "Internal Server Error"},
                                                           {502, "Bad Gateway"},
                                                           {503, "Service Unavailable"},
                                                           {504, "Gateway Timeout"}};
  for (const auto& [number, words] : kReasons) {
    if (number == status) return words;
  }
  return "Other";
}

std::string_view type_of(std::string_view body) {
  if (body.starts_with('{') || body.starts_with('[')) return "application/json";
  return body.starts_with('<') ? "text/html; charset=utf-8" : "text/plain; charset=utf-8";
}

}  // namespace

Connection::Connection(Socket socket, const HttpOptions& options)
    : socket_(socket), options_(options) {}

std::optional<Connection::Clock::time_point> Connection::idle_since() const {
  if (busy_ || !output_.empty()) return std::nullopt;
  return idle_since_;
}

void Connection::read() {
  std::vector<char> bytes(kReadSize);
  while (is_open()) {
    const auto count = receive(socket_, bytes.data(), bytes.size());
    if (count) {
      if (*count == 0) return;
      input_.add({bytes.data(), *count});
      idle_since_ = Clock::now();
      continue;
    }
    close();
    if (busy_ && on_gone) std::exchange(on_gone, {})();
  }
}

std::optional<HttpRequest> Connection::take_request() {
  if (!is_open() || busy_ || closes_when_written_) return std::nullopt;
  std::optional<HttpRequest> request = input_.take();
  if (input_.is_broken()) {
    busy_ = closes_when_done_ = true;
    respond(400, {}, "Bad request");
  } else if (request) {
    busy_ = true;
    closes_when_done_ = options_.close_each || request->header("connection") == "close";
  } else if (input_.is_asked_to_continue()) {
    output_ += "HTTP/1.1 100 Continue\r\n\r\n";
    flush();
  }
  return request;
}

void Connection::begin_response(int status, const HttpHeaders& headers) {
  if (options_.continues) output_ += "HTTP/1.1 100 Continue\r\n\r\n";
  output_.append("HTTP/1.1 ").append(std::to_string(status)).append(" ").append(reason(status));
  output_ += "\r\n";
  for (const auto& [name, value] : headers) {
    output_.append(name).append(": ").append(value).append("\r\n");
  }
  if (closes_when_done_) output_ += "Connection: close\r\n";
  if (options_.keep_alive_header && !closes_when_done_) {
    output_ += "Connection: keep-alive\r\nKeep-Alive: timeout=";
    output_ += std::to_string(options_.keep_alive_header->count()) + "\r\n";
  }
}

void Connection::respond(int status, const HttpHeaders& headers, std::string_view body) {
  begin_response(status, headers);
  if (!body.empty()) output_.append("Content-Type: ").append(type_of(body)).append("\r\n");
  if (status != 204) output_ += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  output_ += "\r\n";
  append_body(body);
  finish_response();
}

void Connection::begin_stream(const HttpHeaders& headers) {
  begin_response(200, headers);
  output_ +=
      "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
}

void Connection::stream(std::string_view bytes) {
  if (closes_when_written_) return;
  char size[16];
  char* const end = std::to_chars(std::begin(size), std::end(size), bytes.size(), 16).ptr;
  output_.append(std::begin(size), end).append("\r\n");
  append_body(bytes);
  if (!closes_when_written_) output_ += "\r\n";
}

void Connection::end_stream() {
  if (!closes_when_written_) output_ += "0\r\n\r\n";
  finish_response();
}

void Connection::append_body(std::string_view bytes) {
  if (!body_left_) {
    output_ += bytes;
    return;
  }
  const std::size_t size = std::min(*body_left_, bytes.size());
  output_ += bytes.substr(0, size);
  *body_left_ -= size;
  if (*body_left_ == 0) cut();
}

void Connection::finish_response() {
  if (closes_when_done_) closes_when_written_ = true;
  if (closes_when_written_) return flush();
  busy_ = false;
  body_left_.reset();
  on_gone = {};
  idle_since_ = Clock::now();
}

void Connection::begin_endless_head() {
  begin_response(200, {});
  endless_ = true;
  flush();
}

void Connection::cut() {
  closes_when_written_ = true;
  flush();
}

void Connection::close() {
  if (is_open()) close_socket(std::exchange(socket_, kNoSocket));
}

void Connection::flush() {
  std::size_t done = 0;
  while (is_open()) {
    if (done == output_.size() && !endless_) break;
    if (endless_ && output_.empty()) output_ += "X-Endless: " + std::string(1000, 'x') + "\r\n";
    const auto count = send_some(socket_, std::string_view(output_).substr(done));
    if (!count) close();
    if (count.value_or(0) == 0) break;
    done += *count;
    // An endless head gives the other connections a turn after each write.
    if (endless_) break;
  }
  output_.erase(0, done);
  if (closes_when_written_ && output_.empty()) close();
}

}  // namespace sitter::fake
