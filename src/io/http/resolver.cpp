#include "io/http/resolver.hpp"

#include <utility>

#include "io/http/resolver_names.hpp"
#include "io/stream/timer.hpp"

namespace sitter {

/// What is under way shares this object, and may outlast the resolver.
struct Resolver::State final : std::enable_shared_from_this<State> {
  State(EventLoop& of, Options chosen, std::string name, Told to)
      : loop(of),
        options(std::move(chosen)),
        host(std::move(name)),
        told(std::move(to)),
        timer(of, [this] { on_limit(); }) {}

  void start() {
    HostAddresses known = addresses_of_name(host);
    if (!known.empty() || host.empty()) {
      Found found{std::move(known), {}};
      if (host.empty()) found.reason = name_not_known(host);
      loop.post([self = shared_from_this(), found = std::move(found)] { self->tell(found); });
      return;
    }
    timer.set(loop.now() + options.limit);
    stop = ask(loop, options, host,
               [self = shared_from_this()](const Found& found) { self->tell(found); });
  }

  void on_limit() {
    const auto self = shared_from_this();
    tell({{}, name_not_found(host, options.limit)});
  }

  void tell(const Found& found) {
    if (is_over) return;
    close();
    told(found);
  }

  void close() {
    is_over = true;
    timer.cancel();
    if (stop) std::exchange(stop, nullptr)();
  }

  EventLoop& loop;
  Options options;
  std::string host;
  Told told;
  std::function<void()> stop;
  Timer timer;
  bool is_over = false;
};

Resolver::Resolver(EventLoop& loop, Options options, std::string host, Told on_found)
    : state_(
          std::make_shared<State>(loop, std::move(options), std::move(host), std::move(on_found))) {
  state_->start();
}

Resolver::~Resolver() { state_->close(); }

}  // namespace sitter
