#pragma once

#include "sitter/end_words.hpp"

namespace sitter {

/// The words for what `ProcessUnit::signal` and `send_signal` do on this system.
const EndWords& end_words();

}  // namespace sitter
