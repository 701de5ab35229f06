#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/http/secrets.hpp"
#include "sitter/bytes.hpp"
#include "sitter/time.hpp"

// What the bridge reads in a response that is no message of the protocol.

namespace sitter {

namespace limits {

/// The longest wait that an HTTP daemon can ask for, with `retry` or `Retry-After`. A daemon under
/// development comes back within minutes, whatever it has asked for.
inline constexpr Milliseconds kHttpWaitMax{5 * 60 * 1000};

/// How much of a response that is no message an error shows, in characters: a title and a sentence.
/// The second bound is for the bytes of it that are read. Error pages with a style sheet and a
/// stack trace are seldom half as long.
inline constexpr std::size_t kBodyWordsMax = 200;
inline constexpr std::size_t kBodyReadMax = 64 * kKiB;

/// How many bytes of WWW-Authenticate an error shows: a scheme, a realm and a reason.
inline constexpr std::size_t kChallengeBytesMax = 200;

}  // namespace limits

constexpr bool is_success(int status) { return status >= 200 && status < 300; }

/// "503 Service Unavailable", or the number alone if it has no registered phrase.
std::string status_line(int status);

/// Whether a Content-Type names text/event-stream, whatever its parameters are (RFC 9110, 8.3.1).
bool is_event_stream_type(std::string_view content_type);

/// The beginning of a body, on one line, at most `limits::kBodyWordsMax` characters. Of HTML only
/// the text is shown.
std::string body_words(std::string_view body, std::string_view content_type,
                       const Secrets& secrets);

/// How long a Retry-After asks to wait, at most `limits::kHttpWaitMax`. Nothing if the value is
/// neither a number of seconds nor a date in today's form (RFC 9110, 10.2.3 and 5.6.7).
std::optional<Milliseconds> retry_after(std::string_view value, WallTime now);

/// An error that the body of a refusal may carry instead of a text for people. Views into the body.
struct RpcError {
  std::string_view error;  ///< the raw object
  std::string_view id;     ///< raw; empty if it is null or missing
};

/// The error if the body is valid JSON, and an object with an error that has a code.
std::optional<RpcError> rpc_error(std::string_view body);

/// A response to a request of the client that is no answer.
struct HttpRefusal {
  int status = 0;
  /// Whether the request carried the id of a session.
  bool had_session_id = false;
  std::string_view body;
  std::string_view www_authenticate;
};

/// What a refusal says about the session of the request.
enum class SessionLoss : std::uint8_t {
  none,
  /// The daemon does not know the session: it has forgotten it, or another daemon listens. The
  /// request was not carried out.
  gone,
  /// The daemon has only one session, and that one was opened before, by us or by somebody else.
  already_open,
};

/// The protocol only has 404 for a session that is gone (2025-11-25, basic/transports, session
/// management). The examples of the official SDKs answer in other ways, and servers copy them.
SessionLoss session_loss(const HttpRefusal& refusal);

}  // namespace sitter
