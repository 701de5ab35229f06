#include "core/client/client_envelope.hpp"

#include <fmt/format.h>

#include "core/wire/json_view.hpp"
#include "core/wire/protocol.hpp"

namespace sitter {

ClientEnvelope::Number ClientEnvelope::note(const Message::Params& params) {
  if (!params.envelope_version.starts_with('"')) return kNone;
  if (last_.version == params.envelope_version && last_.client == params.envelope_client &&
      last_.capabilities == params.envelope_capabilities) {
    return number_;
  }
  last_ = {std::string(params.envelope_version), std::string(params.envelope_client),
           std::string(params.envelope_capabilities)};
  return number_ = ++last_number_;
}

bool ClientEnvelope::on_served(Number number) {
  if (number != number_ || number == served_number_) return false;
  served_ = last_;
  served_number_ = number;
  return true;
}

void ClientEnvelope::on_refused(Number number) {
  if (number != number_ || number == served_number_) return;
  last_ = served_;
  number_ = served_number_;
}

std::string ClientEnvelope::version() const { return string_value(last_.version); }

std::string ClientEnvelope::meta() const {
  if (!is_known()) return {};
  std::string meta = fmt::format(R"json({{"{}":{})json", kMetaVersion, last_.version);
  if (!last_.client.empty()) {
    meta += fmt::format(R"json(,"{}":{})json", kMetaClientInfo, last_.client);
  }
  if (!last_.capabilities.empty()) {
    meta += fmt::format(R"json(,"{}":{})json", kMetaClientCapabilities, last_.capabilities);
  }
  return meta + "}";
}

}  // namespace sitter
