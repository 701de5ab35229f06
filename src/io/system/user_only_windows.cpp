#include "io/system/user_only_windows.hpp"

#include <sddl.h>

#include <cstddef>
#include <vector>

namespace sitter::windows {
namespace {

/// The security identifier of the user, as text: S-1-5-21-... Empty on failure.
std::wstring user_sid() {
  HANDLE opened = nullptr;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &opened)) return {};
  const Handle token(opened);
  DWORD size = 0;
  GetTokenInformation(token.get(), TokenUser, nullptr, 0, &size);
  std::vector<std::max_align_t> buffer(size / sizeof(std::max_align_t) + 1);
  wchar_t* text = nullptr;
  if (!GetTokenInformation(token.get(), TokenUser, buffer.data(), size, &size) ||
      !ConvertSidToStringSidW(reinterpret_cast<const TOKEN_USER*>(buffer.data())->User.Sid,
                              &text)) {
    return {};
  }
  std::wstring sid(text);
  LocalFree(text);
  return sid;
}

}  // namespace

UserOnly::UserOnly() {
  attributes_.nLength = sizeof attributes_;
  const std::wstring sid = user_sid();
  if (sid.empty()) return;
  // A protected list with one entry: all rights for this user, also on what is made below. The
  // default owner would not do: for an elevated process it is the group of the administrators.
  const std::wstring rights = L"D:P(A;OICI;GA;;;" + sid + L")";
  ConvertStringSecurityDescriptorToSecurityDescriptorW(rights.c_str(), SDDL_REVISION_1,
                                                       &attributes_.lpSecurityDescriptor, nullptr);
}

UserOnly::~UserOnly() { LocalFree(attributes_.lpSecurityDescriptor); }

}  // namespace sitter::windows
