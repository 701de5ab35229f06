#include "terminal/output.hpp"

#include <cstdio>

namespace sitter {

bool print_all(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

}  // namespace sitter
