#include "server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "json.hpp"
#include "process.hpp"

namespace sitter::fake {
namespace {

constexpr long long kParseError = -32700;
constexpr std::size_t kReadSize = std::size_t{1} << 16;

/// The value of a key, or nullptr.
template <class Map>
auto find(const Map& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

std::string with_id(std::string text, std::string_view id) {
  constexpr std::string_view kId = "%ID%";
  for (std::size_t at = text.find(kId); at != std::string::npos; at = text.find(kId, at)) {
    text.replace(at, kId.size(), id);
    at += id.size();
  }
  return text;
}

void keep_envelope(Record& record, const std::string& method, std::string_view meta) {
  if (meta.empty()) return;
  record.last_envelope = meta;
  record.envelopes[method] = meta;
}

}  // namespace

Server::Server(const Options& options) : options_(options), session_(options) {
  if (!options.journal) return;
  journal_ = ::open(options.journal->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (journal_ >= 0) return;
  say("fake-mcp: " + *options.journal + " cannot be written");
  std::exit(1);
}

int Server::run() {
  if (options_.stop_reading_after == 0) stop_reading();
  while (true) {
    using std::chrono::milliseconds;
    std::optional<milliseconds> wait;
    bool idle = false;
    if (const auto next = session_.agenda.next()) {
      wait = std::chrono::ceil<milliseconds>(*next - Agenda::Clock::now());
    } else if (options_.exit_when_idle) {
      wait = options_.exit_when_idle;
      idle = true;
    }
    const bool listening = session_.reading && !at_end_;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, listening ? 1 : 0,
                             wait ? static_cast<int>(std::max<long long>(wait->count(), 0)) : -1);
    if (ready == 0 && idle) return end();
    if (ready > 0 && !read_input() && !options_.ignore_eof) return end();
    session_.agenda.do_what_is_due();
    session_.output.end_of_read();
  }
}

/// Returns false at the end of input.
bool Server::read_input() {
  const std::size_t seen = input_.size();
  input_.resize(seen + kReadSize);
  const ssize_t count = ::read(STDIN_FILENO, input_.data() + seen, kReadSize);
  input_.resize(seen + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  at_end_ = count <= 0;
  if (at_end_) return false;

  std::size_t begin = 0;
  std::size_t end = input_.find('\n', seen);
  while (end != std::string::npos && session_.reading) {
    on_line(std::string_view(input_).substr(begin, end - begin));
    begin = end + 1;
    end = input_.find('\n', begin);
  }
  input_.erase(0, begin);
  return true;
}

void Server::on_line(std::string_view line) {
  if (next_token(line, 0) == line.size()) return;
  std::string_view id;
  std::string_view method;
  std::string_view params;
  std::string_view outcome;
  const bool is_object = each_item(line, '{', [&](std::string_view key, std::string_view value) {
    if (is_key(key, "id")) id = value;
    if (is_key(key, "method")) method = value;
    if (is_key(key, "params")) params = value;
    if (is_key(key, "result") || is_key(key, "error")) outcome = value;
  });
  if (!is_object) {
    ++session_.record.bad_line_count;
    return session_.output.error("null", kParseError, "Parse error");
  }
  if (method.empty()) return session_.questions.on_answer(id, outcome);

  const std::string name = text_of(method);
  session_.record.methods.push_back(name);
  if (session_.era != Era::legacy) keep_envelope(session_.record, name, member(params, "_meta"));
  if (!id.empty()) return on_request(id, name, params);
  if (swallowed(id, name)) return;
  if (session_.era == Era::legacy) {
    legacy_.on_notification(name, params);
  } else {
    modern_.on_notification(name, params);
  }
}

void Server::on_request(std::string_view id, const std::string& method, std::string_view params) {
  ++session_.record.request_count;
  if (journal_ >= 0) note(id, method);
  if (!swallowed(id, method)) {
    decide_era(method, params);
    if (session_.era == Era::legacy) {
      legacy_.on_request(id, method, params);
    } else {
      modern_.on_request(id, method, params);
    }
  }
  if (const int* code = find(options_.answer_and_exit, method)) {
    session_.output.end_of_read();
    ::_exit(*code);
  }
  if (options_.stop_reading_after == session_.record.request_count) session_.reading = false;
  if (!session_.reading) stop_reading();
}

/// Writes the line in one write before the request is handled, so that the journal also has a
/// request that ends the process.
void Server::note(std::string_view id, const std::string& method) const {
  std::string line = std::to_string(::getpid()) + ' ';
  write_all(journal_, line.append(id).append(" ").append(method).append("\n"));
}

/// The first request that shows an era decides the era of a dual server for good. Until then the
/// modern code answers: it handles server/discover, which clients send before they know the era,
/// and refuses requests that name another modern version.
void Server::decide_era(const std::string& method, std::string_view params) {
  if (session_.era != Era::dual || method == "server/discover") return;
  const std::string_view version = envelope_version(params);
  if (version.empty()) {
    session_.era = Era::legacy;
  } else if (text_of(version) == kModernVersion) {
    session_.era = Era::modern;
  }
}

/// Carries out the fault that is requested for this method. True if the message is consumed. The id
/// is empty for a notification, for which only the faults that end or silence the process apply.
bool Server::swallowed(std::string_view id, const std::string& method) {
  if (const int* code = find(options_.exit_on, method)) ::_exit(*code);
  if (const int* signal = find(options_.signal_on, method)) {
    die_of(*signal);
    return true;
  }
  if (options_.close_stdout_on.contains(method)) {
    session_.output.close();
    return true;
  }
  if (id.empty()) return false;
  if (options_.never_answer.contains(method)) return true;
  if (const std::string* text = find(options_.raw_answer, method)) {
    session_.output.line(with_id(*text, id));
    return true;
  }
  if (const ErrorAnswer* error = find(options_.error_on, method)) {
    session_.output.error(id, error->code, error->message);
    return true;
  }
  if (options_.endless_line > 0 && method == "tools/call" &&
      !std::exchange(wrote_endless_line_, true)) {
    session_.output.endless_line(options_.endless_line);
    return true;
  }
  return false;
}

void Server::stop_reading() {
  session_.reading = false;
  // From now on the process does not notice the end of input, so its life is limited.
  limit_life(options_.life_limit);
}

/// Ends the streams and writes the last answer. Returns the exit code.
int Server::end() {
  if (options_.graceful_end) session_.streams.end();
  session_.output.end_of_read();
  return 0;
}

}  // namespace sitter::fake
