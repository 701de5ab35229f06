#include "io/process/end_words.hpp"

namespace sitter {

const EndWords& end_words() {
  static const EndWords words{.asked = "asked to end",
                              .killed = "terminated",
                              .asked_alone = "terminated",
                              .request = "Ctrl+Break",
                              .kill = "TerminateProcess"};
  return words;
}

}  // namespace sitter
