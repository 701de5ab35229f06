#include "io/stream/client_stdio.hpp"
#include "io/system/windows.hpp"

namespace sitter {
namespace {

/// A copy of the handle, since the program's own handle is used at its end, too.
FileDescriptor own(DWORD stream) {
  const HANDLE self = GetCurrentProcess();
  HANDLE copy = nullptr;
  DuplicateHandle(self, GetStdHandle(stream), self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS);
  if (copy == nullptr) {
    copy = CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                       nullptr, OPEN_EXISTING, 0, nullptr);
  }
  return windows::descriptor_of(windows::Handle(copy));
}

}  // namespace

ClientStdio::ClientStdio() : input_(own(STD_INPUT_HANDLE)), output_(own(STD_OUTPUT_HANDLE)) {}
ClientStdio::~ClientStdio() = default;

}  // namespace sitter
