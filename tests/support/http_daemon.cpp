#include "support/http_daemon.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <utility>

namespace sitter::testing {

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
