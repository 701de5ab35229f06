#include "io/process/end_words.hpp"

namespace sitter {

const EndWords& end_words() { return kSignalWords; }

}  // namespace sitter
