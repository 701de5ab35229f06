#include "io/http/response_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using State = ResponseReader::State;

class ResponseReaderTest : public ::testing::Test {
 protected:
  /// What a response of this status says of itself, and its body.
  static std::string words_of(int status, const std::vector<HttpHeader>& headers) {
    std::string words = std::to_string(status);
    for (const HttpHeader& header : headers) words += ' ' + header.name + '=' + header.value;
    return words;
  }
  std::vector<std::string> told() {
    std::vector<std::string> result = std::move(heads_);
    if (!body_.empty()) result.push_back("body " + body_);
    heads_.clear();
    body_.clear();
    return result;
  }
  State feed_bytewise(std::string_view text) {
    State state = State::reading;
    for (std::size_t i = 0; i < text.size() && state == State::reading; ++i) {
      state = reader_.feed(text.substr(i, 1));
    }
    return state;
  }
  /// A head of this size, with its blank line.
  static std::string head_of(std::size_t size) {
    const std::string start = "HTTP/1.1 204 No Content\r\n";
    const std::string end = "\r\n\r\n";
    std::string head = start;
    while (size - head.size() > 2000) head += "X-Filler: " + std::string(988, 'x') + "\r\n";
    head += "X-Last: ";
    head += std::string(size - head.size() - end.size(), 'x') + end;
    return head;
  }

  std::vector<std::string> heads_;
  std::string body_;
  bool stops_ = false;
  ResponseReader reader_{{[this](int status, std::vector<HttpHeader> headers) {
                            heads_.push_back(words_of(status, headers));
                            if (stops_) reader_.stop();
                          },
                          [this](std::string_view bytes) {
                            EXPECT_FALSE(bytes.empty());
                            body_ += bytes;
                            if (stops_) reader_.stop();
                          }}};
};

TEST_F(ResponseReaderTest, ABodyHasTheLengthThatTheHeadSays) {
  EXPECT_EQ(
      reader_.feed("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"),
      State::complete);
  EXPECT_THAT(told(), ElementsAre("200 content-type=text/plain", "body hello"));
  EXPECT_TRUE(reader_.keeps_connection());
}

TEST_F(ResponseReaderTest, OnlyTheHeadersThatMatterAreTold) {
  reader_.feed(
      "HTTP/1.1 503 Wait\r\nDate: now\r\nRETRY-AFTER: 1\r\nmcp-SESSION-id: a\r\nLocation: /b\r\n"
      "X-Mcp-Session-Id: c\r\nKeep-Alive: timeout=5\r\nWWW-Authenticate: Basic\r\n"
      "Content-type: text/html\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(told(), ElementsAre("503 retry-after=1 mcp-session-id=a location=/b "
                                  "keep-alive=timeout=5 www-authenticate=Basic "
                                  "content-type=text/html"));
}

TEST_F(ResponseReaderTest, AChunkedBodyComesWithoutSizesExtensionsAndTrailers) {
  EXPECT_EQ(reader_.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                         "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nRetry-After: 1\r\n\r\n"),
            State::complete);
  EXPECT_THAT(told(), ElementsAre("200", "body abcde"));
  EXPECT_TRUE(reader_.keeps_connection());
}

TEST_F(ResponseReaderTest, ABodyWithoutALengthLastsUntilTheConnectionEnds) {
  EXPECT_EQ(reader_.feed("HTTP/1.1 200 OK\r\n\r\nsome"), State::reading);
  EXPECT_EQ(reader_.feed(" text"), State::reading);
  EXPECT_EQ(reader_.end(true), State::complete);
  EXPECT_THAT(told(), ElementsAre("200", "body some text"));
  EXPECT_FALSE(reader_.keeps_connection());
}

TEST_F(ResponseReaderTest, ABodyWithoutALengthIsNotCompleteIfTheConnectionBroke) {
  EXPECT_EQ(reader_.feed("HTTP/1.1 200 OK\r\n\r\nsome"), State::reading);
  EXPECT_EQ(reader_.end(false), State::failed);
  EXPECT_EQ(reader_.complaint(), "the connection ended in the middle of the response");
}

TEST_F(ResponseReaderTest, ResponsesThatHaveNoBodyEndWithTheirHead) {
  for (const char* const status : {"204 No Content", "304 Not Modified"}) {
    EXPECT_EQ(reader_.feed("HTTP/1.1 " + std::string(status) + "\r\n\r\n"), State::complete);
    EXPECT_TRUE(reader_.keeps_connection());
    reader_.begin();
  }
  EXPECT_THAT(told(), ElementsAre("204", "304"));
}

TEST_F(ResponseReaderTest, An202WithoutALengthEndsWithItsHeadAndItsConnectionIsNotKept) {
  EXPECT_EQ(reader_.feed("HTTP/1.1 202 Accepted\r\n\r\n"), State::complete);
  EXPECT_THAT(told(), ElementsAre("202"));
  EXPECT_FALSE(reader_.keeps_connection());
}

TEST_F(ResponseReaderTest, An202WithALengthKeepsItsConnection) {
  EXPECT_EQ(reader_.feed("HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok"), State::complete);
  EXPECT_THAT(told(), ElementsAre("202", "body ok"));
  EXPECT_TRUE(reader_.keeps_connection());
}

TEST_F(ResponseReaderTest, InformationalResponsesAreSkipped) {
  EXPECT_EQ(reader_.feed("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                         "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
            State::complete);
  EXPECT_THAT(told(), ElementsAre("200", "body ok"));
  EXPECT_TRUE(reader_.keeps_connection());
}

TEST_F(ResponseReaderTest, AChangeToAnotherProtocolFails) {
  EXPECT_EQ(reader_.feed("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"),
            State::failed);
  EXPECT_EQ(reader_.complaint(),
            "the response changes to another protocol (status 101), which nobody asked for");
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(ResponseReaderTest, WhatTheDaemonSaysOfTheConnectionIsHeeded) {
  const auto keeps = [&](const std::string& start) {
    EXPECT_EQ(reader_.feed(start + "Content-Length: 0\r\n\r\n"), State::complete);
    const bool result = reader_.keeps_connection();
    reader_.begin();
    return result;
  };
  EXPECT_TRUE(keeps("HTTP/1.1 200 OK\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1 200 OK\r\nConnection: close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.0 200 OK\r\n"));
  EXPECT_TRUE(keeps("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n"));
}

TEST_F(ResponseReaderTest, BytesAfterTheResponsePreventReuse) {
  EXPECT_EQ(reader_.feed("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!"), State::complete);
  EXPECT_THAT(told(), ElementsAre("200", "body ok"));
  EXPECT_FALSE(reader_.keeps_connection());
}

TEST_F(ResponseReaderTest, APieceMayEndAnywhere) {
  const std::vector<std::string> texts = {
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nLocation: b\r\nContent-Length: "
      "11\r\n\r\nhello "
      "world",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;ext=\"x\"\r\nhello\r\n0006\r\n world\r\n0\r\nLocation: u\r\n\r\n",
  };
  for (const std::string& text : texts) {
    EXPECT_EQ(reader_.feed(text), State::complete);
    const std::vector<std::string> whole = told();
    reader_.begin();
    EXPECT_EQ(feed_bytewise(text), State::complete);
    EXPECT_EQ(told(), whole);
    EXPECT_TRUE(reader_.keeps_connection());
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      reader_.begin();
      EXPECT_EQ(reader_.feed(text.substr(0, cut)), State::reading);
      EXPECT_EQ(reader_.feed(text.substr(cut)), State::complete);
      EXPECT_EQ(told(), whole);
    }
    reader_.begin();
  }
}

TEST_F(ResponseReaderTest, AResponseThatIsCutOffFailsWhereverTheCutIs) {
  const std::string text =
      "HTTP/1.1 100 Continue\r\n\r\n"
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  EXPECT_EQ(reader_.end(true), State::failed);
  EXPECT_EQ(reader_.complaint(), "the connection ended before the response");
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    reader_.begin();
    EXPECT_EQ(reader_.feed(text.substr(0, cut)), State::reading);
    EXPECT_EQ(reader_.end(true), State::failed);
    EXPECT_EQ(reader_.complaint(), "the connection ended in the middle of the response");
  }
}

TEST_F(ResponseReaderTest, WhatIsNoHttpFails) {
  for (const char* const text : {
           "SSH-2.0-OpenSSH_9.2\r\n",
           "<html>\r\n",
           "HTTP/2 200 OK\r\n\r\n",
           "HTTP/1.1 abc\r\n\r\n",
           "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
       }) {
    EXPECT_EQ(reader_.feed(text), State::failed) << text;
    EXPECT_THAT(reader_.complaint(), ::testing::StartsWith("the response is not valid HTTP ("));
    reader_.begin();
  }
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(ResponseReaderTest, ABrokenChunkFailsBehindWhatCameBefore) {
  EXPECT_EQ(
      reader_.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nxyz\r\n"),
      State::failed);
  EXPECT_THAT(told(), ElementsAre("200", "body abc"));
}

TEST_F(ResponseReaderTest, AHeadMayHave64KiBAndNotOneByteMore) {
  EXPECT_EQ(reader_.feed(head_of(limits::kHttpHeadMax)), State::complete);
  reader_.begin();
  EXPECT_EQ(reader_.feed(head_of(limits::kHttpHeadMax + 1)), State::failed);
  EXPECT_EQ(reader_.complaint(), "the head of the response is longer than 64 KiB");
  EXPECT_EQ(heads_.size(), 1U);

  reader_.begin();
  EXPECT_EQ(feed_bytewise(head_of(limits::kHttpHeadMax)), State::complete);
  reader_.begin();
  EXPECT_EQ(feed_bytewise(head_of(limits::kHttpHeadMax + 1)), State::failed);
  EXPECT_EQ(heads_.size(), 2U);
}

TEST_F(ResponseReaderTest, EachInformationalResponseHasThisLimitOfItsOwn) {
  std::string first = head_of(limits::kHttpHeadMax);
  first.replace(0, 23, "HTTP/1.1 100 Continue!!");
  EXPECT_EQ(reader_.feed(first), State::reading);
  EXPECT_EQ(reader_.feed(head_of(limits::kHttpHeadMax)), State::complete);
}

TEST_F(ResponseReaderTest, AHeadWithoutEndFails) {
  const std::string line = "A: b\r\n";
  std::string head = "HTTP/1.1 200 OK\r\n";
  State state = reader_.feed(head);
  while (state == State::reading && head.size() < 2 * limits::kHttpHeadMax) {
    state = reader_.feed(line);
    head += line;
  }
  EXPECT_EQ(state, State::failed);
  EXPECT_GT(head.size(), limits::kHttpHeadMax);
  EXPECT_LE(head.size(), limits::kHttpHeadMax + line.size());
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(ResponseReaderTest, WhatStandsBetweenTwoChunksIsLimitedToo) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string complaint =
      "what stands between two pieces of the response is longer than 64 KiB";
  // The parser has used nothing of an extension, or of the trailers, before their end.
  const std::string extension = "3;a=" + std::string(limits::kHttpHeadMax - 4, 'x');
  const std::string trailers = "0\r\nA: " + std::string(limits::kHttpHeadMax - 6, 'x');
  for (const std::string& text : {extension, trailers}) {
    EXPECT_EQ(reader_.feed(head + text), State::reading);
    EXPECT_EQ(reader_.feed("x"), State::failed);
    EXPECT_EQ(reader_.complaint(), complaint);
    reader_.begin();
  }
}

TEST_F(ResponseReaderTest, ALargeBodyIsNotBoundByTheLimitOfTheHead) {
  const std::string body(3 * limits::kMiB, 'x');
  EXPECT_EQ(reader_.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n300000\r\n" + body +
                         "\r\n1"),
            State::reading);
  EXPECT_EQ(reader_.feed("\r\n!\r\n0\r\n\r\n"), State::complete);
  EXPECT_TRUE(body_ == body + '!');
}

/// What `bytes` hold, as C++ reads them with their zeros.
template <std::size_t size>
std::string text_of(const char (&bytes)[size]) {
  return {bytes, size - 1};
}

const std::string kRaw = text_of("\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x90\x00");
const std::string kGzip = text_of("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03") + kRaw +
                          text_of("\x80\x88\xf9\xe5\x11\x00\x00\x00");

std::string compressed(const std::string& encoding, const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Encoding: " + encoding +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST_F(ResponseReaderTest, ABodyThatCameCompressedIsRead) {
  const std::string tail = kGzip.substr(kGzip.size() - 8);
  for (const auto& [encoding, body] :
       {std::pair("gzip", kGzip), std::pair("X-GZip", kGzip),
        std::pair("gzip", text_of("\x1f\x8b\x08\x1e\x00\x00\x00\x00\x02\x03\x02\x00"
                                  "ABname\0comment\0CC") +
                              kRaw + tail),
        std::pair("deflate", text_of("\x78\xda") + kRaw + text_of("\x3a\x2e\x06\x7d")),
        std::pair("deflate", kRaw)}) {
    SCOPED_TRACE(encoding);
    for (const bool is_bytewise : {false, true}) {
      const std::string text = compressed(encoding, body);
      EXPECT_EQ(is_bytewise ? feed_bytewise(text) : reader_.feed(text), State::complete)
          << reader_.complaint();
      EXPECT_THAT(told(), ElementsAre("200", "body hello hello hello"));
      reader_.begin();
    }
  }
  EXPECT_EQ(reader_.feed(compressed("gzip", "")), State::complete);
  EXPECT_THAT(told(), ElementsAre("200"));
  reader_.begin();
  EXPECT_EQ(reader_.feed(compressed("identity", "abc")), State::complete);
  EXPECT_THAT(told(), ElementsAre("200", "body abc"));
}

TEST_F(ResponseReaderTest, ACompressedBodyThatIsBrokenFails) {
  for (const auto& [encoding, body, complaint] :
       {std::tuple("gzip", std::string("abc"), "is broken"),
        std::tuple("gzip", kGzip.substr(0, 10) + "\xff\xff\xff", "is broken"),
        std::tuple("gzip", kGzip.substr(0, 15), "ends too early"),
        std::tuple("gzip", kGzip.substr(0, 3), "ends too early"),
        std::tuple("gzip", kGzip.substr(0, 3) + "\x08" + std::string(100'000, 'x'), "is broken"),
        std::tuple("deflate", text_of("\x78\xbb"), "is broken"),
        std::tuple("br", std::string("abc"), "compressed with br, which nobody asked for")}) {
    EXPECT_EQ(reader_.feed(compressed(encoding, body)), State::failed) << complaint;
    EXPECT_THAT(reader_.complaint(), HasSubstr(complaint));
    reader_.begin();
  }
}

TEST_F(ResponseReaderTest, AStopEndsACompressedBodyToo) {
  stops_ = true;
  reader_.feed(compressed("gzip", kGzip));
  EXPECT_THAT(told(), ElementsAre("200"));
}

TEST_F(ResponseReaderTest, AfterAStopNothingIsTold) {
  stops_ = true;
  reader_.feed("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_THAT(told(), ElementsAre("200"));
  stops_ = false;
  reader_.begin();
  EXPECT_EQ(reader_.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n"),
            State::reading);
  told();
  stops_ = true;
  reader_.feed("a\r\n1\r\nb\r\n0\r\n\r\n");
  EXPECT_THAT(told(), ElementsAre("body a"));
}

}  // namespace
}  // namespace sitter
