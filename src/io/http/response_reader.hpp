#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/bytes.hpp"
#include "sitter/http.hpp"

namespace sitter {

namespace limits {

/// The head of an HTTP response, and what comes between two pieces of a chunked body. Node.js sends
/// and takes a quarter of this.
inline constexpr std::size_t kHttpHeadMax = 64 * kKiB;

}  // namespace limits

/// Reads the response to one HTTP/1.1 request after the other, from pieces of any size. It does not
/// keep the body. Informational responses (1xx) are skipped.
///
///     reading --> complete --begin()--> reading
///        \------> failed
class ResponseReader {
 public:
  struct Events {
    /// The headers that this program looks at, with their names in lower case.
    std::function<void(int status, std::vector<HttpHeader> headers)> on_head;
    /// A piece of the body; never empty. The view is valid during the call.
    std::function<void(std::string_view)> on_bytes;
  };
  enum class State : std::uint8_t {
    reading,
    complete,
    failed,  ///< `complaint()` says why
  };

  /// The events come from within `feed`. In them, nothing may be called but `stop`.
  explicit ResponseReader(Events events);
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;
  ~ResponseReader();

  /// Gets ready for another response.
  void begin();
  /// Only while it is reading.
  State feed(std::string_view bytes);
  /// The connection has ended, in an orderly way or not. Only while it is reading.
  State end(bool is_orderly);
  /// No further event comes until `begin`. May be called from within an event.
  void stop();

  /// A clause for a person, without a full stop: "the response is not valid HTTP (bad version)".
  const std::string& complaint() const;
  /// After a complete response: whether another request may be sent on the connection. False also
  /// if there were bytes behind the response.
  bool keeps_connection() const;

 private:
  struct Parsing;

  std::unique_ptr<Parsing> parsing_;
};

}  // namespace sitter
