#include "soak/ledger.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace sitter::soak {
namespace {

constexpr char kCall[] = "tools/call";

/// The words that the reports of the bridge use.
constexpr char kUndelivered[] = "was not delivered";

std::string shown(const Json& message) {
  constexpr std::size_t kShown = 400;
  std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  return text;
}

std::vector<std::string> texts_of(const Json& result) {
  std::vector<std::string> texts;
  const auto content = result.find("content");
  if (content == result.end() || !content->is_array()) return texts;
  for (const Json& block : *content) texts.push_back(block.value("text", ""));
  return texts;
}

}  // namespace

Ledger::Ledger(Findings& findings, std::string journal)
    : findings_(findings), journal_path_(std::move(journal)) {}

long Ledger::open(Request request) {
  const auto id = static_cast<long>(past_.size());
  past_.push_back(0);
  open_.emplace(id, Open{std::move(request)});
  ++counts_.sent;
  return id;
}

void Ledger::cancel(long id) {
  if (open_.erase(id) == 0) return;
  past(id) |= kCancelled;
  ++counts_.cancelled;
}

void Ledger::on_answer(const Json& answer) {
  const Json id_of = answer.value("id", Json());
  const long id = id_of.is_number_integer() ? id_of.get<long>() : -1;
  if (!is_known(id)) {
    return findings_.add(Promise::no_answer_mixed_up, "nobody asked for " + shown(answer));
  }
  if (past(id) & kAnswered) {
    return findings_.add(Promise::no_answer_twice, "once more: " + shown(answer));
  }
  past(id) |= kAnswered;
  ++counts_.answered;
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  check_result(id, found->second, answer);
  open_.erase(found);
}

void Ledger::check_result(long id, const Open& open, const Json& answer) {
  const Json result = answer.value("result", Json::object());
  const std::vector<std::string> texts = texts_of(result);
  if (answer.contains("error") || result.value("isError", false)) {
    ++counts_.failed;
    const bool is_undelivered =
        answer.contains("error")
            ? answer["error"].value("message", "").find(kUndelivered) != std::string::npos
            : std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
                return text.find(kUndelivered) != std::string::npos;
              });
    if (is_undelivered) past(id) |= kToldUndelivered;
    return check_undelivered(id);
  }
  const Request& request = open.request;
  if (!request.expected.empty() &&
      std::find(texts.begin(), texts.end(), request.expected) == texts.end()) {
    findings_.add(Promise::no_answer_mixed_up, "not what was asked: " + shown(answer));
  }
  if (open.progress != request.progress_steps) {
    findings_.add(Promise::no_answer_mixed_up,
                  "of " + std::to_string(request.progress_steps) + " reports of progress " +
                      std::to_string(open.progress) + " came before " + shown(answer));
  }
}

void Ledger::on_progress(const Json& params) {
  const Json token = params.value("progressToken", Json());
  const long id = token.is_number_integer() ? token.get<long>() : -1;
  if (!is_known(id) || (past(id) & kAnswered)) {
    return findings_.add(Promise::no_answer_mixed_up, "progress of nothing: " + shown(params));
  }
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  // The ledger does not know the numbers in the progress of a build.
  if (found->second.request.progress_steps == 0) return;
  if (params.value("progress", 0) != ++found->second.progress) {
    findings_.add(Promise::no_answer_mixed_up, "progress out of order: " + shown(params));
  }
}

void Ledger::read_journal() {
  if (!journal_.is_open()) journal_.open(journal_path_);
  journal_.clear();
  std::ostringstream more;
  more << journal_.rdbuf();
  unread_ += more.str();
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = unread_.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    on_journal_line(unread_.substr(begin, end - begin));
  }
  unread_.erase(0, begin);
}

void Ledger::on_journal_line(const std::string& line) {
  std::istringstream words(line);
  long pid = 0, id = 0;
  std::string method;
  words >> pid >> id >> method;
  servers_.insert(pid);
  // The requests of the bridge itself have far larger ids.
  if (!is_known(id) || method != kCall) return;
  if (past(id) & kRan) findings_.add(Promise::nothing_run_twice, line);
  past(id) |= kRan;
  check_undelivered(id);
}

void Ledger::check_undelivered(long id) {
  if ((past(id) & kRan) && (past(id) & kToldUndelivered)) {
    findings_.add(Promise::undelivered_did_not_run, "id " + std::to_string(id));
  }
}

std::vector<long> Ledger::open_ids() const {
  std::vector<long> ids;
  for (const auto& [id, open] : open_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

void Ledger::give_up() {
  for (const long id : open_ids()) {
    const Request& lost = request(id);
    findings_.add(Promise::every_request_answered, "id " + std::to_string(id) + " " + lost.method +
                                                       " " + lost.expected.substr(0, 60));
  }
  open_.clear();
}

}  // namespace sitter::soak
