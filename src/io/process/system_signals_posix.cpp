#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <utility>

#include "io/process/hangup.hpp"
#include "io/process/system_signals.hpp"
#include "io/stream/event_loop.hpp"

namespace sitter {

using boost::system::error_code;

struct SystemSignals::State {
  State(EventLoop& loop, Events told)
      : events(std::move(told)),
        requests(loop.io(), SIGTERM, SIGINT, SIGUSR1),
        children(loop.io(), SIGCHLD),
        hangups(loop, [this](HangupSignals::Sender sender) {
          if (sender == HangupSignals::Sender::system) {
            stop(SIGHUP);
          } else {
            events.on_reload();
          }
        }) {
    wait_for_request();
    wait_for_child();
  }

  void wait_for_request() {
    requests.async_wait([this](error_code error, int signal) {
      if (error) return;
      if (signal == SIGUSR1) {
        events.on_status();
      } else {
        stop(signal);
      }
      wait_for_request();
    });
  }

  void wait_for_child() {
    children.async_wait([this](error_code error, int) {
      if (error) return;
      events.on_child_ended();
      wait_for_child();
    });
  }

  /// Exits as a shell would report the signal.
  void stop(int signal) { events.on_stop(128 + signal); }

  Events events;
  boost::asio::signal_set requests;
  boost::asio::signal_set children;
  HangupSignals hangups;
};

SystemSignals::SystemSignals(EventLoop& loop, Events events)
    : state_(std::make_unique<State>(loop, std::move(events))) {}
SystemSignals::~SystemSignals() = default;

void signal_child_ended() { std::raise(SIGCHLD); }

}  // namespace sitter
