#pragma once

#include <cstdint>

namespace sitter {

/// Names a request that the bridge answers itself, also after its answer: `ClientRequests::find`
/// says whether it is still open. No two requests have the same handle.
enum class RequestHandle : std::uint64_t {};

}  // namespace sitter
