#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sitter {

/// What is wrong with an env file: "line 3: ...".
struct EnvFileError {
  std::string what;
};

/// Reads the text of an env file into NAME=VALUE entries, in the order of the file.
///
/// A line is NAME=VALUE, with or without `export` before it. Blank lines and lines that begin with
/// `#` are skipped. A value in single or double quotes is the text between the quotes. A value
/// without quotes ends before white space that is followed by `#`, and white space around it is
/// removed. Nothing is expanded or unescaped. CRLF and a byte order mark are accepted.
std::variant<std::vector<std::string>, EnvFileError> parse_env_file(std::string_view text);

}  // namespace sitter
