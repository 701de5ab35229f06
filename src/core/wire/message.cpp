#include "core/wire/message.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/wire/line_outline.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/salvage.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// A parser keeps four bytes of index for each byte of its largest line. After a line above this
/// size, a new parser takes its place.
constexpr std::size_t kParserKeptMax = limits::kMiB;

using simdjson::ondemand::document;
using simdjson::ondemand::field;
using simdjson::ondemand::object;
using simdjson::ondemand::value;

bool is_string(std::string_view token) {
  return token.size() >= 2 && token.front() == '"' && token.back() == '"';
}

simdjson::error_code key_of(field& f, std::string_view& key) {
  const char* const begin = f.key().raw();
  const char* end = begin;
  while (*end != '"' && *end != '\\') ++end;
  if (*end == '"') {
    key = {begin, static_cast<std::size_t>(end - begin)};
    return simdjson::SUCCESS;
  }
  return f.unescaped_key().get(key);
}

/// Does the same as `==`. But the compiler knows the size of `name`, which saves a call for each
/// key.
template <std::size_t size>
bool is(std::string_view key, const char (&name)[size]) {
  return key.size() == size - 1 && std::memcmp(key.data(), name, size - 1) == 0;
}

/// Calls `on_member(key, value, token)` for each member, with the first token of its value. Stops
/// at the first error.
template <class OnMember>
simdjson::error_code each_member(object members, OnMember on_member) {
  for (auto item : members) {
    if (item.error()) return item.error();
    // Taken by reference, because a copy of a field costs as much as the rest of this loop.
    field&& f = std::move(item).value_unsafe();
    std::string_view key;
    if (const auto error = key_of(f, key)) return error;
    value& v = f.value();
    const std::string_view token = json_trimmed(v.raw_json_token());
    if (const auto error = on_member(key, v, token)) return error;
  }
  return simdjson::SUCCESS;
}

/// A raw string or number. Empty for any other value, because `token` is then only the beginning of
/// the value.
std::string_view scalar(std::string_view token) {
  return is_string(token) || is_json_number(token) ? token : std::string_view();
}

/// The text of the value alone. simdjson includes the white space after objects and arrays.
simdjson::error_code raw_of(value& v, std::string_view token, std::string_view& out) {
  out = token;
  if (token.front() == '{') {
    object members;
    if (const auto error = v.get_object().get(members)) return error;
    if (const auto error = members.raw_json().get(out)) return error;
  } else if (token.front() == '[') {
    simdjson::ondemand::array items;
    if (const auto error = v.get_array().get(items)) return error;
    if (const auto error = items.raw_json().get(out)) return error;
  } else if (constexpr std::string_view kStarts = "\"-0123456789tfn";
             kStarts.find(token.front()) == kStarts.npos) {
    return simdjson::TAPE_ERROR;
  }
  out = json_trimmed(out);
  return simdjson::SUCCESS;
}

using Values = MessageReader::Values;

/// How a line is read.
struct Reading {
  Values values;
  bool has_escapes;

  /// The text of a raw string. If the line has escapes, the string is decoded into the parser's
  /// buffer.
  simdjson::error_code text_of(value& v, std::string_view token, std::string_view& out) const {
    if (has_escapes || !is_string(token)) return v.get_string().get(out);
    out = token.substr(1, token.size() - 2);
    return simdjson::SUCCESS;
  }

  simdjson::error_code raw_checked(value& v, std::string_view token, std::string_view& raw) const {
    if (const auto error = raw_of(v, token, raw)) return error;
    const bool is_good = values == Values::skipped || has_json_grammar(raw);
    return is_good ? simdjson::SUCCESS : simdjson::TAPE_ERROR;
  }

  /// Checks a value that nobody reads. Strings have been checked already.
  simdjson::error_code check(value& v, std::string_view token) const {
    if (values == Values::skipped || token.front() == '"') return simdjson::SUCCESS;
    std::string_view raw;
    return raw_checked(v, token, raw);
  }
};

simdjson::error_code read_meta(value& meta, Message::Params& params, const Reading& reading) {
  object members;
  if (const auto error = meta.get_object().get(members)) return error;
  return each_member(members, [&](std::string_view key, value& v, std::string_view token) {
    if (is(key, "progressToken")) {
      params.meta_progress_token = scalar(token);
    } else if (key.starts_with(kMetaPrefix)) {
      if (key == kMetaVersion) {
        // If the version is not a string, the child has to refuse it, and the bridge must not use
        // it.
        params.envelope_version = token.front() == '"' ? token : "null";
      } else if (key == kMetaClientInfo) {
        return reading.raw_checked(v, token, params.envelope_client);
      } else if (key == kMetaClientCapabilities) {
        return reading.raw_checked(v, token, params.envelope_capabilities);
      } else if (key == kMetaStream) {
        params.subscription_id = scalar(token);
      }
    }
    return reading.check(v, token);
  });
}

simdjson::error_code read_params(object members, Message::Params& params, const Reading& reading) {
  return each_member(members, [&](std::string_view key, value& v, std::string_view token) {
    if (is(key, "name")) {
      if (token.front() == '"') return reading.text_of(v, token, params.name_text);
    } else if (is(key, "_meta")) {
      if (token.front() == '{') return read_meta(v, params, reading);
    } else if (is(key, "progressToken")) {
      params.progress_token = scalar(token);
    } else if (is(key, "requestId")) {
      params.request_id = scalar(token);
    } else if (is(key, "cursor")) {
      params.cursor = token;
    } else if (is(key, "uri")) {
      params.uri = scalar(token);
    } else if (is(key, "level")) {
      params.level = scalar(token);
    } else if (is(key, "protocolVersion")) {
      params.protocol_version = token;
    } else if (is(key, "task")) {
      params.has_task = token != "null";
    } else if (is(key, "taskId")) {
      if (token.front() == '"') params.task_id = token;
    } else if (is(key, "requestState")) {
      if (token.front() == '"') params.request_state = token;
    } else if (is(key, "notifications")) {
      return reading.raw_checked(v, token, params.notifications);
    }
    return reading.check(v, token);
  });
}

template <class OnView>
void each_view(Message& message, OnView on_view) {
  for (std::string_view Message::*view : {&Message::method_text, &Message::id, &Message::params_raw,
                                          &Message::result, &Message::error}) {
    on_view(message.*view);
  }
  using Params = Message::Params;
  for (std::string_view Params::*view :
       {&Params::name_text, &Params::meta_progress_token, &Params::progress_token,
        &Params::request_id, &Params::uri, &Params::level, &Params::cursor,
        &Params::protocol_version, &Params::envelope_version, &Params::envelope_client,
        &Params::envelope_capabilities, &Params::subscription_id, &Params::notifications,
        &Params::task_id, &Params::request_state}) {
    on_view(message.params.*view);
  }
}

/// Which members of a message the line has.
struct Shape {
  bool has_id = false, has_method = false, has_params = false, has_result = false,
       has_error = false;
  std::string_view version;
};

simdjson::error_code read_members(document& document, Message& message, Shape& shape,
                                  const Reading& reading) {
  object members;
  if (const auto error = document.get_object().get(members)) return error;
  return each_member(members, [&](std::string_view key, value& v, std::string_view token) {
    if (is(key, "id")) {
      shape.has_id = true;
      message.id = token;
    } else if (is(key, "method")) {
      shape.has_method = true;
      if (token.front() == '"') return reading.text_of(v, token, message.method_text);
    } else if (is(key, "params")) {
      // If there are two, the last counts.
      if (std::exchange(shape.has_params, true)) message.params = {};
      if (token.front() != '{') return reading.raw_checked(v, token, message.params_raw);
      object params;
      if (const auto error = v.get_object().get(params)) return error;
      if (const auto error = read_params(params, message.params, reading)) return error;
      const char* end = nullptr;
      if (const auto error = document.current_location().get(end)) return error;
      message.params_raw =
          json_trimmed({token.data(), static_cast<std::size_t>(end - token.data())});
    } else if (is(key, "result")) {
      shape.has_result = true;
      return reading.raw_checked(v, token, message.result);
    } else if (is(key, "error")) {
      shape.has_error = true;
      return reading.raw_checked(v, token, message.error);
    } else if (is(key, "jsonrpc")) {
      shape.version = token;
    } else {
      return reading.check(v, token);
    }
    return simdjson::SUCCESS;
  });
}

/// Sets the kind of the message, or returns what is wrong with it.
std::string_view classify(const Shape& shape, Message& message) {
  if (shape.version != "\"2.0\"") return "the member jsonrpc is not \"2.0\"";
  const bool null_id = message.id == "null";
  if (shape.has_id && !null_id && !is_string(message.id) && !is_json_number(message.id)) {
    return "the member id is neither a string nor a number";
  }
  if (shape.has_method) {
    if (message.method_text.data() == nullptr) return "the member method is not a string";
    if (null_id) return "the member id is null";
    message.method = method_of(message.method_text);
    message.kind = shape.has_id ? Message::Kind::request : Message::Kind::notification;
    return {};
  }
  if (!shape.has_result && !shape.has_error) {
    return "there is neither a method nor a result nor an error";
  }
  if (shape.has_result && (!shape.has_id || null_id)) return "the result has no id";
  message.kind = shape.has_result ? Message::Kind::result : Message::Kind::error;
  if (null_id) message.id = {};
  return {};
}

}  // namespace

struct MessageReader::Parser {
  simdjson::ondemand::parser json;
};

MessageReader::MessageReader() : parser_(std::make_unique<Parser>()) {}
MessageReader::~MessageReader() = default;

const Message* MessageReader::refuse(Defect::Kind kind, std::string what, Line line) {
  defect_ = {kind, std::move(what), {}};
  if (kind != Defect::Kind::batch) defect_.id = std::string(lenient_id(line.text()));
  return nullptr;
}

const Message* MessageReader::read(Line line, Values values) {
  return line.outline() != nullptr && read_outlined(line) ? &message_ : read_text(line, values);
}

bool MessageReader::read_outlined(Line line) {
  const Skeleton skeleton(line.text(), *line.outline());
  if (read_text(skeleton.line(), Values::skipped) == nullptr) return false;
  message_.is_checked = true;
  each_view(message_, [&](std::string_view& view) { view = skeleton.in_whole(view); });
  return true;
}

const Message* MessageReader::read_text(Line line, Values values) {
  const std::string_view text = line.text();
  const auto not_json = [&](simdjson::error_code error) {
    if (error == simdjson::UTF8_ERROR) {
      return refuse(Defect::Kind::not_utf8, "the line is not valid UTF-8", line);
    }
    if (error == simdjson::MEMALLOC) {
      return refuse(Defect::Kind::no_memory, too_long_text(text.size()), line);
    }
    return refuse(Defect::Kind::not_json,
                  fmt::format("the line is not valid JSON ({})", simdjson::error_message(error)),
                  line);
  };
  if (parser_->json.capacity() > kParserKeptMax && text.size() <= kParserKeptMax) {
    parser_ = std::make_unique<Parser>();
  }
  message_ = {};
  message_.is_checked = values == Values::checked;

  document document;
  const simdjson::padded_string_view padded(text.data(), text.size(),
                                            text.size() + limits::kLinePadding);
  if (const auto error = parser_->json.iterate(padded).get(document)) return not_json(error);
  const std::string_view start = json_trimmed(text);
  if (start.front() == '[') {
    return refuse(Defect::Kind::batch, "the line is an array and not an object", line);
  }
  if (start.front() != '{') {
    // The parser has not checked the characters of a scalar yet.
    const bool is_scalar = nlohmann::json::accept(start.begin(), start.end());
    return refuse(is_scalar ? Defect::Kind::not_an_object : Defect::Kind::not_json,
                  "the line is not a JSON object", line);
  }

  const std::size_t escape = text.find('\\');
  if (has_bad_escape(text, escape)) {
    return refuse(Defect::Kind::not_json, "a string has an escape that JSON does not have", line);
  }
  Shape shape;
  const Reading reading{values, escape != text.npos};
  if (const auto error = read_members(document, message_, shape, reading)) return not_json(error);
  if (const char* rest = nullptr; !document.current_location().get(rest)) {
    return refuse(Defect::Kind::not_json, "something follows the JSON object", line);
  }
  if (const std::string_view what = classify(shape, message_); !what.empty()) {
    return refuse(Defect::Kind::not_json_rpc, std::string(what), line);
  }
  return &message_;
}

}  // namespace sitter
