#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace sitter {

/// The bytes of a file. Nothing if it cannot be read or has more than `size_max` bytes; `problem`
/// then says why, as a clause for a person. Never waits for a FIFO or a device.
std::optional<std::string> read_whole_file(const std::string& path, std::size_t size_max,
                                           std::string& problem);

}  // namespace sitter
