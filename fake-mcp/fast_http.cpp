#include "fast_http.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fast_answers.hpp"
#include "listener.hpp"
#include "sockets.hpp"

namespace sitter::fake {
namespace {

constexpr std::size_t kReadSize = std::size_t{1} << 18;
constexpr std::string_view kHeadEnd = "\r\n\r\n";

std::size_t content_length(std::string_view head) {
  constexpr std::string_view kName = "\r\ncontent-length:";
  const auto found =
      std::search(head.begin(), head.end(), kName.begin(), kName.end(),
                  [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a | 0x20 : a) == b; });
  if (found == head.end()) return 0;
  const auto at = static_cast<std::size_t>(found - head.begin()) + kName.size();
  return static_cast<std::size_t>(std::strtoull(head.data() + at, nullptr, 10));
}

void append_number(std::string& text, std::size_t number, int base) {
  char digits[24];
  char* const end = std::to_chars(std::begin(digits), std::end(digits), number, base).ptr;
  text.append(std::begin(digits), end);
}

class FastHttpServer {
 public:
  explicit FastHttpServer(const Options& options)
      : answers_(options), sse_(options.http.sse), listener_(options.http) {
    add(listener_.socket());
  }

  [[noreturn]] void run() {
    while (true) {
      wait_for(sockets_, std::nullopt);
      for (std::size_t at = sockets_.size() - 1; at > 0; --at) {
        if (sockets_[at].can_read && !serve(sockets_[at].socket, inputs_[at])) drop(at);
      }
      if (!sockets_.front().can_read) continue;
      for (const Socket socket : listener_.accept()) add(socket);
    }
  }

 private:
  void add(Socket socket) {
    sockets_.push_back({.socket = socket, .reads = true});
    inputs_.emplace_back();
  }

  /// Answers all requests that are complete in one write. False if the connection is closed.
  bool serve(Socket socket, std::string& input) {
    const auto count = receive(socket, buffer_.data(), buffer_.size());
    if (!count) return false;
    if (*count == 0) return true;
    input.append(buffer_.data(), *count);

    output_.clear();
    std::size_t begin = 0;
    while (const std::size_t size = answer(std::string_view(input).substr(begin))) begin += size;
    input.erase(0, begin);
    return output_.empty() || send_all(socket, output_);
  }

  /// Appends the response to the first request, and returns the size of that request; 0 if it is
  /// not complete.
  std::size_t answer(std::string_view input) {
    const std::size_t head_size = input.find(kHeadEnd);
    if (head_size == std::string_view::npos) return 0;
    const std::string_view head = input.substr(0, head_size + kHeadEnd.size());
    const std::size_t length = content_length(head);
    if (input.size() < head.size() + length) return 0;
    if (head.front() != 'P') {
      output_ += "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n";
    } else {
      respond(input.substr(head.size(), length));
    }
    return head.size() + length;
  }

  void respond(std::string_view message) {
    answer_.clear();
    if (!answers_.append(message, answer_)) {
      output_ += "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
    } else if (!sse_) {
      output_ += "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ";
      append_number(output_, answer_.size(), 10);
      output_.append(kHeadEnd).append(answer_);
    } else {
      constexpr std::string_view kBegin = "event: message\ndata: ";
      constexpr std::string_view kEnd = "\n\n";
      output_ +=
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
          "Transfer-Encoding: chunked\r\n\r\n";
      append_number(output_, kBegin.size() + answer_.size() + kEnd.size(), 16);
      output_.append("\r\n").append(kBegin).append(answer_).append(kEnd);
      output_ += "\r\n0\r\n\r\n";
    }
  }

  void drop(std::size_t at) {
    close_socket(sockets_[at].socket);
    sockets_.erase(sockets_.begin() + static_cast<std::ptrdiff_t>(at));
    inputs_.erase(inputs_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  const FastAnswers answers_;
  const bool sse_;
  Listener listener_;
  std::vector<SocketWait> sockets_;  ///< the first is the listener
  std::vector<std::string> inputs_;  ///< of the connections in the same order
  std::vector<char> buffer_ = std::vector<char>(kReadSize);
  std::string answer_;
  std::string output_;
};

}  // namespace

int serve_fast_http(const Options& options) { FastHttpServer(options).run(); }

}  // namespace sitter::fake
