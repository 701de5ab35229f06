#include "receiver.hpp"

#include <utility>

#include "json.hpp"
#include "process.hpp"

namespace sitter::fake {
namespace {

constexpr long long kParseError = -32700;

/// The value of a key, or nullptr.
template <class Map>
auto find(const Map& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

void keep_envelope(Record& record, const std::string& method, std::string_view meta) {
  if (meta.empty()) return;
  record.last_envelope = meta;
  record.envelopes[method] = meta;
}

}  // namespace

bool read_message(std::string_view text, Message& message) {
  return each_item(text, '{', [&](std::string_view key, std::string_view value) {
    if (key == "id") message.id = value;
    if (key == "method") message.method = value;
    if (key == "params") message.params = value;
    if (key == "result" || key == "error") message.outcome = value;
  });
}

std::string with_id(std::string text, std::string_view id) {
  constexpr std::string_view kId = "%ID%";
  for (std::size_t at = text.find(kId); at != std::string::npos; at = text.find(kId, at)) {
    text.replace(at, kId.size(), id);
    at += id.size();
  }
  return text;
}

void Receiver::on_line(std::string_view line) {
  if (line.find_first_not_of(" \t\r\n") == line.npos) return;
  Message message;
  if (!read_message(line, message)) {
    ++session_.record.bad_line_count;
    return session_.output.error("null", kParseError, "Parse error");
  }
  const auto& [id, method, params, outcome] = message;
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

void Receiver::on_request(std::string_view id, const std::string& method, std::string_view params) {
  ++session_.record.request_count;
  note(id, method);
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
    exit_now(*code);
  }
  if (options_.stop_reading_after == session_.record.request_count) session_.reading = false;
  if (!session_.reading) stop_reading();
}

/// Writes the line in one write before the request is handled, so that the journal also has a
/// request that ends the process.
void Receiver::note(std::string_view id, const std::string& method) const {
  std::string line = std::to_string(process_id()) + ' ';
  journal_.add(line.append(id).append(" ").append(method));
}

/// The first request that shows an era decides the era of a dual server for good. Until then the
/// modern code answers: it handles server/discover, which clients send before they know the era,
/// and refuses requests that name another modern version.
void Receiver::decide_era(const std::string& method, std::string_view params) {
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
bool Receiver::swallowed(std::string_view id, const std::string& method) {
  if (const int* code = find(options_.exit_on, method)) exit_now(*code);
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
    session_.output.raw_answer(with_id(*text, id));
    return true;
  }
  if (const ErrorAnswer* error = find(options_.error_on, method)) {
    session_.output.error(id, error->code, error->message);
    return true;
  }
  if (options_.endless_line > 0 && method == "tools/call" &&
      !std::exchange(wrote_endless_line_, true)) {
    session_.output.endless_answer(options_.endless_line);
    return true;
  }
  return false;
}

void Receiver::stop_reading() {
  session_.reading = false;
  // From now on the process does not notice the end of input, so its life is limited.
  limit_life(options_.life_limit);
}

}  // namespace sitter::fake
