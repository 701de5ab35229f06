#include "io/system/error_text.hpp"
#include "io/system/windows.hpp"

namespace sitter {

// The library's own texts of the system are in its code page.
std::string error_text(const std::error_code& error) {
  if (error.category() != std::system_category()) return error.message();
  return windows::error_text(static_cast<DWORD>(error.value()));
}

}  // namespace sitter
