#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

/// A client of HTTP that shows what came byte by byte.
namespace sitter::testing {

using Headers = std::map<std::string, std::string>;

/// What came for one request.
struct Response {
  int status = 0;
  Headers headers;  ///< names are in lower case
  std::string head;
  std::string body;
  bool is_complete = false;
  bool is_closed = false;

  Json json() const { return Json::parse(body, nullptr, false); }
};

/// One connection to the daemon.
class RawConnection {
 public:
  explicit RawConnection(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.number(), reinterpret_cast<sockaddr*>(&address), sizeof address),
              0);
  }

  void send(const std::string& bytes) const {
    EXPECT_EQ(::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  void request(const std::string& method, const Headers& headers, const std::string& body = {},
               const std::string& path = "/mcp") const {
    std::string text = method + ' ' + path + " HTTP/1.1\r\nHost: localhost\r\n";
    for (const auto& [name, value] : headers) text.append(name + ": " + value + "\r\n");
    if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    send(text + "\r\n" + body);
  }

  /// Waits until what came contains this text. False if it does not come.
  bool shows(const std::string& text) {
    while (input_.find(text) == std::string::npos) {
      if (!read()) return false;
    }
    return true;
  }

  /// Waits until this much has come, whatever it is.
  bool takes(std::size_t size) {
    while (input_.size() < size) {
      if (!read()) return false;
    }
    return true;
  }

  bool is_closed_by_daemon() {
    while (read()) {
    }
    return closed_;
  }

  /// Waits for the end of the next response, or of the connection.
  Response response() {
    Response response;
    if (!shows("\r\n\r\n")) return response;
    std::size_t size = input_.find("\r\n\r\n") + 4;
    if (input_.starts_with("HTTP/1.1 100")) size = input_.find("\r\n\r\n", size) + 4;
    response.head = input_.substr(0, size);
    input_.erase(0, size);
    for (const std::string& line : lines_of(response.head)) {
      if (line.starts_with("HTTP/1.1 ")) response.status = std::stoi(line.substr(9));
      const std::size_t colon = line.find(": ");
      if (colon == std::string::npos) continue;
      std::string name = line.substr(0, colon);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      response.headers[name] = line.substr(colon + 2, line.find('\r') - colon - 2);
    }
    if (response.headers.contains("transfer-encoding")) {
      while (!take_chunk(response) && read()) {
      }
    } else {
      const std::size_t length = std::stoul("0" + response.headers["content-length"]);
      response.is_complete = takes(length);
      response.body = input_.substr(0, length);
      input_.erase(0, length);
    }
    response.is_closed = closed_;
    return response;
  }

  const std::string& input() const { return input_; }

 private:
  /// Takes all complete chunks. True at the last one.
  bool take_chunk(Response& response) {
    while (true) {
      const std::size_t end = input_.find("\r\n");
      if (end == std::string::npos) return false;
      const std::size_t size = std::stoul(input_, nullptr, 16);
      if (input_.size() < end + 2 + size + 2) {
        if (closed_) response.body += input_.substr(end + 2);
        return false;
      }
      response.body += input_.substr(end + 2, size);
      input_.erase(0, end + 2 + size + 2);
      if (size > 0) continue;
      return response.is_complete = true;
    }
  }

  bool read() {
    pollfd ready{socket_.number(), POLLIN, 0};
    const int patience = static_cast<int>(std::chrono::milliseconds(kPatience).count());
    if (closed_ || ::poll(&ready, 1, patience) <= 0) return false;
    char bytes[65536];
    const ssize_t count = ::recv(socket_.number(), bytes, sizeof bytes, 0);
    closed_ = count <= 0;
    if (!closed_) input_.append(bytes, static_cast<std::size_t>(count));
    return !closed_;
  }

  OwnDescriptor socket_;
  std::string input_;
  bool closed_ = false;
};

/// A fake-mcp at a free port, and its client.
class Daemon {
 public:
  explicit Daemon(std::vector<std::string> flags = {})
      : port_file_(directory_.path() + "/port"), program_({.command = command(std::move(flags))}) {
    EXPECT_TRUE(program_.shows_error("listening on 127.0.0.1:"));
    int port = 0;
    std::ifstream(port_file_) >> port;
    port_ = static_cast<std::uint16_t>(port);
  }

  Program& program() { return program_; }
  const std::string& session() const { return session_; }
  RawConnection connect() const { return RawConnection(port_); }
  std::string journal_file() const { return directory_.path() + "/journal"; }
  std::vector<Json> journal() const {
    std::vector<Json> rows;
    std::ifstream file(journal_file());
    for (std::string line; std::getline(file, line);) {
      rows.push_back(Json::parse(line, nullptr, false));
    }
    return rows;
  }

  Headers headers(const Headers& more = {}) const {
    Headers all = {{"Accept", "application/json, text/event-stream"},
                   {"Content-Type", "application/json"}};
    if (!session_.empty()) all["Mcp-Session-Id"] = session_;
    for (const auto& [name, value] : more) all[name] = value;
    return all;
  }

  Response post(const Json& message, const Headers& more = {}) const {
    RawConnection connection = connect();
    connection.request("POST", headers(more), message.dump());
    return connection.response();
  }
  Response call(const std::string& tool, const Json& arguments = Json::object(),
                const Headers& more = {}, const Json& meta = Json::object()) const {
    return post({{"jsonrpc", "2.0"},
                 {"id", 7},
                 {"method", "tools/call"},
                 {"params", {{"name", tool}, {"arguments", arguments}, {"_meta", meta}}}},
                more);
  }
  Response get(const Headers& more = {}, const std::string& method = "GET") const {
    RawConnection connection = connect();
    connection.request(method, headers(more));
    return connection.response();
  }
  Response open() {
    Response response = post({{"jsonrpc", "2.0"},
                              {"id", 1},
                              {"method", "initialize"},
                              {"params", {{"protocolVersion", "2025-11-25"}}}});
    session_ = response.headers["mcp-session-id"];
    return response;
  }

 private:
  std::vector<std::string> command(std::vector<std::string> flags) const {
    flags.insert(flags.end(), {"--http", "0", "--http-port-file", port_file_});
    const bool is_fast = flags.front() == "--fast";
    if (!is_fast) flags.insert(flags.end(), {"--http-journal", journal_file()});
    return fake(flags);
  }

  TemporaryDirectory directory_;
  std::string port_file_;
  Program program_;
  std::uint16_t port_ = 0;
  std::string session_;
};

}  // namespace sitter::testing
