#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sitter::fake {

/// The supported revisions: those that open with initialize, only 2026-07-28, or the era that the
/// client's first request shows.
enum class Era { legacy, modern, dual };

struct ErrorAnswer {
  long long code = -32603;
  std::string message;
};

/// A file that counts starts, and the number of starts that fail.
struct FailingStarts {
  std::string file;
  long long count = 0;
};

/// An answer over HTTP that is given in place of the usual one.
struct HttpAnswer {
  int status = 404;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::optional<std::size_t> times;  ///< only the first requests get it
};

/// The part of the command line about HTTP. Methods are those of JSON-RPC, or the word GET or
/// DELETE.
struct HttpOptions {
  std::optional<std::uint16_t> port;  ///< without it, the server is on stdin and stdout
  std::string address = "127.0.0.1";
  std::optional<std::string> port_file;

  bool sessions = true;
  bool single_session = false;
  HttpAnswer lost_session;
  bool get = true;
  bool get_conflict = false;
  bool del = true;

  bool sse = false;
  bool event_ids = false;
  std::optional<std::chrono::milliseconds> retry;
  bool multiline = false;
  std::size_t big_event = 0;

  std::map<std::string, HttpAnswer, std::less<>> answers;
  std::size_t not_found_first = 0;
  std::map<std::string, std::size_t, std::less<>> cut_after_bytes;
  std::set<std::string, std::less<>> close_before_answer;
  bool cut_once = false;
  bool continues = false;
  bool endless_header = false;
  bool mute = false;
  bool close_each = false;
  std::optional<std::chrono::milliseconds> close_idle;
  std::optional<std::chrono::seconds> keep_alive_header;

  std::optional<std::string> journal;
};

/// The parsed command line. Methods are the keys of the faults "on a method".
struct Options {
  std::vector<std::string> argv;

  bool fast = false;
  std::size_t result_bytes = 2;
  std::string name = "fake-mcp";
  std::string server_version = "1.0.0";
  std::optional<std::string> protocol;
  std::optional<std::string> instructions;

  Era era = Era::legacy;
  std::chrono::milliseconds ttl{60'000};
  bool listen = true;
  std::set<std::string, std::less<>> listen_without;
  bool acknowledge = true;
  bool untagged = false;
  bool result_type = true;
  bool discover_versions = true;
  bool graceful_end = true;

  bool tools = true;
  std::optional<std::string> tools_file;
  std::size_t pages = 1;
  bool resources = false;
  std::optional<std::string> resources_file;
  bool prompts = false;
  std::optional<std::string> prompts_file;
  bool tools_list_changed = false;
  bool resources_list_changed = false;
  bool prompts_list_changed = false;
  bool subscribe = false;
  bool logging = false;
  bool completions = false;

  bool strict = false;
  std::vector<std::string> ask;
  bool ask_before_initialized = false;
  std::vector<std::string> notify;

  std::optional<FailingStarts> failing_starts;
  std::vector<std::string> stderr_lines;
  std::size_t flood_stderr = 0;
  std::vector<std::string> stdout_lines;
  bool grandchild = false;
  bool grandchild_session = false;
  std::chrono::milliseconds slow_start{0};
  std::optional<int> signal_at_start;
  std::optional<int> exit_at_start;

  std::set<std::string> never_answer;
  std::map<std::string, ErrorAnswer> error_on;
  std::map<std::string, std::string> raw_answer;
  std::map<std::string, int> exit_on;
  std::map<std::string, int> signal_on;
  std::map<std::string, int> answer_and_exit;
  std::set<std::string> close_stdout_on;
  std::optional<std::size_t> stop_reading_after;

  std::string prefix_answers;
  bool two_per_line = false;
  bool answer_as_array = false;
  bool id_last = false;
  std::size_t endless_line = 0;
  bool crlf = false;
  bool bom = false;
  bool blank_lines = false;
  bool invalid_utf8 = false;

  bool ignore_eof = false;
  bool ignore_term = false;
  std::optional<std::chrono::milliseconds> exit_when_idle;
  std::chrono::seconds life_limit{60};

  std::optional<std::string> journal;

  HttpOptions http;
};

/// Reads the command line. Exits with 0 after --help. Exits with 2 and one sentence on stderr if a
/// flag is unknown, has a bad value, or does not go with --fast.
Options parse_options(const std::vector<std::string>& arguments);

}  // namespace sitter::fake
