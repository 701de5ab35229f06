#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/wire/json_view.hpp"

namespace sitter {

/// What a child says of itself in its answer to `initialize`.
struct OpeningResult {
  std::string protocol_version;
  /// Raw; empty where the child left it out.
  std::string server_info;
  std::string capabilities;
  std::string instructions;

  static OpeningResult of(std::string_view result);
  /// What server/discover says of it. It names the versions that it takes, not the one in use.
  static OpeningResult of_discovery(std::string_view result);

  bool declares(std::string_view capability) const;
  bool takes_subscriptions() const;
  std::vector<std::string> capability_names() const;
  /// "name 1.2.3", for a person.
  std::string server_name() const;
  std::string server_version() const;

  friend bool operator==(const OpeningResult&, const OpeningResult&) = default;
};

/// How the client opened the session and what it has set up since: what the next child has to be
/// told. Only for revisions that open with `initialize`; the stateless one needs none of this.
struct Session {
  /// Raw params of the client's `initialize`; empty before it.
  std::string opening_params;
  std::string requested_version;
  /// The version that the client was answered; empty before.
  std::string negotiated_version;
  /// Raw, as the child declared them when the client was answered; none can be added later.
  std::string capabilities;
  /// The bridge answered the opening itself, with capabilities that the child may lack.
  bool answered_by_us = false;
  /// The client's `notifications/initialized`; empty before it.
  std::string initialized_line;
  /// Raw level of the last logging/setLevel that succeeded; empty if none did.
  std::string log_level;
  /// Raw URIs, in the order of subscription.
  std::vector<std::string> subscriptions;

  bool is_asked() const { return !opening_params.empty(); }
  bool is_answered() const { return !negotiated_version.empty(); }
  /// The revision that is spoken, as far as it is known: until the answer the one asked for.
  const std::string& version() const {
    return is_answered() ? negotiated_version : requested_version;
  }
  bool is_initialized() const { return !initialized_line.empty(); }
  /// Whether the client was told of this feature, so that messages about it may be sent.
  bool declares(std::string_view feature) const;

  /// The client's params, with the version that was negotiated: the child must not choose another.
  std::string replayed_params() const;

  /// False if there is no room to remember it (`limits::kSubscriptionsMax`).
  bool subscribe(std::string_view raw_uri);
  void unsubscribe(std::string_view raw_uri);
};

/// The newest revision that opens with `initialize`.
inline constexpr std::string_view kNewestLegacyVersion = "2025-11-25";

/// The only revision in which a client may send several messages in an array.
inline constexpr std::string_view kBatchVersion = "2025-03-26";

/// Revisions that open with `initialize`.
bool is_legacy_version(std::string_view version);

/// Whether this raw error may mean that the session must be opened first. Those with other codes
/// say that the server has no such method or has failed itself, and some prove that it knows
/// the stateless revision.
bool may_mean_unopened(std::string_view error);

/// What the bridge adds to the result of the child's answer to `initialize` or server/discover: its
/// tools and notifications among the capabilities, and its own instructions behind the child's.
void amend_opening(std::string_view result, std::string_view instructions, Edits& edits);

/// Takes from a result of the stateless revision how long it may be kept: no client may keep what
/// the next build changes.
void expire(std::string_view result, Edits& edits);

/// The result of an opening that the bridge answers itself.
std::string own_opening_result(std::string_view protocol_version, std::string_view sitter_version,
                               std::string_view instructions);

}  // namespace sitter
