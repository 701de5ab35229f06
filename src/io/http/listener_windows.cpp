#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "io/http/listener.hpp"
#include "io/http/listening_sockets.hpp"
#include "io/http/tcp_address.hpp"
#include "io/system/user_only_windows.hpp"
// iphlpapi.h comes after winsock2.h.
#include <iphlpapi.h>

namespace sitter {
namespace {

namespace ip = boost::asio::ip;

/// Windows has no number for a socket. The process that opened it and the time stand for it, since
/// another process may get the same pid later.
ListenerId id_of(DWORD pid, LARGE_INTEGER opened) {
  if (pid == 0) return kNoListener;
  return ListenerId{(std::uint64_t{opened.LowPart} << 32U) | pid};
}

long pid_in(ListenerId id) { return static_cast<long>(static_cast<DWORD>(id)); }

std::uint16_t port_of(DWORD port) { return ntohs(static_cast<u_short>(port)); }

ip::address address_of(const MIB_TCPROW_OWNER_MODULE& row) {
  return ip::address_v4(ntohl(row.dwLocalAddr));
}

ip::address address_of(const MIB_TCP6ROW_OWNER_MODULE& row) {
  ip::address_v6::bytes_type bytes;
  std::memcpy(bytes.data(), row.ucLocalAddr, bytes.size());
  return ip::address_v6(bytes);
}

/// Adds the listening sockets of one family; only those at the port, or all if it is 0. A socket
/// for both families stands in the tables of both, or in that of IPv6 alone.
template <class Table>
void add_sockets(ULONG family, std::uint16_t port, std::vector<ListeningSocket>& sockets) {
  std::vector<char> bytes;
  ULONG size = 0;
  DWORD result = ERROR_INSUFFICIENT_BUFFER;
  // The table may grow between two calls.
  for (int tries = 0; tries < 5 && result == ERROR_INSUFFICIENT_BUFFER; ++tries) {
    bytes.resize(size);
    result =
        GetExtendedTcpTable(bytes.data(), &size, FALSE, family, TCP_TABLE_OWNER_MODULE_LISTENER, 0);
  }
  if (result != NO_ERROR || bytes.size() < sizeof(Table)) return;
  const auto& table = *reinterpret_cast<const Table*>(bytes.data());
  for (DWORD at = 0; at < table.dwNumEntries; ++at) {
    const auto& row = table.table[at];
    if (port != 0 && port_of(row.dwLocalPort) != port) continue;
    sockets.push_back({address_of(row), id_of(row.dwOwningPid, row.liCreateTimestamp)});
  }
}

bool is_of_own_user(long pid) {
  const windows::Handle process(
      OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(pid)));
  return process.is_open() && windows::is_of_own_user(process.get());
}

}  // namespace

std::vector<ListeningSocket> listening_sockets(std::uint16_t port, bool has_v4) {
  std::vector<ListeningSocket> sockets;
  if (has_v4) add_sockets<MIB_TCPTABLE_OWNER_MODULE>(AF_INET, port, sockets);
  add_sockets<MIB_TCP6TABLE_OWNER_MODULE>(AF_INET6, port, sockets);
  return sockets;
}

std::optional<long> pid_of(ListenerId listener) {
  if (listener == kNoListener) return {};
  const std::vector<ListeningSocket> all = listening_sockets(0, true);
  const bool is_there = std::any_of(
      all.begin(), all.end(), [&](const ListeningSocket& socket) { return socket.id == listener; });
  if (!is_there || !is_of_own_user(pid_in(listener))) return {};
  return pid_in(listener);
}

}  // namespace sitter
