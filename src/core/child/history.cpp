#include "core/child/history.hpp"

#include <algorithm>
#include <utility>

#include "core/base/ascii.hpp"
#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/child/child_lifecycle.hpp"

namespace sitter {
namespace {

bool is_header(std::string_view line) {
  const std::string start = ascii_lower(line.substr(0, 20));
  return start.starts_with("content-length:") || start.starts_with("content-type:");
}

/// Whether an object begins on this line, and ends on another.
bool is_beginning_of_json(std::string_view line) {
  return line.starts_with('{') && std::string_view("{[,:").find(line.back()) != line.npos;
}

}  // namespace

History::Life History::Life::of(const ChildLifecycle& child, Milliseconds age) {
  return {child.gen(), child.pid(), child.started().wall, age, {}};
}

History::Life History::Life::over(const ChildLifecycle& child, ChildEnd end) {
  Life life = of(child, end.lifetime);
  life.end = std::move(end);
  return life;
}

void History::on_over(Life life, std::string stderr_tail, bool was_candidate, WallTime now) {
  const ChildEnd& end = *life.end;
  // A child may be over later than its successor.
  if (!was_candidate && life.gen > last_end_gen_) {
    last_end_ = end;
    last_end_gen_ = life.gen;
    last_end_at_ = now;
  }
  if (end.reason == EndReason::killed_by_sitter) tell(life.gen, end, {});
  if (is_failure(end.reason)) last_failure_ = {end, std::move(stderr_tail), now, life.gen};
  const auto place = std::find_if(lives_.begin(), lives_.end(),
                                  [&](const Life& other) { return other.gen > life.gen; });
  lives_.insert(place, std::move(life));
  if (lives_.size() > limits::kHistoryMax) lives_.pop_front();
}

void History::on_unbuilt(std::string why, WallTime now) {
  last_end_->why = std::move(why);
  last_end_->is_unbuilt = true;
  last_end_at_ = now;
  last_failure_ = {*last_end_, {}, now};
}

void History::on_served_over(Generation gen, ChildEnd end, std::string last_words) {
  tell(gen, end, std::move(last_words));
  last_served_ = std::move(end);
}

void History::on_left_process_over(Generation gen, const ExitStatus& status,
                                   std::string stderr_tail, WallTime now) {
  if (gen != last_end_gen_) return;
  const auto amend = [&](ChildEnd& end) {
    end.reason = unasked_end(status);
    end.status = status;
    end.why.clear();
    end.is_foreign = false;
  };
  amend(*last_end_);
  last_end_at_ = now;
  if (!lives_.empty() && lives_.back().gen == gen) amend(*lives_.back().end);
  const bool is_a_failure = is_failure(last_end_->reason);
  // The child that has served last may have lost its session earlier, with the same process.
  if (gen == last_told_gen_ || (last_told_ && pid_of(last_told_gen_) == pid_of(gen))) {
    amend(*last_told_);
    last_words_ = is_a_failure ? stderr_tail : std::string();
  }
  if (is_a_failure) last_failure_ = {*last_end_, std::move(stderr_tail), now};
}

void History::on_stack(const fact::StackRead& fact) {
  if (last_failure_ && last_failure_->gen == fact.gen) last_failure_->stack = fact.stack;
}

std::int64_t History::pid_of(Generation gen) const {
  const auto life =
      std::find_if(lives_.begin(), lives_.end(), [&](const Life& one) { return one.gen == gen; });
  return life == lives_.end() ? 0 : life->pid;
}

void History::tell(Generation gen, const ChildEnd& end, std::string last_words) {
  if (gen < last_told_gen_) return;
  last_told_ = end;
  last_words_ = std::move(last_words);
  last_told_gen_ = gen;
}

bool History::add_noise(Generation gen, std::string_view text, bool is_echo) {
  if (noise_ && noise_->gen > gen) return false;
  const bool is_first = !noise_ || noise_->gen != gen;
  if (is_first) noise_ = {gen, 0, brief(text, 200)};
  ++noise_->line_count;
  noise_->is_echo |= is_echo;
  if (noise_->split_line.empty()) {
    const std::string_view line = json_trimmed(text);
    noise_->has_headers = is_header(line);
    if (noise_->has_headers || is_beginning_of_json(line)) noise_->split_line = brief(line, 200);
  }
  return is_first;
}

}  // namespace sitter
