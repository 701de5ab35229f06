// The yardstick of the benchmarks over HTTP: sends each line of its stdin as a POST on one kept
// connection, and writes the body of each response to its stdout as a line. It has one request
// under way at a time, understands no more than a Content-Length, and does nothing else.
//
//     http_relay http://127.0.0.1:3000/mcp

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t kReadMax = 64 * 1024;

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "http_relay: %s\n", what);
  std::exit(1);
}

struct Target {
  std::string authority;
  std::string path;
  sockaddr_in address{};
};

/// The host must be an IPv4 address.
Target read_url(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  const std::size_t slash = url.find('/', kScheme.size());
  if (!url.starts_with(kScheme) || slash == url.npos)
    die("the URL must be http://ADDRESS:PORT/PATH");
  Target target;
  target.authority = url.substr(kScheme.size(), slash - kScheme.size());
  target.path = url.substr(slash);
  const std::size_t colon = target.authority.find(':');
  if (colon == std::string::npos) die("the URL has no port");
  const std::string host = target.authority.substr(0, colon);
  target.address.sin_family = AF_INET;
  target.address.sin_port =
      htons(static_cast<std::uint16_t>(std::atoi(target.authority.c_str() + colon + 1)));
  if (inet_pton(AF_INET, host.c_str(), &target.address.sin_addr) != 1) die("no IPv4 address");
  return target;
}

int open_connection(const Target& target) {
  const int opened = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* const address = reinterpret_cast<const sockaddr*>(&target.address);
  if (connect(opened, address, sizeof target.address) != 0) die("nothing listens");
  const int on = 1;
  setsockopt(opened, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return opened;
}

void write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(to, bytes.data(), bytes.size());
    if (count <= 0) die("a write failed");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// Appends what one read gets. False at the end.
bool read_some(int from, std::string& to) {
  static char buffer[kReadMax];
  const ssize_t count = read(from, buffer, sizeof buffer);
  if (count <= 0) return false;
  to.append(buffer, static_cast<std::size_t>(count));
  return true;
}

class Relay {
 public:
  explicit Relay(const Target& target) : socket_(open_connection(target)) {
    head_ = "POST " + target.path + " HTTP/1.1\r\nHost: " + target.authority +
            "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            "Content-Length: ";
  }

  void run() {
    pollfd polled[] = {{STDIN_FILENO, POLLIN, 0}, {socket_, POLLIN, 0}};
    while (poll(polled, 2, -1) > 0) {
      if (polled[1].revents != 0) on_response();
      if (polled[0].revents != 0 && !read_some(STDIN_FILENO, lines_)) return;
      if (!is_busy_) send_line();
      // One line is under way at a time.
      polled[0].events = is_busy_ ? 0 : POLLIN;
    }
  }

 private:
  void send_line() {
    const std::size_t end = lines_.find('\n');
    if (end == std::string::npos) return;
    char length[24];
    char* const length_end = std::to_chars(length, length + sizeof length, end).ptr;
    request_.assign(head_).append(length, length_end).append("\r\n\r\n").append(lines_, 0, end);
    lines_.erase(0, end + 1);
    is_busy_ = true;
    write_all(socket_, request_);
  }

  void on_response() {
    if (!read_some(socket_, response_)) die("the connection has ended");
    const std::size_t head_end = response_.find("\r\n\r\n");
    if (head_end == std::string::npos) return;
    const std::size_t body_at = head_end + 4;
    const char* const length = strcasestr(response_.c_str(), "\r\nContent-Length:");
    if (length == nullptr || length > response_.c_str() + head_end) die("no Content-Length");
    const std::size_t size =
        std::strtoull(length + std::strlen("\r\nContent-Length:"), nullptr, 10);
    if (response_.size() < body_at + size) return;
    if (size > 0) {
      response_ += '\n';
      write_all(STDOUT_FILENO, std::string_view(response_).substr(body_at));
    }
    response_.clear();
    is_busy_ = false;
  }

  int socket_;
  std::string head_;
  std::string lines_;
  std::string request_;
  std::string response_;
  bool is_busy_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) die("needs one URL");
  Relay(read_url(argv[1])).run();
}
