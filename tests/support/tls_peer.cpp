#include "support/tls_peer.hpp"

#include <openssl/ssl.h>

#include <array>
#include <cstddef>

namespace sitter::testing {
namespace {

std::shared_ptr<SSL_CTX> settings(const Identity& identity, const TlsPeer::Options& options) {
  std::shared_ptr<SSL_CTX> made(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  // Old versions of TLS need algorithms that the usual level forbids.
  if (options.version != 0 && options.version < TLS1_2_VERSION) {
    SSL_CTX_set_security_level(made.get(), 0);
  }
  SSL_CTX_set_min_proto_version(made.get(), options.version);
  SSL_CTX_set_max_proto_version(made.get(), options.version);
  SSL_CTX_use_certificate(made.get(), identity.certificate.get());
  SSL_CTX_use_PrivateKey(made.get(), identity.key.get());
  if (options.asks_for_certificate) {
    SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return made;
}

/// Chooses the protocol at `own`, or refuses. The choice is a part of `own`.
int choose(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
           unsigned offered_size, void* own) {
  const auto& wanted = *static_cast<const std::string*>(own);
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(wanted.data()),
                            static_cast<unsigned>(wanted.size()), offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

void on_info(const SSL* ssl, int where, int value) {
  if ((where & SSL_CB_READ_ALERT) != SSL_CB_READ_ALERT) return;
  *static_cast<std::string*>(SSL_get_ex_data(ssl, 0)) = SSL_alert_desc_string_long(value);
}

}  // namespace

TlsPeer::TlsPeer(const Identity& identity, const Options& options) {
  const std::string& protocol = options.protocol;
  if (!protocol.empty()) own_protocol_ = static_cast<char>(protocol.size()) + protocol;
  const std::shared_ptr<SSL_CTX> context = settings(identity, options);
  if (!own_protocol_.empty()) {
    SSL_CTX_set_alpn_select_cb(context.get(), choose, &own_protocol_);
  }
  ssl_ = {SSL_new(context.get()), SSL_free};
  SSL_set0_rbio(ssl_.get(), BIO_new(BIO_s_mem()));
  SSL_set0_wbio(ssl_.get(), BIO_new(BIO_s_mem()));
  SSL_set_accept_state(ssl_.get());
  SSL_set_ex_data(ssl_.get(), 0, &alert_);
  SSL_set_info_callback(ssl_.get(), on_info);
}

std::string TlsPeer::receive(std::string_view bytes) {
  BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
  std::array<char, 4096> text;
  std::size_t count = 0;
  while (SSL_read_ex(ssl_.get(), text.data(), text.size(), &count) == 1) {
    received_.append(text.data(), count);
  }
  return flight();
}

std::string TlsPeer::send(std::string_view text) {
  std::size_t count = 0;
  SSL_write_ex(ssl_.get(), text.data(), text.size(), &count);
  return flight();
}

std::string TlsPeer::send_ticket() {
  SSL_new_session_ticket(ssl_.get());
  SSL_do_handshake(ssl_.get());
  return flight();
}

std::string TlsPeer::update_keys() {
  SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED);
  SSL_do_handshake(ssl_.get());
  return flight();
}

std::string TlsPeer::renegotiate() {
  SSL_renegotiate(ssl_.get());
  SSL_do_handshake(ssl_.get());
  return flight();
}

std::string TlsPeer::close() {
  SSL_shutdown(ssl_.get());
  return flight();
}

bool TlsPeer::is_closed() const {
  return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
}

std::string TlsPeer::host_name() const {
  const char* const name = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name);
  return name == nullptr ? "" : name;
}

std::string TlsPeer::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

int TlsPeer::version() const { return SSL_version(ssl_.get()); }

std::string TlsPeer::flight() {
  BIO* const out = SSL_get_wbio(ssl_.get());
  std::string bytes(BIO_ctrl_pending(out), '\0');
  if (!bytes.empty()) BIO_read(out, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

}  // namespace sitter::testing
