#pragma once

#include <string>

namespace sitter {

/// The build id of the ELF file at `path`, or the UUID of a Mach-O file, in lower-case hex. Empty
/// if there is none. Reads only a bounded part of the file, whatever the file contains.
std::string build_id_of(const std::string& path);

}  // namespace sitter
