#pragma once

#include <optional>
#include <string>

#include "sitter/binary_facts.hpp"

namespace sitter {

/// The version resource of a program for Windows. Nothing if the file has none, and on other
/// systems.
std::optional<BinaryFacts::Version> version_of(const std::string& path);

}  // namespace sitter
