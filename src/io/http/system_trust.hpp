#pragma once

#include <string>
#include <vector>

/// Which certificates the system trusts.
namespace sitter {

/// The files that may have them, in PEM form. The first one that exists is used.
std::vector<std::string> trusted_bundles();

/// Those of a store that is no file, each in DER form.
std::vector<std::string> trusted_certificates();

/// Stands between the folders of SSL_CERT_DIR, as OpenSSL reads them.
extern const char kTrustFolderSeparator;

}  // namespace sitter
