#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sitter::fake {

struct HttpRequest {
  std::string method;
  std::string path;                                         ///< without the query
  std::map<std::string, std::string, std::less<>> headers;  ///< names are in lower case
  std::string body;

  /// Empty if there is no such header.
  std::string_view header(std::string_view name) const;
  bool has(std::string_view name) const { return headers.find(name) != headers.end(); }
};

/// Cuts the bytes of a connection into requests. A body has a length or comes in chunks.
class HttpRequestReader {
 public:
  void add(std::string_view bytes) { input_ += bytes; }

  /// The next request, once it is complete.
  std::optional<HttpRequest> take();

  /// Whether the input is not HTTP. Nothing can be read after that.
  bool is_broken() const { return broken_; }

  /// True once for a request whose client waits for `100 Continue` before it sends the body.
  bool is_asked_to_continue();

 private:
  void read_head();
  bool read_body();
  bool read_chunks();

  std::string input_;
  std::optional<HttpRequest> request_;  ///< its head is complete
  std::size_t length_ = 0;
  bool chunked_ = false;
  bool continued_ = false;
  bool broken_ = false;
};

}  // namespace sitter::fake
