#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace sitter {

/// The working directory of the server, as an absolute path without a slash at its end. `cwd` is
/// the directory that was asked for; empty for our own. Empty if the path is relative to our
/// working directory and that directory is gone.
inline std::optional<std::string> server_folder(const std::filesystem::path& cwd) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(cwd.empty() ? "." : cwd, error);
  if (error) return {};
  std::string folder = whole.lexically_normal().generic_string();
  while (folder.ends_with('/')) folder.pop_back();
  return folder;
}

}  // namespace sitter
