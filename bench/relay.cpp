// The yardstick of the benchmarks. It does nothing but what its arguments say:
//
//     relay -- COMMAND [ARGUMENT...]          copies bytes between its stdin and stdout and those
//                                             of a command, with two blocking threads
//     relay --http http://127.0.0.1:PORT/mcp  sends each line of its stdin as a POST on one kept
//                                             connection, and writes the body of each response to
//                                             its stdout as a line; has one request under way at a
//                                             time, and understands no more than a Content-Length

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

namespace {

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "relay: %s\n", what);
  std::exit(1);
}

bool write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(to, bytes.data(), bytes.size());
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void copy(int from, int to) {
  std::array<char, 64 * 1024> buffer;
  while (true) {
    const ssize_t count = read(from, buffer.data(), buffer.size());
    if (count <= 0) break;
    if (!write_all(to, {buffer.data(), static_cast<std::size_t>(count)})) return;
  }
  close(to);
}

[[noreturn]] void relay_bytes(char** command) {
  int input[2];
  int output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) die("no pipe");
  // After a fork, the parent would have to copy the pages that it shares with the child.
  const pid_t pid = vfork();
  if (pid == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
  }
  if (pid < 0) die("no process");
  close(input[0]);
  close(output[1]);
  std::thread(copy, STDIN_FILENO, input[1]).detach();
  copy(output[0], STDOUT_FILENO);
  int status = 0;
  waitpid(pid, &status, 0);
  // The other thread may still wait for input.
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/// Appends what one read gets. False at the end.
bool read_some(int from, std::string& to) {
  static char buffer[64 * 1024];
  const ssize_t count = read(from, buffer, sizeof buffer);
  if (count <= 0) return false;
  to.append(buffer, static_cast<std::size_t>(count));
  return true;
}

class HttpRelay {
 public:
  explicit HttpRelay(const char* url) {
    std::uint16_t port = 0;
    if (std::sscanf(url, "http://127.0.0.1:%hu/mcp", &port) != 1) die("that URL is not understood");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      die("nothing listens");
    }
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    head_ = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
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
    request_.assign(head_).append(std::to_string(end)).append("\r\n\r\n").append(lines_, 0, end);
    lines_.erase(0, end + 1);
    is_busy_ = true;
    if (!write_all(socket_, request_)) die("a write failed");
  }

  void on_response() {
    constexpr std::string_view kLength = "\r\nContent-Length:";
    if (!read_some(socket_, response_)) die("the connection has ended");
    const std::size_t head_end = response_.find("\r\n\r\n");
    if (head_end == std::string::npos) return;
    const std::size_t body_at = head_end + 4;
    const char* const length = strcasestr(response_.c_str(), kLength.data());
    if (length == nullptr || length > response_.c_str() + head_end) die("no Content-Length");
    const std::size_t size = std::strtoull(length + kLength.size(), nullptr, 10);
    if (response_.size() < body_at + size) return;
    if (size > 0) {
      response_ += '\n';
      const std::string_view body = std::string_view(response_).substr(body_at);
      if (!write_all(STDOUT_FILENO, body)) die("a write failed");
    }
    response_.clear();
    is_busy_ = false;
  }

  const int socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string head_;
  std::string lines_;
  std::string request_;
  std::string response_;
  bool is_busy_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) die("needs -- and a command, or --http and a URL");
  if (argv[1] == std::string_view("--http")) {
    HttpRelay(argv[2]).run();
  } else {
    relay_bytes(argv + 2);
  }
}
