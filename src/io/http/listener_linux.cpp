#include <arpa/inet.h>
#include <dirent.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/http/listener.hpp"
#include "io/http/listening_sockets.hpp"
#include "io/http/tcp_address.hpp"
#include "io/system/file_descriptor.hpp"

namespace sitter {
namespace {

namespace ip = boost::asio::ip;

/// The kernel fills at most this much of a buffer with one piece of a dump.
constexpr std::size_t kPieceMax = 32 * 1024;

ip::address address_of(const inet_diag_msg& message) {
  if (message.idiag_family == AF_INET) return ip::address_v4(ntohl(message.id.idiag_src[0]));
  ip::address_v6::bytes_type bytes;
  std::memcpy(bytes.data(), message.id.idiag_src, bytes.size());
  return ip::address_v6(bytes);
}

/// `body` holds at least one inet_diag_msg. Attributes follow it.
ListeningSocket read_socket(std::string_view body) {
  inet_diag_msg message;
  std::memcpy(&message, body.data(), sizeof message);
  ListeningSocket socket{address_of(message), ListenerId{message.idiag_inode}};
  std::size_t at = NLMSG_ALIGN(sizeof message);
  while (at + sizeof(rtattr) <= body.size()) {
    rtattr attribute;
    std::memcpy(&attribute, body.data() + at, sizeof attribute);
    if (attribute.rta_len < sizeof attribute || at + attribute.rta_len > body.size()) break;
    if (attribute.rta_type == INET_DIAG_SKV6ONLY && attribute.rta_len > sizeof attribute) {
      socket.is_v6_only = body[at + sizeof attribute] != 0;
    }
    at += RTA_ALIGN(attribute.rta_len);
  }
  return socket;
}

bool ask(int netlink, unsigned char family, std::uint16_t port) {
  struct {
    nlmsghdr header;
    inet_diag_req_v2 what;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.what.sdiag_family = family;
  request.what.sdiag_protocol = IPPROTO_TCP;
  request.what.idiag_states = 1U << TCP_LISTEN;
  request.what.id.idiag_sport = htons(port);
  return send(netlink, &request, sizeof request, 0) == static_cast<ssize_t>(sizeof request);
}

/// Reads one piece of a dump. False after the last piece, and after an error.
bool read_piece(int netlink, std::vector<ListeningSocket>& sockets) {
  std::array<char, kPieceMax> piece;
  // The kernel has each piece ready when it is asked for.
  const ssize_t count = recv(netlink, piece.data(), piece.size(), MSG_DONTWAIT);
  if (count < 0) return errno == EINTR;
  std::string_view left(piece.data(), static_cast<std::size_t>(count));
  while (left.size() >= sizeof(nlmsghdr)) {
    nlmsghdr header;
    std::memcpy(&header, left.data(), sizeof header);
    if (header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR) return false;
    const std::size_t size = header.nlmsg_len;
    if (size < sizeof header + sizeof(inet_diag_msg) || size > left.size()) return false;
    sockets.push_back(read_socket(left.substr(sizeof header, size - sizeof header)));
    left.remove_prefix(std::min<std::size_t>(NLMSG_ALIGN(size), left.size()));
  }
  return count > 0;
}

struct FolderCloser {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, FolderCloser>;

bool has_open(long pid, std::string_view link) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd";
  const Folder folder(opendir(path.c_str()));
  if (!folder) return false;
  while (const dirent* const entry = readdir(folder.get())) {
    char target[64];
    const ssize_t length = readlinkat(dirfd(folder.get()), entry->d_name, target, sizeof target);
    if (length > 0 && link == std::string_view(target, static_cast<std::size_t>(length))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<ListeningSocket> listening_sockets(std::uint16_t port, bool has_v4) {
  std::vector<ListeningSocket> sockets;
  const FileDescriptor netlink(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!netlink.is_open()) return sockets;
  for (const unsigned char family : {AF_INET, AF_INET6}) {
    if (family == AF_INET && !has_v4) continue;
    if (!ask(netlink.number(), family, port)) continue;
    while (read_piece(netlink.number(), sockets)) {
    }
  }
  return sockets;
}

std::optional<long> pid_of(ListenerId listener) {
  if (listener == kNoListener) return {};
  const std::string link = "socket:[" + std::to_string(static_cast<std::uint64_t>(listener)) + "]";
  const Folder folder(opendir("/proc"));
  if (!folder) return {};
  std::optional<long> found;
  while (const dirent* const entry = readdir(folder.get())) {
    const long pid = std::strtol(entry->d_name, nullptr, 10);
    if (pid > 0 && (!found || pid < *found) && has_open(pid, link)) found = pid;
  }
  return found;
}

}  // namespace sitter
