#pragma once

#include <charconv>
#include <deque>
#include <string>
#include <string_view>

#include "sitter/core/generation.hpp"

namespace sitter::sim {

/// What the client wrote, as it was meant. Every line carries its number in a member "mark", so
/// that it is known again wherever it turns up.
struct ClientSaid {
  enum class Kind {
    request,
    initialized,
    cancelled,
    notification,
    progress,
    answer,   ///< to a question of a child
    rubbish,  ///< owed an error, with `id` where one can be read
    too_long,
  };

  Kind kind = Kind::rubbish;
  int mark = 0;
  std::string text;
  /// Raw.
  std::string id;
  std::string method;
  std::string tool;
  /// Raw; under which a request wants progress.
  std::string token;
  /// Raw id or token that an answer, a cancellation or progress is about.
  std::string about;
  bool is_first_page = false;
  bool wants_task = false;
  bool has_wrong_arguments = false;
};

/// What a child wrote: `before id middle token after`, where only the two ids may be exchanged.
/// Every message carries its number in a member "sim".
struct ChildSaid {
  enum class Kind { result, error, question, progress, cancelled, notification };

  Kind kind = Kind::notification;
  Generation gen = kNoGeneration;
  int number = 0;
  std::string before, id, middle, token, after;
  /// The client's request that it answers; 0 for one of the bridge's own.
  int mark = 0;
  /// The question that it cancels.
  int question = 0;
  bool is_unreadable = false;
  /// Of a tool result: it has room for a notice, and structured content besides.
  bool has_content = false;
  bool has_structure = false;
  /// A result of tools/list with an array of tools.
  bool has_tools = false;
  bool is_method_not_found = false;

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

/// A line that a child got.
struct Asked {
  std::string method;
  /// Raw; empty for a notification or an answer.
  std::string id;
  std::string cursor;
  std::string token;
  int mark = 0;
  bool wants_task = false;
};

/// A line that the client got.
struct Heard {
  enum class Kind { answer, question, question_cancelled, tools_changed, other };

  Kind kind = Kind::other;
  /// Raw, of the answer or the question.
  std::string id = {};
  bool has_token = false;
  bool is_opening = false;
};

}  // namespace sitter::sim
