#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/http/tls_stream.hpp"
#include "support/certificates.hpp"
#include "support/memory_stream.hpp"
#include "support/temporary_directory.hpp"
#include "support/tls_peer.hpp"

namespace sitter {

/// A client that trusts one CA, and a server with a certificate of this CA for localhost.
class TlsStreamTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kWhole = static_cast<std::size_t>(-1);

  TlsStreamTest()
      : authority_(testing::self_signed({.common_name = "test CA", .is_authority = true})),
        cacert_(folder_.write("ca.pem", authority_.pem())),
        context_({cacert_, nullptr, {}}) {}

  testing::CertificateRequest for_localhost() const { return {.names = {"DNS:localhost"}}; }

  void serve(const testing::CertificateRequest& request, testing::TlsPeer::Options options = {}) {
    peer_ = std::make_unique<testing::TlsPeer>(testing::issued_by(authority_, request),
                                               std::move(options));
  }
  void make(const std::string& host = "localhost", Milliseconds wait = limits::kTlsHandshakeWait) {
    make(context_, host, wait);
  }
  void make(TlsContext& context, const std::string& host,
            Milliseconds wait = limits::kTlsHandshakeWait) {
    stream_.reset();
    stream_ = std::make_unique<TlsStream>(loop_, context, TlsStream::Options{host, wait},
                                          network_.near(), events());
  }
  ByteStream::Events events() {
    return {[this] { happens("opened"); },
            [this](std::string_view bytes) {
              received_ += bytes;
              happens("bytes " + std::string(bytes.substr(0, 20)));
              if (pauses_at_bytes_) stream_->set_paused(true);
            },
            [this](std::string reason) {
              happens("closed: " + reason);
              if (stops_at_end_) loop_.stop();
            }};
  }
  void happens(const std::string& event) {
    events_.push_back(event);
    if (event == drops_at_) stream_.reset();
  }
  std::vector<std::string> done() { return std::exchange(events_, {}); }

  /// Carries bytes between both sides until both are silent.
  void flow(std::size_t piece = kWhole) {
    while (true) {
      const std::string sent = network_.take_written();
      const std::string answer = carry(sent, piece);
      deliver(answer, piece);
      if (sent.empty() && answer.empty()) return;
    }
  }
  std::string carry(std::string_view bytes, std::size_t piece) {
    std::string answer;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      answer += peer_->receive(bytes.substr(0, piece));
    }
    return answer;
  }
  void deliver(std::string_view bytes, std::size_t piece = kWhole) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      network_.deliver(bytes.substr(0, piece));
    }
  }
  void run_what_is_due() {
    loop_.io().restart();
    loop_.post([this] { loop_.post([this] { loop_.stop(); }); });
    loop_.run();
  }
  void shake_hands(std::size_t piece = kWhole) {
    network_.open();
    flow(piece);
  }
  void open(testing::TlsPeer::Options options = {}) {
    serve(for_localhost(), std::move(options));
    make();
    shake_hands();
    EXPECT_THAT(done(), ::testing::ElementsAre("opened"));
  }

  EventLoop loop_;
  testing::TemporaryDirectory folder_;
  testing::Identity authority_;
  std::string cacert_;
  TlsContext context_;
  testing::MemoryConnection network_;
  std::unique_ptr<testing::TlsPeer> peer_;
  std::unique_ptr<TlsStream> stream_;
  std::vector<std::string> events_;
  std::string received_;
  /// The owner destroys the stream within this event.
  std::string drops_at_;
  bool stops_at_end_ = false;
  bool pauses_at_bytes_ = false;
};

}  // namespace sitter
