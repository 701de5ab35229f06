#include <fmt/format.h>

#include <utility>

#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/client/opening.hpp"
#include "core/http/http_link_limits.hpp"
#include "core/rebuild/rebuilder.hpp"
#include "core/report/catalogs.hpp"
#include "core/wire/method.hpp"

namespace sitter {

using Level = order::Log::Level;
using Reach = DeathReport::Reach;

namespace {

std::string own_result_line(const ClientRequest& request, std::string_view result,
                            std::string_view sitter_version) {
  if (!request.is_stateless) return result_line(request.id(), result);
  return result_line(request.id(), complete(result, server_info_member(sitter_version)));
}

}  // namespace

void Conductor::answer(ClientRequest& request, Outgoing line) {
  answers_.send(request, std::move(line), turn());
  requests_.take(request);
}

void Conductor::answer_result(ClientRequest& request, std::string_view result) {
  answer(request, Outgoing::own(own_result_line(request, result, config_.sitter_version)));
}

void Conductor::answer_error(ClientRequest& request, ErrorCode code, std::string_view message) {
  answer(request, Outgoing::own(error_line(request.id(), code, message)));
}

void Conductor::answer_tool_text(ClientRequest& request, std::string_view text, bool is_error) {
  answer(request, Outgoing::own(tool_text_line(request, text, is_error)));
}

void Conductor::answer_tool_text(RequestHandle request, std::string_view text, bool is_error) {
  if (ClientRequest* const open = requests_.find(request)) answer_tool_text(*open, text, is_error);
}

void Conductor::answer_failure(ClientRequest& request, ErrorCode code, std::string_view text) {
  if (request.fails_with_result()) {
    answer_tool_text(request, text, true);
  } else {
    answer_error(request, code, text);
  }
}

std::string Conductor::tool_text_line(const ClientRequest& request, std::string_view text,
                                      bool is_error) const {
  return own_result_line(request, tool_text(text, is_error), config_.sitter_version);
}

/// The last known list of what the request asks for, with the built-in tools where they belong.
void Conductor::answer_last_list(ClientRequest& request) {
  const Method method = request.method;
  const std::string list = catalogs_->last_list(
      method, method == Method::tools_list ? names_.definitions() : std::vector<std::string>());
  answer(request,
         Outgoing::own(result_line(
             request.id(), request.is_stateless
                               ? complete_list(list, server_info_member(config_.sitter_version))
                               : list)));
  if (method == Method::tools_list) on_client_listed(true);
}

void Conductor::answer_opening_ourselves(ClientRequest& request, std::string_view why,
                                         std::string_view stderr_tail,
                                         std::string_view build_output) {
  answer_opening_with(
      request, why,
      names_.instructions_without_server(config_.command, why, stderr_tail, build_output));
}

void Conductor::answer_slow_opening() {
  const std::string why =
      is_unbuilt() && rebuilder_->is_building() ? first_build_clause()
      : absence() != nullptr
          ? fmt::format("it can't be reached: {}", brief(absence()->why(), limits::kAbsenceWhyMax))
          : fmt::format("it is still starting after {}", duration_text(config_.answer_within));
  answer_opening_with(*opening(), why, names_.instructions_while_starting(config_.command, why));
}

void Conductor::answer_opening_with(ClientRequest& request, std::string_view why,
                                    std::string_view instructions) {
  const std::string& version = opening_->answer_ourselves();
  // The client is told that there is nothing, so whatever a child brings is new to it.
  catalogs_->take_unknown_as_empty();
  out_.log(Level::warn, fmt::format("the opening is answered without the server: {}", why));
  answer_result(request, own_opening_result(version, config_.sitter_version, instructions));
}

void Conductor::fail(ClientRequest& request, const DeathReport& report) {
  if (report.end && request.fails_with_result()) {
    answer_tool_text(request, report_text(report), true);
    return;
  }
  if (request.method == Method::server_discover && config_.url.empty()) {
    // The codes of the stateless revision would prove to some clients that the server speaks it.
    answer_error(request, ErrorCode::method_not_found, error_message(report));
    return;
  }
  answer(request, Outgoing::own(error_line(request.id(), ErrorCode::internal_error,
                                           error_message(report), error_data(report))));
}

void Conductor::fail_waiting(const DeathReport& report) {
  streams_.grant_waiting(turn());
  while (requests_.waiting_count() > 0) {
    const auto [request, order, line, since] = requests_.next_waiting();
    if (request == nullptr) continue;
    if (request->method == Method::initialize && ending_.is_none()) {
      answer_lost_opening(*request, end_clause(*report.end), report.stderr_tail,
                          report.build_output);
    } else {
      fail_undone(*request, report);
    }
  }
}

/// Answers a second opening for which no child has an answer.
void Conductor::answer_lost_opening(ClientRequest& request, std::string_view why,
                                    std::string_view stderr_tail, std::string_view build_output) {
  // The client has sent a newer `initialize`, and only the newer one changes the session.
  if (opening() != nullptr) {
    answer_error(request, ErrorCode::internal_error, why);
    return;
  }
  if (const Message* const opening = kept_reader_.read(request.extra->line.line())) {
    begin_session_again(*opening);
  }
  answer_opening_ourselves(request, why, stderr_tail, build_output);
}

/// A request that no child has served.
void Conductor::fail_undone(ClientRequest& request, const DeathReport& report) {
  if (is_list(request.method) && request.is_first_page) {
    answer_last_list(request);
  } else {
    fail(request, report);
  }
}

DeathReport Conductor::report_of(const std::optional<ChildEnd>& end, std::string stderr_tail,
                                 Reach reach) const {
  return {reach,
          end,
          std::move(stderr_tail),
          config_.startup_timeout,
          names_.name(Builtin::child_stderr),
          names_.first_name({Builtin::kill, Builtin::rebuild}),
          names_.name(Builtin::build_log)};
}

}  // namespace sitter
