#include "fast.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog.hpp"
#include "json.hpp"
#include "legacy.hpp"
#include "modern.hpp"
#include "process.hpp"
#include "results.hpp"

namespace sitter::fake {
namespace {

constexpr std::size_t kReadSize = std::size_t{1} << 18;

/// If more output than this is pending, it is written before the end of the read, so that large
/// results do not accumulate.
constexpr std::size_t kPendingMax = std::size_t{1} << 20;

struct Head {
  std::string_view id;
  std::string_view method;  ///< without its quotes
};

/// Reads the usual beginning of a request, and ignores the rest.
bool read_usual_head(std::string_view line, Head& head) {
  constexpr std::string_view kStart = R"({"jsonrpc":"2.0","id":)";
  constexpr std::string_view kMethod = R"(,"method":")";
  if (!line.starts_with(kStart)) return false;
  const std::size_t id_end = value_end(line, kStart.size());
  if (id_end == std::string_view::npos || !line.substr(id_end).starts_with(kMethod)) return false;
  const std::size_t method_at = id_end + kMethod.size();
  const std::size_t method_end = line.find('"', method_at);
  if (method_end == std::string_view::npos) return false;
  head = {line.substr(kStart.size(), id_end - kStart.size()),
          line.substr(method_at, method_end - method_at)};
  return true;
}

Head head_of(std::string_view line) {
  Head head;
  if (read_usual_head(line, head)) return head;
  each_item(line, '{', [&](std::string_view key, std::string_view value) {
    if (is_key(key, "id")) head.id = value;
    if (is_key(key, "method") && value.size() > 2) head.method = value.substr(1, value.size() - 2);
  });
  return head;
}

class FastServer {
 public:
  explicit FastServer(const Options& options)
      : options_(options), is_modern_(options.era != Era::legacy), catalog_(options) {
    output_.reserve(kPendingMax + options.result_bytes);
    std::string result =
        R"({"content":[{"type":"text","text":")" + std::string(options.result_bytes, 'x') + "\"}]}";
    if (is_modern_) result = modern_result(options, std::move(result));
    result_ = ",\"result\":" + result + "}\n";
  }

  void on_line(std::string_view line) {
    const auto [id, method] = head_of(line);
    // Notifications and answers need no answer.
    if (id.empty() || method.empty()) return;
    output_.append(R"({"jsonrpc":"2.0","id":)").append(id);
    if (method == "tools/call") {
      output_.append(result_);
    } else {
      append_rare_result(method, line);
    }
    if (output_.size() > kPendingMax) flush();
  }

  void flush() {
    if (!output_.empty() && !write_all(STDOUT_FILENO, output_) && !options_.ignore_eof) ::_exit(0);
    output_.clear();
  }

 private:
  void append_rare_result(std::string_view method, std::string_view line) {
    const std::string_view params = member(line, "params");
    if (method == "initialize") return append_result(initialize_result(options_, params));
    if (method == "tools/list") {
      if (const auto page = catalog_.tools_page(member(params, "cursor"))) {
        return append_result(is_modern_ ? cacheable_result(options_, *page) : *page);
      }
    }
    if (method == "server/discover" && is_modern_) {
      return append_result(discover_result(options_));
    }
    if (method == "ping") return append_result("{}");
    output_.append(result_);
  }

  void append_result(std::string_view result) {
    output_.append(",\"result\":").append(result).append("}\n");
  }

  const Options& options_;
  const bool is_modern_;  ///< true for dual too: the added members do no harm
  Catalog catalog_;
  std::string result_;
  std::string output_;
};

}  // namespace

int serve_fast(const Options& options) {
  FastServer server(options);
  std::vector<char> input(kReadSize);
  std::size_t size = 0;
  while (true) {
    // If a line fills the buffer, the buffer doubles.
    if (size == input.size()) input.resize(2 * size);
    const ssize_t count = ::read(STDIN_FILENO, input.data() + size, input.size() - size);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
      pollfd input_ready{STDIN_FILENO, POLLIN, 0};
      ::poll(&input_ready, 1, -1);
      continue;
    }
    if (count <= 0) break;
    const std::string_view bytes(input.data(), size + static_cast<std::size_t>(count));
    std::size_t begin = 0;
    std::size_t end = bytes.find('\n', size);
    while (end != std::string_view::npos) {
      server.on_line(bytes.substr(begin, end - begin));
      begin = end + 1;
      end = bytes.find('\n', begin);
    }
    server.flush();
    size = bytes.size() - begin;
    if (begin > 0) std::memmove(input.data(), input.data() + begin, size);
  }
  while (options.ignore_eof) ::pause();
  return 0;
}

}  // namespace sitter::fake
