#include "core/rebuild/build.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "core/base/text.hpp"
#include "core/child/child_end.hpp"
#include "core/rebuild/build_excerpt.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Outcome = BuildResult::Outcome;

std::string_view outcome_words(Outcome outcome) {
  switch (outcome) {
    case Outcome::succeeded:
      return "succeeded";
    case Outcome::failed:
      return "failed";
    case Outcome::timed_out:
      return "timed out";
    case Outcome::stopped:
      return "stopped";
    case Outcome::not_started:
      break;
  }
  return "not started";
}

bool has_failed(const BuildResult& result) {
  return result.outcome != Outcome::succeeded && result.outcome != Outcome::stopped;
}

std::string build_clause(const BuildResult& result) {
  const std::string after = duration_text(result.duration);
  switch (result.outcome) {
    case Outcome::succeeded:
      return "the build succeeded after " + after;
    case Outcome::failed:
      return fmt::format("the build failed ({}) after {}", status_words(result.status), after);
    case Outcome::timed_out:
      return fmt::format(
          "the build had not ended after {} and was stopped (timeout_seconds sets the limit)",
          after);
    case Outcome::stopped:
      return "the build was stopped after " + after;
    case Outcome::not_started:
      break;
  }
  return "the build could not be started: " + result.why;
}

Milliseconds Build::age(Now now) const {
  return std::chrono::duration_cast<Milliseconds>(now.steady - life.started().steady);
}

void Build::add(std::string_view line, std::size_t bytes_cut) {
  if (!output_.add(life.gen(), line, bytes_cut)) ++line_count_;
  if (first_errors_.size() < limits::kBuildErrorsKept) keep_error();
}

/// Keeps the newest line if it looks like an error or follows an error closely.
void Build::keep_error() {
  const std::string text = output_.tail(life.gen(), 1, limits::kStderrLineMax);
  if (looks_like_error(text)) keeps_until_ = line_count_ + kLinesBehindError;
  if (line_count_ > keeps_until_) return;
  if (!first_errors_.empty() && first_errors_.back().number == line_count_) {
    first_errors_.pop_back();
  }
  first_errors_.push_back({line_count_, shortened(text, limits::kBuildErrorBytesMax)});
}

StderrRing::Answer Build::log_text(const StderrRing::Query& query) const {
  StderrRing::Answer answer = output_.text(query);
  if (lost_count() > 0 && !answer.is_error) {
    answer.text.insert(0, fmt::format("[... {} not kept]\n",
                                      counted(static_cast<std::size_t>(lost_count()), "line")));
  }
  return answer;
}

std::int64_t Build::lost_count() const {
  return line_count_ - static_cast<std::int64_t>(output_.lines().size());
}

std::vector<BuildLine> Build::lines() const {
  const std::vector<std::string_view> last = output_.lines();
  std::int64_t number = lost_count();
  std::vector<BuildLine> lines;
  for (const Kept& kept : first_errors_) {
    if (kept.number <= number) lines.push_back({kept.number, kept.text});
  }
  for (const std::string_view text : last) lines.push_back({++number, text});
  return lines;
}

std::string Build::excerpt(std::size_t lines_max) const {
  return result_->outcome == Outcome::succeeded ? build_excerpt(lines(), lines_max)
                                                : failure_excerpt(lines(), lines_max);
}

void Build::finish(Now now) {
  const ChildEnd end = life.end(true);
  BuildResult result;
  result.status = end.status;
  result.duration = end.lifetime;
  result.ended = now.wall;
  result.why = end.why;
  if (end.reason == EndReason::not_executed) {
    result.outcome = Outcome::not_started;
  } else if (stopped_) {
    result.outcome = *stopped_;
  } else {
    const bool is_good = end.status.code == 0 && !end.status.by_signal();
    result.outcome = is_good ? Outcome::succeeded : Outcome::failed;
  }
  result_ = std::move(result);
}

}  // namespace sitter
