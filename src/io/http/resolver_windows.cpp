#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstring>
#include <mutex>
#include <utility>

#include "io/http/resolver.hpp"
#include "io/http/resolver_names.hpp"
#include "io/stream/timer.hpp"
#include "io/system/windows.hpp"
// ws2tcpip.h comes after winsock2.h.
#include <ws2tcpip.h>

// The headers of the compiler lack this function, and declare two types wrongly.
extern "C" __declspec(dllimport) INT WSAAPI GetAddrInfoExCancel(LPHANDLE handle);

namespace sitter {
namespace {

using boost::asio::ip::tcp;

std::optional<boost::asio::ip::address> address_of(const ADDRINFOEXW& found) {
  tcp::endpoint endpoint;
  if (found.ai_family != AF_INET && found.ai_family != AF_INET6) return {};
  if (found.ai_addrlen > endpoint.capacity()) return {};
  std::memcpy(endpoint.data(), found.ai_addr, found.ai_addrlen);
  endpoint.resize(found.ai_addrlen);
  return endpoint.address();
}

/// One question to the system, which answers from a thread of its own. It outlasts the resolver
/// until the system has let go of it (GetAddrInfoExW).
class Query {
 public:
  using Told = std::function<void(int error, HostAddresses found)>;

  /// `told` is called from the loop.
  static std::shared_ptr<Query> start(EventLoop& loop, const std::string& host, Told told) {
    auto query = std::make_shared<Query>(loop, windows::wide(host), std::move(told));
    query->kept_ = query;
    ADDRINFOEXW hints{};
    hints.ai_socktype = SOCK_STREAM;
    const int error = GetAddrInfoExW(query->host_.c_str(), nullptr, NS_ALL, nullptr, &hints,
                                     &query->found_, nullptr, &query->overlapped_,
                                     reinterpret_cast<LPLOOKUPSERVICE_COMPLETION_ROUTINE>(on_done),
                                     &query->cancel_);
    if (error != WSA_IO_PENDING) query->end(error);
    return query;
  }

  Query(EventLoop& loop, std::wstring host, Told told)
      : host_(std::move(host)), loop_(&loop), told_(std::move(told)) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() {
    if (found_ != nullptr) FreeAddrInfoExW(found_);
  }

  /// Nothing is told after that. The loop may end.
  void stop() {
    Told dropped;  // here, and not in the thread of the system
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(loop_, nullptr) == nullptr) return;
      dropped = std::exchange(told_, nullptr);
    }
    GetAddrInfoExCancel(&cancel_);
  }

 private:
  static void CALLBACK on_done(DWORD error, DWORD, WSAOVERLAPPED* overlapped) {
    CONTAINING_RECORD(overlapped, Query, overlapped_)->end(static_cast<int>(error));
  }

  void end(int error) {
    const std::shared_ptr<Query> self = std::exchange(kept_, nullptr);
    HostAddresses addresses;
    for (const ADDRINFOEXW* at = found_; at != nullptr;) {
      add_address(addresses, address_of(*at));
      at = reinterpret_cast<const ADDRINFOEXW*>(at->ai_next);
    }
    const std::lock_guard lock(mutex_);
    EventLoop* const loop = std::exchange(loop_, nullptr);
    if (loop == nullptr) return;
    loop->post(
        [told = std::move(told_), error, found = std::move(addresses)] { told(error, found); });
  }

  std::wstring host_;
  OVERLAPPED overlapped_{};
  ADDRINFOEXW* found_ = nullptr;
  HANDLE cancel_ = nullptr;
  std::shared_ptr<Query> kept_;
  std::mutex mutex_;
  EventLoop* loop_;  ///< null when nothing may be told any more
  Told told_;
};

}  // namespace

/// What is under way shares this object, and may outlast the resolver.
struct Resolver::State final : std::enable_shared_from_this<State> {
  State(EventLoop& of, Options chosen, std::string name, std::function<void(const Found&)> told)
      : loop(of),
        options(std::move(chosen)),
        host(std::move(name)),
        on_found(std::move(told)),
        timer(of, [this] { on_limit(); }) {}

  void start() {
    HostAddresses known = addresses_of_name(host);
    if (!known.empty() || host.empty()) {
      const std::string reason = known.empty() ? name_not_known(host) : std::string();
      loop.post([self = shared_from_this(), found = Found{std::move(known), reason}] {
        self->tell(found);
      });
      return;
    }
    query = Query::start(loop, host, [self = shared_from_this()](int error, HostAddresses found) {
      self->on_answer(error, std::move(found));
    });
    timer.set(loop.now() + options.limit);
  }

  void on_answer(int error, HostAddresses found) {
    if (!found.empty()) return tell({std::move(found), {}});
    if (error == 0 || error == WSAHOST_NOT_FOUND || error == WSANO_DATA) {
      return tell({{}, name_not_known(host)});
    }
    tell({{}, name_not_looked_up(host, windows::error_text(static_cast<DWORD>(error)))});
  }

  void on_limit() {
    const auto self = shared_from_this();
    tell({{}, name_not_found(host, options.limit)});
  }

  void tell(const Found& found) {
    if (is_over) return;
    close();
    on_found(found);
  }

  void close() {
    is_over = true;
    timer.cancel();
    if (query) std::exchange(query, nullptr)->stop();
  }

  EventLoop& loop;
  Options options;
  std::string host;
  std::function<void(const Found&)> on_found;
  std::shared_ptr<Query> query;
  Timer timer;
  bool is_over = false;
};

Resolver::Resolver(EventLoop& loop, Options options, std::string host,
                   std::function<void(const Found&)> on_found)
    : state_(
          std::make_shared<State>(loop, std::move(options), std::move(host), std::move(on_found))) {
  state_->start();
}

Resolver::~Resolver() { state_->close(); }

}  // namespace sitter
