#include "options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "process.hpp"

namespace sitter::fake {
namespace {

/// A test should not wait long for a client that resumes.
constexpr std::chrono::milliseconds kUsualRetry{20};

constexpr std::string_view kSessionNotFound =
    R"json({"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}})json";

/// Why a value cannot be used. The reason ends up in the sentence on stderr.
using BadValue = std::invalid_argument;

template <class Number>
Number number(std::string_view text, Number low, Number high) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < low || value > high) {
    throw BadValue("needs a number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

std::size_t count(std::string_view text) {
  return number<std::size_t>(text, 0, std::numeric_limits<std::size_t>::max());
}

int exit_code(std::string_view text) { return number(text, 0, 255); }

std::chrono::milliseconds milliseconds(std::string_view text) {
  return std::chrono::milliseconds(number(text, 0LL, 86'400'000LL));
}

int signal_number(std::string_view text) {
  const std::optional<int> signal = signal_by_name(text);
  if (!signal) throw BadValue("needs a signal, such as SEGV or 11");
  return *signal;
}

/// A value of the form `key` or `key<mark>rest`.
struct Pair {
  std::string key;
  std::optional<std::string_view> rest;
};

Pair pair_of(std::string_view text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {std::string(text), std::nullopt};
  return {std::string(text.substr(0, at)), text.substr(at + 1)};
}

std::string_view needed(const Pair& pair, const char* what) {
  if (!pair.rest) throw BadValue(what);
  return *pair.rest;
}

void set_error_on(Options& options, std::string_view value) {
  const Pair method = pair_of(value, '=');
  ErrorAnswer& answer = options.error_on[method.key];
  answer.message = "error on " + method.key;
  if (!method.rest) return;
  const Pair code = pair_of(*method.rest, ':');
  answer.code = number(std::string_view(code.key), -1'000'000LL, 1'000'000LL);
  if (code.rest) answer.message = *code.rest;
}

void set_failing_starts(Options& options, std::string_view value) {
  // A path may contain colons, so the last colon counts.
  const std::size_t colon = value.rfind(':');
  if (colon == std::string_view::npos) throw BadValue("needs FILE:N");
  options.failing_starts = {std::string(value.substr(0, colon)),
                            number(value.substr(colon + 1), 0LL, 1'000'000LL)};
}

void set_exit(std::map<std::string, int>& codes, std::string_view value) {
  const Pair method = pair_of(value, '=');
  codes[method.key] = method.rest ? exit_code(*method.rest) : 0;
}

void set_list(bool& offered, std::optional<std::string>& file, std::string_view value) {
  offered = true;
  if (value != "builtin") file = value;
}

void set_era(Options& options, std::string_view value) {
  if (value == "legacy") {
    options.era = Era::legacy;
  } else if (value == "modern") {
    options.era = Era::modern;
  } else if (value == "dual") {
    options.era = Era::dual;
  } else {
    throw BadValue("needs legacy, modern or dual");
  }
}

void add_listen_without(Options& options, std::string_view value) {
  constexpr std::array<std::string_view, 4> kKinds = {"tools", "prompts", "resources", "uris"};
  if (std::find(kKinds.begin(), kKinds.end(), value) == kKinds.end()) {
    throw BadValue("needs tools, prompts, resources or uris");
  }
  options.listen_without.emplace(value);
}

/// The length of a header name with its `=` at the start of the text; 0 if there is none.
std::size_t header_name_size(std::string_view text) {
  const auto* const end = std::find_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; });
  const auto size = static_cast<std::size_t>(end - text.begin());
  return size > 0 && size < text.size() && text[size] == '=' ? size + 1 : 0;
}

/// Where the value of a header ends: at a colon before another header or a body. The value may be a
/// URL, so other colons belong to it.
std::size_t header_value_size(std::string_view text) {
  for (std::size_t at = text.find(':'); at != std::string_view::npos; at = text.find(':', at + 1)) {
    const std::string_view rest = text.substr(at + 1);
    if (rest.starts_with('{') || rest.starts_with('<') || header_name_size(rest) > 0) return at;
  }
  return text.size();
}

/// Reads `STATUS[xN][:HEADER=VALUE]...[:BODY]`. Behind a header, a body begins with { or <.
HttpAnswer http_answer(std::string_view value) {
  HttpAnswer answer;
  const Pair status = pair_of(value, ':');
  const Pair times = pair_of(status.key, 'x');
  answer.status = number(std::string_view(times.key), 200, 599);
  if (times.rest) answer.times = count(*times.rest);
  std::string_view rest = status.rest.value_or("");
  while (const std::size_t name_size = header_name_size(rest)) {
    const std::string_view name = rest.substr(0, name_size - 1);
    rest.remove_prefix(name_size);
    const std::size_t value_size = header_value_size(rest);
    answer.headers.emplace_back(name, rest.substr(0, value_size));
    rest.remove_prefix(std::min(value_size + 1, rest.size()));
  }
  answer.body = rest;
  return answer;
}

using Set = void (*)(Options&, std::string_view);

/// One flag. A row without `set` is a heading. A flag without `value` takes none.
struct Flag {
  std::string_view name;
  std::string_view value;
  std::string_view help;
  Set set = nullptr;
  bool with_fast = false;
};

constexpr bool kWithFast = true;

constexpr Flag kFlags[] = {
    {"Identity", "", ""},
    {"--fast", "", "the cheapest server: no parser, one write per read, only tools",
     [](Options& o, std::string_view) { o.fast = true; }, kWithFast},
    {"--result-bytes", "N", "size of the text in a result of --fast (default 2)",
     [](Options& o, std::string_view v) { o.result_bytes = count(v); }, kWithFast},
    {"--name", "TEXT", "serverInfo.name (default fake-mcp)",
     [](Options& o, std::string_view v) { o.name = v; }, kWithFast},
    {"--server-version", "TEXT", "serverInfo.version (default 1.0.0)",
     [](Options& o, std::string_view v) { o.server_version = v; }, kWithFast},
    {"--era", "ERA", "legacy (default), modern, or dual: the first request decides", set_era,
     kWithFast},
    {"--protocol", "VERSION", "initialize answers with this version, whichever was asked for",
     [](Options& o, std::string_view v) { o.protocol = v; }, kWithFast},
    {"--instructions", "TEXT", "instructions in the initialize or discover result",
     [](Options& o, std::string_view v) { o.instructions = v; }, kWithFast},

    {"Capabilities and lists", "", ""},
    {"--tools", "FILE", "JSON array of tool definitions, read at start, instead of the built-in",
     [](Options& o, std::string_view v) { o.tools_file = v; }, kWithFast},
    {"--pages", "N", "tools/list comes in N pages",
     [](Options& o, std::string_view v) { o.pages = number<std::size_t>(v, 1, 1'000'000); },
     kWithFast},
    {"--no-tools", "", "no tools capability; tools/list gets -32601",
     [](Options& o, std::string_view) { o.tools = false; }},
    {"--resources", "FILE", "JSON array of resources, or the word builtin",
     [](Options& o, std::string_view v) { set_list(o.resources, o.resources_file, v); }},
    {"--prompts", "FILE", "JSON array of prompts, or the word builtin",
     [](Options& o, std::string_view v) { set_list(o.prompts, o.prompts_file, v); }},
    {"--subscribe", "", "resources can be subscribed to; implies resources",
     [](Options& o, std::string_view) { o.subscribe = o.resources = true; }},
    {"--logging", "", "logging capability", [](Options& o, std::string_view) { o.logging = true; }},
    {"--completions", "", "completions capability",
     [](Options& o, std::string_view) { o.completions = true; }},
    {"--everything", "", "resources, prompts, subscribe, logging and completions",
     [](Options& o, std::string_view) {
       o.resources = o.prompts = o.subscribe = o.logging = o.completions = true;
     }},
    {"--tools-list-changed", "", "declares listChanged for tools",
     [](Options& o, std::string_view) { o.tools_list_changed = true; }, kWithFast},
    {"--resources-list-changed", "", "declares listChanged for resources",
     [](Options& o, std::string_view) { o.resources_list_changed = true; }},
    {"--prompts-list-changed", "", "declares listChanged for prompts",
     [](Options& o, std::string_view) { o.prompts_list_changed = true; }},

    {"Behaviour in the legacy era", "", ""},
    {"--strict", "", "-32602 to any request but initialize and ping before initialized",
     [](Options& o, std::string_view) { o.strict = true; }},
    {"--ask", "METHOD", "asks the client this after notifications/initialized (repeatable)",
     [](Options& o, std::string_view v) { o.ask.emplace_back(v); }},
    {"--ask-before-initialized", "", "asks right after its initialize answer instead",
     [](Options& o, std::string_view) { o.ask_before_initialized = true; }},
    {"--notify", "METHOD", "sends this after notifications/initialized (repeatable)",
     [](Options& o, std::string_view v) { o.notify.emplace_back(v); }},

    {"Behaviour in the modern era", "", ""},
    {"--ttl", "MS", "ttlMs of what may be cached (default 60000)",
     [](Options& o, std::string_view v) { o.ttl = milliseconds(v); }, kWithFast},
    {"--no-listen", "", "subscriptions/listen gets -32601",
     [](Options& o, std::string_view) { o.listen = false; }},
    {"--listen-without", "KIND", "does not honour tools, prompts, resources or uris (repeatable)",
     add_listen_without},
    {"--never-acknowledge", "", "opens streams without an acknowledgement",
     [](Options& o, std::string_view) { o.acknowledge = false; }},
    {"--untagged", "", "sends changes once, without subscriptionId, whether asked for or not",
     [](Options& o, std::string_view) { o.untagged = true; }},
    {"--no-result-type", "", "complete results lack resultType",
     [](Options& o, std::string_view) { o.result_type = false; }, kWithFast},
    {"--discover-without-versions", "", "the discover result lacks supportedVersions",
     [](Options& o, std::string_view) { o.discover_versions = false; }, kWithFast},
    {"--no-graceful-end", "", "open streams get no result at the end",
     [](Options& o, std::string_view) { o.graceful_end = false; }},

    {"Faults at start, in the order in which they happen", "", ""},
    {"--fail-times", "FILE:N", "exits with 1 the first N times, counted in FILE",
     set_failing_starts, kWithFast},
    {"--stderr", "TEXT", "a line on stderr (repeatable)",
     [](Options& o, std::string_view v) { o.stderr_lines.emplace_back(v); }, kWithFast},
    {"--flood-stderr", "BYTES", "that much on stderr, in lines of 100 bytes",
     [](Options& o, std::string_view v) { o.flood_stderr = count(v); }, kWithFast},
    {"--stdout-at-start", "TEXT", "a line of rubbish on stdout (repeatable)",
     [](Options& o, std::string_view v) { o.stdout_lines.emplace_back(v); }, kWithFast},
    {"--grandchild", "", "a child of its own that holds the pipes and ignores EOF and TERM",
     [](Options& o, std::string_view) { o.grandchild = true; }, kWithFast},
    {"--grandchild-session", "", "the same as a daemon: setsid and a double fork",
     [](Options& o, std::string_view) { o.grandchild_session = true; }, kWithFast},
    {"--slow-start", "MS", "waits before it reads anything",
     [](Options& o, std::string_view v) { o.slow_start = milliseconds(v); }, kWithFast},
    {"--signal-at-start", "SIGNAL", "dies of this signal, by name or number",
     [](Options& o, std::string_view v) { o.signal_at_start = signal_number(v); }, kWithFast},
    {"--exit-at-start", "CODE", "exits",
     [](Options& o, std::string_view v) { o.exit_at_start = exit_code(v); }, kWithFast},

    {"Faults on a method (all repeatable)", "", ""},
    {"--never-answer", "METHOD", "requests of this method stay unanswered",
     [](Options& o, std::string_view v) { o.never_answer.emplace(v); }},
    {"--error-on", "METHOD[=CODE[:TEXT]]", "answers with an error (default -32603)", set_error_on},
    {"--raw-answer", "METHOD=TEXT", "this line instead of the answer; %ID% is the raw id",
     [](Options& o, std::string_view v) {
       const Pair method = pair_of(v, '=');
       o.raw_answer[method.key] = needed(method, "needs METHOD=TEXT");
     }},
    {"--exit-on", "METHOD[=CODE]", "exits unanswered",
     [](Options& o, std::string_view v) { set_exit(o.exit_on, v); }},
    {"--signal-on", "METHOD=SIGNAL", "sends itself this signal, unanswered",
     [](Options& o, std::string_view v) {
       const Pair method = pair_of(v, '=');
       o.signal_on[method.key] = signal_number(needed(method, "needs METHOD=SIGNAL"));
     }},
    {"--answer-and-exit", "METHOD[=CODE]", "answers and exits",
     [](Options& o, std::string_view v) { set_exit(o.answer_and_exit, v); }},
    {"--exit-after-initialize", "", "short for --answer-and-exit initialize",
     [](Options& o, std::string_view) { o.answer_and_exit["initialize"] = 0; }},
    {"--close-stdout-on", "METHOD", "closes stdout, unanswered, and lives on",
     [](Options& o, std::string_view v) { o.close_stdout_on.emplace(v); }},
    {"--stop-reading-after", "N", "reads nothing more after N requests, and lives on",
     [](Options& o, std::string_view v) { o.stop_reading_after = count(v); }},

    {"Faults in the output", "", ""},
    {"--prefix-answers", "TEXT", "text before every answer on its line",
     [](Options& o, std::string_view v) { o.prefix_answers = v; }},
    {"--two-per-line", "", "answers to requests of one read come two on a line",
     [](Options& o, std::string_view) { o.two_per_line = true; }},
    {"--answer-as-array", "", "each answer is wrapped in an array",
     [](Options& o, std::string_view) { o.answer_as_array = true; }},
    {"--id-last", "", "the id is the last member of an answer",
     [](Options& o, std::string_view) { o.id_last = true; }},
    {"--endless-line", "BYTES", "the first tools/call gets a line of that many x, no answer",
     [](Options& o, std::string_view v) { o.endless_line = count(v); }},
    {"--crlf", "", "lines end in CRLF", [](Options& o, std::string_view) { o.crlf = true; }},
    {"--bom", "", "the output begins with a byte order mark",
     [](Options& o, std::string_view) { o.bom = true; }},
    {"--blank-lines", "", "a blank line before every line",
     [](Options& o, std::string_view) { o.blank_lines = true; }},
    {"--invalid-utf8", "", "two bytes of invalid UTF-8 in the first tool result",
     [](Options& o, std::string_view) { o.invalid_utf8 = true; }},

    {"Faults at the end", "", ""},
    {"--ignore-eof", "", "lives on when stdin or stdout is closed",
     [](Options& o, std::string_view) { o.ignore_eof = true; }, kWithFast},
    {"--ignore-term", "", "SIGTERM, SIGINT and SIGHUP do nothing",
     [](Options& o, std::string_view) { o.ignore_term = true; }, kWithFast},
    {"--exit-when-idle", "MS", "exits with 0 after this time without input and without work",
     [](Options& o, std::string_view v) { o.exit_when_idle = milliseconds(v); }},
    {"--life-limit", "SECONDS", "ends what would not end by itself (default 60)",
     [](Options& o, std::string_view v) {
       o.life_limit = std::chrono::seconds(number(v, 1LL, 86'400LL));
     },
     kWithFast},

    {"Journal", "", ""},
    {"--journal", "FILE", "appends a line to it for each request: PID ID METHOD",
     [](Options& o, std::string_view v) { o.journal = v; }},

    {"Streamable HTTP instead of stdin and stdout", "", ""},
    {"--http", "PORT", "listens at 127.0.0.1:PORT/mcp until a signal; 0 takes a free port",
     [](Options& o, std::string_view v) { o.http.port = number<std::uint16_t>(v, 0, 65'535); },
     kWithFast},
    {"--http-address", "ADDRESS", "listens at this address, such as ::1",
     [](Options& o, std::string_view v) { o.http.address = v; }, kWithFast},
    {"--http-port-file", "FILE", "writes the port into it, as a whole, when it listens",
     [](Options& o, std::string_view v) { o.http.port_file = v; }, kWithFast},
    {"--http-session", "", "legacy: initialize opens a session, which all else must name (default)",
     [](Options& o, std::string_view) { o.http.sessions = true; }},
    {"--http-no-session", "", "legacy: no Mcp-Session-Id; all clients share the state",
     [](Options& o, std::string_view) { o.http.sessions = false; }},
    {"--http-single-session", "", "legacy: every initialize but the first gets 400 and -32600",
     [](Options& o, std::string_view) { o.http.single_session = true; }},
    {"--http-lost-session", "STATUS[:BODY]", "answer without a known session (default 404)",
     [](Options& o, std::string_view v) { o.http.lost_session = http_answer(v); }},
    {"--http-no-get", "", "GET gets 405", [](Options& o, std::string_view) { o.http.get = false; }},
    {"--http-get-conflict", "", "a second GET gets 409; otherwise it ends the first",
     [](Options& o, std::string_view) { o.http.get_conflict = true; }},
    {"--http-no-delete", "", "DELETE gets 405",
     [](Options& o, std::string_view) { o.http.del = false; }},
    {"--http-sse", "", "answers are event streams, not JSON",
     [](Options& o, std::string_view) { o.http.sse = true; }, kWithFast},
    {"--http-event-ids", "", "events have ids and are kept for Last-Event-ID; implies --http-sse",
     [](Options& o, std::string_view) { o.http.sse = o.http.event_ids = true; }},
    {"--http-retry", "MS", "the retry of each event stream (default with event ids: 20)",
     [](Options& o, std::string_view v) { o.http.retry = milliseconds(v); }},
    {"--http-multiline", "", "JSON and data over several lines, comments, all three line ends",
     [](Options& o, std::string_view) { o.http.multiline = true; }},
    {"--http-big-event", "BYTES", "a log message of that size before the answer of a tools/call",
     [](Options& o, std::string_view v) { o.http.big_event = count(v); }},
    {"--http-journal", "FILE", "appends a JSON object to it for each HTTP request",
     [](Options& o, std::string_view v) { o.http.journal = v; }},

    {"Faults in HTTP; METHOD is one of JSON-RPC, GET or DELETE, and with --http-status also *", "",
     ""},
    {"--http-status", "METHOD=STATUS[xN]",
     "this answer, or only N times; [:HEADER=VALUE]... and [:BODY] may follow (repeatable)",
     [](Options& o, std::string_view v) {
       const Pair method = pair_of(v, '=');
       o.http.answers[method.key] = http_answer(needed(method, "needs METHOD=STATUS"));
     }},
    {"--http-not-found-first", "N", "the first N requests get 404, as from a proxy",
     [](Options& o, std::string_view v) { o.http.not_found_first = count(v); }},
    {"--http-close-before-answer", "METHOD", "closes the connection before the answer (repeatable)",
     [](Options& o, std::string_view v) { o.http.close_before_answer.emplace(v); }},
    {"--http-cut-after-bytes", "METHOD=N", "closes it after N bytes of the body (repeatable)",
     [](Options& o, std::string_view v) {
       const Pair method = pair_of(v, '=');
       o.http.cut_after_bytes[method.key] = count(needed(method, "needs METHOD=N"));
     }},
    {"--http-cut-once", "", "the two faults above happen once in all",
     [](Options& o, std::string_view) { o.http.cut_once = true; }},
    {"--http-close-each", "", "Connection: close in each response",
     [](Options& o, std::string_view) { o.http.close_each = true; }},
    {"--http-close-idle", "MS", "closes a connection that is idle for this time",
     [](Options& o, std::string_view v) { o.http.close_idle = milliseconds(v); }},
    {"--http-keep-alive-header", "SECONDS", "announces Keep-Alive: timeout=SECONDS",
     [](Options& o, std::string_view v) {
       o.http.keep_alive_header = std::chrono::seconds(number(v, 0LL, 86'400LL));
     }},
    {"--http-continue", "", "100 Continue before each response",
     [](Options& o, std::string_view) { o.http.continues = true; }},
    {"--http-endless-header", "", "each response is a head without end",
     [](Options& o, std::string_view) { o.http.endless_header = true; }},
    {"--http-mute", "", "takes requests and says nothing",
     [](Options& o, std::string_view) { o.http.mute = true; }},
};

void print_help() {
  constexpr std::size_t kColumn = 36;
  std::string text =
      "fake-mcp plays an MCP server on stdin and stdout, or over HTTP. All flags can be combined,\n"
      "but --fast takes only those marked with a star.\n";
  for (const Flag& flag : kFlags) {
    if (!flag.set) {
      text += '\n' + std::string(flag.name) + ":\n";
      continue;
    }
    std::string row = std::string(flag.with_fast ? "* " : "  ") + std::string(flag.name);
    if (!flag.value.empty()) row += ' ' + std::string(flag.value);
    row.resize(std::max(row.size() + 1, kColumn), ' ');
    text += row + std::string(flag.help) + '\n';
  }
  write_all(kStdout, text);
}

[[noreturn]] void refuse(std::string_view flag, std::string_view why) {
  say("fake-mcp: " + std::string(flag) + ' ' + std::string(why));
  std::exit(2);
}

const Flag& find_flag(std::string_view name) {
  for (const Flag& flag : kFlags) {
    if (flag.set && flag.name == name) return flag;
  }
  refuse(name, "is not a flag; see --help");
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  options.argv = arguments;
  std::string_view not_with_fast;
  for (std::size_t at = 1; at < options.argv.size(); ++at) {
    const std::string_view name = options.argv[at];
    if (name == "--help") {
      print_help();
      std::exit(0);
    }
    const Flag& flag = find_flag(name);
    std::string_view value;
    if (!flag.value.empty()) {
      if (++at == options.argv.size()) refuse(name, "needs " + std::string(flag.value));
      value = options.argv[at];
    }
    try {
      flag.set(options, value);
    } catch (const BadValue& bad) {
      refuse(name, bad.what());
    }
    if (!flag.with_fast) not_with_fast = flag.name;
  }
  HttpOptions& http = options.http;
  if (http.event_ids && !http.retry) http.retry = kUsualRetry;
  if (http.lost_session.body.empty() && http.lost_session.status == 404) {
    http.lost_session.body = kSessionNotFound;
  }
  if (options.fast && !not_with_fast.empty()) refuse(not_with_fast, "does not go with --fast");
  return options;
}

}  // namespace sitter::fake
