#include "core/client/opening.hpp"

#include "core/base/json_text.hpp"

namespace sitter {
namespace {

Session session_of(const Message& opening) {
  Session session;
  session.opening_params = opening.params_raw.empty() ? "{}" : opening.params_raw;
  session.requested_version = json_decoded(opening.params.protocol_version).value_or("");
  return session;
}

}  // namespace

void Opening::begin(const Message& message, RequestHandle request, Instant answer_by) {
  session_ = session_of(message);
  first_ = request;
  answer_by_ = answer_by;
}

void Opening::begin_again(const Message& message) {
  // Some clients send `initialized` without waiting for the answer.
  Session session = session_of(message);
  session.initialized_line = std::move(session_.initialized_line);
  session.is_initialized_by_request = session_.is_initialized_by_request;
  session_ = std::move(session);
}

void Opening::on_answered(const OpeningResult& result) {
  answer_by_.reset();
  session_.negotiated_version = result.protocol_version;
  session_.capabilities = result.capabilities;
  told_ = result;
}

const std::string& Opening::answer_ourselves() {
  answer_by_.reset();
  asked_ = kNoGeneration;
  told_.reset();
  session_.answered_by_us = true;
  session_.negotiated_version = is_legacy_version(session_.requested_version)
                                    ? session_.requested_version
                                    : std::string(kNewestLegacyVersion);
  return session_.negotiated_version;
}

void Opening::on_refused() {
  answer_by_.reset();
  asked_ = kNoGeneration;
  session_ = {};
}

void Opening::on_told(const OpeningResult& opened) {
  if (!told_ || !opened.capabilities.empty()) {
    told_ = opened;
  } else if (!opened.server_info.empty()) {
    told_->server_info = opened.server_info;
  }
}

bool Opening::may_have(CatalogKind kind) const {
  return !told_ || told_->capabilities.empty() || told_->declares(catalog_name(kind));
}

bool Opening::hears_change(CatalogKind kind) const {
  return session_.is_asked() &&
         (kind == CatalogKind::tools || session_.declares(catalog_name(kind)));
}

}  // namespace sitter
