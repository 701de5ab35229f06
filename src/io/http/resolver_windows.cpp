#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstring>
#include <mutex>
#include <utility>

#include "io/http/resolver.hpp"
#include "io/http/resolver_names.hpp"
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
  static std::shared_ptr<Query> start(EventLoop& loop, const std::string& host,
                                      Resolver::Told told) {
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

  Query(EventLoop& loop, std::wstring host, Resolver::Told told)
      : host_(std::move(host)), loop_(&loop), told_(std::move(told)) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() {
    if (found_ != nullptr) FreeAddrInfoExW(found_);
  }

  /// Nothing is told after that. The loop may end.
  void stop() {
    Resolver::Told dropped;  // here, and not in the thread of the system
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
    Resolver::Found found;
    for (const ADDRINFOEXW* at = found_; at != nullptr;) {
      add_address(found.addresses, address_of(*at));
      at = reinterpret_cast<const ADDRINFOEXW*>(at->ai_next);
    }
    if (found.addresses.empty()) found.reason = reason_of(error);
    const std::lock_guard lock(mutex_);
    EventLoop* const loop = std::exchange(loop_, nullptr);
    if (loop == nullptr) return;
    loop->post([told = std::move(told_), found = std::move(found)] { told(found); });
  }

  std::string reason_of(int error) const {
    const std::string host = windows::utf8(host_);
    const bool is_unknown = error == 0 || error == WSAHOST_NOT_FOUND || error == WSANO_DATA;
    if (is_unknown) return name_not_known(host);
    return name_not_looked_up(host, windows::error_text(static_cast<DWORD>(error)));
  }

  std::wstring host_;
  OVERLAPPED overlapped_{};
  ADDRINFOEXW* found_ = nullptr;
  HANDLE cancel_ = nullptr;
  std::shared_ptr<Query> kept_;
  std::mutex mutex_;
  EventLoop* loop_;  ///< null when nothing may be told any more
  Resolver::Told told_;
};

}  // namespace

std::function<void()> Resolver::ask(EventLoop& loop, const Options&, const std::string& host,
                                    Told told) {
  return [query = Query::start(loop, host, std::move(told))] { query->stop(); };
}

}  // namespace sitter
