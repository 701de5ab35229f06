#include "io/system/user_only_windows.hpp"

#include <sddl.h>

namespace sitter::windows {

std::wstring user_of(HANDLE process) {
  HANDLE opened = nullptr;
  if (!OpenProcessToken(process, TOKEN_QUERY, &opened)) return {};
  const Handle token(opened);
  alignas(TOKEN_USER) char user[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
  DWORD size = 0;
  if (!GetTokenInformation(token.get(), TokenUser, user, sizeof user, &size)) return {};
  wchar_t* text = nullptr;
  if (!ConvertSidToStringSidW(reinterpret_cast<TOKEN_USER*>(user)->User.Sid, &text)) return {};
  std::wstring result = text;
  LocalFree(text);
  return result;
}

bool is_of_own_user(HANDLE process) {
  static const std::wstring own = user_of(GetCurrentProcess());
  return !own.empty() && user_of(process) == own;
}

UserOnly::UserOnly() {
  attributes_.nLength = sizeof attributes_;
  const std::wstring sid = user_of(GetCurrentProcess());
  if (sid.empty()) return;
  // A protected list with one entry: all rights for this user, also on what is made below. The
  // default owner would not do: for an elevated process it is the group of the administrators.
  const std::wstring rights = L"D:P(A;OICI;GA;;;" + sid + L")";
  ConvertStringSecurityDescriptorToSecurityDescriptorW(rights.c_str(), SDDL_REVISION_1,
                                                       &attributes_.lpSecurityDescriptor, nullptr);
}

UserOnly::~UserOnly() { LocalFree(attributes_.lpSecurityDescriptor); }

}  // namespace sitter::windows
