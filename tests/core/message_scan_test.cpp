#include "core/wire/message_scan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/message.hpp"

namespace sitter {
namespace {

using ::testing::IsNull;
using ::testing::NotNull;

/// What a message says, and where each of its raw values stands in the line.
std::vector<std::string> words_of(const Message* message, const Defect& defect,
                                  std::string_view line) {
  if (message == nullptr) return {"no message", defect.what, defect.id};
  const Message::Params& p = message->params;
  std::vector<std::string> words{std::to_string(static_cast<int>(message->kind)),
                                 std::to_string(static_cast<int>(message->method)),
                                 p.has_task ? "task" : "no task",
                                 message->is_checked ? "checked" : "broken",
                                 std::string(message->method_text),
                                 std::string(p.name_text)};
  for (const std::string_view view :
       {message->id, message->params_raw, message->result, message->error, message->result_meta,
        p.meta_progress_token, p.progress_token, p.request_id, p.uri, p.level, p.cursor,
        p.protocol_version, p.envelope_version, p.envelope_client, p.envelope_capabilities,
        p.subscription_id, p.notifications, p.task_id, p.request_state}) {
    const bool is_inside = view.data() >= line.data() && view.data() <= line.data() + line.size();
    words.push_back(is_inside ? std::to_string(view.data() - line.data()) + "+" +
                                    std::to_string(view.size())
                              : std::string(view));
  }
  return words;
}

class MessageScanTest : public ::testing::Test {
 protected:
  /// Reads the line in pieces of this size, as it grows by `step` bytes.
  const MessagePlaces* grow(const std::string& line, std::size_t piece, std::size_t step) {
    // What follows the line is as hostile as it can be.
    text_ = line + "\"\\{[" + std::string(limits::kLinePadding, '"');
    const std::string before = text_;
    size_ = line.size();
    scan_ = MessageScan(piece);
    for (std::size_t size = std::min(step, size_);; size = std::min(size + step, size_)) {
      scan_.grow(text_.data(), size, size == size_);
      if (size == size_) break;
    }
    EXPECT_EQ(text_, before);
    return scan_.places();
  }

  /// The message is the same whether it was read in pieces or as a whole.
  void expect_same() {
    const std::string_view text(text_.data(), size_);
    for (const auto values : {MessageReader::Values::skipped, MessageReader::Values::checked}) {
      const Message* const whole = whole_.read(Line::padded(text), values);
      const Message* const grown = grown_.read(Line::padded(text, scan_.places()), values);
      EXPECT_EQ(words_of(grown, grown_.defect(), text), words_of(whole, whole_.defect(), text))
          << text;
    }
  }

  std::string text_;
  std::size_t size_ = 0;
  MessageScan scan_;
  MessageReader whole_;
  MessageReader grown_;
};

/// Most of each line is one text.
std::string with_long_text(std::string line) {
  std::string text;
  for (int i = 0; i < 12; ++i)
    text += "text \\\" \\\\ {[ \\u00fc \xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80";
  const std::size_t at = line.find('@');
  return at == std::string::npos ? line : line.replace(at, 1, text);
}

const std::vector<std::string>& lines() {
  static const std::vector<std::string> kLines = [] {
    std::vector<std::string> lines{
        R"json({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"@"}]}})json",
        R"json({"result":{"content":[{"text":"@"}, 1, true]} , "id" : "x\n" , "jsonrpc":"2.0"})json",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":{\"b\":[\"@\",{}]}}}\r",
        R"json({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a\tb","arguments":{"text":"@","list":[1,[2,{"x":"y"}]]},"_meta":{"progressToken":"a token","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c"}}}})json",
        R"json({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"progressToken":"@"}}})json",
        R"json({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[["@"]],"requestId":{"a":{"b":1}},"uri":"u","task":null}})json",
        R"json({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"a","data":{"a":["b","@"]}}})json",
        R"json([{"jsonrpc":"2.0","id":1,"result":{"a":[["@"]]}}])json",
        R"json({"jsonrpc":"2.0","id":1,"result":{"a":[["@"]]}} {})json",
        R"json({"jsonrpc":"2.0","id":1,"result":{"a":[["@ bad \x escape"]]}})json",
        R"json({"jsonrpc":"2.0","id":1,"result":{"a":[["@ bad \u12"]]}})json",
        R"json({"jsonrpc":"2.0","id":1,"result":{"a":[["@ no end]]}})json",
        R"json({"jsonrpc":"2.0","id":1,"result":{"a":[["@ one too many"]]]}}})json",
        R"json({"jsonrpc":"2.0","id":1,"result":{"a":[["@ one too few"]}})json",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":[[\"@ control \x01 character\"]]}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":[[\"@ bad \xC3( text\", \"\xE2\x82\"]]}}"};
    std::transform(lines.begin(), lines.end(), lines.begin(), with_long_text);
    return lines;
  }();
  return kLines;
}

TEST_F(MessageScanTest, SaysTheSameAsAReaderOfTheWholeLineAtEveryBorder) {
  int in_pieces = 0;
  for (const std::string& line : lines()) {
    for (std::size_t piece = 1; piece <= line.size() + 1; ++piece) {
      for (const std::size_t step : {std::size_t{1}, piece, line.size()}) {
        if (grow(line, piece, step) != nullptr) ++in_pieces;
        expect_same();
        if (HasFailure()) FAIL() << "piece " << piece << ", step " << step;
      }
    }
  }
  EXPECT_GT(in_pieces, 1000);
}

/// Any text, with all that matters near each other.
std::string random_line(std::mt19937& random) {
  static const std::vector<std::string> kPieces{
      "{",        "}",    "[",    "]",       ",",    ":",        "\"",
      "\"",       "\\\"", "\\\\", "\\u00fc", "\\",   "\xC3\xBC", "\xF0\x9F\x98\x80",
      "\xE2\x82", " ",    "\t",   "1",       "null", "text",     "\x01"};
  std::string text = lines()[random() % lines().size()];
  for (auto count = random() % 4; count > 0; --count) {
    const std::size_t at = random() % text.size();
    const std::string& piece = kPieces[random() % kPieces.size()];
    switch (random() % 3) {
      case 0:
        text.insert(at, piece);
        break;
      case 1:
        text.erase(at, 1 + random() % 3);
        break;
      default:
        text.replace(at, 1, piece);
    }
  }
  return text;
}

TEST_F(MessageScanTest, SaysTheSameOfAnyText) {
  constexpr int kLines = 30'000;
  int in_pieces = 0;
  for (std::uint32_t seed = 0; seed < kLines; ++seed) {
    std::mt19937 random(seed);
    const std::string line = random_line(random);
    const std::size_t piece = 8 + random() % 400;
    if (grow(line, piece, 1 + random() % 400) != nullptr) ++in_pieces;
    expect_same();
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(in_pieces, kLines / 10);
}

TEST_F(MessageScanTest, ALineThatHasNotEndedHasNoPlaces) {
  const std::string& line = lines()[0];
  text_ = line + std::string(limits::kLinePadding, ' ');
  scan_ = MessageScan(16);
  scan_.grow(text_.data(), line.size(), false);
  EXPECT_THAT(scan_.places(), IsNull());
  scan_.grow(text_.data(), line.size(), true);
  EXPECT_THAT(scan_.places(), NotNull());
}

TEST_F(MessageScanTest, APieceOfBackslashesIsReadWithTheWholeLine) {
  const std::string line = R"json({"jsonrpc":"2.0","id":1,"result":{"a":[[")json" +
                           std::string(200, '\\') + R"json("]]}})json";
  EXPECT_THAT(grow(line, 16, 16), IsNull());
  expect_same();
  EXPECT_THAT(grow(line, 300, 300), NotNull());
  expect_same();
}

TEST_F(MessageScanTest, ABrokenValueThatNobodyReadsIsNoted) {
  for (const std::string broken : {"NaN", "[1,]", "[,1]", "[1 2]", "{\"a\":}", "{\"a\" 1}", "{1:2}",
                                   "[}", "{\"a\":1,}", "01", "[:]"}) {
    for (const std::string& line :
         {R"json({"jsonrpc":"2.0","id":1,"result":{"a":)json" + broken + "}}",
          R"json({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":)json" + broken + "}}"}) {
      MessageReader reader;
      const OwnedLine owned(line);
      const Message* const message = reader.read(owned.line());
      ASSERT_NE(message, nullptr) << line << reader.defect().what;
      EXPECT_FALSE(message->is_checked) << line;
      EXPECT_EQ(reader.read(owned.line(), MessageReader::Values::checked), nullptr) << line;
    }
  }
}

TEST_F(MessageScanTest, ABrokenPartOfTheMessageItselfIsRefused) {
  for (const std::string line :
       {R"json({"jsonrpc":"2.0","id":1,"result":{},})json",
        R"json({"jsonrpc":"2.0" "id":1,"result":{}})json",
        R"json({"jsonrpc":"2.0","id" 1,"result":{}})json",
        R"json({"jsonrpc":"2.0","id":1,"result":})json",
        R"json({"jsonrpc":"2.0","id":1,"result":{}])json",
        R"json({"jsonrpc":"2.0","id":1,"method":"x","params":{"name" "y"}})json",
        R"json({"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progressToken":}}})json"}) {
    MessageReader reader;
    const OwnedLine owned(line);
    EXPECT_EQ(reader.read(owned.line()), nullptr) << line;
    EXPECT_EQ(reader.defect().kind, Defect::Kind::not_json) << line;
  }
}

}  // namespace
}  // namespace sitter
