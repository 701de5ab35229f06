#include "core/http/sse_parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/base/json_text.hpp"
#include "core/wire/room.hpp"
#include "sitter/line.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Strings = std::vector<std::string>;

std::string word(const SseParser::Event& event) {
  const std::string type = event.type.empty() ? "" : event.type + "|";
  if (event.size == 0) return type + event.data;
  EXPECT_EQ(event.data, "");
  return type + "too long: " + std::to_string(event.size);
}

/// Feeds one piece, from memory that is gone afterwards.
Strings feed(SseParser& parser, std::string_view piece) {
  const std::vector<char> bytes(piece.begin(), piece.end());
  parser.feed({bytes.data(), bytes.size()});
  Strings events;
  while (const auto event = parser.next()) events.push_back(word(*event));
  return events;
}

/// All that comes out of a stream that ends at these places: the events, the last id, and the time
/// to wait.
Strings read(std::string_view stream, std::vector<std::size_t> cuts = {}) {
  SseParser parser(40, 8);
  Strings events;
  cuts.push_back(stream.size());
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    for (std::string& event : feed(parser, stream.substr(from, cut - from))) {
      events.push_back(std::move(event));
    }
    from = cut;
  }
  events.push_back("id " + parser.last_event_id());
  if (parser.retry()) events.push_back("retry " + std::to_string(parser.retry()->count()));
  return events;
}

class SseParserTest : public ::testing::Test {
 protected:
  Strings feed(std::string_view piece) { return sitter::feed(parser_, piece); }

  SseParser parser_;
};

TEST_F(SseParserTest, AnEventEndsWithABlankLine) {
  EXPECT_THAT(feed("data: {\"a\":1}\n"), IsEmpty());
  EXPECT_THAT(feed("\n"), ElementsAre("{\"a\":1}"));
  EXPECT_THAT(feed("data:x\n\ndata:y\n\n"), ElementsAre("x", "y"));
}

TEST_F(SseParserTest, OneSpaceAfterTheColonIsDropped) {
  EXPECT_THAT(feed("data:a\n\ndata: b\n\ndata:  c \n\n"), ElementsAre("a", "b", " c "));
  EXPECT_THAT(feed("data :a\n\ndata:\td\n\n"), ElementsAre("\td"));
}

TEST_F(SseParserTest, LinesEndWithNewlinesOrReturnsOrBoth) {
  EXPECT_THAT(feed("data:a\r\n\r\n"), ElementsAre("a"));
  EXPECT_THAT(feed("data:b\r\r"), ElementsAre("b"));
  EXPECT_THAT(feed("data:c\r\n\n"), ElementsAre("c"));
  EXPECT_THAT(feed("data:d\n\r\n"), ElementsAre("d"));
  EXPECT_THAT(feed("data:e\r\ndata:f\rdata:g\n\r"), ElementsAre("e\nf\ng"));
}

TEST_F(SseParserTest, ALineEndMayBeCutInTwo) {
  EXPECT_THAT(feed("data:a\r"), IsEmpty());
  EXPECT_THAT(feed("\ndata:b\r"), IsEmpty());
  EXPECT_THAT(feed("\n\r"), ElementsAre("a\nb"));
  // This newline belongs to the return before it, and ends no other event.
  EXPECT_THAT(feed("\ndata:c\n"), IsEmpty());
  EXPECT_THAT(feed("\n"), ElementsAre("c"));
}

TEST_F(SseParserTest, AReturnEndsTheEventBeforeTheNewlineHasCome) {
  EXPECT_THAT(feed("data:a\r\n\r"), ElementsAre("a"));
}

TEST_F(SseParserTest, LinesOfDataAreJoined) {
  EXPECT_THAT(feed("data: {\ndata: \"a\": 1\ndata\ndata: }\n\n"), ElementsAre("{\n\"a\": 1\n\n}"));
  EXPECT_THAT(feed("data:\ndata:\n\n"), ElementsAre("\n"));
}

TEST_F(SseParserTest, AnEmptyLineOfDataIsAnEventWithoutText) {
  EXPECT_THAT(feed("data:\n\ndata\n\n"), ElementsAre("", ""));
}

TEST_F(SseParserTest, CommentsAndUnknownFieldsMeanNothing) {
  EXPECT_THAT(feed(": ping\n\n:\n\n::data:x\n"), IsEmpty());
  EXPECT_THAT(feed("data:a\n:data:b\nDATA:c\ndatas:d\nlonger-name:e\nlonger name\nx\n dat:f\n\n"),
              ElementsAre("a"));
}

TEST_F(SseParserTest, AByteOrderMarkAtTheStartIsSkipped) {
  EXPECT_THAT(feed("\xEF\xBB\xBF"
                   "data:a\n\n"),
              ElementsAre("a"));
  // After the start, it is a part of the name.
  EXPECT_THAT(feed("\xEF\xBB\xBF"
                   "data:b\n\n"),
              IsEmpty());
}

TEST_F(SseParserTest, OnlyOneByteOrderMarkIsSkipped) {
  EXPECT_THAT(feed("\xEF\xBB\xBF\xEF\xBB\xBF"
                   "data:a\n\n"),
              IsEmpty());
}

TEST_F(SseParserTest, AByteOrderMarkBeforeABlankLineIsSkippedToo) {
  EXPECT_THAT(feed("\xEF\xBB\xBF\n\xEF\xBB\ndata:a\n\n"), ElementsAre("a"));
}

TEST_F(SseParserTest, AnEventHasTheLastTypeBeforeItsEnd) {
  EXPECT_THAT(feed("event: message\ndata:a\n\n"), ElementsAre("message|a"));
  EXPECT_THAT(feed("event:x\ndata:b\nevent:y\n\ndata:c\n\n"), ElementsAre("y|b", "c"));
  EXPECT_THAT(feed("event:x\n\ndata:d\n\n"), ElementsAre("d"));
}

TEST_F(SseParserTest, TheIdCountsWhenItsEventIsComplete) {
  EXPECT_THAT(feed("id: 1\ndata:a\n"), IsEmpty());
  EXPECT_EQ(parser_.last_event_id(), "");
  EXPECT_THAT(feed("\n"), ElementsAre("a"));
  EXPECT_EQ(parser_.last_event_id(), "1");
  feed("data:b\n\n");
  EXPECT_EQ(parser_.last_event_id(), "1");
  feed("id\ndata:c\n\n");
  EXPECT_EQ(parser_.last_event_id(), "");
}

TEST_F(SseParserTest, TheIdBelongsToTheEventThatWasTakenOut) {
  parser_.feed("id:1\ndata:a\n\nid:2\ndata:b\n\n");
  parser_.next();
  EXPECT_EQ(parser_.last_event_id(), "1");
  parser_.next();
  EXPECT_EQ(parser_.last_event_id(), "2");
  EXPECT_FALSE(parser_.next());
}

TEST_F(SseParserTest, AnEventWithoutDataTellsItsIdOnly) {
  EXPECT_THAT(feed("id: first\n\n"), IsEmpty());
  EXPECT_EQ(parser_.last_event_id(), "first");
  EXPECT_THAT(feed("id: second\ndata:\n\n"), ElementsAre(""));
  EXPECT_EQ(parser_.last_event_id(), "second");
}

TEST_F(SseParserTest, AnIdWithANulIsIgnored) {
  feed("id:1\n\n");
  feed(std::string_view("id:a\0b\n\n", 8));
  EXPECT_EQ(parser_.last_event_id(), "1");
}

TEST_F(SseParserTest, TheTimeToWaitHasOnlyDigits) {
  for (const char* line : {"retry:\n", "retry\n", "retry: -1\n", "retry: 1s\n", "retry: 1.5\n",
                           "retry:  1\n", "retry: 0x1\n"}) {
    feed(line);
    EXPECT_FALSE(parser_.retry()) << line;
  }
  feed("retry: 1500\n");
  EXPECT_EQ(parser_.retry(), Milliseconds(1500));
  feed("retry:0\n");
  EXPECT_EQ(parser_.retry(), Milliseconds(0));
}

TEST_F(SseParserTest, TheTimeToWaitIsAtMostFiveMinutes) {
  feed("retry: 299999\n");
  EXPECT_EQ(parser_.retry(), Milliseconds(299999));
  for (const char* line : {"retry: 300000\n", "retry: 300001\n", "retry: 18446744073709551616\n",
                           "retry: 99999999999999999999999999999999\n"}) {
    feed(line);
    EXPECT_EQ(parser_.retry(), Milliseconds(300000)) << line;
  }
}

TEST_F(SseParserTest, TheEndOfTheStreamCutsOffAnEvent) {
  EXPECT_THAT(read("data:a\n\ndata:b\nid:3"), ElementsAre("a", "id "));
  EXPECT_THAT(read("data:a\n\ndata:b\nid:3\n"), ElementsAre("a", "id "));
}

TEST_F(SseParserTest, AnIdOrATypeOf4KiBCountsAndALongerOneDoesNot) {
  const std::string at_limit(4096, 'x');
  feed("id:" + at_limit + "\n\n");
  EXPECT_EQ(parser_.last_event_id(), at_limit);
  feed("id:" + at_limit + "y\n\n");
  EXPECT_EQ(parser_.last_event_id(), at_limit);
  EXPECT_THAT(feed("event: " + at_limit + "\ndata:a\n\n"), ElementsAre(at_limit + "|a"));
  EXPECT_THAT(feed("event: " + at_limit + "y\ndata:b\n\n"), ElementsAre("b"));
}

TEST_F(SseParserTest, DataAtTheLimitPassAndOneMoreByteDoesNot) {
  parser_ = SseParser(1000);
  const std::string at_limit(1000, 'x');
  EXPECT_THAT(feed("data:" + at_limit + "\n\n"), ElementsAre(at_limit));
  EXPECT_THAT(feed("data:" + at_limit + "x\n\n"), ElementsAre("too long: 1001"));
  EXPECT_THAT(feed("event:m\ndata:" + at_limit + "\ndata\n\n"), ElementsAre("m|too long: 1001"));
  EXPECT_THAT(feed("data:" + at_limit.substr(1) + "\ndata\n\n"),
              ElementsAre(at_limit.substr(1) + "\n"));
  EXPECT_THAT(feed("data: next\n\n"), ElementsAre("next"));
}

TEST_F(SseParserTest, OfDataThatAreTooLongTheEndsAreKept) {
  std::string data(20000, '-');
  data.replace(0, 5, "begin");
  data.replace(data.size() - 3, 3, "end");
  data[limits::kLineEndKept - 1] = '<';
  data[data.size() - limits::kLineEndKept] = '>';
  for (const std::size_t piece : {std::size_t{777}, data.size()}) {
    SseParser parser(10000);
    sitter::feed(parser, "id: 1\ndata: ");
    for (std::size_t at = 0; at < data.size(); at += piece) {
      EXPECT_THAT(sitter::feed(parser, data.substr(at, piece)), IsEmpty());
    }
    parser.feed("\n\n");
    const auto event = parser.next();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->size, data.size());
    EXPECT_EQ(event->head, data.substr(0, limits::kLineEndKept));
    EXPECT_EQ(event->tail, data.substr(data.size() - limits::kLineEndKept));
    EXPECT_EQ(parser.last_event_id(), "1");
  }
}

TEST_F(SseParserTest, TheEndsOfAShortExcessDoNotOverlap) {
  parser_ = SseParser(10, 8);
  parser_.feed("data:0123456789a\n\n");
  const auto event = parser_.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->head + event->tail, "0123456789a");
}

TEST_F(SseParserTest, DataWithoutEndAreToldOnceTheyAreTwiceTheLimit) {
  parser_ = SseParser(1000);
  feed("id:7\ndata:");
  EXPECT_THAT(feed(std::string(2000, 'x')), IsEmpty());
  EXPECT_THAT(feed("x"), ElementsAre("too long: 2001"));
  EXPECT_THAT(feed(std::string(5000, 'x')), IsEmpty());
  EXPECT_THAT(feed("\n\ndata:next\n\n"), ElementsAre("next"));
  EXPECT_EQ(parser_.last_event_id(), "7");
}

TEST_F(SseParserTest, DataForWhichThereIsNoMemoryAreTooLong) {
  ASSERT_EQ(limits::kRoomAskedFrom, 1048576U);
  parser_ = SseParser(limits::kLineMax, limits::kLineEndKept,
                      [](std::size_t bytes) { return bytes < 30000000; });
  // To read data takes 8 bytes for each byte, and 16 MiB.
  EXPECT_THAT(feed("data:" + std::string(1652847, 'x') + "\n\n"),
              ElementsAre(std::string(1652847, 'x')));
  EXPECT_THAT(feed("data:" + std::string(1652848, 'x') + "\n\n"), ElementsAre("too long: 1652848"));
  // Here the data themselves have no room.
  EXPECT_THAT(feed("data:" + std::string(40000000, 'x') + "\n\n"),
              ElementsAre("too long: 40000000"));
  EXPECT_THAT(feed("data:next\n\n"), ElementsAre("next"));
}

TEST_F(SseParserTest, DataWithoutRoomAreNotKeptUntilTheirEnd) {
  static std::vector<std::size_t> asked;
  asked.clear();
  parser_ = SseParser(limits::kLineMax, limits::kLineEndKept, [](std::size_t bytes) {
    asked.push_back(bytes);
    return false;
  });
  feed("data:" + std::string(2000000, 'x'));
  EXPECT_THAT(asked, ElementsAre(2000000 + limits::kLinePadding));
  // From here on, the data are only counted.
  feed(std::string(3000000, 'x'));
  EXPECT_THAT(feed("\n\n"), ElementsAre("too long: 5000000"));
  EXPECT_EQ(asked.size(), 1U);
}

TEST_F(SseParserTest, ForLittleDataNobodyAsksForMemory) {
  parser_ = SseParser(limits::kLineMax, limits::kLineEndKept, [](std::size_t) { return false; });
  const std::string data(limits::kRoomAskedFrom - limits::kLinePadding - 1, 'x');
  EXPECT_THAT(feed("data:" + data + "\n\n"), ElementsAre(data));
}

TEST_F(SseParserTest, TheDataBecomeALineWithoutACopy) {
  const std::string stream = "data: " + std::string(1000, 'x') + "\n\n";
  parser_.feed(stream);
  auto event = parser_.next();
  ASSERT_TRUE(event);
  const char* const before = event->data.data();
  const OwnedLine line(as_wire_line(std::move(event->data)));
  EXPECT_EQ(line.text().data(), before);
}

// Streams with all that a parser may get wrong where a piece ends.
const Strings kStreams = {
    "data: {\"jsonrpc\":\"2.0\"}\n\n",
    "\xEF\xBB\xBF"
    "event: message\r\nid: 1\r\ndata: a\r\n\r\n",
    "id: 1\rdata: a\rdata: b\r\rid: 2\rdata: c\r\r",
    "\r\n\r\n\n\r\r\ndata\r\n\r\n\r\n",
    "retry: 1500\n: comment\n\n\ndata:  a \ndata\ndata:\n\nretry: 15s\n\n",
    "event\nevent:\nevent: x\nid\nid:7\nretry\nretry:3\ndata: d\n\n",
    "data: 0123456789012345678901234567890123456789\n\ndata:y\n\n",
    "data: 0123456789012345678901234567890123456789z\n\ndata:y\n\n",
    "data: 01234567890123456789\r\ndata: 0123456789012345678901\r\nid: 4\r\n\r\ndata:y\r\n\r\n",
    "unknown: x\nevents:y\nevent y\neven: z\nid : 8\n  data: w\ndata: \xE2\x82\xAC\n\n",
    "\xEF\xBB"
    "data: a\n\ndata: b\n\n",
    std::string("id: a\0b\ndata: \0\n\nid:c\n\n", 24),
    "data: a\r\n\r\ndata: cut off\r\nid: 9\r",
    "\xEF\xBB\xBF\r\ndata:a\r\r\n",
};

TEST(SseParserPiecesTest, TheStreamsMeanThis) {
  EXPECT_THAT(read(kStreams[1]), ElementsAre("message|a", "id 1"));
  EXPECT_THAT(read(kStreams[2]), ElementsAre("a\nb", "c", "id 2"));
  EXPECT_THAT(read(kStreams[3]), ElementsAre("", "id "));
  EXPECT_THAT(read(kStreams[4]), ElementsAre(" a \n\n", "id ", "retry 1500"));
  EXPECT_THAT(read(kStreams[5]), ElementsAre("x|d", "id 7", "retry 3"));
  EXPECT_THAT(read(kStreams[7]), ElementsAre("too long: 41", "y", "id "));
  EXPECT_THAT(read(kStreams[8]), ElementsAre("too long: 43", "y", "id 4"));
  EXPECT_THAT(read(kStreams[11]), ElementsAre(std::string(1, '\0'), "id c"));
}

TEST(SseParserPiecesTest, EveryCutGivesTheSameEvents) {
  for (const std::string& stream : kStreams) {
    const Strings whole = read(stream);
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
      EXPECT_EQ(read(stream, {cut}), whole) << stream << " cut at " << cut;
    }
  }
}

TEST(SseParserPiecesTest, EveryPairOfCutsGivesTheSameEvents) {
  for (const std::string& stream : kStreams) {
    const Strings whole = read(stream);
    for (std::size_t first = 0; first <= stream.size(); ++first) {
      for (std::size_t second = first; second <= stream.size(); ++second) {
        ASSERT_EQ(read(stream, {first, second}), whole) << stream << first << " " << second;
      }
    }
  }
}

TEST(SseParserPiecesTest, SingleBytesGiveTheSameEvents) {
  for (const std::string& stream : kStreams) {
    std::vector<std::size_t> cuts(stream.size());
    for (std::size_t i = 0; i < cuts.size(); ++i) cuts[i] = i;
    EXPECT_EQ(read(stream, cuts), read(stream)) << stream;
  }
}

/// A stream of random words, which often are line ends or parts of fields.
std::string random_stream(std::mt19937& random) {
  const Strings words = {"data",     ":",       " ",          "\n",    "\r",       "\r\n",
                         "\n\n",     "id",      "event",      "retry", "x",        "12",
                         "data: ",   "id:",     "0123456789", "\r\r",  "\r\n\r\n", "\xEF\xBB\xBF",
                         "\xC3\xBC", "unknown", "data:a\n\n"};
  std::string stream;
  const std::size_t count = random() % 60;
  for (std::size_t i = 0; i < count; ++i) stream += words[random() % words.size()];
  return stream;
}

TEST(SseParserPiecesTest, RandomPiecesOfRandomStreamsGiveTheSameEvents) {
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const std::string stream = random_stream(random);
    std::vector<std::size_t> cuts(random() % 20);
    for (std::size_t& cut : cuts) cut = random() % (stream.size() + 1);
    std::sort(cuts.begin(), cuts.end());
    ASSERT_EQ(read(stream, cuts), read(stream)) << "seed " << seed << ": " << stream;
  }
}

/// The same by the words of the standard, line by line, without pieces and limits.
Strings read_simply(std::string stream) {
  if (stream.starts_with("\xEF\xBB\xBF")) stream.erase(0, 3);
  Strings events;
  std::string data;
  std::string type;
  std::string id;
  std::string last_id;
  std::string retry;
  while (true) {
    const std::size_t end = stream.find_first_of("\r\n");
    if (end == std::string::npos) break;
    const std::string line = stream.substr(0, end);
    stream.erase(0, end + (stream.compare(end, 2, "\r\n") == 0 ? 2 : 1));
    if (line.empty()) {
      last_id = id;
      if (!data.empty()) {
        data.pop_back();
        events.push_back((type.empty() ? "" : type + "|") + data);
      }
      data.clear();
      type.clear();
      continue;
    }
    const std::size_t colon = line.find(':');
    const std::string name = line.substr(0, colon);
    std::string value = colon == std::string::npos ? "" : line.substr(colon + 1);
    if (value.starts_with(' ')) value.erase(0, 1);
    if (name == "data") data += value + "\n";
    if (name == "event") type = value;
    if (name == "id") id = value;
    const bool is_number = value.find_first_not_of("0123456789") == std::string::npos;
    if (name == "retry" && !value.empty() && is_number) {
      retry = "retry " + std::to_string(std::min(300000.0, std::stod(value)));
      retry = retry.substr(0, retry.find('.'));
    }
  }
  events.push_back("id " + last_id);
  if (!retry.empty()) events.push_back(retry);
  return events;
}

TEST(SseParserPiecesTest, RandomStreamsAreReadByTheStandard) {
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const std::string stream = random_stream(random);
    SseParser parser;
    Strings events = feed(parser, stream);
    events.push_back("id " + parser.last_event_id());
    if (parser.retry()) events.push_back("retry " + std::to_string(parser.retry()->count()));
    ASSERT_EQ(events, read_simply(stream)) << "seed " << seed << ": " << stream;
  }
}

TEST(AsWireLineTest, LineBreaksBecomeSpaces) {
  EXPECT_EQ(as_wire_line("{\r\n  \"a\": 1\n}\r"), "{    \"a\": 1 } ");
  EXPECT_EQ(as_wire_line("{\r\"a\":1}"), "{ \"a\":1}");
  EXPECT_EQ(as_wire_line(""), "");
}

TEST(AsWireLineTest, OneLineStaysWhereItIs) {
  std::string text(100, 'x');
  const char* const before = text.data();
  const std::string line = as_wire_line(std::move(text));
  EXPECT_EQ(line.data(), before);
}

}  // namespace
}  // namespace sitter
