#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/stream/event_loop.hpp"
#include "io/stream/stream_writer.hpp"
#include "io/system/file_descriptor.hpp"

namespace sitter::testing {

/// A raw TCP server in the loop of the test. It knows of HTTP only where a request ends.
class ScriptedServer {
 public:
  /// One connection that was accepted.
  class Peer final : EventLoop::Reader {
   public:
    Peer(ScriptedServer& server, FileDescriptor socket);
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    ~Peer();

    void send(std::string_view bytes);
    /// What the other side has not taken yet is lost.
    void close();
    /// Breaks the connection off (RST).
    void reset();
    void set_paused(bool paused) { server_.loop_.set_paused(*this, paused); }
    bool is_open() const { return socket_.is_open(); }
    /// Everything that has come and belongs to no whole request.
    const std::string& received() const { return received_; }

   private:
    Seen on_readable() override;

    ScriptedServer& server_;
    FileDescriptor socket_;
    std::unique_ptr<StreamWriter> writer_;
    std::string received_;
  };

  /// Port 0 lets the system choose.
  explicit ScriptedServer(EventLoop& loop, const std::string& address = "127.0.0.1",
                          std::uint16_t port = 0);
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  ~ScriptedServer();

  std::uint16_t port() const { return port_; }
  /// No further connection is accepted. The others stay open.
  void stop_listening();

  std::function<void(Peer&)> on_accepted = [](Peer&) {};
  /// A whole request has come: a head, and a body of the length that the head says.
  std::function<void(Peer&, const std::string& request)> on_request = [](Peer&,
                                                                         const std::string&) {};
  /// The other side has closed a connection.
  std::function<void()> on_closed = [] {};
  std::vector<std::unique_ptr<Peer>> peers;
  std::vector<std::string> requests;

 private:
  class Acceptor;

  void take(FileDescriptor socket);

  EventLoop& loop_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Acceptor> acceptor_;
};

/// A response with a body of a known length. `headers` are whole lines, each with its line end.
std::string response(std::string_view body, std::string_view headers = {},
                     std::string_view status = "200 OK");

}  // namespace sitter::testing
