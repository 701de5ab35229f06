#include <fmt/format.h>

#include <cstddef>
#include <vector>

#include "io/files/version_resource.hpp"
#include "io/system/windows.hpp"

namespace sitter {
namespace {

/// A resource in memory, as the functions of version.dll read it.
class Resource {
 public:
  explicit Resource(const std::wstring& path) {
    const DWORD size = GetFileVersionInfoSizeW(path.c_str(), nullptr);
    bytes_.resize(size);
    if (size > 0 && !GetFileVersionInfoW(path.c_str(), 0, size, bytes_.data())) bytes_.clear();
  }

  bool is_open() const { return !bytes_.empty(); }

  const VS_FIXEDFILEINFO* fixed() const {
    UINT size = 0;
    const void* const found = find(L"\\", size);
    return size >= sizeof(VS_FIXEDFILEINFO) ? static_cast<const VS_FIXEDFILEINFO*>(found) : nullptr;
  }

  /// The texts are in a block for each language. The first block stands for all.
  std::string text(const wchar_t* name) const {
    UINT size = 0;
    const auto* const languages =
        static_cast<const WORD*>(find(L"\\VarFileInfo\\Translation", size));
    // A resource without this list mostly has a block for American English in Unicode.
    const bool is_listed = languages != nullptr && size >= 2 * sizeof(WORD);
    wchar_t block[] = L"\\StringFileInfo\\040904b0\\";
    if (is_listed) {
      swprintf(block, std::size(block), L"\\StringFileInfo\\%04x%04x\\", languages[0],
               languages[1]);
    }
    const auto* const found =
        static_cast<const wchar_t*>(find((std::wstring(block) + name).c_str(), size));
    if (found == nullptr) return {};
    std::wstring_view value(found, size);
    // The length mostly counts the NUL at the end.
    value = value.substr(0, value.find(L'\0'));
    return windows::utf8(value);
  }

 private:
  const void* find(const wchar_t* place, UINT& size) const {
    void* found = nullptr;
    size = 0;
    if (!VerQueryValueW(bytes_.data(), place, &found, &size)) size = 0;
    return size > 0 ? found : nullptr;
  }

  std::vector<char> bytes_;
};

std::string numbers(DWORD high, DWORD low) {
  return fmt::format("{}.{}.{}.{}", HIWORD(high), LOWORD(high), HIWORD(low), LOWORD(low));
}

}  // namespace

std::optional<BinaryFacts::Version> version_of(const std::string& path) {
  const Resource resource(windows::system_path(path));
  if (!resource.is_open()) return std::nullopt;
  BinaryFacts::Version version{.file_version = resource.text(L"FileVersion"),
                               .product_version = resource.text(L"ProductVersion"),
                               .product_name = resource.text(L"ProductName"),
                               .description = resource.text(L"FileDescription"),
                               .company = resource.text(L"CompanyName"),
                               .copyright = resource.text(L"LegalCopyright")};
  if (const VS_FIXEDFILEINFO* const fixed = resource.fixed()) {
    if (version.file_version.empty()) {
      version.file_version = numbers(fixed->dwFileVersionMS, fixed->dwFileVersionLS);
    }
    if (version.product_version.empty()) {
      version.product_version = numbers(fixed->dwProductVersionMS, fixed->dwProductVersionLS);
    }
    version.is_debug = (fixed->dwFileFlags & fixed->dwFileFlagsMask & VS_FF_DEBUG) != 0;
  }
  return version;
}

}  // namespace sitter
