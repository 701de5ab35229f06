#include "curl.hpp"

namespace sitter::bench {

bool has_curl() { return false; }
std::unique_ptr<Caller> call_with_curl(const std::string&) { return nullptr; }

}  // namespace sitter::bench
