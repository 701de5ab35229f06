#pragma once

#include <cstdint>

namespace sitter {

/// Names a request that the bridge answers itself. The handle stays valid after the answer:
/// `ClientRequests::find` says whether the request is still open. No two requests have the same
/// handle.
enum class RequestHandle : std::uint64_t {};

}  // namespace sitter
