#include "core/tool_server/kept_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "sitter/cli.hpp"

namespace sitter {
namespace {

constexpr std::size_t kEndMax = limits::kRunOutputMax / 2;
/// The byte behind the end shows whether the last character is cut.
constexpr std::size_t kHeadMax = kEndMax + 1;

/// The number of bytes at the begin that continue a character.
std::size_t continued(std::string_view bytes) {
  const std::string_view first = bytes.substr(0, 3);
  const auto* const end = std::find_if(first.begin(), first.end(), begins_character);
  return static_cast<std::size_t>(end - first.begin());
}

}  // namespace

void KeptOutput::add(std::string_view bytes) {
  size_ += bytes.size();
  const std::size_t room = std::min(kHeadMax - head_.size(), bytes.size());
  head_.append(bytes.substr(0, room));
  bytes.remove_prefix(room);
  // What is dropped at the front is dropped in large pieces.
  tail_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kEndMax)));
  if (tail_.size() > 2 * kEndMax) tail_.erase(0, tail_.size() - kEndMax);
}

bool KeptOutput::is_whole() const { return size_ <= limits::kRunOutputMax; }

std::string KeptOutput::text() const {
  if (is_whole()) return readable(bytes());
  const std::string_view head =
      std::string_view(head_).substr(0, cut_between_characters(head_, kEndMax));
  std::string_view end = std::string_view(tail_).substr(tail_.size() - kEndMax);
  end.remove_prefix(continued(end));
  return fmt::format("{}\n[{} bytes are left out here]\n{}", readable(head),
                     size_ - head.size() - end.size(), readable(end));
}

}  // namespace sitter
