#include "io/http/tls_stream.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cassert>
#include <cstdint>
#include <utility>

#include "io/http/certificate_words.hpp"
#include "io/stream/timer.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// The most that one record carries (RFC 8446, 5.1).
constexpr std::size_t kRecordMax = 16 * limits::kKiB;
/// A large piece is encrypted in parts of this size, so that it is not in memory twice.
constexpr std::size_t kPartMax = 4 * kRecordMax;

/// The first byte of a record of a server during the handshake (RFC 8446, 5.1).
constexpr char kAlertRecord = 21;
constexpr char kHandshakeRecord = 22;

/// OpenSSL reports an alert of the other side as an error with this number and that of the alert.
constexpr int kAlertBase = SSL_AD_REASON_OFFSET;

constexpr std::array<unsigned char, 9> kHttp11{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

struct ConnectionFreed {
  void operator()(SSL* connection) const { SSL_free(connection); }
};

/// The name as it stands in certificates: without the dot of an absolute name, and without the zone
/// of an address.
std::string certified_name(std::string_view host) {
  host = host.substr(0, host.find('%'));
  if (host.ends_with('.')) host.remove_suffix(1);
  return std::string(host);
}

/// What OpenSSL says about the last failed call.
std::string last_error() {
  const char* const text = ERR_reason_error_string(ERR_peek_error());
  return text == nullptr ? "no reason is known" : text;
}

std::string handshake_failure() {
  const int reason = ERR_GET_REASON(ERR_peek_error());
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "it does not speak TLS 1.2 or newer";
    default:
      break;
  }
  if (reason < kAlertBase) return "the TLS handshake failed: " + last_error();
  return std::string("it refused the TLS handshake: ") +
         SSL_alert_desc_string_long(reason - kAlertBase);
}

std::string connection_failure() {
  const int reason = ERR_GET_REASON(ERR_peek_error());
  // With TLS 1.3, the server looks for the certificate of the client after the client's handshake.
  if (reason == SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED) {
    return "it asks for a certificate of the client, and there is none";
  }
  return "the TLS connection broke: " + last_error();
}

}  // namespace

/// Posted functions share this object and may outlast the stream.
struct TlsStream::State : std::enable_shared_from_this<State> {
  enum class Phase : std::uint8_t {
    connecting,  ///< the stream below is not open
    handshake,   ///< it is open
    open,        ///< bytes may pass
    closed,      ///< no event follows
  };

  State(EventLoop& of, Options with, Events told)
      : loop(of),
        options(std::move(with)),
        events(std::move(told)),
        limit(of, [this] { on_limit(); }) {
    options.host = certified_name(std::move(options.host));
  }

  void start(TlsContext& context, const Below& below) {
    std::string error;
    SSL_CTX* const settings = context.get(error);
    if (settings != nullptr && !prepare(settings)) error = "TLS can't be used with this host name";
    if (!error.empty()) return close_soon(std::move(error));
    cacert = context.cacert();
    stream = below({[weak = weak_from_this()] {
                      if (const auto self = weak.lock()) self->on_below_opened();
                    },
                    [weak = weak_from_this()](std::string_view bytes) {
                      if (const auto self = weak.lock()) self->on_below_bytes(bytes);
                    },
                    [weak = weak_from_this()](std::string reason) {
                      if (const auto self = weak.lock()) self->on_below_closed(std::move(reason));
                    }});
  }

  void on_limit() {
    const auto self = shared_from_this();
    close("it does not answer the TLS handshake");
  }

  bool prepare(SSL_CTX* settings) {
    ssl.reset(SSL_new(settings));
    BIO* const in = BIO_new(BIO_s_mem());
    BIO* const out = BIO_new(BIO_s_mem());
    if (!ssl || in == nullptr || out == nullptr) {
      BIO_free(in);
      BIO_free(out);
      return false;
    }
    SSL_set0_rbio(ssl.get(), in);
    SSL_set0_wbio(ssl.get(), out);
    SSL_set_connect_state(ssl.get());
    SSL_set_app_data(ssl.get(), this);
    SSL_set_verify(ssl.get(), SSL_VERIFY_PEER, on_verified);
    return set_host() && SSL_set_alpn_protos(ssl.get(), kHttp11.data(), kHttp11.size()) == 0;
  }

  bool set_host() {
    std::string& host = options.host;
    X509_VERIFY_PARAM* const expected = SSL_get0_param(ssl.get());
    if (X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1) return true;
    // OpenSSL takes an empty name for no name, and would accept a certificate for any host.
    if (host.empty()) return false;
    X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(expected, host.data(), host.size()) == 1 &&
           SSL_ctrl(ssl.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                    host.data()) == 1;
  }

  static int on_verified(int is_trusted, X509_STORE_CTX* verified) {
    if (is_trusted == 1) return 1;
    auto* const connection = static_cast<SSL*>(
        X509_STORE_CTX_get_ex_data(verified, SSL_get_ex_data_X509_STORE_CTX_idx()));
    auto* const self = static_cast<State*>(SSL_get_app_data(connection));
    self->refusal = certificate_refusal(verified, self->options.host, self->cacert);
    return 0;
  }

  void on_below_opened() {
    phase = Phase::handshake;
    limit.set(Instant::clock::now() + options.handshake_wait);
    advance();
  }

  void on_below_bytes(std::string_view bytes) {
    if (phase == Phase::closed || bytes.empty()) return;
    if (!std::exchange(has_heard, true) && bytes.front() != kHandshakeRecord &&
        bytes.front() != kAlertRecord) {
      return close("it does not speak TLS");
    }
    BIO_write(SSL_get_rbio(ssl.get()), bytes.data(), static_cast<int>(bytes.size()));
    advance();
  }

  void on_below_closed(std::string reason) {
    is_below_over = true;
    below_reason = std::move(reason);
    if (phase == Phase::open) return read();
    if (below_reason.empty()) below_reason = "it closed the connection during the TLS handshake";
    close(std::move(below_reason));
  }

  void advance() {
    if (phase == Phase::handshake) shake_hands();
    if (phase == Phase::open) read();
  }

  void shake_hands() {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl.get());
    const int error = SSL_get_error(ssl.get(), result);
    std::string failure;
    if (result != 1 && error != SSL_ERROR_WANT_READ) {
      failure = refusal.empty() ? handshake_failure() : refusal;
    }
    // An alert tells the other side what is wrong.
    send();
    if (!failure.empty()) return close(std::move(failure));
    if (result != 1) return;
    phase = Phase::open;
    limit.cancel();
    // The handshake must go on during a pause, so the pause of the stream below begins here.
    if (is_paused) stream->set_paused(true);
    events.on_opened();
  }

  void read() {
    std::array<char, kRecordMax> bytes;
    while (phase == Phase::open && !is_paused) {
      ERR_clear_error();
      std::size_t count = 0;
      const int result = SSL_read_ex(ssl.get(), bytes.data(), bytes.size(), &count);
      if (result == 1) {
        events.on_bytes({bytes.data(), count});
        continue;
      }
      return end_of_records(SSL_get_error(ssl.get(), result));
    }
  }

  void end_of_records(int error) {
    std::string failure;
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_ZERO_RETURN) {
      failure = connection_failure();
    }
    // A message of TLS may want an answer.
    send();
    if (error != SSL_ERROR_WANT_READ) return close(std::move(failure));
    if (!is_below_over) return;
    if (below_reason.empty()) below_reason = "the connection ended without the close of TLS";
    close(std::move(below_reason));
  }

  void write(std::string_view bytes) {
    while (!bytes.empty() && phase == Phase::open && !is_below_over) {
      ERR_clear_error();
      std::size_t count = 0;
      if (SSL_write_ex(ssl.get(), bytes.data(), std::min(bytes.size(), kPartMax), &count) != 1) {
        return close_soon(connection_failure());
      }
      bytes.remove_prefix(count);
      send();
    }
  }

  /// Passes on what OpenSSL wants to send, with one write.
  void send() {
    BIO* const out = SSL_get_wbio(ssl.get());
    ciphertext.resize(BIO_ctrl_pending(out));
    if (ciphertext.empty()) return;
    BIO_read(out, ciphertext.data(), static_cast<int>(ciphertext.size()));
    if (!is_below_over) stream->write(ciphertext);
  }

  void set_paused(bool paused) {
    if (std::exchange(is_paused, paused) == paused || phase != Phase::open) return;
    if (!is_below_over) stream->set_paused(paused);
    if (!paused) read_soon();
  }

  void read_soon() {
    loop.post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->read();
    });
  }

  bool is_quiet() {
    if (phase != Phase::open || is_below_over) return false;
    if (const std::string bytes = stream->take_arrived(); !bytes.empty()) {
      BIO_write(SSL_get_rbio(ssl.get()), bytes.data(), static_cast<int>(bytes.size()));
      read_soon();
    }
    ERR_clear_error();
    char byte = 0;
    std::size_t count = 0;
    const int result = SSL_peek_ex(ssl.get(), &byte, 1, &count);
    if (SSL_get_error(ssl.get(), result) != SSL_ERROR_WANT_READ) return false;
    send();
    // A part of a record may become anything.
    return SSL_has_pending(ssl.get()) == 0 && BIO_pending(SSL_get_rbio(ssl.get())) == 0 &&
           stream->is_quiet();
  }

  void close_soon(std::string reason) {
    loop.post([weak = weak_from_this(), reason = std::move(reason)] {
      if (const auto self = weak.lock()) self->close(reason);
    });
  }

  void close(std::string reason) {
    if (phase == Phase::closed) return;
    end();
    events.on_closed(std::move(reason));
  }

  /// After this, nothing comes from the stream.
  void end() {
    if (phase == Phase::open && !is_below_over) {
      SSL_shutdown(ssl.get());
      send();
    }
    phase = Phase::closed;
    limit.cancel();
    stream.reset();
  }

  EventLoop& loop;
  Options options;
  Events events;
  Timer limit;
  std::string cacert;
  std::unique_ptr<SSL, ConnectionFreed> ssl;
  std::unique_ptr<ByteStream> stream;
  std::string ciphertext;
  std::string refusal;  // of the certificate
  std::string below_reason;
  Phase phase = Phase::connecting;
  bool has_heard = false;
  bool is_paused = false;
  bool is_below_over = false;
};

TlsStream::TlsStream(EventLoop& loop, TlsContext& context, Options options, const Below& below,
                     Events events)
    : state_(std::make_shared<State>(loop, std::move(options), std::move(events))) {
  state_->start(context, below);
}

TlsStream::~TlsStream() {
  if (state_->phase != State::Phase::closed) state_->end();
}

void TlsStream::write(std::string_view bytes) {
  assert(state_->phase == State::Phase::open);
  state_->write(bytes);
}

std::size_t TlsStream::queued() const { return state_->stream ? state_->stream->queued() : 0; }
void TlsStream::set_paused(bool paused) { state_->set_paused(paused); }
bool TlsStream::is_quiet() { return state_->is_quiet(); }

ListenerId TlsStream::listener() { return state_->stream->listener(); }

}  // namespace sitter
