#include "core/child/replays.hpp"

#include <algorithm>

namespace sitter {

Replays::Replays(const std::vector<std::string>& tools) {
  for (const std::string& tool : tools) {
    if (!repeats(tool)) tools_.push_back(tool);
  }
}

bool Replays::repeats(std::string_view tool) const {
  return std::find(tools_.begin(), tools_.end(), tool) != tools_.end();
}

bool Replays::is_news(const std::string& tool, Generation gen) const {
  const auto known = calls_.find(tool);
  return known == calls_.end() || known->second.gen <= gen;
}

void Replays::on_success(const std::string& tool, std::string_view arguments, Generation gen,
                         std::uint64_t order, Made& made) {
  made[tool] = ++last_number_;
  calls_[tool] = {tool, std::string(arguments), gen, order, last_number_};
}

std::vector<ReplayedCall> Replays::all(Made& made) const {
  std::vector<ReplayedCall> calls;
  for (const std::string& tool : tools_) {
    const auto call = calls_.find(tool);
    if (call == calls_.end()) continue;
    made[tool] = call->second.number;
    calls.push_back(call->second);
  }
  return calls;
}

std::vector<ReplayedCall> Replays::missed(const Made& made) const {
  std::vector<ReplayedCall> calls;
  for (const std::string& tool : tools_) {
    const auto call = calls_.find(tool);
    if (call == calls_.end()) continue;
    const auto last = made.find(tool);
    if (last == made.end() || last->second < call->second.number) calls.push_back(call->second);
  }
  return calls;
}

}  // namespace sitter
