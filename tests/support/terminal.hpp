#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include <stdexcept>

#include "support/program.hpp"

namespace sitter::testing {

/// Both sides of a pseudo-terminal. No program inherits them.
struct Terminal {
  explicit Terminal(unsigned short columns = 80)
      : person(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (grantpt(person.number()) == 0 && unlockpt(person.number()) == 0) {
      program = OwnDescriptor(open(ptsname(person.number()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    }
    if (!program.is_open()) throw std::runtime_error("no terminal: is /dev/pts mounted?");
    const winsize size{.ws_row = 50, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ioctl(program.number(), TIOCSWINSZ, &size);
  }

  OwnDescriptor person, program;
};

}  // namespace sitter::testing
