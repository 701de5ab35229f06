#pragma once

#include <string>
#include <vector>

namespace sitter {

/// Formats rows, of which the first is the header. Each column is as wide as its widest entry; the
/// last column is not padded.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace sitter
