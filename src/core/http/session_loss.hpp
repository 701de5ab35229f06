#pragma once

#include <cstdint>
#include <string_view>

namespace sitter {

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
