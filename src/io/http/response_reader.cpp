#include "io/http/response_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/text.hpp"
#include "io/http/content_decoder.hpp"

namespace sitter {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;

constexpr int kSwitchingProtocols = 101;
constexpr int kAccepted = 202;

constexpr std::string_view kSessionId = "mcp-session-id";
constexpr std::string_view kContentEncoding = "content-encoding";

/// The name in lower case if anybody looks at such a header, and nothing otherwise. Most headers
/// of a response are about caches and browsers.
std::string_view wanted_name(http::field field, boost::beast::string_view name) {
  switch (field) {
    case http::field::content_encoding:
      return kContentEncoding;
    case http::field::content_type:
      return "content-type";
    case http::field::keep_alive:
      return "keep-alive";
    case http::field::location:
      return "location";
    case http::field::retry_after:
      return "retry-after";
    case http::field::www_authenticate:
      return "www-authenticate";
    case http::field::unknown:
      return boost::beast::iequals(name, kSessionId) ? kSessionId : std::string_view();
    default:
      return {};
  }
}

/// Notes what one step of the parser has found. The library calls these functions, and nothing else
/// is called from within them. They are not marked as overriding, because not every version of the
/// library declares the last one.
class Parser : public http::basic_parser<false> {
 public:
  Parser() {
    body_limit(boost::none);
    // The library compares this with what is left of the head, which shrinks from line to line.
    header_limit(std::numeric_limits<std::uint32_t>::max());
  }

  int status = 0;
  std::vector<HttpHeader> headers;
  std::string_view body;

 protected:
  using View = boost::beast::string_view;

  void on_request_impl(http::verb, View, View, int, error_code&) {}
  void on_response_impl(int code, View, int, error_code&) { status = code; }
  void on_field_impl(http::field field, View name, View value, error_code&) {
    const std::string_view wanted = wanted_name(field, name);
    // Behind the body, which is not wanted.
    if (wanted.empty() || is_header_done()) return;
    HttpHeader& header = headers.emplace_back();
    header.name = wanted;
    header.value.assign(value.data(), value.size());
  }
  void on_header_impl(error_code&) {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) {}
  std::size_t on_body_impl(View bytes, error_code&) {
    body = {bytes.data(), bytes.size()};
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, View, error_code&) {}
  std::size_t on_chunk_body_impl(std::uint64_t, View bytes, error_code& error) {
    return on_body_impl(bytes, error);
  }
  void on_finish_impl(error_code&) {}
  void on_trailer_field_impl(http::field, View, View, error_code&) {}
};

}  // namespace

struct ResponseReader::Parsing {
  void begin() {
    parser.emplace();
    rest.clear();
    head_size = 0;
    has_begun = false;
    is_stopped = false;
    is_complete = false;
    keeps_connection = false;
    decoder.reset();
    complaint.clear();
  }

  State feed(std::string_view bytes) {
    has_begun = has_begun || !bytes.empty();
    std::size_t used = 0;
    if (rest.empty()) {
      used = read(bytes);
      rest.assign(bytes.substr(used));
    } else {
      rest.append(bytes);
      used = read(rest);
      rest.erase(0, used);
    }
    if (!complaint.empty()) return State::failed;
    if (!is_complete) return State::reading;
    if (!is_decoded()) return State::failed;
    keeps_connection = keeps_connection && rest.empty();
    return State::complete;
  }

  /// Returns how many of the bytes are done with.
  std::size_t read(std::string_view bytes) {
    std::size_t used = 0;
    while (used < bytes.size() && !is_complete && !is_stopped && complaint.empty()) {
      const bool was_head = !parser->is_header_done();
      const std::string_view left = bytes.substr(used);
      error_code error;
      const std::size_t count = parser->put(boost::asio::buffer(left), error);
      used += count;
      if (was_head) head_size += count;
      const bool needs_more = error == http::error::need_more;
      if (error && !needs_more) {
        complaint = fmt::format("the response is not valid HTTP ({})", error.message());
        return used;
      }
      check_size(needs_more ? left.size() - count : 0);
      if (!complaint.empty()) return used;
      if (was_head && parser->is_header_done()) on_head();
      if (is_stopped || !complaint.empty()) return used;
      tell_body();
      if (needs_more) return used;
    }
    return used;
  }

  /// `unused` counts the bytes that the parser can't use without more of them.
  void check_size(std::size_t unused) {
    const std::size_t head_unused = parser->is_header_done() ? 0 : unused;
    if (head_size + head_unused > limits::kHttpHeadMax) {
      complain_of_size("the head of the response");
    } else if (unused > limits::kHttpHeadMax) {
      complain_of_size("what stands between two pieces of the response");
    }
  }

  void complain_of_size(std::string_view what) {
    complaint = fmt::format("{} is longer than {} KiB", what, limits::kHttpHeadMax / limits::kKiB);
  }

  void on_head() {
    if (parser->status == kSwitchingProtocols) {
      complaint = "the response changes to another protocol (status 101), which nobody asked for";
      return;
    }
    if (parser->status / 100 == 1) {
      parser.emplace();
      head_size = 0;
      return;
    }
    keeps_connection = parser->keep_alive();
    is_complete = parser->is_done();
    // Without a length, the body would last until the connection ends. But such a response seldom
    // has a body, and its connection may never end.
    if (parser->status == kAccepted && parser->need_eof()) is_complete = true;
    begin_decoding();
    if (complaint.empty()) events.on_head(parser->status, std::move(parser->headers));
  }

  void begin_decoding() {
    const auto header =
        std::find_if(parser->headers.begin(), parser->headers.end(),
                     [](const HttpHeader& each) { return each.name == kContentEncoding; });
    if (header == parser->headers.end()) return;
    const std::string encoding = std::move(header->value);
    parser->headers.erase(header);
    if (ContentDecoder::is_identity(encoding)) return;
    if (ContentDecoder::can_read(encoding)) {
      decoder.emplace(encoding);
    } else {
      complaint = fmt::format("the response is compressed with {}, which nobody asked for",
                              brief(encoding, 100));
    }
  }

  void tell_body() {
    const std::string_view body = std::exchange(parser->body, {});
    is_complete = is_complete || parser->is_done();
    if (!decoder) {
      if (!body.empty()) events.on_bytes(body);
      return;
    }
    if (!decoder->feed(body, tell_decoded)) complaint = "the compressed response is broken";
  }

  /// Whether a compressed body has come as a whole.
  bool is_decoded() {
    if (!decoder || is_stopped || decoder->end(tell_decoded)) return true;
    complaint = "the compressed response ends too early";
    return false;
  }

  State end(bool is_orderly) {
    if (!has_begun) {
      complaint = "the connection ended before the response";
      return State::failed;
    }
    error_code error;
    if (parser->got_some()) parser->put_eof(error);
    if (is_orderly && parser->is_done() && !error) {
      is_complete = true;
      return is_decoded() ? State::complete : State::failed;
    }
    complaint = "the connection ended in the middle of the response";
    return State::failed;
  }

  Events events;
  std::optional<Parser> parser;
  std::string rest;  // what the parser wants to see again, with more bytes
  std::size_t head_size = 0;
  std::optional<ContentDecoder> decoder;
  std::function<bool(std::string_view)> tell_decoded = [this](std::string_view bytes) {
    events.on_bytes(bytes);
    return !is_stopped;
  };
  std::string complaint;
  bool has_begun = false;
  bool is_stopped = false;
  bool is_complete = false;
  bool keeps_connection = false;
};

ResponseReader::ResponseReader(Events events) : parsing_(std::make_unique<Parsing>()) {
  parsing_->events = std::move(events);
  parsing_->begin();
}
ResponseReader::~ResponseReader() = default;

void ResponseReader::begin() { parsing_->begin(); }
ResponseReader::State ResponseReader::feed(std::string_view bytes) { return parsing_->feed(bytes); }
ResponseReader::State ResponseReader::end(bool is_orderly) { return parsing_->end(is_orderly); }
void ResponseReader::stop() { parsing_->is_stopped = true; }
const std::string& ResponseReader::complaint() const { return parsing_->complaint; }
bool ResponseReader::keeps_connection() const { return parsing_->keeps_connection; }

}  // namespace sitter
