#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/client/client_requests.hpp"

namespace sitter {

/// The ids of the bridge's own requests. They have the type of the client's opening id, because a
/// hand-written server may read only the type that its client sends. No request of the client has
/// the same id.
class InternalIds {
 public:
  /// `seed` is random, so that no client reaches these numbers by counting.
  explicit InternalIds(std::uint64_t seed);

  /// The client opened the session with this raw id.
  void match_id_style(std::string_view raw_id) { strings_ = raw_id.starts_with('"'); }

  /// A new raw id that is not in use.
  std::string next(const ClientRequests& in_use);
  /// Whether `next` has returned this raw id.
  bool has_given(std::string_view raw_id) const;

 private:
  std::uint64_t first_;
  std::uint64_t next_;
  bool strings_ = false;
};

}  // namespace sitter
