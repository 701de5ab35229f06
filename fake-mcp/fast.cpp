#include "fast.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "fast_answers.hpp"
#include "input.hpp"
#include "process.hpp"

namespace sitter::fake {
namespace {

constexpr std::size_t kReadSize = std::size_t{1} << 18;

/// If more output than this is pending, it is written before the end of the read, so that large
/// results do not accumulate.
constexpr std::size_t kPendingMax = std::size_t{1} << 20;

class FastServer {
 public:
  explicit FastServer(const Options& options) : options_(options), answers_(options) {
    output_.reserve(kPendingMax + options.result_bytes);
  }

  void on_line(std::string_view line) {
    if (!answers_.append(line, output_)) return;
    output_ += '\n';
    if (output_.size() > kPendingMax) flush();
  }

  void flush() {
    if (!output_.empty() && !write_all(kStdout, output_) && !options_.ignore_eof) exit_now(0);
    output_.clear();
  }

 private:
  const Options& options_;
  const FastAnswers answers_;
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
    const std::size_t count = read_stdin(input.data() + size, input.size() - size);
    if (count == 0) break;
    const std::string_view bytes(input.data(), size + count);
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
  if (options.ignore_eof) wait_for_ever();
  return 0;
}

}  // namespace sitter::fake
