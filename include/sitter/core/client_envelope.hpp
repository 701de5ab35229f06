#pragma once

#include <string>
#include <string_view>

#include "sitter/core/message.hpp"

namespace sitter {

/// What the client says of itself in every request of the stateless revision, so that the bridge's
/// own requests can say the same: a server must refuse a request without it (2026-07-28,
/// basic/index, "_meta").
class ClientEnvelope {
 public:
  /// A request came with an envelope. Not to be called for server/discover, which proves nothing:
  /// the client may still open the session with `initialize`.
  void note(const Message::Params& params);

  /// The child has given a result to such a request.
  void on_served();
  /// The child does not know the version. What it has served before counts again.
  void on_refused();

  /// Whether the client has shown that it speaks the stateless revision.
  bool is_known() const { return !last_.version.empty(); }
  /// The client's version; empty before it is known.
  std::string version() const;
  /// As raw `_meta`; empty before it is known.
  std::string meta() const;

 private:
  /// Raw values; empty where the client left them out.
  struct Parts {
    std::string version;
    std::string client;
    std::string capabilities;
  };

  Parts last_;
  Parts served_;
  bool is_served_ = false;
};

}  // namespace sitter
