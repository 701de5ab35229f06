#pragma once

#include <string>

namespace sitter {

/// What is wrong with something that was given: a sentence or a clause without a full stop.
struct Complaint {
  std::string text;
};

}  // namespace sitter
