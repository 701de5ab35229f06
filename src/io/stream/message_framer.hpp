#pragma once

#include "core/wire/line_framer.hpp"

namespace sitter {

/// A framer for the messages of a client or a server. The memory of a long line grows where it is,
/// and in huge pages if the system has them: a page fault may take longer than reading what fits
/// into the page.
LineFramer message_framer();

}  // namespace sitter
