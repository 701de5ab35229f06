#include "output.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "json.hpp"
#include "process.hpp"

namespace sitter::fake {

void Output::answer(std::string_view id, std::string_view result) {
  finish_answer(id, "\"result\":" + std::string(result));
}

void Output::error(std::string_view id, long long code, std::string_view message,
                   std::string_view data) {
  std::string error =
      object_of({{"code", std::to_string(code)}, {"message", json_quoted(message)}});
  if (!data.empty()) error = with_members(std::move(error), "\"data\":" + std::string(data));
  finish_answer(id, "\"error\":" + error);
}

void Output::notify(std::string_view method, std::string_view params) {
  std::string text = R"({"jsonrpc":"2.0","method":)" + json_quoted(method);
  if (!params.empty()) text.append(",\"params\":").append(params);
  line(text += '}');
}

void Output::ask(std::string_view id, std::string_view method, std::string_view params) {
  std::string text = R"({"jsonrpc":"2.0","id":)";
  text.append(id).append(",\"method\":").append(json_quoted(method));
  if (!params.empty()) text.append(",\"params\":").append(params);
  line(text += '}');
}

void Output::finish_answer(std::string_view id, std::string_view outcome) {
  std::string text = options_.prefix_answers;
  text.reserve(text.size() + id.size() + outcome.size() + 32);
  if (options_.answer_as_array) text += '[';
  text += R"({"jsonrpc":"2.0",)";
  if (options_.id_last) text.append(outcome).append(",");
  text.append("\"id\":").append(id);
  if (!options_.id_last) text.append(",").append(outcome);
  text += '}';
  if (options_.answer_as_array) text += ']';
  if (!options_.two_per_line) {
    line(text);
  } else if (half_line_.empty()) {
    half_line_ = std::move(text);
  } else {
    line(std::exchange(half_line_, {}) + text);
  }
}

void Output::line(std::string_view text) {
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

void Output::endless_line(std::size_t bytes) {
  const std::string block(std::size_t{1} << 16, 'x');
  for (std::size_t left = bytes; left > 0; left -= std::min(left, block.size())) {
    write(std::string_view(block).substr(0, left));
  }
  write("\n");
}

void Output::end_burst() {
  in_burst_ = false;
  write(std::exchange(burst_, {}));
}

void Output::end_of_read() {
  if (!half_line_.empty()) line(std::exchange(half_line_, {}));
}

void Output::close() {
  if (std::exchange(open_, false)) ::close(STDOUT_FILENO);
}

void Output::write(std::string_view bytes) {
  if (!open_ || write_all(STDOUT_FILENO, bytes)) return;
  if (!options_.ignore_eof) ::_exit(0);
  open_ = false;
}

}  // namespace sitter::fake
