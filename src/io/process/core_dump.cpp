#include "io/process/core_dump.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/base/text.hpp"

namespace sitter {
namespace {

constexpr std::size_t kStackMax = 500;

/// The function in a line of a stack, and its place if that is known.
std::string frame_in(std::string_view line) {
  const auto skip = [&line](std::size_t count) {
    line.remove_prefix(std::min(count, line.size()));
  };
  skip(line.find_first_not_of(' '));
  if (!line.starts_with('#')) return {};
  skip(line.find(' '));
  skip(line.find_first_not_of(' '));
  if (line.starts_with("0x")) skip(line.find(' ') + 1);
  if (line.starts_with("in ")) skip(3);
  const std::string name(line.substr(0, line.find(" (")));
  const std::size_t place = line.rfind(" at ");
  return place == line.npos ? name : name + std::string(line.substr(place));
}

}  // namespace

std::string stack_in(std::string_view output) {
  std::vector<std::string> frames;
  for (const std::string_view line : text_lines(output)) {
    // coredumpctl shows the thread that has crashed first.
    const bool is_next_thread = !frames.empty() && line.find("Stack trace of thread") != line.npos;
    if (frames.size() == limits::kFramesMax || is_next_thread) break;
    std::string frame = frame_in(line);
    // gdb shows the innermost frame once more, before the stack.
    const bool is_repeated = frames.size() == 1 && frames.front() == frame;
    if (!frame.empty() && !is_repeated) frames.push_back(std::move(frame));
  }
  return brief(fmt::format("{}", fmt::join(frames, " < ")), kStackMax);
}

}  // namespace sitter
