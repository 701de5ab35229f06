#pragma once

namespace sitter {

/// The published schemas of the protocol (src/core/schema/published), by which clients judge what
/// a server sends.
enum class Revision {
  session,    ///< 2025-11-25: by it, official clients judge a session of each revision
  stateless,  ///< 2026-07-28
};

}  // namespace sitter
