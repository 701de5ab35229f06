#include "sink.hpp"

#include <algorithm>
#include <utility>

#include "process.hpp"

namespace sitter::fake {

void StdoutSink::answer(Exchange, std::string_view text, long long) {
  if (!options_.two_per_line) {
    line(text);
  } else if (half_line_.empty()) {
    half_line_ = text;
  } else {
    line(std::exchange(half_line_, {}).append(text));
  }
}

void StdoutSink::line(std::string_view text) {
  const std::string_view end = options_.crlf ? "\r\n" : "\n";
  std::string bytes;
  bytes.reserve(text.size() + 8);
  if (std::exchange(at_begin_, false)) bytes += "\xEF\xBB\xBF";
  if (options_.blank_lines) bytes += end;
  bytes.append(text).append(end);
  if (in_burst_) {
    burst_ += bytes;
  } else {
    write(bytes);
  }
}

void StdoutSink::endless_answer(Exchange, std::size_t bytes) {
  const std::string block(std::size_t{1} << 16, 'x');
  for (std::size_t left = bytes; left > 0; left -= std::min(left, block.size())) {
    write(std::string_view(block).substr(0, left));
  }
  write("\n");
}

void StdoutSink::end_burst() {
  in_burst_ = false;
  write(std::exchange(burst_, {}));
}

void StdoutSink::end_of_read() {
  if (!half_line_.empty()) line(std::exchange(half_line_, {}));
}

void StdoutSink::close() {
  if (std::exchange(open_, false)) close_descriptor(kStdout);
}

void StdoutSink::write(std::string_view bytes) {
  if (!open_ || write_all(kStdout, bytes)) return;
  if (!options_.ignore_eof) exit_now(0);
  open_ = false;
}

}  // namespace sitter::fake
