#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/wire/message_scan.hpp"
#include "core/wire/method.hpp"
#include "sitter/line.hpp"

namespace sitter {

/// The top level of a JSON-RPC message, and what the bridge needs from its params. Views point into
/// the line or into the reader, and are valid until the next read. Raw values are JSON text as it
/// was sent.
struct Message {
  enum class Kind : std::uint8_t { request, notification, result, error };
  bool is_answer() const { return kind == Kind::result || kind == Kind::error; }

  /// The members of params that the bridge looks at, whatever the method. They are raw unless a
  /// comment says otherwise.
  struct Params {
    std::string_view name_text;  ///< unescaped
    /// Strings or numbers. Empty if the value is anything else.
    std::string_view meta_progress_token;
    std::string_view progress_token;
    std::string_view request_id;
    std::string_view uri;
    std::string_view level;
    /// Any value.
    std::string_view cursor;
    std::string_view protocol_version;
    /// What a client of the stateless revision says about itself in `_meta`. Without a version
    /// there is no envelope.
    std::string_view envelope_version;
    std::string_view envelope_client;
    std::string_view envelope_capabilities;
    /// The stream that a notification belongs to: the id of the subscriptions/listen.
    std::string_view subscription_id;
    /// What a subscriptions/listen asks for, or what its acknowledgement grants.
    std::string_view notifications;
    /// What an earlier result has given: the task that a `tasks/` method is about, and the state of
    /// a request that goes on. Empty if the value is not a string.
    std::string_view task_id;
    std::string_view request_state;
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
  /// The member `_meta` of the result.
  std::string_view result_meta;
  Params params;
  /// All of the line is known to be valid JSON.
  bool is_checked = false;
  /// It is an answer with members that belong to no answer. Some clients throw it away.
  bool has_others = false;
  /// One of them is a `method` that is null. All clients throw the answer away.
  bool has_null_method = false;
};

/// Why a line is not a message.
struct Defect {
  enum class Kind : std::uint8_t {
    not_utf8,
    not_json,
    no_memory,  ///< there was no memory to read the line
    batch,
    not_an_object,
    not_json_rpc,
  };

  Kind kind;
  /// A clause for a person: "the member id is neither a string nor a number".
  std::string what;
  /// The raw id, if one can be read.
  std::string id;
};

/// Reads the top level of lines. With `Values::checked`, a line is no message unless all of it is
/// valid JSON. Otherwise a value that the bridge does not read may be broken.
class MessageReader {
 public:
  enum class Values : std::uint8_t { skipped, checked };

  /// The message, or null. After null, `defect()` says why.
  const Message* read(Line line, Values values = Values::skipped);
  const Defect& defect() const { return defect_; }

 private:
  const Message* read_places(Line line, const MessagePlaces& places);
  const Message* refuse_other(Line line);
  const Message* refuse(Defect::Kind kind, std::string what, Line line);

  MessageScan scan_;
  Message message_;
  /// The decoded texts of the message.
  std::string method_;
  std::string name_;
  Defect defect_;
};

}  // namespace sitter
