#include "io/http/system_trust.hpp"

namespace sitter {

const char kTrustFolderSeparator = ':';

std::vector<std::string> trusted_bundles() {
  return {"/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Gentoo
          "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL
          "/etc/ssl/ca-bundle.pem",                             // openSUSE
          "/etc/pki/tls/cacert.pem",                            // older RHEL
          "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora from 43 on
          "/etc/ssl/cert.pem"};                                 // Alpine, macOS
}

std::vector<std::string> trusted_certificates() { return {}; }

}  // namespace sitter
