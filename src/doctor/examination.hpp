#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/end_words.hpp"
#include "sitter/time.hpp"

namespace sitter {

struct DoctorWords;

/// What `mcp-sitter doctor` has seen of a server. Texts from the server may hold anything.
struct DoctorFacts {
  enum class Kind {
    process,    ///< a process that speaks on stdin and stdout
    daemon,     ///< a daemon over HTTP that a command has started
    elsewhere,  ///< a daemon over HTTP that was there before
    tool,       ///< a command-line tool
  };

  /// The file under development.
  struct File {
    std::string path;
    std::int64_t size = 0;
    /// "12s ago", or `kUnknownAge`.
    std::string age;
    /// ISO 8601.
    std::string modified;
    /// The program that runs the file; empty if the file is a program itself.
    std::string interpreter;
  };

  struct Opening {
    bool is_open = false;
    /// The revision in the answer to `initialize`; empty if that did not open a session.
    std::string revision;
    std::optional<Milliseconds> time;
    std::string server_name;
    std::string server_version;
    /// As they are shown: "resources (subscribe)".
    std::vector<std::string> capabilities;
    /// Why no session opened, as one clause.
    std::string failure;
    /// The server did not even run.
    bool was_not_started = false;
  };

  /// What came of `server/discover`, with which clients of 2026-07-28 begin. Unfit: the answer does
  /// not name that revision.
  enum class Discovery { not_asked, answered, unfit, refused, unanswered, ended };

  struct Tool {
    std::string name;
    std::size_t bytes = 0;
    /// Why it was not called, in a few words; empty if it was.
    std::string not_called = {};
    /// What came of the call instead of a result, as one clause.
    std::string failure = {};
    bool has_ended_server = false;
    /// Clients throw the answer away.
    bool is_refused = false;
  };

  struct List {
    /// The method that was asked.
    std::string method;
    std::size_t count = 0;
    /// Why the list is missing; empty if it came.
    std::string error = {};
    /// The server does not know the method.
    bool is_unknown = false;
  };

  /// Lines of which only a few are kept: the first on stdout, and the `last_words` on stderr.
  struct Lines {
    std::vector<std::string> kept;
    std::size_t count = 0;
  };

  /// A process that was ended, and what made it end: "stdin closed", or one of `EndWords`.
  struct Ended {
    std::string command;
    std::string how;
  };

  struct End {
    /// Nothing if the server had ended before its input did.
    std::optional<Ended> server;
    std::vector<Ended> descendants;
    /// The time from one step to the next.
    Milliseconds grace{};
  };

  struct Termination {
    enum class Outcome { ended, survived, not_restarted } outcome = Outcome::ended;
    /// How it ended: "exit 0", "SIGTERM". If it was not restarted, why.
    std::string how;
    Milliseconds wait{};
  };

  struct Environment {
    enum class Outcome { opens, needs_variables, is_unsteady } outcome = Outcome::opens;
    /// The names of the variables without which the server does not open.
    std::vector<std::string> needed;
    /// False if the search reached its bound: not all of these may be needed.
    bool is_exact = true;
    int starts = 0;
    /// Why the server did not open in the short environment.
    std::string failure;
  };

  Kind kind = Kind::process;
  EndWords end_words;
  /// The words of the command, or the URL.
  std::string command;
  std::optional<File> file;
  Opening opening;
  Discovery discovery = Discovery::not_asked;
  std::vector<Tool> tools;
  std::vector<List> lists;
  /// How the server ended while it was asked for its lists, as one clause; empty if it did not.
  std::string end_in_lists;
  std::vector<std::string> lint;
  Lines noise;
  Lines errors;
  std::optional<End> end;
  std::optional<Termination> termination;
  /// Why the server did not open right after another start of it was killed; empty if it did.
  std::string after_killed_start;
  std::optional<Environment> environment;
};

/// Starts the server as often as its examination needs, and ends each start again. Tells `on_step`
/// what it is doing. Always ends: a server that takes its time is given up.
/// Throws std::runtime_error if no bridge can be started.
DoctorFacts examine(const DoctorWords& words, const std::function<void(std::string_view)>& on_step);

}  // namespace sitter
