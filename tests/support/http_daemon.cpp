#include "support/http_daemon.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace sitter::testing {

HeldPort::HeldPort()
    : socket_(::socket(AF_INET, SOCK_STREAM, 0)), other_(::socket(AF_INET, SOCK_STREAM, 0)) {
  for (const OwnDescriptor* end : {&socket_, &other_}) ::fcntl(end->number(), F_SETFD, FD_CLOEXEC);
  const int on = 1;
  ::setsockopt(socket_.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket_.number(), place, size) != 0 ||
      ::getsockname(socket_.number(), place, &size) != 0) {
    throw std::runtime_error("no port is free");
  }
  number_ = ntohs(address.sin_port);
  // Connected, the socket holds its port, and another socket with SO_REUSEADDR may listen there. On
  // macOS, a port that is only bound refuses both a second socket and an answer to a connection.
  address.sin_port = 0;
  if (::bind(other_.number(), place, size) != 0 || ::listen(other_.number(), 1) != 0 ||
      ::getsockname(other_.number(), place, &size) != 0 ||
      ::connect(socket_.number(), place, size) != 0) {
    throw std::runtime_error("no port can be held");
  }
}

std::string HeldPort::url() const { return "http://127.0.0.1:" + std::to_string(number_) + "/mcp"; }

void HttpDaemon::start() {
  kill();
  std::vector<std::string> words = flags_;
  words.insert(words.end(), {"--http", std::to_string(port_.number()), "--http-journal",
                             directory_ / "journal"});
  program_.emplace(Program::Start{.command = fake(std::move(words))});
  EXPECT_TRUE(program_->shows_error("listening on ")) << program_->error_text();
}

void HttpDaemon::start(std::vector<std::string> flags) {
  flags_ = std::move(flags);
  start();
}

void HttpDaemon::kill() {
  if (!program_) return;
  program_->signal(SIGKILL);
  program_->wait();
  program_.reset();
}

std::vector<Json> HttpDaemon::journal() const { return http_journal(directory_ / "journal"); }

std::vector<Json> HttpDaemon::rows(const std::string& member, const Json& value) const {
  std::vector<Json> rows;
  for (Json& row : journal()) {
    if (row[member] == value) rows.push_back(std::move(row));
  }
  return rows;
}

bool HttpDaemon::has_rows(std::size_t count, const std::string& member, const Json& value) const {
  return eventually([&] { return rows(member, value).size() >= count; });
}

ScriptedClient::Setup bridge_to(const std::string& url, std::vector<std::string> options) {
  options.insert(options.begin(), {"--http", url});
  return {.options = std::move(options), .command = {}};
}

std::vector<Json> http_journal(const std::string& file) {
  std::vector<Json> rows;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    Json row = Json::parse(line, nullptr, false);
    // The last line may not be complete yet.
    if (row.is_object()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace sitter::testing
