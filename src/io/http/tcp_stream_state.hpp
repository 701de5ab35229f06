#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/http/resolver.hpp"
#include "io/http/tcp_attempts.hpp"
#include "io/http/tcp_stream.hpp"
#include "io/stream/timer.hpp"

namespace sitter {

/// What a stream does in the same way on all systems; each system adds its own calls. What is under
/// way shares this object, and may outlast the stream. An error is a number of the system.
struct TcpStream::State : std::enable_shared_from_this<State> {
  static std::shared_ptr<State> make(EventLoop& loop, Options options, std::uint16_t port,
                                     Events events);

  State(EventLoop& loop, Options options, std::uint16_t port, Events events);
  virtual ~State() = default;

  void look_up(std::string host);
  void write(std::string_view bytes);
  void set_paused(bool paused);
  void close();

  virtual std::size_t queued() const = 0;
  virtual bool is_quiet() = 0;
  virtual std::string take_arrived() = 0;
  virtual std::intptr_t number() = 0;

  void on_found(const Resolver::Found& found);
  void try_next();
  /// 0: the connection is open. Nothing: `on_result` will tell.
  virtual std::optional<int> try_address() = 0;
  void on_result(int error);
  void note_failure(int error);
  virtual void on_limit() = 0;
  virtual void stop_waiting() = 0;

  void open();
  void set(int level, int name, int value);
  /// The socket is connected. Says how the system finds out that the other machine is gone.
  virtual void prepare() = 0;

  virtual void start_reading() = 0;
  virtual void stop_reading() = 0;
  /// Reads once. False if there was nothing.
  virtual bool read_some() = 0;
  void read_to_end();
  void read_to_end_soon();

  /// One try. A socket that takes less than all of it is full.
  virtual std::size_t send_some(std::string_view bytes) = 0;
  /// The queue has grown.
  virtual void send_later() = 0;
  virtual void drop_queue() = 0;
  void become_broken(int error);
  std::string broken_by(int error) const;

  void end(std::string reason);
  virtual void close_socket() = 0;

  EventLoop& loop;
  Options options;
  std::uint16_t port;
  Events events;

  std::optional<Resolver> resolver;
  TcpAttempts attempts;
  Timer limit;

  std::unique_ptr<char[]> buffer;
  std::string queue;
  std::string write_failure;
  bool is_open = false;
  bool is_paused = false;
  bool is_broken = false;  // nothing can be written
  bool is_over = false;
};

}  // namespace sitter
