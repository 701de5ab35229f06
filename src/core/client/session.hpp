#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/json_view.hpp"
#include "sitter/limits.hpp"

namespace sitter {

namespace limits {

/// Subscriptions that are restored at the next child, each with a request of its own. At about 150
/// bytes each, these requests take a tenth of the queue to the child. The second bound is for the
/// bytes of the URIs, which may be long: a quarter of that queue.
inline constexpr std::size_t kSubscriptionsMax = 10000;
inline constexpr std::size_t kSubscriptionBytesMax = kQueueBytesMax / 4;

}  // namespace limits

/// What a child says about itself in its answer to `initialize`.
struct OpeningResult {
  std::string protocol_version;
  /// These three are raw, and empty if the child left them out.
  std::string server_info;
  std::string capabilities;
  std::string instructions;

  static OpeningResult of(std::string_view result);
  /// What the answer to server/discover says. It lists the supported versions and not the version
  /// in use, so `protocol_version` stays empty.
  static OpeningResult of_discovery(std::string_view result);

  bool declares(std::string_view capability) const;
  bool takes_subscriptions() const;
  std::vector<std::string> capability_names() const;
  /// Decoded from `server_info`; empty if the child gave none.
  std::string server_name() const;
  std::string server_version() const;

  friend bool operator==(const OpeningResult&, const OpeningResult&) = default;
};

/// The only revision in which a client may send several messages in an array.
inline constexpr std::string_view kBatchVersion = "2025-03-26";

/// The first revision in which an error may come without an id. In an error of an earlier revision,
/// an id of null is the lesser evil.
inline constexpr std::string_view kErrorsWithoutId = "2025-11-25";

/// How the client opened the session, and what it has set up since: everything that the next child
/// has to be told. This applies only to revisions that open with `initialize`; the stateless
/// revision needs none of it.
struct Session {
  /// The raw params of the client's `initialize`; empty before `initialize`.
  std::string opening_params;
  std::string requested_version;
  /// The version in the answer to the client; empty before the answer.
  std::string negotiated_version;
  /// The raw capabilities that the child declared when the client was answered. None can be added
  /// later.
  std::string capabilities;
  /// The bridge answered the opening itself, with capabilities that the child may lack.
  bool answered_by_us = false;
  /// The client's `notifications/initialized`; empty before that line.
  std::string initialized_line;
  /// The client has not sent that line. Its first request counted as it.
  bool is_initialized_by_request = false;
  /// The raw level of the last logging/setLevel that succeeded; empty if none did.
  std::string log_level;
  /// The raw URIs, in the order of subscription.
  std::vector<std::string> subscriptions;

  bool is_asked() const { return !opening_params.empty(); }
  bool is_answered() const { return !negotiated_version.empty(); }
  /// The revision that is spoken. Until the opening is answered, the revision that the client asked
  /// for.
  const std::string& version() const {
    return is_answered() ? negotiated_version : requested_version;
  }
  /// Whether the client may send several messages in an array.
  bool takes_batches() const { return is_asked() && version() == kBatchVersion; }
  /// Whether an error must have an id, which may be null.
  bool needs_ids_in_errors() const { return is_asked() && version() < kErrorsWithoutId; }
  bool is_initialized() const { return !initialized_line.empty(); }
  /// Whether the client was told of this feature, so that messages about it may be sent.
  bool declares(std::string_view feature) const;

  /// The client's params with the negotiated version, because the child must not choose another
  /// version.
  std::string replayed_params() const;

  /// Returns false if there is no room for the subscription (`limits::kSubscriptionsMax`).
  bool subscribe(std::string_view raw_uri);
  void unsubscribe(std::string_view raw_uri);
};

/// The newest revision that opens with `initialize`.
inline constexpr std::string_view kNewestLegacyVersion = "2025-11-25";

/// Whether this revision opens with `initialize`.
bool is_legacy_version(std::string_view version);

/// Adds the bridge's part to the result of `initialize` or server/discover: its tools and
/// notifications to the capabilities, and its own instructions after those of the child.
/// `leaves_out_nulls`: the result is of `initialize`, and what clients refuse of it goes.
void amend_opening(std::string_view result, std::string_view instructions, bool leaves_out_nulls,
                   Edits& edits);

/// The result of an opening that the bridge answers itself.
std::string own_opening_result(std::string_view protocol_version, std::string_view sitter_version,
                               std::string_view instructions);

}  // namespace sitter
