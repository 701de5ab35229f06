#include "io/files/version_resource.hpp"

namespace sitter {

std::optional<BinaryFacts::Version> version_of(const std::string&) { return std::nullopt; }

}  // namespace sitter
