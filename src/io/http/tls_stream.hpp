#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "io/http/byte_stream.hpp"
#include "io/http/tls_context.hpp"
#include "io/stream/event_loop.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How long a daemon may take for the TLS handshake: two round trips and some milliseconds of
/// arithmetic. A server that speaks plain text may wait for more bytes of a request for ever.
inline constexpr Milliseconds kTlsHandshakeWait{10'000};

}  // namespace limits

/// TLS over another stream. It opens when the handshake is over and the certificate has been found
/// to be trusted and to be for the host.
///
///     connecting -> handshake -> open -> closed
///          \------------\---------------^
///
/// If the other side ends the stream without the close message of TLS, `on_closed` has a reason,
/// since somebody on the way may have cut the stream off.
class TlsStream : public ByteStream {
 public:
  /// Makes the stream below.
  using Below = std::function<std::unique_ptr<ByteStream>(Events)>;

  struct Options {
    /// A name or an address, without brackets.
    std::string host;
    Milliseconds handshake_wait = limits::kTlsHandshakeWait;
  };

  /// The context must outlast the constructor only.
  TlsStream(EventLoop& loop, TlsContext& context, Options options, const Below& below,
            Events events);
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;
  /// Sends the close message if the stream is open.
  ~TlsStream() override;

  void write(std::string_view bytes) override;
  std::size_t queued() const override;
  void set_paused(bool paused) override;
  /// Messages of TLS itself, such as session tickets, do not count.
  bool is_quiet() override;
  ListenerId listener() override;

 private:
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace sitter
