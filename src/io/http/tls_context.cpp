#include "io/http/tls_context.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/base/text.hpp"
#include "io/http/system_trust.hpp"
#include "io/http/tls_tables.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

constexpr char kUnusable[] = "OpenSSL can't be used";

struct BioFreed {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct CertificateFreed {
  void operator()(X509* certificate) const { X509_free(certificate); }
};

/// Returns a clause that says what is wrong, or nothing.
std::string read_file(const std::string& path, std::string& text) {
  std::error_code ignored;  // opening the file fails for the same reason
  const fs::file_type type = fs::status(path, ignored).type();
  // Opening a FIFO would block.
  if (type == fs::file_type::directory || type == fs::file_type::fifo) return "is not a file";
  errno = 0;
  // On Windows, only this class takes a name in UTF-8.
  std::ifstream file(fs::path(path), std::ios::binary);
  if (!file) return "can't be read: " + std::string(std::strerror(errno));
  std::array<char, 16 * limits::kKiB> piece;
  while (text.size() <= limits::kTrustBytesMax) {
    file.read(piece.data(), piece.size());
    if (file.gcount() == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  return text.size() > limits::kTrustBytesMax ? "is too large" : "";
}

/// Without this function, OpenSSL would ask on the terminal for the password of an encrypted block.
int refuse_password(char*, int, int, void*) { return -1; }

/// Adds the certificates of a PEM text. A block that OpenSSL cannot read is skipped, since bundles
/// also have certificates of unusual kinds. Returns how many were added.
int add_certificates(X509_STORE* store, const std::string& pem) {
  const std::unique_ptr<BIO, BioFreed> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  int count = 0;
  while (BIO_pending(bio.get()) > 0) {
    const std::unique_ptr<X509, CertificateFreed> certificate(
        PEM_read_bio_X509_AUX(bio.get(), nullptr, refuse_password, nullptr));
    if (certificate && X509_STORE_add_cert(store, certificate.get()) == 1) ++count;
  }
  ERR_clear_error();
  return count;
}

/// Adds certificates in DER form. Returns how many were added.
int add_certificates(X509_STORE* store, const std::vector<std::string>& all) {
  int count = 0;
  for (const std::string& der : all) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
    const std::unique_ptr<X509, CertificateFreed> certificate(
        d2i_X509(nullptr, &bytes, static_cast<long>(der.size())));
    if (certificate && X509_STORE_add_cert(store, certificate.get()) == 1) ++count;
  }
  ERR_clear_error();
  return count;
}

/// `source` is what names the file: "--cacert ". On failure, `error` says what is wrong.
bool add_file(X509_STORE* store, std::string_view source, const std::string& path,
              std::string& error) {
  std::string pem;
  std::string problem = read_file(path, pem);
  if (problem.empty() && add_certificates(store, pem) == 0) {
    problem = "holds no certificate in PEM form";
  }
  if (problem.empty()) return true;
  error = std::string(source) + one_line(path) + ' ' + problem;
  return false;
}

/// `folders` is a list.
bool add_folders(X509_STORE* store, const std::string& folders, std::string& error) {
  for (std::size_t at = 0; at < folders.size();) {
    const std::size_t end = std::min(folders.find(kTrustFolderSeparator, at), folders.size());
    std::error_code ignored;  // a folder that cannot be looked at is none
    if (fs::is_directory(folders.substr(at, end - at), ignored)) {
      if (X509_STORE_load_path(store, folders.c_str()) == 1) return true;
      error = "SSL_CERT_DIR " + one_line(folders) + " can't be used";
      return false;
    }
    at = end + 1;
  }
  error = "SSL_CERT_DIR " + one_line(folders) + " is not a folder";
  return false;
}

bool is_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error) || error;  // a file that may not be looked at is there
}

}  // namespace

std::vector<std::string> TlsContext::system_bundles() { return trusted_bundles(); }

TlsContext::TlsContext(Options options) : options_(std::move(options)) {}

TlsContext::~TlsContext() = default;

void TlsContext::Freed::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

ssl_ctx_st* TlsContext::get(std::string& error) {
  if (context_) return context_.get();
  if (!ready_tls_tables()) {
    error = kUnusable;
    return nullptr;
  }
  // The configuration of OpenSSL is for the OpenSSL of the system. The program may contain another
  // one, which cannot load the modules that are named there.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  std::unique_ptr<SSL_CTX, Freed> made(SSL_CTX_new(TLS_client_method()));
  if (!made) {
    error = kUnusable;
    return nullptr;
  }
  SSL_CTX_set_min_proto_version(made.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(made.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER, nullptr);
  // A certificate that the user trusts need not be that of a root.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(made.get()), X509_V_FLAG_PARTIAL_CHAIN);
  if (!load_certificates(SSL_CTX_get_cert_store(made.get()), error)) return nullptr;
  context_ = std::move(made);
  return context_.get();
}

// A static OpenSSL has the paths of the system where it was built, so its defaults are not used.
bool TlsContext::load_certificates(x509_store_st* store, std::string& error) const {
  if (!options_.cacert.empty()) return add_file(store, "--cacert ", options_.cacert, error);
  const std::string file = variable("SSL_CERT_FILE");
  const std::string folders = variable("SSL_CERT_DIR");
  if (!file.empty() && !add_file(store, "SSL_CERT_FILE ", file, error)) return false;
  if (!folders.empty() && !add_folders(store, folders, error)) return false;
  if (!file.empty() || !folders.empty()) return true;
  for (const std::string& bundle : options_.bundles) {
    if (is_there(bundle)) return add_file(store, "", bundle, error);
  }
  if (add_certificates(store, trusted_certificates()) > 0) return true;
  error = "this system has no file of trusted certificates (name one with --cacert)";
  return false;
}

std::string TlsContext::variable(const char* name) const {
  const char* const value = options_.environment ? options_.environment(name) : nullptr;
  return value == nullptr ? "" : value;
}

}  // namespace sitter
