// A yardstick of the benchmarks over HTTP: sends each line of its stdin as a POST with libcurl, and
// writes the body of each response to its stdout as a line.
//
//     curl_relay http://127.0.0.1:3000/mcp

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "curl_calls.hpp"

namespace {

bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("curl_relay: needs one URL\n", stderr);
    return 2;
  }
  sitter::bench::CurlCalls calls(argv[1]);
  static char buffer[64 * 1024];
  std::string lines;
  std::string answer;
  while (true) {
    const ssize_t count = read(STDIN_FILENO, buffer, sizeof buffer);
    if (count <= 0) return 0;
    lines.append(buffer, static_cast<std::size_t>(count));
    for (std::size_t end; (end = lines.find('\n')) != lines.npos; lines.erase(0, end + 1)) {
      const std::string_view body = calls.call(std::string_view(lines).substr(0, end));
      if (body.empty()) continue;
      answer.assign(body).append("\n");
      if (!write_all(answer)) return 1;
    }
  }
}
