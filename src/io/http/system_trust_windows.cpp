#include <algorithm>
#include <cstddef>
#include <string_view>

#include "io/http/system_trust.hpp"
#include "io/system/windows.hpp"
// wincrypt.h comes after windows.h. It defines names of OpenSSL as macros, such as X509_NAME.
#include <wincrypt.h>

namespace sitter {
namespace {

/// Whether the store lets the certificate vouch for servers. One without a list of purposes may
/// vouch for everything (CertGetEnhancedKeyUsage).
bool is_for_servers(PCCERT_CONTEXT certificate) {
  DWORD size = 0;
  constexpr DWORD kOfTheStore = CERT_FIND_PROP_ONLY_ENHKEY_USAGE_FLAG;
  if (!CertGetEnhancedKeyUsage(certificate, kOfTheStore, nullptr, &size)) {
    return GetLastError() == static_cast<DWORD>(CRYPT_E_NOT_FOUND);
  }
  std::vector<std::byte> bytes(size);
  auto* const usage = reinterpret_cast<CERT_ENHKEY_USAGE*>(bytes.data());
  if (!CertGetEnhancedKeyUsage(certificate, kOfTheStore, usage, &size)) return false;
  const LPSTR* const purposes = usage->rgpszUsageIdentifier;
  return std::any_of(purposes, purposes + usage->cUsageIdentifier, [](const char* purpose) {
    return purpose == std::string_view(szOID_PKIX_KP_SERVER_AUTH);
  });
}

}  // namespace

const char kTrustFolderSeparator = ';';

std::vector<std::string> trusted_bundles() { return {}; }

/// Those of the user and of the machine together. Windows adds a root that it knows only when one
/// of its own programs meets it, so a root may be missing here.
std::vector<std::string> trusted_certificates() {
  std::vector<std::string> certificates;
  HCERTSTORE const store = CertOpenSystemStoreW(0, L"ROOT");
  if (store == nullptr) return certificates;
  PCCERT_CONTEXT certificate = nullptr;
  while ((certificate = CertEnumCertificatesInStore(store, certificate)) != nullptr) {
    if (!is_for_servers(certificate)) continue;
    const auto* const bytes = reinterpret_cast<const char*>(certificate->pbCertEncoded);
    certificates.emplace_back(bytes, certificate->cbCertEncoded);
  }
  CertCloseStore(store, 0);
  return certificates;
}

}  // namespace sitter
