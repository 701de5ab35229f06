#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/core/line.hpp"

namespace sitter {

/// The methods that the bridge treats differently from the rest.
enum class Method : std::uint8_t {
  other,
  initialize,
  server_discover,
  subscriptions_listen,
  ping,
  tools_list,
  tools_call,
  prompts_list,
  prompts_get,
  resources_list,
  resource_templates_list,
  resources_read,
  resources_subscribe,
  resources_unsubscribe,
  completion_complete,
  logging_set_level,
  initialized,
  cancelled,
  progress,
  roots_list_changed,
  tools_list_changed,
  prompts_list_changed,
  resources_list_changed,
  resources_updated,
  subscriptions_acknowledged,
};

Method method_of(std::string_view name);

/// The name of a method as it stands on the wire; empty for `other`.
std::string_view method_name(Method method);

/// Whether it asks for a page of tools, prompts, resources or resource templates.
bool is_list(Method method);

/// The top level of a JSON-RPC message, and what the bridge needs of its params. Views point into
/// the line or into the reader and live until the next read. Raw values are JSON text as it was
/// sent.
struct Message {
  enum class Kind : std::uint8_t { request, notification, result, error };

  /// The members of params that the bridge looks at, whatever the method. Raw unless said
  /// otherwise.
  struct Params {
    std::string_view name_text;  ///< unescaped
    /// Strings or numbers; empty when they are anything else.
    std::string_view meta_progress_token;
    std::string_view progress_token;
    std::string_view request_id;
    std::string_view uri;
    std::string_view level;
    /// The first token of whatever they are.
    std::string_view cursor;
    std::string_view protocol_version;
    /// What a client of the stateless revision says of itself in `_meta`. Without a version there
    /// is no envelope.
    std::string_view envelope_version;
    std::string_view envelope_client;
    std::string_view envelope_capabilities;
    /// The stream that a notification belongs to: the id of the subscriptions/listen.
    std::string_view subscription_id;
    /// What a subscriptions/listen asks for, or its acknowledgement grants.
    std::string_view notifications;
    bool has_task = false;

    bool has_envelope() const { return !envelope_version.empty(); }
  };

  Kind kind = Kind::notification;
  Method method = Method::other;
  std::string_view method_text;  ///< unescaped
  std::string_view id;
  std::string_view params_raw;
  std::string_view result;
  std::string_view error;
  Params params;
};

/// Why a line is no message.
struct Defect {
  enum class Kind : std::uint8_t { not_utf8, not_json, batch, not_an_object, not_json_rpc };

  Kind kind;
  /// A clause for a person: "the member id is neither a string nor a number".
  std::string what;
  /// The raw id, where one can be read.
  std::string id;
};

/// Reads the top level of lines. The only module that knows simdjson. UTF-8 and strings are checked
/// everywhere, values that the bridge skips on demand only.
class MessageReader {
 public:
  enum class Values : std::uint8_t { skipped, checked };

  MessageReader();
  ~MessageReader();
  MessageReader(const MessageReader&) = delete;
  MessageReader& operator=(const MessageReader&) = delete;

  /// The message, or null; then `defect()` says why.
  const Message* read(Line line, Values values = Values::skipped);
  const Defect& defect() const { return defect_; }

 private:
  struct Parser;

  const Message* refuse(Defect::Kind kind, std::string what, Line line);

  std::unique_ptr<Parser> parser_;
  Message message_;
  Defect defect_;
};

/// The raw id of a line that cannot be read as a whole: the value of a member "id" at the top
/// level, as far as braces and strings can be followed from the start, else the one at the end.
/// Empty when there is none.
std::string_view lenient_id(std::string_view text);

/// The raw id at the very end of a line whose middle is missing, as in `..."id":5}`. Empty when
/// there is none.
std::string_view lenient_id_at_end(std::string_view tail);

/// Two spellings of the same id have the same key: 1 and 1.0, "\u00fc" and "ü". Numbers beyond the
/// exact range of a double share the key of that double, since most servers read them so.
std::string id_key(std::string_view raw_id);

/// Two raw ids that mean the same.
bool same_id(std::string_view a, std::string_view b);

/// True when `raw_id` is its own key, which spares the copy for nearly all ids.
bool is_plain_id(std::string_view raw_id);

/// The objects that stand in a line that is not one object: several in a row, in an array, or
/// among other text. Braces are matched outside strings; what is not closed is text, and so are the
/// values in it.
struct SplitLine {
  std::vector<std::string_view> objects;
  /// What stands around them, trimmed, without the brackets and commas of an array.
  std::vector<std::string_view> texts;
};
SplitLine split_objects(std::string_view text);

}  // namespace sitter
