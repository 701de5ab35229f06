#include "session.hpp"

#include <charconv>
#include <utility>

#include "json.hpp"

namespace sitter::fake {

void Agenda::after(std::chrono::milliseconds delay, std::string_view id, Work work) {
  entries_.emplace(Clock::now() + delay,
                   Entry{std::string(id), output_.exchange(), std::move(work)});
}

void Agenda::cancel(std::string_view id) {
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.id == id; });
}

void Agenda::cancel(Exchange exchange) {
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.exchange == exchange; });
}

void Agenda::do_what_is_due() {
  const Clock::time_point now = Clock::now();
  while (!entries_.empty() && entries_.begin()->first <= now) {
    const Entry entry = std::move(entries_.begin()->second);
    entries_.erase(entries_.begin());
    const Within within(output_, entry.exchange);
    entry.work();
  }
}

std::optional<Agenda::Clock::time_point> Agenda::next() const {
  if (entries_.empty()) return std::nullopt;
  return entries_.begin()->first;
}

std::string_view usual_params(std::string_view method) {
  if (method == "sampling/createMessage") {
    return R"json({"messages":[{"role":"user","content":{"type":"text","text":"Say hello."}}],"maxTokens":16})json";
  }
  if (method == "elicitation/create") {
    return R"json({"message":"Who are you?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}})json";
  }
  return {};
}

void Questions::ask(std::string_view method, std::string_view params, OnAnswer on_answer) {
  const std::string id = std::to_string(questions_.size());
  questions_.push_back({std::string(method), {}, std::move(on_answer), output_.exchange()});
  output_.ask(id, method, params.empty() ? usual_params(method) : params);
}

void Questions::on_answer(std::string_view id, std::string_view answer) {
  std::size_t number = 0;
  const char* end = id.data() + id.size();
  if (std::from_chars(id.data(), end, number).ptr != end || number >= questions_.size()) return;
  Question& question = questions_[number];
  if (!question.answer.empty()) return;
  question.answer = answer;
  // The callback may ask again, which moves the questions in memory, so it is copied first.
  const OnAnswer on_answer = question.on_answer;
  const Within within(output_, question.exchange);
  if (on_answer) on_answer(answer);
}

std::string Questions::text() const {
  std::vector<std::string> rows;
  for (const Question& question : questions_) {
    rows.push_back(object_of({{"id", std::to_string(rows.size())},
                              {"method", json_quoted(question.method)},
                              {"answer", question.answer.empty() ? "null" : question.answer}}));
  }
  return array_of(rows);
}

void Session::cancel(std::string_view id) {
  record.cancelled.emplace_back(id);
  agenda.cancel(id);
  streams.cancel(id);
}

void Session::cancel(Exchange exchange, std::string_view id) {
  record.cancelled.emplace_back(id);
  agenda.cancel(exchange);
  streams.cancel(exchange);
}

void Session::notify(std::string_view method, std::string_view params) {
  if (era == Era::modern && streams.notify(method, params)) return;
  output.notify(method, params);
}

}  // namespace sitter::fake
