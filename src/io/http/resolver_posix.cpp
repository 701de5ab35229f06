#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/base/ascii.hpp"
#include "io/http/resolver.hpp"
#include "io/http/resolver_names.hpp"
#include "io/system/file_descriptor.hpp"
#include "io/system/short_program.hpp"

namespace sitter {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::string_view kBlanks = " \t\r\n";

/// The first word, which is taken off the text; empty if there is none.
std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

bool names(std::string_view words, std::string_view name) {
  for (auto word = next_word(words); !word.empty(); word = next_word(words)) {
    if (ascii_lower(word) == ascii_lower(name)) return true;
  }
  return false;
}

std::string read_hosts(const std::string& file) {
  // Opening a FIFO must not wait.
  const FileDescriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string text;
  std::array<char, 64 * limits::kKiB> piece;
  while (opened.is_open() && text.size() < limits::kHostsBytesMax) {
    const std::size_t room = std::min(piece.size(), limits::kHostsBytesMax - text.size());
    const ssize_t count = read(opened.number(), piece.data(), room);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return text;
}

HostAddresses addresses_in_file(const std::string& file, std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  HostAddresses addresses;
  const std::string text = read_hosts(file);
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = next_line(rest);
    line = line.substr(0, line.find('#'));
    const std::string_view address = next_word(line);
    if (names(line, name)) add_address(addresses, address_literal(address));
  }
  return addresses;
}

/// `getent ahosts` prints a line for each address and each type of socket, with the address as its
/// first word. `dscacheutil` of macOS prints "ip_address: ADDRESS" and "ipv6_address: ADDRESS".
HostAddresses addresses_in_output(std::string_view output) {
  HostAddresses addresses;
  while (!output.empty()) {
    std::string_view line = next_line(output);
    const std::string_view first = next_word(line);
    add_address(addresses, address_literal(first.ends_with("_address:") ? next_word(line) : first));
  }
  return addresses;
}

/// A program that looks a name up.
struct LookUp final : EventLoop::Reader, std::enable_shared_from_this<LookUp> {
  LookUp(EventLoop& of, Milliseconds time, std::string name, Resolver::Told to)
      : loop(of), limit(time), host(std::move(name)), told(std::move(to)) {}

  /// Returns why it cannot start.
  std::string start(std::vector<std::string> words) {
    const std::string program = find_program(words.front());
    if (program.empty()) return "there is no program " + words.front();
    words.push_back(host);
    // The time of the program starts later, so that it never ends before this one has passed.
    deadline = SteadyClock::now() + limit;
    source = start_short_program(program, std::move(words), limit);
    if (!source.is_open()) return std::strerror(errno);
    loop.watch(source.number(), *this);
    return {};
  }

  Seen on_readable() override {
    std::array<char, 4 * limits::kKiB> piece;
    const ssize_t count = read(source.number(), piece.data(), piece.size());
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Seen::nothing;
    if (count < 0 && errno == EINTR) return Seen::filled;
    const auto size = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    output.append(piece.data(), std::min(size, limits::kLookupBytesMax - output.size()));
    if (size == 0 || output.size() == limits::kLookupBytesMax) {
      const auto self = shared_from_this();
      told(found_in_output());
      return Seen::partly;
    }
    return size == piece.size() ? Seen::filled : Seen::partly;
  }

  Resolver::Found found_in_output() const {
    // The last line may have been cut.
    const std::size_t whole = output.rfind('\n') + 1;
    HostAddresses addresses = addresses_in_output(std::string_view(output).substr(0, whole));
    if (!addresses.empty()) return {std::move(addresses), {}};
    return {{}, loop.now() < deadline ? name_not_known(host) : name_not_found(host, limit)};
  }

  void stop() {
    loop.forget(*this);
    source.close();
  }

  EventLoop& loop;
  Milliseconds limit;
  std::string host;
  Resolver::Told told;
  FileDescriptor source;
  std::string output;
  SteadyClock::time_point deadline;
};

}  // namespace

std::function<void()> Resolver::ask(EventLoop& loop, const Options& options,
                                    const std::string& host, Told told) {
  Found found{addresses_in_file(options.hosts_file, host), {}};
  if (found.addresses.empty() && host.starts_with('-')) {
    // The program would take it as an option.
    found.reason = name_not_known(host);
  } else if (found.addresses.empty()) {
    const auto program = std::make_shared<LookUp>(loop, options.limit, host, told);
    const std::string problem = program->start(options.command);
    if (problem.empty()) return [program] { program->stop(); };
    found.reason = name_not_looked_up(host, problem);
  }
  loop.post([told = std::move(told), found = std::move(found)] { told(found); });
  return {};
}

}  // namespace sitter
