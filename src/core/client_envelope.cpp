#include "sitter/core/client_envelope.hpp"

#include <fmt/format.h>

#include "sitter/core/json_view.hpp"

namespace sitter {

void ClientEnvelope::note(const Message::Params& params) {
  if (last_.version == params.envelope_version && last_.client == params.envelope_client &&
      last_.capabilities == params.envelope_capabilities) {
    return;
  }
  last_ = {std::string(params.envelope_version), std::string(params.envelope_client),
           std::string(params.envelope_capabilities)};
  is_served_ = false;
}

void ClientEnvelope::on_served() {
  if (is_served_) return;
  served_ = last_;
  is_served_ = true;
}

void ClientEnvelope::on_refused() {
  if (!is_served_) last_ = served_;
}

std::string ClientEnvelope::version() const { return string_value(last_.version); }

std::string ClientEnvelope::meta() const {
  if (!is_known()) return {};
  std::string meta =
      fmt::format(R"json({{"io.modelcontextprotocol/protocolVersion":{})json", last_.version);
  if (!last_.client.empty()) {
    meta += fmt::format(R"json(,"io.modelcontextprotocol/clientInfo":{})json", last_.client);
  }
  if (!last_.capabilities.empty()) {
    meta += fmt::format(R"json(,"io.modelcontextprotocol/clientCapabilities":{})json",
                        last_.capabilities);
  }
  return meta + "}";
}

}  // namespace sitter
