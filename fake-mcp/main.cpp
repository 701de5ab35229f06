#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "fast.hpp"
#include "fast_http.hpp"
#include "http_server.hpp"
#include "options.hpp"
#include "process.hpp"
#include "server.hpp"

namespace sitter::fake {
namespace {

void flood_stderr(std::size_t bytes) {
  const std::string line = std::string(99, 'e') + '\n';
  std::string block;
  while (block.size() < 65'000) block += line;
  for (std::size_t left = bytes; left > 0; left -= std::min(left, block.size())) {
    write_all(kStderr, std::string_view(block).substr(0, left));
  }
}

void report_grandchild(bool own_session, const Options& options) {
  const std::int64_t pid =
      start_grandchild({.own_session = own_session, .life = options.life_limit});
  say("grandchild " + std::to_string(pid));
}

/// Carries out the faults at start, in the order that --help names.
void start(const Options& options) {
  if (options.ignore_term) ignore_end_signals();
  const bool may_stay = options.ignore_eof || options.ignore_term || options.http.port;
  if (may_stay || options.slow_start.count() > 0) limit_life(options.life_limit);

  if (const auto& failing = options.failing_starts) {
    if (const auto before = count_up(failing->file, failing->count)) {
      say("failing start " + std::to_string(*before + 1) + " of " + std::to_string(failing->count));
      std::exit(1);
    }
  }
  for (const std::string& line : options.stderr_lines) say(line);
  flood_stderr(options.flood_stderr);
  for (const std::string& line : options.stdout_lines) write_all(kStdout, line + '\n');
  if (options.grandchild) report_grandchild(false, options);
  if (options.grandchild_session) report_grandchild(true, options);
  std::this_thread::sleep_for(options.slow_start);
  if (options.signal_at_start) die_of(*options.signal_at_start);
  if (options.exit_at_start) std::exit(*options.exit_at_start);
  if (!may_stay) do_not_limit_life();
}

}  // namespace
}  // namespace sitter::fake

int main(int argc, char** argv) {
  using namespace sitter::fake;
  prepare_process();
  const std::vector<std::string> words = arguments(argc, argv);
  sleep_if_grandchild(words);
  const Options options = parse_options(words);
  start(options);
  if (options.http.port) {
    return options.fast ? serve_fast_http(options) : HttpServer(options).run();
  }
  return options.fast ? serve_fast(options) : Server(options).run();
}
