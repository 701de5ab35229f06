#include "support/processes.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

namespace sitter::testing {

bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    // No event reports a change of a process. The sleep leaves the processor to the processes.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

long number_in(const std::string& file, std::size_t count) {
  std::vector<long> numbers;
  const bool have_come = eventually([&] {
    std::ifstream stream(file);
    numbers.assign(std::istream_iterator<long>(stream), {});
    return numbers.size() >= count;
  });
  if (!have_come)
    throw std::runtime_error("there is no number " + std::to_string(count) + " in " + file);
  return numbers[count - 1];
}

bool ends(long pid) {
  return eventually([pid] { return !is_alive(pid); });
}

bool come_to_rest(const std::vector<long>& pids, const std::function<void()>& meanwhile) {
  // A byte may be on its way between two processes, so a single look proves little.
  constexpr int kLooks = 100;
  int still = 0;
  std::vector<std::vector<std::uint64_t>> before;
  return eventually([&] {
    meanwhile();
    bool all_sleep = true;
    std::vector<std::vector<std::uint64_t>> now;
    for (const long pid : pids) {
      Activity activity = activity_of(pid);
      all_sleep = all_sleep && activity.sleeps && !activity.counts.empty();
      now.push_back(std::move(activity.counts));
    }
    still = all_sleep && now == before ? still + 1 : 0;
    before = std::move(now);
    return still == kLooks;
  });
}

}  // namespace sitter::testing
