#include "output.hpp"

#include <utility>

#include "json.hpp"

namespace sitter::fake {

void Output::answer(std::string_view id, std::string_view result) {
  finish_answer(id, "\"result\":" + std::string(result), 0);
}

void Output::error(std::string_view id, long long code, std::string_view message,
                   std::string_view data) {
  finish_answer(id, "\"error\":" + error_object(code, message, data), code);
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

void Output::finish_answer(std::string_view id, std::string_view outcome, long long error_code) {
  std::string text = options_.prefix_answers;
  text.reserve(text.size() + id.size() + outcome.size() + 32);
  if (options_.answer_as_array) text += '[';
  text += R"({"jsonrpc":"2.0",)";
  if (options_.id_last) text.append(outcome).append(",");
  text.append("\"id\":").append(id);
  if (!options_.id_last) text.append(",").append(outcome);
  text += '}';
  if (options_.answer_as_array) text += ']';
  sink_.answer(exchange_, text, error_code);
}

}  // namespace sitter::fake
