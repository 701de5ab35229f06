#include "core/wire/answer_defect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/wire/json_view.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// How many bytes of a place or a number a text shows.
constexpr std::size_t kShownMax = 200;

std::string_view kind_of(std::string_view raw) {
  if (is_object(raw)) return "an object";
  if (is_array(raw)) return "an array";
  if (raw.starts_with('"')) return "a string";
  if (raw == "true" || raw == "false") return raw;
  return raw == "null" ? "null" : "a number";
}

std::string must_be(std::string_view place, std::string_view raw, std::string_view wanted) {
  return raw.empty() ? fmt::format("{} has no value, and must be {}", place, wanted)
                     : fmt::format("{} is {}, and must be {}", place, kind_of(raw), wanted);
}

/// Whether a client in JavaScript takes this for an integer.
bool is_integer(std::string_view raw) {
  constexpr double kMax = 9007199254740991;
  if (!is_json_number(raw)) return false;
  const double number = std::strtod(std::string(raw).c_str(), nullptr);
  return number == std::floor(number) && std::abs(number) <= kMax;
}

/// What in this value is no JSON, and where, as in "NaN at result.content"; empty if it is JSON.
std::string wrong_part(std::string_view raw, const std::string& place, std::size_t depth = 0) {
  if (has_json_grammar(raw)) return {};
  std::string wrong;
  if (depth == limits::kNestingMax) {
    // The place above names it.
  } else if (is_object(raw)) {
    for (const JsonMember& member : json_members(raw)) {
      if (wrong.empty()) wrong = wrong_part(member.value, place + "." + member.key, depth + 1);
    }
  } else if (is_array(raw)) {
    std::size_t index = 0;
    for (const std::string_view element : json_elements(raw)) {
      if (wrong.empty())
        wrong = wrong_part(element, fmt::format("{}[{}]", place, index++), depth + 1);
    }
  } else if (raw == "NaN" || raw == "Infinity" || raw == "-Infinity") {
    return fmt::format(
        "it has {} at {}, which JSON does not have (Python's json.dumps writes it, and refuses it "
        "with allow_nan=False)",
        raw, brief(place, kShownMax));
  }
  return wrong.empty() ? brief(place, kShownMax) + " is not valid JSON" : wrong;
}

std::string meta_defect(std::string_view meta) {
  if (!is_object(meta)) return must_be("its member result._meta", meta, "an object");
  const auto [token, task] =
      members<2>(meta, {"progressToken", "io.modelcontextprotocol/related-task"});
  if (!token.empty() && !token.starts_with('"') && !is_integer(token)) {
    return must_be("its member result._meta.progressToken", token, "a string or an integer");
  }
  if (!task.empty() && !member(task, "taskId").starts_with('"')) {
    return "its member result._meta[\"io.modelcontextprotocol/related-task\"] has no taskId";
  }
  return {};
}

std::string result_defect(const Message& answer) {
  const std::string_view result = answer.result;
  if (!answer.error.empty()) return "it has both a result and an error";
  if (!is_object(result)) return must_be("its result", result, "an object");
  if (!answer.is_checked) {
    if (auto wrong = wrong_part(result, "result"); !wrong.empty()) return wrong;
  }
  return answer.result_meta.empty() ? std::string() : meta_defect(answer.result_meta);
}

std::string error_defect(std::string_view error) {
  if (!is_object(error)) return must_be("its error", error, "an object");
  if (auto wrong = wrong_part(error, "error"); !wrong.empty()) return wrong;
  const auto [code, message] = members<2>(error, {"code", "message"});
  if (!is_json_number(code)) return must_be("its member error.code", code, "an integer");
  if (!is_integer(code)) {
    return fmt::format(
        "its member error.code is {}, and must be an integer that a client in JavaScript can hold",
        brief(code, kShownMax));
  }
  return message.starts_with('"') ? std::string()
                                  : must_be("its member error.message", message, "a string");
}

}  // namespace

std::string answer_defect(const Message& answer) {
  return answer.kind == Message::Kind::result ? result_defect(answer) : error_defect(answer.error);
}

std::string others_finding(std::string_view line) {
  std::string names;
  for (const JsonMember& member : json_members(line)) {
    constexpr std::array kKnown{"jsonrpc", "id", "result", "error"};
    if (std::find(kKnown.begin(), kKnown.end(), member.key) != kKnown.end()) continue;
    names += (names.empty() ? "" : ", ") + brief(member.key, kShownMax);
  }
  return fmt::format(
      "the server's answers have members beside id and result that JSON-RPC does not know, and the "
      "official TypeScript client throws such an answer away: {}",
      brief(names, kShownMax));
}

std::string without_others(const Message& answer) {
  std::string line = fmt::format(R"json({{"jsonrpc":"2.0","id":{})json", answer.id);
  if (!answer.result.empty()) line += fmt::format(",\"result\":{}", answer.result);
  if (!answer.error.empty()) line += fmt::format(",\"error\":{}", answer.error);
  return line + "}";
}

std::string id_of_other_type(std::string_view raw_id) {
  if (is_json_number(raw_id)) return fmt::format("\"{}\"", raw_id);
  return has_other_type(raw_id) ? std::string(raw_id.substr(1, raw_id.size() - 2)) : std::string();
}

bool has_other_type(std::string_view raw_id) {
  const bool is_string = raw_id.size() > 2 && raw_id.front() == '"';
  return is_json_number(is_string ? raw_id.substr(1, raw_id.size() - 2) : raw_id);
}

}  // namespace sitter
