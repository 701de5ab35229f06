#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/wire/message.hpp"

namespace sitter {

/// What the client says of itself in every request of the stateless revision, so that the bridge's
/// own requests can say the same: a server must refuse a request without it (2026-07-28,
/// basic/index, "_meta").
class ClientEnvelope {
 public:
  /// Of what the client has said, one for each time that it said something else.
  using Number = std::uint32_t;
  /// Nothing was said, or nothing that could be said again.
  static constexpr Number kNone = 0;

  /// A request came with an envelope. Not to be called for server/discover, which proves nothing:
  /// the client may still open the session with `initialize`.
  Number note(const Message::Params& params);

  /// The child has given a result to such a request. True if that is the first of its kind.
  bool on_served(Number number);
  /// The child does not know the version. What it has served before counts again.
  void on_refused(Number number);

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
  Number last_number_ = kNone;
  Number number_ = kNone;  ///< of `last_`
  Number served_number_ = kNone;
};

}  // namespace sitter
