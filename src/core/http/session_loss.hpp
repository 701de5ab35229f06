#pragma once
#include <string_view>
namespace sitter {
enum class SessionLoss { none, lost, has_another };
inline SessionLoss session_loss(int status, bool had, std::string_view, std::string_view) {
  return had && status == 404 ? SessionLoss::lost : SessionLoss::none;
}
}  // namespace sitter
