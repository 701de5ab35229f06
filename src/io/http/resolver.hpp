#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/stream/event_loop.hpp"
#include "io/system/platform.hpp"
#include "sitter/bytes.hpp"
#include "sitter/time.hpp"

namespace boost::asio::ip {
class address;
}

namespace sitter {

namespace limits {

/// How long the name of the daemon may be looked up. The C library waits 5 s for each name server.
inline constexpr Milliseconds kLookupWait{5'000};

/// How much of the output of such a look-up is read: a thousand addresses.
inline constexpr std::size_t kLookupBytesMax = 64 * kKiB;

/// How much of /etc/hosts is read. The longest lists that block advertisers have half of this.
inline constexpr std::size_t kHostsBytesMax = 16 * kMiB;

}  // namespace limits

/// Finds the addresses of one host. An address stands for itself, and `localhost` with all names
/// below it is 127.0.0.1 and ::1. Any other name is looked for in the file of hosts, and then by a
/// program: getaddrinfo would load plug-ins of the C library, and a static program crashes in them.
/// On Windows, the system does both, and neither the file nor the program is used.
class Resolver {
 public:
  struct Options {
    std::string hosts_file = "/etc/hosts";
    /// A program without a slash is looked for in PATH. The name of the host becomes the last word.
    std::vector<std::string> command = platform::lookup_command();
    Milliseconds limit = limits::kLookupWait;
  };
  struct Found {
    std::vector<boost::asio::ip::address> addresses;
    /// Why there are none, as a clause for a person: "the name xyz is not known".
    std::string reason;
  };

  using Told = std::function<void(const Found&)>;

  /// `on_found` is called once, from the loop. It may destroy the resolver. The program ends at the
  /// latest when the limit has passed, even if the resolver is gone by then.
  Resolver(EventLoop& loop, Options options, std::string host, Told on_found);
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  /// Nothing is called after that.
  ~Resolver();

 private:
  struct State;

  /// Asks the system for a name that does not stand for itself. `told` is called from the loop. The
  /// function that is returned may be empty; it gives the question up, which may still be answered.
  static std::function<void()> ask(EventLoop& loop, const Options& options, const std::string& host,
                                   Told told);

  std::shared_ptr<State> state_;
};

}  // namespace sitter
