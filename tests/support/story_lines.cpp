#include "support/story_lines.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#include "core/wire/message.hpp"
#include "sitter/bytes.hpp"
#include "sitter/line.hpp"
#include "support/good_form.hpp"
#include "support/texts.hpp"

namespace sitter {
namespace {

constexpr std::uint64_t kFirstNumber = std::uint64_t{1} << 50;

/// Ids may be as large as lines. A large id is replaced by a hash of its bytes.
nlohmann::json id_of(std::string_view raw) {
  if (raw.size() > limits::kKiB) return std::hash<std::string_view>()(raw);
  return nlohmann::json::parse(raw);
}

nlohmann::json top_level(const std::string& text) {
  MessageReader reader;
  const OwnedLine line{std::string_view(text)};
  const Message* const message = reader.read(line.line());
  if (message == nullptr) return nlohmann::json();
  nlohmann::json top = {{"jsonrpc", "2.0"}};
  if (!message->id.empty()) top["id"] = id_of(message->id);
  const bool is_result = message->kind == Message::Kind::result;
  if (is_result || message->kind == Message::Kind::error) {
    top[is_result ? "result" : "error"] = 0;
  } else {
    top["method"] = message->method_text;
  }
  return top;
}

}  // namespace

std::unique_ptr<char[]> padded(const std::string& line) {
  auto bytes = std::make_unique<char[]>(line.size() + limits::kLinePadding);
  std::memcpy(bytes.get(), line.data(), line.size());
  std::memset(bytes.get() + line.size(), '"', limits::kLinePadding);
  return bytes;
}

bool is_internal(const std::string& raw_id) {
  return raw_id.starts_with("\"mcp-sitter-") || raw_id.starts_with("11258999068");
}

std::string without_numbers(std::string text) {
  for (std::size_t at = 0; (at = text.find("11258999068", at)) != text.npos; ++at) {
    const std::size_t end = text.find_first_not_of("0123456789", at);
    const auto number = std::stoull(text.substr(at, end - at)) - kFirstNumber + 1;
    text.replace(at, end - at, "#" + std::to_string(number));
  }
  return text;
}

std::string with_numbers(std::string text) {
  for (const std::string before : {"\"id\":#", "\"mcp-sitter-#"}) {
    for (std::size_t at = 0; (at = text.find(before, at)) != text.npos; ++at) {
      const std::size_t begin = at + before.size() - 1;
      const std::size_t end = text.find_first_not_of("0123456789", begin + 1);
      const auto number = std::stoull(text.substr(begin + 1, end - begin - 1)) + kFirstNumber - 1;
      text.replace(begin, end - begin, std::to_string(number));
    }
  }
  return text;
}

nlohmann::json parsed(std::string line) {
  if (line.size() > 64 * limits::kKiB) return top_level(line);
  for (std::size_t at = 0; (at = line.find("\\ud8", at)) != line.npos; ++at) {
    line.replace(at, 6, "\\u0041");
  }
  return nlohmann::json::parse(line, nullptr, false);
}

nlohmann::json expect_message(const std::string& line) {
  EXPECT_EQ(line.find('\n'), line.npos);
  auto message = parsed(line);
  const bool is_message =
      message.is_object() && message.value("jsonrpc", "") == "2.0" &&
      (message.contains("method") + message.contains("result") + message.contains("error") == 1);
  EXPECT_TRUE(is_message) << "no JSON-RPC message: " << line.substr(0, 1000);
  // Copying a deeply nested message would overflow the stack.
  if (!is_message) message = nlohmann::json::object();
  return message;
}

void ClientLedger::on_line_of_client(const std::string& line, bool takes_batches) {
  if (line.starts_with('[') && takes_batches) {
    for (const auto& message : nlohmann::json::parse(line, nullptr, false)) {
      on_line_of_client(message.dump(), takes_batches);
    }
    return;
  }
  const auto message = parsed(line);
  if (!message.is_object() || !message.contains("method")) return;
  if (message.contains("id")) {
    if (!message["id"].is_string() && !message["id"].is_number()) return;
    Open& open = open_[message["id"].dump()];
    // A stream may end with an answer, or without an answer.
    ++(message["method"] == "subscriptions/listen" ? open.cancelled : open.owed);
    return;
  }
  if (message["method"] != "notifications/cancelled") return;
  const auto id = nlohmann::json::json_pointer("/params/requestId");
  if (!message.contains(id)) return;
  const auto open = open_.find(message[id].dump());
  // The opening can't be cancelled. Its id is 0 in these stories.
  if (open == open_.end() || open->second.owed == 0 || open->first == "0") return;
  --open->second.owed;
  ++open->second.cancelled;
}

void ClientLedger::on_line_to_client(const std::string& line, bool may_answer_unasked) {
  if (line.starts_with('[')) {
    for (const auto& answer : nlohmann::json::parse(line, nullptr, false)) {
      on_line_to_client(answer.dump(), may_answer_unasked);
    }
    return;
  }
  const auto message = expect_message(line);
  each_text(message, expect_good_form);
  if (!message.contains("id") || message.contains("method") || message["id"].is_null()) return;
  Open& open = open_[message["id"].dump()];
  if (open.owed > 0) {
    --open.owed;
  } else if (open.cancelled > 0) {
    --open.cancelled;
  } else {
    EXPECT_TRUE(may_answer_unasked) << "an answer that nobody asked for: " << line.substr(0, 1000);
  }
}

void ClientLedger::expect_nothing_owed() const {
  for (const auto& [id, open] : open_) {
    EXPECT_EQ(open.owed, 0) << "the request " << id << " was left unanswered";
  }
}

}  // namespace sitter
