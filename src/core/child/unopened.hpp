#pragma once

#include <string_view>

namespace sitter {

/// Whether this raw error may mean that the session must be opened first. Some codes can't mean
/// that: they say that the server lacks the method or has failed itself, or they prove that the
/// server knows the stateless revision.
bool may_mean_unopened(std::string_view error);

/// Whether the message of this raw error names the initialization, as servers do that were not
/// opened. The protocol has no code for it.
bool names_opening(std::string_view error);

/// Whether this raw error may be the answer of a server that was not opened: it names the
/// initialization, or only finds the request invalid. The errors of a server that was opened may
/// read the same.
bool reads_as_unopened(std::string_view error);

}  // namespace sitter
