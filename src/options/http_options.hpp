#pragma once

#include <string>
#include <variant>
#include <vector>

#include "io/http_backend.hpp"

namespace sitter {

/// What the command line says about a daemon, as it was written.
struct RawHttp {
  std::string url;
  std::string url_variable;
  std::vector<std::string> headers;
  std::vector<std::string> header_variables;
  std::string cacert;
  bool keeps_session = false;
};

/// The options of a daemon, or what is wrong with them, as a sentence without the program's name.
/// The value of a header is in no sentence, because it may be secret.
std::variant<HttpBackend::Options, std::string> http_options(const RawHttp& raw,
                                                             const Environment& environment);

/// Overwrites the values of --header in our command line, which every user of the machine can read.
/// `words` are the words that the system has given to the program.
void hide_header_values(char** words);

}  // namespace sitter
