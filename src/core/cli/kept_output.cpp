#include "core/cli/kept_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "sitter/cli_limits.hpp"

namespace sitter {
namespace {

constexpr std::size_t kEndMax = limits::kRunOutputMax / 2;

}  // namespace

void KeptOutput::add(std::string_view bytes) {
  size_ += bytes.size();
  const std::size_t room = std::min(kEndMax - head_.size(), bytes.size());
  head_.append(bytes.substr(0, room));
  bytes.remove_prefix(room);
  // What is dropped at the front is dropped in large pieces.
  tail_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kEndMax)));
  if (tail_.size() > 2 * kEndMax) tail_.erase(0, tail_.size() - kEndMax);
}

bool KeptOutput::is_whole() const { return size_ <= limits::kRunOutputMax; }

std::string KeptOutput::text() const {
  if (is_whole()) return readable(bytes());
  const std::string_view end =
      std::string_view(tail_).substr(tail_.size() - std::min(tail_.size(), kEndMax));
  return fmt::format("{}\n[{} bytes are left out here]\n{}", readable(head_),
                     size_ - head_.size() - end.size(), readable(end));
}

}  // namespace sitter
