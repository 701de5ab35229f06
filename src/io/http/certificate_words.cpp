#include "io/http/certificate_words.hpp"

#include <fmt/format.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/text.hpp"

namespace sitter {
namespace {

using boost::asio::ip::address_v4;
using boost::asio::ip::address_v6;

struct NamesFreed {
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

std::string text_of(const ASN1_STRING* string) {
  const std::string_view bytes(reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
                               static_cast<std::size_t>(ASN1_STRING_length(string)));
  return brief(bytes, limits::kPeerTextMax);
}

/// Empty if it is no address.
std::string address_of(const ASN1_OCTET_STRING* string) {
  const unsigned char* const bytes = ASN1_STRING_get0_data(string);
  const auto size = static_cast<std::size_t>(ASN1_STRING_length(string));
  address_v4::bytes_type four;
  address_v6::bytes_type sixteen;
  if (size == four.size()) {
    std::copy_n(bytes, size, four.begin());
    return address_v4(four).to_string();
  }
  if (size == sixteen.size()) {
    std::copy_n(bytes, size, sixteen.begin());
    return address_v6(sixteen).to_string();
  }
  return {};
}

/// Empty if the name is none of a host.
std::string host_of(const GENERAL_NAME* name) {
  if (name->type == GEN_DNS) return text_of(name->d.dNSName);
  if (name->type == GEN_IPADD) return address_of(name->d.iPAddress);
  return {};
}

std::string common_name_of(X509* certificate) {
  X509_NAME* const subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return {};
  return text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

std::vector<std::string> hosts_of(X509* certificate) {
  std::vector<std::string> hosts;
  const std::unique_ptr<GENERAL_NAMES, NamesFreed> names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    if (std::string host = host_of(sk_GENERAL_NAME_value(names.get(), i)); !host.empty()) {
      hosts.push_back(std::move(host));
    }
  }
  if (hosts.empty()) hosts.push_back(common_name_of(certificate));
  if (hosts.front().empty()) hosts.clear();
  return hosts;
}

std::string wrong_host(X509* certificate, const std::string& host) {
  const std::vector<std::string> hosts = hosts_of(certificate);
  if (hosts.empty()) return fmt::format("the certificate names no host, but it must name {}", host);
  const std::size_t shown = std::min(hosts.size(), limits::kCertificateNamesShown);
  std::string list = fmt::format("{}", fmt::join(hosts.begin(), hosts.begin() + shown, ", "));
  if (hosts.size() > shown) list += fmt::format(" and {} more", hosts.size() - shown);
  return fmt::format("the certificate is for {}, not for {}", list, host);
}

/// The day in UTC: "2026-01-02".
std::string day_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "an unknown day";
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

/// Whether another file of trusted certificates may be the remedy.
bool lacks_issuer(int error) {
  return error == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT ||
         error == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
         error == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT ||
         error == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
         error == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE;
}

std::string not_trusted(int error, const std::string& host, const std::string& cacert) {
  std::string hint;
  if (lacks_issuer(error)) {
    hint = cacert.empty() ? " (name its CA with --cacert)"
                          : fmt::format(" (its CA is not in {})", one_line(cacert));
  }
  return fmt::format("the certificate of {} is not trusted: {}{}", host,
                     X509_verify_cert_error_string(error), hint);
}

}  // namespace

std::string certificate_refusal(x509_store_ctx_st* verified, const std::string& host,
                                const std::string& cacert) {
  const int error = X509_STORE_CTX_get_error(verified);
  X509* const certificate = X509_STORE_CTX_get_current_cert(verified);
  const std::string_view which =
      X509_STORE_CTX_get_error_depth(verified) == 0 ? "certificate" : "certificate of its CA";
  if (certificate == nullptr) return not_trusted(error, host, cacert);
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return wrong_host(certificate, host);
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return fmt::format("the {} has expired (on {})", which,
                         day_of(X509_get0_notAfter(certificate)));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return fmt::format("the {} is not valid before {}", which,
                         day_of(X509_get0_notBefore(certificate)));
    default:
      return not_trusted(error, host, cacert);
  }
}

}  // namespace sitter
