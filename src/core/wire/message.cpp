#include "core/wire/message.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/salvage.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

using Name = MessagePlaces::Name;

bool is_string(std::string_view raw) { return raw.starts_with('"'); }

/// A raw string or number. Empty for any other value, or none.
std::string_view scalar(std::string_view raw) {
  return raw.empty() || is_string(raw) || is_json_number(raw) ? raw : std::string_view();
}

std::string_view string_only(std::string_view raw) {
  return is_string(raw) ? raw : std::string_view();
}

/// The text of a raw string, which `decoded` holds if there are escapes in it. Returns false if it
/// stands for no text.
bool text_of(std::string_view raw, std::string& decoded, std::string_view& text) {
  text = raw.substr(1, raw.size() - 2);
  if (text.find('\\') == text.npos) return true;
  auto read = json_decoded(raw);
  if (!read) return false;
  decoded = *std::move(read);
  text = decoded;
  return true;
}

/// The values of a message as they are written.
struct Raw {
  std::string_view operator()(Name name) const {
    if (!places.has(name)) return {};
    const auto& place = places.of(name);
    return line.substr(place.begin, place.end - place.begin);
  }

  std::string_view line;
  const MessagePlaces& places;
};

void read_params(const Raw& raw, Message::Params& params) {
  params.meta_progress_token = scalar(raw(Name::meta_progress_token));
  params.progress_token = scalar(raw(Name::progress_token));
  params.request_id = scalar(raw(Name::request_id));
  params.uri = scalar(raw(Name::uri));
  params.level = scalar(raw(Name::level));
  params.cursor = raw(Name::cursor);
  params.protocol_version = raw(Name::protocol_version);
  // If the version is not a string, the child has to refuse it, and the bridge must not use it.
  params.envelope_version = raw(Name::envelope_version);
  if (!params.envelope_version.empty() && !is_string(params.envelope_version)) {
    params.envelope_version = "null";
  }
  params.envelope_client = raw(Name::envelope_client);
  params.envelope_capabilities = raw(Name::envelope_capabilities);
  params.subscription_id = scalar(raw(Name::subscription_id));
  params.notifications = raw(Name::notifications);
  params.task_id = string_only(raw(Name::task_id));
  params.request_state = string_only(raw(Name::request_state));
  const std::string_view task = raw(Name::task);
  params.has_task = !task.empty() && task != "null";
}

/// Sets the kind of the message, or returns what is wrong with it.
std::string_view classify(std::string_view version, std::string_view method, Message& message) {
  if (version != "\"2.0\"") return "the member jsonrpc is not \"2.0\"";
  const bool has_id = !message.id.empty();
  const bool has_result = !message.result.empty();
  const bool has_error = !message.error.empty();
  const bool null_id = message.id == "null";
  if (has_id && !null_id && !is_string(message.id) && !is_json_number(message.id)) {
    return "the member id is neither a string nor a number";
  }
  // Some serializers also write the members that are not set.
  message.has_null_method = method == "null" && (has_result || has_error);
  if (!method.empty() && !message.has_null_method) {
    if (message.method_text.data() == nullptr) return "the member method is not a string";
    if (null_id) return "the member id is null";
    message.method = method_of(message.method_text);
    message.kind = has_id ? Message::Kind::request : Message::Kind::notification;
    return {};
  }
  if (!has_result && !has_error) {
    return "there is neither a method nor a result nor an error";
  }
  if (has_result && (!has_id || null_id)) return "the result has no id";
  message.kind = has_result ? Message::Kind::result : Message::Kind::error;
  message.has_others = message.has_others || message.has_null_method || !message.params_raw.empty();

  if (null_id) message.id = {};
  return {};
}

}  // namespace

const Message* MessageReader::refuse(Defect::Kind kind, std::string what, Line line) {
  defect_ = {kind, std::move(what), {}};
  if (kind != Defect::Kind::batch) defect_.id = std::string(lenient_id(line.text()));
  return nullptr;
}

const Message* MessageReader::read(Line line, Values values) {
  const std::string_view text = line.text();
  const MessagePlaces* places = line.places();
  const auto not_json = [&](std::string_view what) {
    return refuse(Defect::Kind::not_json, fmt::format("the line is not valid JSON ({})", what),
                  line);
  };
  if (places == nullptr) {
    switch (scan_.read(text)) {
      case MessageScan::Problem::not_utf8:
        return refuse(Defect::Kind::not_utf8, "the line is not valid UTF-8", line);
      case MessageScan::Problem::no_memory:
        return refuse(Defect::Kind::no_memory, too_long_text(text.size()), line);
      case MessageScan::Problem::not_an_object:
        return refuse_other(line);
      case MessageScan::Problem::not_json:
        return not_json(scan_.what());
      case MessageScan::Problem::none:
        break;
    }
    places = scan_.places();
  }
  if (values == Values::checked && !places->is_checked) return not_json(MessageScan::kBadStructure);
  return read_places(line, *places);
}

/// The line is JSON, as far as its strings and its first character tell.
const Message* MessageReader::refuse_other(Line line) {
  const std::string_view text = json_trimmed(line.text());
  if (text.front() == '[') {
    return refuse(Defect::Kind::batch, "the line is an array and not an object", line);
  }
  const bool is_scalar = nlohmann::json::accept(text.begin(), text.end());
  return refuse(is_scalar ? Defect::Kind::not_an_object : Defect::Kind::not_json,
                "the line is not a JSON object", line);
}

const Message* MessageReader::read_places(Line line, const MessagePlaces& places) {
  const Raw raw{line.text(), places};
  std::construct_at(&message_);  // an assignment would make a copy of its 360 bytes
  message_.is_checked = places.is_checked;
  message_.has_others = places.has_others;

  message_.id = raw(Name::id);
  message_.params_raw = raw(Name::params);
  message_.result = raw(Name::result);
  message_.error = raw(Name::error);
  message_.result_meta = raw(Name::result_meta);
  Message::Params& params = message_.params;
  // Few messages have more params than a name.
  constexpr auto kParams = MessagePlaces::bits(Name::progress_token, Name::subscription_id);
  if ((places.present & kParams) != 0) read_params(raw, params);
  const std::string_view method = raw(Name::method);
  const std::string_view name = raw(Name::name);
  if ((is_string(method) && !text_of(method, method_, message_.method_text)) ||
      (is_string(name) && !text_of(name, name_, params.name_text))) {
    return refuse(Defect::Kind::not_json, "the line is not valid JSON (a name is no Unicode text)",
                  line);
  }
  const std::string_view what = classify(raw(Name::jsonrpc), method, message_);
  return what.empty() ? &message_ : refuse(Defect::Kind::not_json_rpc, std::string(what), line);
}

}  // namespace sitter
