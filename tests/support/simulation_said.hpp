#pragma once

#include <charconv>
#include <deque>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/control_id.hpp"
#include "sitter/generation.hpp"
#include "sitter/limits.hpp"
#include "sitter/time.hpp"

namespace sitter::sim {

/// The bridge has broken a promise. What it says is a sentence for a person.
class Broken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a seed has chosen for all that play in it.
struct Scene {
  enum class Client {
    legacy,  ///< opens with `initialize`
    modern,  ///< speaks the stateless revision from the first line on
    dual,    ///< probes, and goes on as the answer says
    mixed,   ///< is of no revision at all
  };

  /// Ids of the client that a double cannot tell apart, and what servers do with them.
  enum class BigIds { none, kept, rounded };

  Client client = Client::legacy;
  BigIds big_ids = BigIds::none;
  /// In percent; how much of what is done is against the protocol.
  int wildness = 0;
  /// Children may have tools named as the bridge's.
  bool has_outer_tools = false;
  /// The session may be of the only revision with batches.
  bool has_batches = false;
  /// There is a build command.
  bool has_builds = false;
  /// Somebody asks for reloads with a signal.
  bool has_reloads = false;
  /// Files are watched, and somebody saves some.
  bool has_watch = false;
  /// Builds, and servers at their start, write into what is watched, each time under a new name or
  /// always the same.
  bool builds_write = false, children_write = false, writes_new_names = false;
  /// Somebody controls the bridge from outside.
  bool is_controlled = false;
  /// A child that has ended may come back without a request.
  bool has_restarts = false;
  /// Calls of some tools are made again at each new child.
  bool has_replays = false;
  /// sitter_call is offered.
  bool has_call_tool = false;
  /// The server is nothing but an interpreter, so that the scope same-executable is refused.
  bool is_interpreted = false;

  /// What the client calls itself, and how one of that name is.
  std::string_view client_name = "sim";
  bool lists_again = true, needs_pause = false;
  /// It notifies right after server/discover.
  bool notifies_early = false;
  /// Servers may tell of progress behind their answer.
  bool has_late_progress = false;
  /// Its requests may be too large to be kept all together.
  bool has_large_requests = false;

  bool offers_call_tool() const { return has_call_tool || !lists_again; }
  bool has_outside() const { return has_reloads || has_watch || is_controlled; }
};

/// Whether it asks for a page of a list.
inline bool is_list(std::string_view method) {
  return method == "tools/list" || method == "prompts/list" || method == "resources/list" ||
         method == "resources/templates/list";
}

inline constexpr std::string_view kBatchRevision = "2025-03-26";

/// What a stream carries: methods that tell of a changed list, and raw URIs of resources.
using Filter = std::set<std::string>;

/// What the client wrote, as it was meant. Every line carries its number in a member "mark", so
/// that it is known again wherever it turns up.
struct ClientSaid {
  enum class Kind {
    request,
    listen,  ///< opens a stream, and is owed no answer
    initialized,
    cancelled,
    notification,
    progress,
    answer,   ///< to a question of a child
    batch,    ///< of others
    rubbish,  ///< owed an error, with `id` where one can be read
    too_long,
  };

  Kind kind = Kind::rubbish;
  int mark = 0;
  std::string text;
  /// Raw.
  std::string id;
  std::string method;
  /// That is called in the end, also through sitter_call.
  std::string tool;
  /// Raw, of that call.
  std::string arguments;
  /// What a child gets in place of `text`; empty for just that.
  std::string passed;
  /// Raw; under which a request wants progress.
  std::string token;
  /// Raw id or token that an answer, a cancellation or progress is about.
  std::string about;
  /// Raw; what the client says of itself in a request of the stateless revision.
  std::string envelope;
  bool is_of_unknown_version = false;
  bool is_first_page = false;
  bool wants_task = false;
  bool has_wrong_arguments = false;
  /// Of a sitter_rebuild.
  bool is_kill_first = false;
  Milliseconds build_timeout = std::chrono::seconds(limits::kBuildSecondsDefault);
  /// What a stream is asked for.
  Filter wanted;
  /// Marks of the messages of a batch.
  std::vector<int> parts;

  /// It may be asked of a second child, after the first has died with it.
  bool is_repeatable() const {
    if (method.ends_with("/list")) return is_first_page;
    for (const std::string_view read :
         {"server/discover", "prompts/get", "resources/read", "resources/subscribe",
          "resources/unsubscribe", "completion/complete", "logging/setLevel"}) {
      if (method == read) return true;
    }
    return false;
  }
};

/// What a child wrote: `before id middle token after`, where only the two ids may be exchanged.
/// Every message carries its number in a member "sim".
struct ChildSaid {
  enum class Kind {
    result,
    error,
    question,
    progress,
    cancelled,
    notification,
    change,           ///< of a list or a resource; `token` is the stream that it was sent to
    acknowledgement,  ///< of the stream `token`
    stream_end,       ///< by a result, an error or a cancellation
  };

  Kind kind = Kind::notification;
  Generation gen = kNoGeneration;
  int number = 0;
  std::string before, id, middle, token, after;
  /// The client's request that it answers, or stream; 0 for one of the bridge's own.
  int mark = 0;
  /// The question that it cancels.
  int question = 0;
  /// The member of a `Filter` that a change is about.
  std::string about;
  Filter granted;
  bool is_unreadable = false;
  /// Of a tool result: it has room for a notice, and structured content besides.
  bool has_content = false;
  bool has_structure = false;
  bool is_error = false;
  /// A result of tools/list with an array of tools.
  bool has_tools = false;
  bool has_result_type = false;
  bool is_method_not_found = false;
  /// A result of server/discover that names versions.
  bool is_discovery = false;
  /// Of the end of a stream: by an answer, and that an error.
  bool is_answer = false;
  bool is_refusal = false;

  std::string text() const { return before + id + middle + token + after; }
};

/// Everything that was written, by number; number 0 is nobody's.
struct Said {
  std::deque<ClientSaid> client{1};
  std::deque<ChildSaid> child{1};
};

/// The number behind this key, as in `"mark":7`; 0 when it does not stand in the text. Inside a
/// JSON string it is not found, since the quotes are escaped there.
inline int number_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  int number = 0;
  if (at != text.npos)
    std::from_chars(text.data() + at + key.size(), text.data() + text.size(), number);
  return number;
}

inline int mark_in(std::string_view text) { return number_behind(text, "\"mark\":"); }
inline int sim_number_in(std::string_view text) { return number_behind(text, "\"sim\":"); }

/// How a notification says which stream it belongs to; the id and two braces follow.
inline constexpr std::string_view kStreamTag =
    R"json(,"_meta":{"io.modelcontextprotocol/subscriptionId":)json";

/// What somebody who controls the bridge from outside has asked.
struct ControlAsked {
  enum class Kind { status, reload, kill, child_stderr, broken };

  Kind kind = Kind::broken;
  ControlId connection = 0;
  std::string text;
  /// Its arguments are refused.
  bool is_wrong = false;
  bool follows = false;
  /// Of a reload.
  bool is_kill_first = false;
  Milliseconds build_timeout = std::chrono::seconds(limits::kBuildSecondsDefault);
};

/// A line that a child got.
struct Asked {
  std::string method;
  /// Raw; empty for a notification or an answer.
  std::string id;
  std::string cursor;
  std::string token;
  int mark = 0;
  bool wants_task = false;
  bool has_envelope = false;
  bool is_of_unknown_version = false;
  bool is_listen = false;
  Filter wanted = {};
};

/// A line that the client got, or a part of a batch.
struct Heard {
  enum class Kind {
    answer,
    discovery,
    question,
    question_cancelled,
    stream_ended,
    tools_changed,
    other
  };

  Kind kind = Kind::other;
  /// Raw, of the answer, the question or the stream.
  std::string id = {};
  bool has_token = false;
  bool is_opening = false;
  /// Of the opening, as it was answered.
  std::string version = {};
};

}  // namespace sitter::sim
