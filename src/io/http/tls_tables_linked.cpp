#include "io/http/tls_tables.hpp"

namespace sitter {

// The start of the program has relocated them, or of the library that has them.
bool ready_tls_tables() { return true; }

}  // namespace sitter
