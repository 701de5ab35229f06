#pragma once

#include "io/system/windows.hpp"

namespace sitter::windows {

/// The security identifier of the user of a process, as text: S-1-5-21-... Empty if it may not be
/// looked at.
std::wstring user_of(HANDLE process);
bool is_of_own_user(HANDLE process);

/// Makes a new file, folder or other object the user's own: nobody else may open it, and no rights
/// of the folder above are inherited. What is made in such a folder is the user's own too.
class UserOnly {
 public:
  UserOnly();
  UserOnly(const UserOnly&) = delete;
  UserOnly& operator=(const UserOnly&) = delete;
  ~UserOnly();

  /// For a call that makes an object. Null if the system does not tell who the user is; then the
  /// object inherits the rights of the folder above.
  SECURITY_ATTRIBUTES* attributes() {
    return attributes_.lpSecurityDescriptor != nullptr ? &attributes_ : nullptr;
  }

 private:
  SECURITY_ATTRIBUTES attributes_{};
};

}  // namespace sitter::windows
