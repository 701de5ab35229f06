#pragma once

#include <string_view>
#include <tuple>

#include "core/wire/message.hpp"

namespace sitter {

/// Whether a message that was read before is what a reader finds in this line. Without a message
/// there is nothing that could be wrong.
inline bool is_reading_of(const Message* message, std::string_view line) {
  if (message == nullptr) return true;
  const auto members_of = [](const Message& of) {
    const Message::Params& params = of.params;
    return std::tuple_cat(std::tie(of.kind, of.method, of.method_text, of.id, of.params_raw),
                          std::tie(of.result, of.error, params.name_text, params.cursor),
                          std::tie(params.meta_progress_token, params.progress_token),
                          std::tie(params.request_id, params.uri, params.level),
                          std::tie(params.protocol_version, params.envelope_version),
                          std::tie(params.envelope_client, params.envelope_capabilities),
                          std::tie(params.subscription_id, params.notifications),
                          std::tie(params.has_task));
  };
  MessageReader reader;
  const OwnedLine kept(line);
  const Message* const found = reader.read(kept.line());
  return found != nullptr && members_of(*message) == members_of(*found);
}

}  // namespace sitter
