#include "core/wire/line_outline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_text.hpp"
#include "core/wire/message.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsNull;
using ::testing::NotNull;

/// What a message says, and where each of its raw values stands in the line.
std::vector<std::string> words_of(const Message* message, const Defect& defect,
                                  std::string_view line) {
  if (message == nullptr) return {"no message", defect.what, defect.id};
  const Message::Params& p = message->params;
  std::vector<std::string> words{std::to_string(static_cast<int>(message->kind)),
                                 std::to_string(static_cast<int>(message->method)),
                                 p.has_task ? "task" : "no task", std::string(message->method_text),
                                 std::string(p.name_text)};
  for (const std::string_view view :
       {message->id, message->params_raw, message->result, message->error, p.meta_progress_token,
        p.progress_token, p.request_id, p.uri, p.level, p.cursor, p.protocol_version,
        p.envelope_version, p.envelope_client, p.envelope_capabilities, p.subscription_id,
        p.notifications, p.task_id, p.request_state}) {
    const bool is_inside = view.data() >= line.data() && view.data() <= line.data() + line.size();
    words.push_back(is_inside ? std::to_string(view.data() - line.data()) + "+" +
                                    std::to_string(view.size())
                              : std::string(view));
  }
  return words;
}

class LineOutlineTest : public ::testing::Test {
 protected:
  /// Reads the line in pieces of this size, and as it grows by `step` bytes.
  const LineOutline* read(const std::string& line, std::size_t piece, std::size_t step,
                          std::size_t gap_min = 1) {
    // What follows the line is as hostile as it can be.
    text_ = line + "\"\\{[" + std::string(limits::kLinePadding, '"');
    const std::string before = text_;
    size_ = line.size();
    reader_ = OutlineReader(piece, gap_min);
    for (std::size_t size = std::min(step, size_);; size = std::min(size + step, size_)) {
      reader_.read(text_.data(), size, size == size_);
      if (size == size_) break;
    }
    EXPECT_EQ(text_, before);
    return reader_.outline();
  }

  /// The message is the same with the outline and without.
  void expect_same() {
    const std::string_view text(text_.data(), size_);
    if (reader_.outline() != nullptr) {
      EXPECT_TRUE(has_json_grammar(text)) << text;
    }
    const Message* const whole = whole_.read(Line::padded(text));
    const Message* const outlined = outlined_.read(Line::padded(text, reader_.outline()));
    EXPECT_EQ(words_of(outlined, outlined_.defect(), text), words_of(whole, whole_.defect(), text))
        << text;
  }

  std::vector<std::string> gaps() const {
    std::vector<std::string> texts;
    for (const auto& gap : reader_.outline()->gaps) {
      texts.push_back(text_.substr(gap.begin, gap.end - gap.begin));
    }
    return texts;
  }

  std::string text_;
  std::size_t size_ = 0;
  OutlineReader reader_;
  MessageReader whole_;
  MessageReader outlined_;
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

TEST_F(LineOutlineTest, SaysTheSameAsAReaderOfTheWholeLineAtEveryBorder) {
  int outlined = 0;
  for (const std::string& line : lines()) {
    for (std::size_t piece = 1; piece <= line.size() + 1; ++piece) {
      for (const std::size_t step : {std::size_t{1}, piece, line.size()}) {
        if (read(line, piece, step) != nullptr) ++outlined;
        expect_same();
        if (HasFailure()) FAIL() << "piece " << piece << ", step " << step;
      }
    }
  }
  EXPECT_GT(outlined, 1000);
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

TEST_F(LineOutlineTest, SaysTheSameOfAnyText) {
  constexpr int kLines = 30'000;
  int outlined = 0;
  for (std::uint32_t seed = 0; seed < kLines; ++seed) {
    std::mt19937 random(seed);
    const std::string line = random_line(random);
    const std::size_t piece = 8 + random() % 400;
    if (read(line, piece, 1 + random() % 400) != nullptr) ++outlined;
    expect_same();
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(outlined, kLines / 10);
}

TEST_F(LineOutlineTest, LeavesOutWhatNobodyReads) {
  read(lines()[0], 16, 16);
  EXPECT_THAT(gaps(), ElementsAre(with_long_text(R"json("type":"text","text":"@")json")));
  read(lines()[3], 16, 16);
  EXPECT_THAT(gaps(), ElementsAre(with_long_text("@"), R"json(1,[2,{"x":"y"}])json", "a token",
                                  "2026-07-28", R"json("name":"c")json"));
}

TEST_F(LineOutlineTest, ALineOfShortPartsHasNoOutline) {
  const std::string text(50, 'x');
  const std::string line =
      R"json({"jsonrpc":"2.0","id":1,"result":{"a":[[")json" + text + R"json("]]}})json";
  EXPECT_THAT(read(line, 16, 16, text.size() + 2), NotNull());
  EXPECT_THAT(read(line, 16, 16, text.size() + 3), IsNull());
}

TEST_F(LineOutlineTest, ALineThatHasNotEndedHasNoOutline) {
  const std::string& line = lines()[0];
  text_ = line + std::string(limits::kLinePadding, ' ');
  reader_ = OutlineReader(16, 1);
  reader_.read(text_.data(), line.size(), false);
  EXPECT_THAT(reader_.outline(), IsNull());
  reader_.read(text_.data(), line.size(), true);
  EXPECT_THAT(reader_.outline(), NotNull());
}

TEST_F(LineOutlineTest, APieceOfBackslashesEndsTheOutline) {
  const std::string line = R"json({"jsonrpc":"2.0","id":1,"result":{"a":[[")json" +
                           std::string(200, '\\') + R"json("]]}})json";
  EXPECT_THAT(read(line, 16, 16), IsNull());
  expect_same();
  EXPECT_THAT(read(line, 300, 300), NotNull());
  expect_same();
}

}  // namespace
}  // namespace sitter
