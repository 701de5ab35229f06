#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/wire/message.hpp"

namespace sitter {

/// What the client says about itself in every request of the stateless revision. The bridge's own
/// requests repeat it, because a server must refuse a request without it (2026-07-28, basic/index,
/// "_meta").
class ClientEnvelope {
 public:
  /// Numbers the envelopes of the client. An envelope that differs from the one before gets a new
  /// number.
  using Number = std::uint32_t;
  /// There was no envelope, or none that could be repeated.
  static constexpr Number kNone = 0;

  /// A request came with an envelope. This must not be called for server/discover, which proves
  /// nothing: the client may still open the session with `initialize`.
  Number note(const Message::Params& params);

  /// The child has given a result to a request with this envelope. Returns true if that is the
  /// first result for the envelope.
  bool on_served(Number number);
  /// The child does not know the version. The last envelope that was served counts again.
  void on_refused(Number number);

  /// Whether the client has shown that it speaks the stateless revision.
  bool is_known() const { return !last_.version.empty(); }
  /// The client's version; empty before it is known.
  std::string version() const;
  /// The envelope as raw `_meta`; empty before it is known.
  std::string meta() const;

 private:
  /// Raw values; a value is empty if the client left it out.
  struct Parts {
    std::string version;
    std::string client;
    std::string capabilities;
  };

  Parts last_;
  Parts served_;
  Number last_number_ = kNone;
  Number number_ = kNone;  ///< the number of `last_`
  Number served_number_ = kNone;
};

}  // namespace sitter
