#include "support/certificates.hpp"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace sitter::testing {
namespace {

constexpr long kDay = 24 * 60 * 60;

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

void set_time(ASN1_TIME* time, const std::string& text, long otherwise) {
  if (text.empty()) {
    X509_gmtime_adj(time, otherwise);
  } else {
    ASN1_TIME_set_string_X509(time, text.c_str());
  }
}

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  return list;
}

/// Without an authority, the certificate signs itself.
Identity make(const Identity* authority, const CertificateRequest& request) {
  static long serial = 0;
  const Identity made{{X509_new(), X509_free}, {EVP_EC_gen("P-256"), EVP_PKEY_free}};
  X509* const certificate = made.certificate.get();
  X509* const issuer = authority == nullptr ? certificate : authority->certificate.get();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
  set_time(X509_getm_notBefore(certificate), request.not_before, -kDay);
  set_time(X509_getm_notAfter(certificate), request.not_after, kDay);
  X509_set_pubkey(certificate, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(request.common_name.data()),
                             static_cast<int>(request.common_name.size()), -1, 0);
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  if (request.is_authority) {
    add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE");
  }
  if (!request.names.empty()) {
    add_extension(certificate, issuer, NID_subject_alt_name, joined(request.names));
  }
  X509_sign(certificate, authority == nullptr ? made.key.get() : authority->key.get(),
            EVP_sha256());
  return made;
}

}  // namespace

std::string Identity::pem() const {
  BIO* const bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  std::string pem(text, static_cast<std::size_t>(size));
  BIO_free(bio);
  return pem;
}

Identity self_signed(const CertificateRequest& request) { return make(nullptr, request); }

Identity issued_by(const Identity& authority, const CertificateRequest& request) {
  return make(&authority, request);
}

}  // namespace sitter::testing
