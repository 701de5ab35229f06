#include "sitter/line.hpp"

#include <cassert>

namespace sitter {

OwnedLine::OwnedLine(std::string_view text) {
  text_.reserve(text.size() + limits::kLinePadding);
  text_.append(text);
}

OwnedLine::OwnedLine(std::string text) : text_(std::move(text)) {
  text_.reserve(text_.size() + limits::kLinePadding);
}

OwnedLine& OwnedLine::operator=(OwnedLine&& other) noexcept {
  std::string text = std::move(other.text_);
  text_.swap(text);
  return *this;
}

Outgoing Outgoing::spliced(Line line, std::string_view replaced, std::string by) {
  const std::string_view text = line.text();
  assert(replaced.data() >= text.data());
  assert(replaced.data() + replaced.size() <= text.data() + text.size());
  const std::size_t begin = static_cast<std::size_t>(replaced.data() - text.data());
  return {text.substr(0, begin), std::move(by), text.substr(begin + replaced.size())};
}

std::string Outgoing::text() const {
  std::string all;
  all.reserve(size());
  all.append(head).append(middle).append(tail);
  return all;
}

void Outgoing::keep() {
  if (head.empty() && tail.empty()) return;
  middle = text();
  head = tail = {};
}

}  // namespace sitter
