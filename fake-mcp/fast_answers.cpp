#include "fast_answers.hpp"

#include <utility>

#include "json.hpp"
#include "legacy.hpp"
#include "modern.hpp"
#include "results.hpp"

namespace sitter::fake {
namespace {

struct Head {
  std::string_view id;
  std::string_view method;  ///< without its quotes
};

/// Reads the usual beginning of a request, and ignores the rest.
bool read_usual_head(std::string_view line, Head& head) {
  constexpr std::string_view kStart = R"({"jsonrpc":"2.0","id":)";
  constexpr std::string_view kMethod = R"(,"method":")";
  if (!line.starts_with(kStart)) return false;
  // An id with an escape or a comma is read below.
  const std::size_t id_end = line.find(',', kStart.size());
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
    if (key == "id") head.id = value;
    if (key == "method" && value.size() > 2) head.method = value.substr(1, value.size() - 2);
  });
  return head;
}

}  // namespace

FastAnswers::FastAnswers(const Options& options)
    : options_(options), is_modern_(options.era != Era::legacy), catalog_(options) {
  std::string result =
      R"({"content":[{"type":"text","text":")" + std::string(options.result_bytes, 'x') + "\"}]}";
  if (is_modern_) result = modern_result(options, std::move(result));
  result_ = ",\"result\":" + result + "}";
}

bool FastAnswers::append(std::string_view line, std::string& output) const {
  const auto [id, method] = head_of(line);
  if (id.empty() || method.empty()) return false;
  output.append(R"({"jsonrpc":"2.0","id":)").append(id);
  if (method == "tools/call") {
    output.append(result_);
  } else {
    append_rare_result(method, line, output);
  }
  return true;
}

void FastAnswers::append_rare_result(std::string_view method, std::string_view line,
                                     std::string& output) const {
  const auto append_result = [&](std::string_view result) {
    output.append(",\"result\":").append(result).append("}");
  };
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
  output.append(result_);
}

}  // namespace sitter::fake
