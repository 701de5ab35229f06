#pragma once

#include <charconv>
#include <cstddef>
#include <deque>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/rebuild/rebuild.hpp"
#include "sitter/control_id.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter::sim {

/// The bridge has broken a promise. `what()` is a sentence for a person.
class Broken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a seed has chosen for the whole session.
struct Scene {
  enum class Client {
    legacy,  ///< opens with `initialize`
    modern,  ///< speaks the stateless revision from the first line on
    dual,    ///< probes, and then speaks the era that the answer shows
    mixed,   ///< mixes the requests of both eras
  };

  /// Whether the client has ids that a double cannot tell apart, and whether servers keep or round
  /// them.
  enum class BigIds { none, kept, rounded };

  Client client = Client::legacy;
  BigIds big_ids = BigIds::none;
  /// How much of the behaviour is against the protocol, in percent.
  int wildness = 0;
  /// Children may have tools with the names of built-in tools.
  bool has_outer_tools = false;
  /// The session may have the only revision with batches.
  bool has_batches = false;
  /// The bridge has a build command.
  bool has_builds = false;
  /// Somebody asks for reloads with a signal.
  bool has_reloads = false;
  /// Files are watched, and somebody saves some.
  bool has_watch = false;
  /// Builds, and servers at their start, write watched files. They write each file under a new
  /// name, or always under the same one.
  bool builds_write = false, children_write = false, writes_new_names = false;
  /// Servers write a while after their start, and always under the same name.
  bool children_write_late = false;
  /// Somebody sends control requests.
  bool is_controlled = false;
  /// A child that has ended may come back without a request.
  bool has_restarts = false;
  /// Calls of some tools are made again at each new child.
  bool has_replays = false;
  /// sitter_call is offered.
  bool has_call_tool = false;
  /// The executable of the server is an interpreter, so the bridge refuses the scope
  /// same-executable.
  bool is_interpreted = false;

  /// The name of the client, and what clients of that name do.
  std::string_view client_name = "sim";
  bool lists_again = true, needs_pause = false;
  /// The client sends a notification right after server/discover.
  bool notifies_early = false;
  /// Servers may report progress after their answer.
  bool has_late_progress = false;
  /// The requests of the client may together be too large for the bridge to keep.
  bool has_large_requests = false;
  /// The arguments of a call name its mark as `n`.
  bool has_numbered_calls = false;
  /// Servers may be started anew behind their process, as by `node --watch`.
  bool has_own_restarts = false;

  bool offers_call_tool() const { return has_call_tool || !lists_again; }
  bool has_outside() const { return has_reloads || has_watch || is_controlled; }
};

/// Whether the method asks for a page of a list.
inline bool is_list(std::string_view method) {
  return method == "tools/list" || method == "prompts/list" || method == "resources/list" ||
         method == "resources/templates/list";
}

inline constexpr std::string_view kBatchRevision = "2025-03-26";

/// What a stream carries: methods that tell of a changed list, and raw URIs of resources.
using Filter = std::set<std::string>;

/// A message of the client, with its meaning. Every valid message carries its number in a member
/// "mark", so that it can be recognised everywhere.
struct ClientSaid {
  enum class Kind {
    request,
    listen,  ///< opens a stream, and is owed no answer
    initialized,
    cancelled,
    notification,
    progress,
    answer,   ///< to a question of a child
    batch,    ///< an array of other messages
    rubbish,  ///< is owed an error, with `id` if that can be read
    too_long,
  };

  Kind kind = Kind::rubbish;
  int mark = 0;
  std::string text;
  /// The raw id.
  std::string id;
  std::string method;
  /// The tool that is called in the end, directly or through sitter_call.
  std::string tool;
  /// The raw arguments of that call.
  std::string arguments;
  /// What a child gets in place of `text`; empty if a child gets `text` itself.
  std::string passed;
  /// The raw token under which a request wants progress.
  std::string token;
  /// The raw id or token that an answer, a cancellation or progress is about.
  std::string about;
  /// The raw envelope: what the client says about itself in a request of the stateless revision.
  std::string envelope;
  bool is_of_unknown_version = false;
  bool is_first_page = false;
  bool wants_task = false;
  bool has_wrong_arguments = false;
  /// The arguments of a call of sitter_rebuild.
  bool is_kill_first = false;
  Milliseconds build_timeout = std::chrono::seconds(limits::kBuildSecondsDefault);
  /// What the stream is asked to carry.
  Filter wanted;
  /// The marks of the messages of a batch.
  std::vector<int> parts;

  /// Whether the request may be sent to a second child if the first child dies before it answers.
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

/// A message of a child: `before id middle token after`. The bridge may replace only `id` and
/// `token`. Every message carries its number in a member "sim".
struct ChildSaid {
  enum class Kind {
    result,
    error,
    question,
    progress,
    cancelled,
    notification,
    change,           ///< of a list or a resource; `token` is the stream that gets it
    acknowledgement,  ///< of the stream `token`
    stream_end,       ///< by a result, an error or a cancellation
  };

  Kind kind = Kind::notification;
  Generation gen = kNoGeneration;
  int number = 0;
  std::string before, id, middle, token, after;
  /// The mark of the client's request or stream that the message is about; 0 if there is none, as
  /// in an answer to a request of the bridge itself.
  int mark = 0;
  /// The number of the question that the message cancels.
  int question = 0;
  /// What a change is about, as a member of a `Filter`.
  std::string about;
  Filter granted;
  bool is_unreadable = false;
  /// For the answer to a tools/call: whether a notice has room in it, and whether it has structured
  /// content besides.
  bool has_content = false;
  bool has_structure = false;
  bool is_error = false;
  /// A result of tools/list with an array of tools.
  bool has_tools = false;
  bool has_result_type = false;
  bool is_method_not_found = false;
  /// A result of server/discover that names versions.
  bool is_discovery = false;
  /// Whether the message is an answer, and whether that answer is an error. The end of a stream may
  /// be an answer too.
  bool is_answer = false;
  bool is_refusal = false;
  /// An error that may be that of a server that was not opened, and whether it really is one: the
  /// server was started anew, and has not carried out the request.
  bool reads_as_unopened = false;
  bool is_unopened = false;

  std::string text() const { return before + id + middle + token + after; }
};

/// Every message that was written, by number. The number 0 is not used.
struct Said {
  std::deque<ClientSaid> client{1};
  std::deque<ChildSaid> child{1};
};

/// The number after this key, as in `"mark":7`; 0 if the key does not stand in the text. A key
/// inside a JSON string is not found, because its quotes are escaped there.
inline int number_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  int number = 0;
  if (at != text.npos)
    std::from_chars(text.data() + at + key.size(), text.data() + text.size(), number);
  return number;
}

inline int mark_in(std::string_view text) { return number_behind(text, "\"mark\":"); }
inline int sim_number_in(std::string_view text) { return number_behind(text, "\"sim\":"); }

/// The text with which a notification names its stream. The id and two braces follow.
inline constexpr std::string_view kStreamTag =
    R"json(,"_meta":{"io.modelcontextprotocol/subscriptionId":)json";

/// A control request.
struct ControlAsked {
  enum class Kind { status, reload, kill, child_stderr, broken };

  Kind kind = Kind::broken;
  ControlId connection = 0;
  std::string text;
  /// The bridge must refuse its arguments.
  bool is_wrong = false;
  bool follows = false;
  /// The arguments of a reload.
  bool is_kill_first = false;
  Milliseconds build_timeout = std::chrono::seconds(limits::kBuildSecondsDefault);
};

/// A line that a child got.
struct Asked {
  std::string method;
  /// The raw id, or for a cancellation the raw id of what it cancels. Empty for another
  /// notification or an answer.
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

/// A line that the client got, or one message of a batch.
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
  /// The raw id of the answer, the question or the stream.
  std::string id = {};
  bool has_token = false;
  bool is_opening = false;
  /// The protocol version in the answer to the opening.
  std::string version = {};
};

}  // namespace sitter::sim
